"""Drafts of killed processes go with the next write, and those of living ones, or of other machines, stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pathformer.errors import InputError
from pathformer.files import leavings
from pathformer.files.atomic import new_file, new_folder
from pathformer.files.leavings import draft_name
from pathformer.files.scratch import scratch_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from pathformer.files.atomic import new_file, new_folder
from pathformer.files.scratch import scratch_folder
folder = Path(sys.argv[1])
how = {"file": lambda: new_file(folder / "one"), "folder": lambda: new_folder(folder / "one", "x", kind="graph"),
       "scratch": scratch_folder}[sys.argv[2]]
with how() as draft:
    (draft / "x" if draft.is_dir() else draft).write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("what", ["file", "folder", "scratch"])
def test_what_a_killed_process_left_goes(
    what: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), what], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    with new_file(tmp_path / "other") as draft:
        draft.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    assert capfd.readouterr().err == f"removed {left}, which a command that was killed had left\n"


def test_what_a_living_process_or_another_machine_writes_stays(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stays = [draft_name("mine"), ".strange.part", ".films.0000-x.part"]
    with monkeypatch.context() as patch:
        patch.setattr(leavings, "_host", lambda: "0123abcd")
        stays.append(draft_name("theirs"))
    for name in stays:
        (tmp_path / name).mkdir()
    with new_folder(tmp_path / "films", "x") as draft:
        (draft / "x").touch()
    assert {path.name for path in tmp_path.iterdir()} == {*stays, "films"}
    assert capfd.readouterr().err == ""


def test_a_later_process_with_the_same_number_is_not_taken_for_the_writer(tmp_path: Path) -> None:
    name = draft_name("films").split("-")
    name[2] = str(int(name[2]) - 1)
    (tmp_path / "-".join(name)).mkdir()
    with new_file(tmp_path / "x"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_what_cannot_be_removed_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = draft_name("films").replace(f"-{os.getpid()}-", "-999999999-")
    (tmp_path / name).mkdir()

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(leavings.shutil, "rmtree", refuse)
    leavings.remove_leavings(tmp_path)
    told = (
        f"{tmp_path / name} was left by a command that was killed and cannot be removed (Permission denied): remove it"
    )
    assert capfd.readouterr().err == f"{told}\n"


def test_a_long_name_still_fits(tmp_path: Path) -> None:
    with new_file(tmp_path / ("x" * 250)) as draft:
        draft.write_text("y")
    assert (tmp_path / ("x" * 250)).read_text() == "y"


def test_a_temporary_folder_that_is_full_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(InputError, match=rf"^the temporary folder {tmp_path}/gone cannot be written \(No such file"):
        scratch_folder().__enter__()


def test_a_read_only_folder_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        with new_folder(tmp_path / "films", "x", force=True) as draft:
            (draft / "x").touch()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(InputError, match="films is read-only, so it is not replaced"):
        new_folder(tmp_path / "films", "x", force=True).__enter__()
    assert [path.name for path in tmp_path.iterdir()] == ["films"]
