"""The folder of a fit in progress: one process at a time, whole files, and a sentence for what is wrong."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pathformer.errors import InputError
from pathformer.fitting.settings import FitSettings, settings_for
from pathformer.fitting.workspace import open_workspace
from pathformer.kg.knowledge import KnowledgeGraph

KG = KnowledgeGraph.from_triples([("a", "r", "b")])
HOLDER = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_workspace import KG, settings
from pathformer.fitting.workspace import open_workspace
with open_workspace(Path(sys.argv[1]), KG, settings()):
    print("here", flush=True)
    time.sleep(60)
"""


def settings(minutes: float = 1.0) -> FitSettings:
    return settings_for(entities=2, triples=1, minutes=minutes)


def interrupt(target: Path, scale: FitSettings | None = None) -> Path:
    """Begin there and stop; the folder."""
    with pytest.raises(KeyboardInterrupt), open_workspace(target, KG, scale or settings()) as folder:
        raise KeyboardInterrupt
    return folder


def test_what_is_interrupted_stays_and_what_is_done_goes(tmp_path: Path) -> None:
    folder = interrupt(tmp_path / "deep/engine")
    assert {path.name for path in folder.iterdir()} == {"fit.json", "lock", "manifest.json"}
    with open_workspace(tmp_path / "deep/engine", KG, settings()) as again:
        assert again == folder
    assert not any((tmp_path / "deep").iterdir())


def test_a_folder_that_cannot_be_moved_is_left_with_its_lock_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, where the lock is an open file: a fit that had written its engine ended in a traceback."""

    def refused(*_: object) -> None:
        raise PermissionError

    with open_workspace(tmp_path / "engine", KG, settings()) as folder:
        (folder / "training").mkdir()
        monkeypatch.setattr(Path, "rename", refused)
    assert [path.name for path in folder.iterdir()] == ["lock"]
    monkeypatch.undo()
    with open_workspace(tmp_path / "engine", KG, settings(2.0)):
        pass
    assert not any(tmp_path.iterdir())


def test_what_a_fit_left_that_was_stopped_while_clearing_up_goes(tmp_path: Path) -> None:
    left = tmp_path / ".engine.done" / "training"
    left.mkdir(parents=True)
    interrupt(tmp_path / "engine")
    assert [path.name for path in tmp_path.iterdir()] == [".engine.fit"]


def test_a_second_fit_is_refused_while_the_first_is_at_work(tmp_path: Path) -> None:
    target = tmp_path / "engine"
    with open_workspace(target, KG, settings()) as folder:
        for fresh in (False, True):
            with (
                pytest.raises(InputError, match=f"^another fit is writing {target}:"),
                open_workspace(target, KG, settings(), fresh=fresh),
            ):
                pytest.fail("it was let in")
        assert (folder / "fit.json").is_file()
        with open_workspace(tmp_path / "other", KG, settings()):
            pass


@pytest.mark.skipif(sys.platform == "win32", reason="no locks there")
def test_a_killed_fit_holds_no_lock(tmp_path: Path) -> None:
    program = [sys.executable, "-c", HOLDER, str(tmp_path / "engine"), str(Path(__file__).parent)]
    process = subprocess.Popen(program, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"here\n"
    with pytest.raises(InputError, match="another fit"), open_workspace(tmp_path / "engine", KG, settings()):
        pass
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    process.stdout.close()
    with open_workspace(tmp_path / "engine", KG, settings()):
        pass


@pytest.mark.parametrize("content", ["", '{"fingerprint', "[]", "{}", '{"fingerprint": "x", "scale": 3}'])
def test_a_damaged_header_is_one_sentence(tmp_path: Path, content: str) -> None:
    from support.saves import reseal  # not above: the process that holds a lock imports this file alone

    folder = interrupt(tmp_path / "engine")
    (folder / "fit.json").write_text(content)
    (folder / "training").mkdir()
    words = rf"^{folder}/fit\.json has \d+ bytes, and [\d,]+ were saved: the unfinished fit is damaged: start again"
    with pytest.raises(InputError, match=words), open_workspace(tmp_path / "engine", KG, settings()):
        pytest.fail("it was opened")
    reseal(folder)
    words = f"^the unfinished fit in {folder} is damaged: start again with --fresh$"
    with pytest.raises(InputError, match=words), open_workspace(tmp_path / "engine", KG, settings()):
        pass
    with open_workspace(tmp_path / "engine", KG, settings(), fresh=True):
        assert {path.name for path in folder.iterdir()} == {"fit.json", "lock", "manifest.json"}


def test_a_kill_before_the_header_is_written_is_no_obstacle(tmp_path: Path) -> None:
    folder = tmp_path / ".engine.fit"
    folder.mkdir()
    (folder / "lock").touch()
    (folder / "fit.part").write_text('{"finger')
    with open_workspace(tmp_path / "engine", KG, settings()):
        assert json.loads((folder / "fit.json").read_text())["fingerprint"] == KG.fingerprint()


def test_other_settings_are_named(tmp_path: Path) -> None:
    before = settings()
    interrupt(tmp_path / "engine", before)
    seeded = replace(before, training=replace(before.training, seed=7))
    words = r"with other settings \(training\.seed was 0 and is 7\): finish it with the same triples and options"
    with pytest.raises(InputError, match=words), open_workspace(tmp_path / "engine", KG, seeded):
        pass


@pytest.mark.parametrize("place", ["file/engine", "file/deep/engine"])
def test_a_place_that_cannot_be_is_one_sentence(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    target = tmp_path / place
    with pytest.raises(InputError, match=f"^{target} cannot be written: .*"), open_workspace(target, KG, settings()):
        pass
