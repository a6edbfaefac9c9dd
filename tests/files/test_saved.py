"""A saved folder: every file is covered, damage is one sentence, and what is opened belongs to one save."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.saves import reseal

from pathformer.errors import DamagedError, InputError
from pathformer.files import checksum, saved
from pathformer.files.arrays import map_array, read_npz
from pathformer.files.atomic import new_file, new_folder, write_json
from pathformer.files.manifest import NAME, read_manifest
from pathformer.files.saved import Saved, check_file, find_faults, open_save, read_save


def save(folder: Path, text: str = "one", *, force: bool = False) -> Path:
    with new_folder(folder, "engine.json", kind="engine", force=force) as draft:
        (draft / "engine.json").write_text(text)
        (draft / "links").mkdir()
        (draft / "links" / "numbers.npy").write_bytes(os.urandom(200_000))
        with new_folder(draft / "graph", "graph.json", kind="graph") as inner:
            (inner / "graph.json").write_text(text)
    return folder


def read(folder: Path) -> Saved:
    return read_save(folder, "engine")


def test_every_file_is_covered_whatever_the_folder_holds(tmp_path: Path) -> None:
    folder = save(tmp_path / "films")
    assert set(read(folder).manifest.files) == {"engine.json", "links/numbers.npy", "graph/manifest.json"}
    assert set(read(folder).parts) == {"graph"}
    for file in [path for path in folder.rglob("*") if path.is_file()]:
        content = file.read_bytes()
        place = content.index(b'"id"') if file.name == NAME else len(content) // 2
        damaged = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        for instead in (damaged, content[:-3], b"", None):
            file.unlink() if instead is None else file.write_bytes(instead)
            with pytest.raises(DamagedError) as caught:
                read(folder)
            assert caught.value.path.name in (file.name, folder.name)
            assert "damaged: fit it again" in str(caught.value)
            file.write_bytes(content)
    read(folder)


def test_files_of_another_save_are_refused(tmp_path: Path) -> None:
    ours, theirs = save(tmp_path / "ours"), save(tmp_path / "theirs", "two")
    shutil.copy(theirs / "links" / "numbers.npy", ours / "links")
    with pytest.raises(DamagedError, match=r"links/numbers\.npy is not as it was saved \(its checksum differs\)"):
        read(ours)
    shutil.rmtree(save(ours, force=True) / "graph")
    shutil.copytree(theirs / "graph", ours / "graph")
    with pytest.raises(DamagedError, match=r"graph/manifest\.json"):
        read(ours)


def test_what_was_laid_beside_it_does_not_count(tmp_path: Path) -> None:
    folder = save(tmp_path / "films")
    (folder / "notes.txt").write_text("mine")
    shutil.copytree(folder / "graph", folder / "index")
    opened = read(folder)
    assert opened.has("graph")
    assert not opened.has("index")
    assert not opened.has("notes.txt")
    with pytest.raises(DamagedError, match="index was not saved with the rest"):
        opened.part("index")


def test_an_older_folder_and_another_kind_are_told(tmp_path: Path) -> None:
    folder = save(tmp_path / "films")
    with pytest.raises(InputError, match=r"films holds a saved engine, not a saved graph"):
        read_save(folder, "graph")
    (folder / NAME).unlink()
    with pytest.raises(DamagedError, match=r"films has no manifest\.json: it was not saved by this version"):
        read(folder)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", "[" * 100_000, '{"format": 1}', "1" * 5000, '{"format": "pathformer manifest"}', "\udcff"],
)
def test_a_manifest_that_is_none(content: str, tmp_path: Path) -> None:
    folder = save(tmp_path / "films")
    (folder / NAME).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(
        DamagedError, match=r"manifest\.json is not the manifest that was saved \(.{1,80}\): the engine"
    ):
        read(folder)


@pytest.mark.parametrize("name", ["../other", "/etc/passwd", "a/../../b"])
def test_a_manifest_names_nothing_outside(name: str, tmp_path: Path) -> None:
    folder = save(tmp_path / "films")
    told = json.loads((folder / NAME).read_text())
    told["files"][name] = told["files"]["engine.json"]
    del told["checksum"]
    told["checksum"] = checksum.checksum_of(json.dumps(told, sort_keys=True, separators=(",", ":")).encode())
    (folder / NAME).write_text(json.dumps(told))
    with pytest.raises(DamagedError, match="lies outside of the folder"):
        read(folder)


def test_a_pipe_in_the_place_of_a_file_holds_nobody_up(tmp_path: Path) -> None:
    folder = save(tmp_path / "films")
    (folder / "engine.json").unlink()
    os.mkfifo(folder / "engine.json")
    with pytest.raises(DamagedError, match=r"engine\.json is not a file any more"):
        read(folder)


def test_in_a_large_folder_opening_reads_small_files_and_the_ends_of_large_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = save(tmp_path / "films")
    monkeypatch.setattr(saved, "READ_WHOLE", 100_000)
    monkeypatch.setattr(saved, "_SMALL", 1000)
    file, opened = folder / "links" / "numbers.npy", read(folder)
    content = file.read_bytes()
    assert not opened.whole
    for place, told in ((10, True), (65_535, True), (100_000, False), (140_000, True), (199_999, True)):
        file.write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
        assert [fault.file for fault in find_faults(folder, lambda name, size: None)[1]] == [file]
        with pytest.raises(DamagedError):
            opened.check("links/numbers.npy")  # where damage could end the process
        if told:
            with pytest.raises(DamagedError):
                read(folder)
        else:
            read(folder)
    (folder / "engine.json").write_text("One")
    with pytest.raises(DamagedError, match=r"engine\.json"):
        read(folder)


@pytest.mark.parametrize("writer", ["xxh3", "crc32"])
def test_each_reads_what_the_other_wrote(writer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without xxhash saves with crc32; of what was saved with xxh3 it can check the size alone."""
    with monkeypatch.context() as patch:
        if writer == "crc32":
            patch.setitem(sys.modules, "xxhash", None)
        folder = save(tmp_path / "films")
    state = read(folder).manifest.files["engine.json"][0]
    assert state.checksum.startswith(f"{writer}:")
    monkeypatch.setitem(sys.modules, "xxhash", None)
    read(folder)
    (folder / "engine.json").write_text("two")
    if writer == "crc32":
        with pytest.raises(DamagedError):
            read(folder)
    else:
        read(folder)
    (folder / "engine.json").write_text("longer")
    with pytest.raises(DamagedError):
        read(folder)


