"""One process at a time in a folder: refused by name, and free again however the other one ended."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pathformer.errors import InputError
from pathformer.files.lock import FILE, hold_folder, open_lock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
fcntl = pytest.importorskip("fcntl")

HOLDER = """
import sys, time
from pathlib import Path
from pathformer.files.lock import hold_folder
with hold_folder(Path(sys.argv[1])):
    print("here", flush=True)
    time.sleep(60)
"""


def asked_elsewhere(folder: Path) -> None:
    """In another thread, which is no better than another process."""

    def ask() -> None:
        with hold_folder(folder):
            pass

    with ThreadPoolExecutor(1) as pool:
        pool.submit(ask).result()


def test_a_second_process_is_refused_and_a_killed_one_holds_nobody_up(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"here\n"
    with pytest.raises(InputError) as refused, hold_folder(folder):
        pytest.fail("two in one folder")
    place = f"process {holder.pid} on {socket.gethostname()}"
    assert str(refused.value) == f"{place} is writing to {folder}: wait for it, or choose another folder"
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert (folder / FILE).is_file()
    with hold_folder(folder):
        assert (folder / FILE).read_text() == f"process {os.getpid()} on {socket.gethostname()}"
    assert not any(folder.iterdir())


def test_whoever_is_alone_may_ask_again(tmp_path: Path) -> None:
    folder, link = tmp_path / "run", tmp_path / "link"
    link.symlink_to(folder)
    with hold_folder(folder):
        with hold_folder(link):
            (folder / "weights").touch()
        with pytest.raises(InputError, match=f"process {os.getpid()} on .* is writing to"):
            asked_elsewhere(folder)
        with hold_folder(tmp_path / "other"):
            pass
    asked_elsewhere(folder)
    assert [path.name for path in folder.iterdir()] == ["weights"]


def test_an_error_inside_frees_it_and_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), hold_folder(tmp_path / "run"):
        raise KeyboardInterrupt
    assert not any(tmp_path.iterdir())
    (tmp_path / "run").mkdir()  # somebody's own stays
    with hold_folder(tmp_path / "run"):
        pass
    assert (tmp_path / "run").is_dir()


@pytest.mark.parametrize(("number", "held"), [(errno.ENOLCK, False), (errno.EBADF, False), (errno.EACCES, True)])
def test_network_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, held: bool) -> None:
    """Without locks everybody can have one; some say of a lock that is held that permission is denied."""

    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    if held:
        with pytest.raises(InputError, match=r"^another process is writing to"), hold_folder(tmp_path):
            pytest.fail("two in one folder")
    else:
        with hold_folder(tmp_path):
            asked_elsewhere(tmp_path)


def test_on_windows_an_open_file_is_taken_away_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink, close = Path.unlink, os.close
    closed: list[int] = []

    def refused(path: Path, missing_ok: bool = False) -> None:
        if not closed:
            raise PermissionError(errno.EACCES, "used by another process")
        unlink(path, missing_ok)

    def noted(lock: int) -> None:
        close(lock)
        closed.append(lock)

    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", "win32")
        with hold_folder(tmp_path / "run"):
            patch.setattr(Path, "unlink", refused)
            patch.setattr(os, "close", noted)
    assert len(closed) == 1
    assert not any(tmp_path.iterdir())


def test_where_nothing_can_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(InputError, match=r"file/run cannot be written \(Not a directory\)$"),
        hold_folder(tmp_path / "file/run"),
    ):
        pytest.fail("not even a folder")
    (tmp_path / FILE).symlink_to(tmp_path / "nowhere/at/all")
    with pytest.raises(InputError, match=r"cannot be written \(No such file or directory\)$"), hold_folder(tmp_path):
        pytest.fail("no lock")


def test_a_file_that_its_holder_took_away_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening a lock and taking it, its holder may end: then the file that was opened is nobody's any more."""
    file, flock, gone = tmp_path / "deep" / FILE, fcntl.flock, [True]

    def late(lock: int, how: int) -> None:
        if gone:
            gone.pop()
            file.unlink()
            file.parent.rmdir()
        flock(lock, how)

    monkeypatch.setattr(fcntl, "flock", late)
    lock = open_lock(file)
    assert lock is not None
    assert os.path.samestat(os.fstat(lock), file.stat())
    assert open_lock(file) is None
    os.close(lock)
