"""Checkpoints are whole or absent, and refuse what does not belong to them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file

from pathformer.errors import CheckpointError, InputError
from pathformer.files import tensors
from pathformer.files.weights import read_facts


def test_facts_and_tensors_come_back(tmp_path: Path) -> None:
    given = {
        "model.a": torch.randn(3, 4),
        "model.b": torch.arange(5),
        "rng": torch.get_rng_state(),
        "model.c": torch.randn(4, 4).bfloat16().t(),  # not contiguous
    }
    tensors.write(tmp_path / "x" / "last.safetensors", {"step": 7, "settings": {"a": [1, None]}}, given)
    found = tensors.read(tmp_path / "x" / "last.safetensors")
    assert (found.facts["step"], found.facts["settings"]) == (7, {"a": [1, None]})
    assert set(found.tensors) == set(given)
    assert all(torch.equal(found.tensors[name], given[name]) for name in given)
    assert set(found.part("model")) == {"a", "b", "c"}
    assert read_facts(tmp_path / "x" / "last.safetensors")["step"] == 7


@pytest.mark.skipif(sys.platform == "win32", reason="no such modes there")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_checkpoint_obeys_the_umask(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        for step in (1, 2):  # a new one, and one in its place
            tensors.write(tmp_path / "last.safetensors", {"step": step}, {"a": torch.zeros(3)})
            assert (tmp_path / "last.safetensors").stat().st_mode & 0o777 == mode
    finally:
        os.umask(before)


def test_a_failed_write_leaves_the_last_good_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "last.safetensors"
    tensors.write(path, {"step": 1}, {"a": torch.zeros(3)})

    def broken(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(InputError, match=r"last\.safetensors cannot be written \(no space left"):
        tensors.write(path, {"step": 2}, {"a": torch.ones(3)})
    assert tensors.read(path).facts["step"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["last.safetensors"]


WRITER = """
import sys, torch
from pathlib import Path
from pathformer.files import tensors
step = 0
while True:
    step += 1
    tensors.write(Path(sys.argv[1]), {"step": step}, {"a": torch.full((200_000,), step)})
    print(step, flush=True)
"""


def test_a_kill_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "last.safetensors"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    for _ in range(20):
        writer.stdout.readline()
    writer.kill()
    writer.wait()
    writer.stdout.close()
    found = tensors.read(path)
    assert found.facts["step"] >= 20
    assert torch.equal(found.tensors["a"], torch.full((200_000,), found.facts["step"]))


KILLED = """
import os, signal, sys, torch
from pathlib import Path
from pathformer.files import tensors
path = Path(sys.argv[1])
tensors.write(path, {"step": 1}, {"a": torch.zeros(50_000)})
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # when all of it is written and nothing is in its place
tensors.write(path, {"step": 2}, {"a": torch.ones(50_000)})
"""


def test_what_a_kill_leaves_is_swept_by_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "last.safetensors"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert tensors.read(path).facts["step"] == 1
    left = [p for p in tmp_path.rglob("*") if p.is_file() and p != path]
    assert sum(p.stat().st_size for p in left) > 200_000
    tensors.write(path, {"step": 2}, {"a": torch.ones(50_000)})
    assert tensors.read(path).facts["step"] == 2
    assert [p.name for p in tmp_path.iterdir()] == ["last.safetensors"]


def test_two_that_write_at_once_never_mix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, others = tmp_path / "last.safetensors", [2]

    def slow(*arguments: Any) -> None:
        """The other one begins and ends in the middle of it."""
        while others:
            tensors.write(path, {"step": others.pop()}, {"a": torch.ones(1000)})
        save_file(*arguments)

    monkeypatch.setattr("safetensors.torch.save_file", slow)
    tensors.write(path, {"step": 1}, {"a": torch.zeros(1000)})
    found = tensors.read(path)
    assert found.facts["step"] == 1  # who ends last
    assert bool((found.tensors["a"] == 0).all())
    assert [p.name for p in tmp_path.iterdir()] == ["last.safetensors"]


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"gone\.safetensors: no such checkpoint"):
        tensors.read(tmp_path / "gone.safetensors")
    cut = tmp_path / "cut.safetensors"
    tensors.write(cut, {}, {"a": torch.zeros(1000)})
    cut.write_bytes(cut.read_bytes()[:500])
    with pytest.raises(CheckpointError, match="not a whole safetensors file"):
        tensors.read(cut)
    save_file({"a": torch.zeros(2)}, tmp_path / "other.safetensors")
    with pytest.raises(CheckpointError, match="not one of `pathformer train`"):
        tensors.read(tmp_path / "other.safetensors")
    tensors.write(tmp_path / "new.safetensors", {"format": 1}, {"a": torch.zeros(2)})
    with pytest.raises(CheckpointError, match="format 1, this reads 2"):
        tensors.read(tmp_path / "new.safetensors")


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), SafetensorError("I/O error: No space left on device")]
)
def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def full(*_: object) -> None:
        raise error

    monkeypatch.setattr("safetensors.torch.save_file", full)
    with pytest.raises(InputError, match=r"x\.safetensors cannot be written \(.*No space left on device\)$"):
        tensors.write(tmp_path / "x.safetensors", {}, {"a": torch.zeros(2)})
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot be written \(.*\)$"):
        tensors.write(tmp_path / "file" / "x.safetensors", {}, {"a": torch.zeros(2)})