def replacing(folder: Path, times: int) -> Callable[[Saved], str]:
    """Opens a folder which another command replaces so often in the middle of that."""
    left = [times]

    def load(opened: Saved) -> str:
        first = (opened.folder / "engine.json").read_text()
        if left[0]:
            left[0] -= 1
            save(folder, f"save {left[0]}", force=True)
        assert (opened.folder / "graph" / "graph.json").read_text() == first, "two saves were mixed"
        return first

    return load


def test_what_is_opened_belongs_to_one_save(tmp_path: Path) -> None:
    folder = save(tmp_path / "films")
    assert open_save(folder, "engine", replacing(folder, 2)) == "save 0"
    with pytest.raises(InputError, match=r"films was replaced 3 times while it was being opened: wait for the command"):
        open_save(folder, "engine", replacing(folder, 3))
    with pytest.raises(ZeroDivisionError):
        open_save(folder, "engine", lambda opened: 1 / 0)


def test_a_file_of_a_run_is_known_before_and_after_it_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill may come between the steps of a write: each leaves a file that the manifest knows."""
    file, replace = tmp_path / "last", Path.replace
    write_json(file, {"step": 1}, "run")
    for stopped_at in (0, 1, 2):
        seen: list[Path] = []

        def stop(self: Path, target: Path, seen: list[Path] = seen, stopped_at: int = stopped_at) -> Path:
            if len(seen) == stopped_at:
                raise KeyboardInterrupt
            seen.append(target)
            return replace(self, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", stop)
            with pytest.raises(KeyboardInterrupt):
                write_json(file, {"step": 2}, "run")
        check_file(file, "run")
        assert json.loads(file.read_text())["step"] == (2 if stopped_at == 2 else 1)
    write_json(file, {"step": 3}, "run")
    check_file(file, "run")
    assert len(read_manifest(tmp_path, "").files["last"]) == 1
    file.write_text('{"step": 1}')
    with pytest.raises(DamagedError, match=r"last is not as it was saved .* train it again with --fresh"):
        check_file(file, "run")


def test_a_file_that_the_manifest_does_not_know_passes(tmp_path: Path) -> None:
    write_json(tmp_path / "last", {}, "run")
    with new_file(tmp_path / "log") as draft:
        draft.write_text("1")
    check_file(tmp_path / "log", "run")


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.int32).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array([True, False]),
        np.zeros((0, 3), np.int32),
        np.zeros(0, np.uint64),
        np.float32(3).reshape(()),
        np.arange(5, dtype=np.uint16),
    ],
    ids=str,
)
def test_arrays_are_read_as_numpy_wrote_them(array: np.ndarray, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", array)
    mapped = map_array(tmp_path / "x.npy", array.shape, array.dtype.str[1:])
    assert mapped.dtype == array.dtype
    assert np.array_equal(mapped, array)
    packed = io.BytesIO()
    np.savez(packed, x=array, y=array.reshape(-1)[:0])
    assert np.array_equal(read_npz(packed)["x"], array)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (70368744177664,), }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (" + "9" * 5000 + ",), }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3,)",
        "(" * 5000,
        "'''",
        "{'descr': '<i4', 'fortran_order': 0, 'shape': (-3,), }",
    ],
)
def test_a_header_is_what_numpy_writes_or_it_is_refused(header: str, tmp_path: Path) -> None:
    text = header.encode() + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(12)
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(ValueError, match=r"^(is not an array of plain numbers|has [\d,]+ bytes, which do not fit)"):
        map_array(tmp_path / "x.npy")


def test_a_resealed_folder_is_a_save(tmp_path: Path) -> None:
    folder = save(tmp_path / "films")
    before = read(folder).manifest.id
    reseal(folder)
    assert read(folder).manifest.id != before
