"""A polite kill: the process stops as after Ctrl-C, and what was temporary is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from pathformer.cli._shell import stop_on_signals
from pathformer.files.atomic import new_folder


def kill() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_kill_while_a_pipe_is_read_leaves_nothing_behind(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "pathformer", "import", "-", "--format", "tsv", "--out", str(tmp_path / "out")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(temporary)}
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"a\tr\tb\n")
        process.stdin.flush()
        end = time.monotonic() + 60
        while not list(temporary.glob("pathformer-*/-")) and time.monotonic() < end:
            time.sleep(0.02)
        assert list(temporary.iterdir()), "it has begun to read"
        process.send_signal(signal.SIGTERM)
        told = process.stderr.read().decode()
    assert process.returncode == 130
    assert told.startswith("stopped: ")
    assert told.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]
    assert not list(temporary.iterdir())


def test_a_kill_in_the_middle_of_writing_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "engine"
    for content in ("old", "new"):
        with stop_on_signals(), suppress(KeyboardInterrupt), new_folder(target, "engine.json", force=True) as folder:
            (folder / "engine.json").write_text(content)
            if content == "new":
                kill()
    assert [path.name for path in tmp_path.iterdir()] == ["engine"]
    assert (target / "engine.json").read_text() == "old"


def test_a_kill_is_an_interruption_and_its_echo_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("pathformer.cli._shell.monotonic", lambda: now[0])
    with stop_on_signals():
        with pytest.raises(KeyboardInterrupt):
            kill()
        now[0] += 0.5
        kill()
        now[0] += 1.5
        with pytest.raises(KeyboardInterrupt):
            kill()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_what_was_told_about_kills_before_stands() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with stop_on_signals():
            kill()
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def test_a_thread_that_may_set_no_handler_sets_none() -> None:
    seen: list[object] = []

    def work() -> None:
        with stop_on_signals():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]
