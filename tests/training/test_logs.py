"""Logs read like those of a run that was never interrupted; the display says what people want to know."""

from __future__ import annotations

import io
import json
import os
import signal
import threading
from pathlib import Path

import pytest
from rich.console import Console

from pathformer.files.interrupt import Interrupt
from pathformer.text import duration
from pathformer.training.display import Display
from pathformer.training.logs import JsonLines, TensorBoard, open_logs, read_log


def lines(path: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_lines_after_the_checkpoint_are_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = JsonLines(path, 0)
    for step in (10, 20, 30):
        log.write(step, {"loss": 1 / step})
    log.close()
    with path.open("a") as file:
        file.write('{"step": 40, "lo')  # a kill in the middle of a line
    log = JsonLines(path, 20)
    log.write(25, {"loss": 0.5})
    log.close()
    assert [line["step"] for line in lines(path)] == [10, 20, 25]


def test_a_kill_while_lines_are_taken_back_leaves_the_log_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"step": 1}\n{"step": 2}\n')

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            JsonLines(path, 1)
    assert read_log(path) == [{"step": 1}, {"step": 2}]
    JsonLines(path, 1).close()
    assert read_log(path) == [{"step": 1}]
    assert [file.name for file in tmp_path.iterdir()] == ["log.jsonl"]


def test_a_log_is_read_as_far_as_it_is_whole(tmp_path: Path) -> None:
    assert read_log(tmp_path / "log.jsonl") == []
    (tmp_path / "log.jsonl").write_text('{"step": 1}\n{"st')
    assert read_log(tmp_path / "log.jsonl") == [{"step": 1}]


def test_a_fresh_run_starts_a_fresh_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"step": 1}\n')
    JsonLines(path, 0).close()
    assert lines(path) == []


def test_tensorboard_gets_the_same_figures(tmp_path: Path) -> None:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    log = TensorBoard(tmp_path, 0)
    log.write(5, {"valid/mrr": 0.25})
    log.close()
    events = reader.EventAccumulator(str(tmp_path)).Reload()
    assert [(e.step, e.value) for e in events.Scalars("valid/mrr")] == [(5, 0.25)]


def test_json_lines_are_always_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pathformer.training.logs.find_spec", lambda name: None)
    logs = open_logs(tmp_path, 0)
    assert [type(log) for log in logs] == [JsonLines]
    logs[0].close()


def test_without_a_terminal_a_line_now_and_then() -> None:
    out, now = io.StringIO(), iter([0.0, 0.0, 10.0, 40.0, 40.0])
    display = Display(Console(file=out, width=120), now=lambda: next(now))
    with display:
        for step in (1, 2, 3):
            display.update(step=step, progress=step / 10, loss=1.5, rate=12_345.6, left=75.0)
    shown = out.getvalue().splitlines()
    assert shown == [
        "step 1  10%  loss 1.5000  12,346 queries/s  1:15 min left",
        "step 3  30%  loss 1.5000  12,346 queries/s  1:15 min left",
    ]


def test_an_update_that_outlasts_its_time_is_at_its_end() -> None:
    out = io.StringIO()
    Display(Console(file=out, width=120)).update(step=5, progress=1.6, loss=1.0, rate=9.0, left=0.0)
    assert out.getvalue() == "step 5  100%  loss 1.0000  9 queries/s  0 s left\n"


def test_how_far_queries_are_ranked() -> None:
    times, out = iter([0.0, 10.0, 31.0, 31.0, 40.0]), io.StringIO()
    with Display(Console(file=out, width=120), now=lambda: next(times)).ranking("the test queries") as done:
        for name in ("1p", "2p", "3p"):
            done(name, 5000)
    assert out.getvalue().splitlines() == ["ranking the test queries", "ranked 5,000 queries of 2p"]
    out = io.StringIO()
    with Display(Console(file=out, force_terminal=True, width=120, color_system=None)).ranking("them") as done:
        done("1p", 5000)
    assert "ranked 5,000 queries of 1p" in out.getvalue()


def test_on_a_terminal_a_bar() -> None:
    out = io.StringIO()
    display = Display(Console(file=out, force_terminal=True, width=120, color_system=None))
    with display:
        display.update(step=1234, progress=0.5, loss=0.25, rate=99.0, left=3.0)
        display.say("a line that stays")
    assert "step 1,234" in out.getvalue()
    assert "50%" in out.getvalue()
    assert "loss 0.2500  99 queries/s  3 s left" in out.getvalue()
    assert "a line that stays" in out.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
def test_a_line_is_folded_on_a_terminal_alone(terminal: bool) -> None:
    out = io.StringIO()
    Display(Console(file=out, force_terminal=terminal, width=40, color_system=None)).say("word " * 20 + "end")
    assert len(out.getvalue().splitlines()) == (3 if terminal else 1)


def test_a_folder_is_named_as_it_is() -> None:
    out = io.StringIO()
    for terminal in (False, True):
        Display(Console(file=out, force_terminal=terminal, width=120, color_system=None)).say("in runs/a[/b] and [red]")
    assert out.getvalue() == 2 * "in runs/a[/b] and [red]\n"


def test_durations() -> None:
    assert duration(float("inf")) == "?"
    assert duration(3599.6) == "1:00 h"


def test_the_second_interrupt_insists_and_handlers_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupt:
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupt.asked
        os.kill(os.getpid(), signal.SIGINT)  # the echo of a wrapper, at once
        monkeypatch.setattr("pathformer.files.interrupt._ECHO", 0.0)
        with pytest.raises(KeyboardInterrupt):  # a person, later
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    seen: list[bool] = []

    def work() -> None:
        with Interrupt() as interrupt:
            seen.append(interrupt.asked)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]
