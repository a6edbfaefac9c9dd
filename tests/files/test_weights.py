"""A file of weights as mapped arrays: what torch wrote comes back, and is written again bit by bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from pathformer.errors import CheckpointError
from pathformer.files import tensors
from pathformer.files.weights import check_graph, open_weights, read_facts

WRITTEN = {
    "model.table": torch.randn(5, 3),
    "model.half": torch.randn(4, 4).bfloat16(),
    "model.scalar": torch.tensor(2.5),
    "model.none": torch.zeros(0, 3),
    "model.bytes": torch.arange(-3, 4, dtype=torch.int8),
    "other.flags": torch.tensor([True, False]),
    "other.counts": torch.arange(3),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    tensors.write(path, {"step": 7, "name": "ünïcode"}, WRITTEN)
    return path


def test_arrays_are_what_torch_wrote(file: Path) -> None:
    opened = open_weights(file)
    assert (opened.facts["step"], opened.facts["name"]) == (7, "ünïcode")
    assert set(opened.part("model")) == {"table", "half", "scalar", "none", "bytes"}
    for name, tensor in WRITTEN.items():
        prefix, own = name.split(".")
        array = opened.part(prefix)[own]
        assert array.shape == tuple(tensor.shape)
        expected = tensor.view(torch.uint16) if tensor.dtype is torch.bfloat16 else tensor
        assert array.dtype == expected.numpy().dtype
        assert np.array_equal(array, expected.numpy())
        assert not array.flags.writeable


def test_what_is_written_again_differs_in_its_facts_alone(file: Path, tmp_path: Path) -> None:
    facts = {"step": 8, "quoted": 'a "b" \\ \n'}
    open_weights(file).write(tmp_path / "new" / "ours.safetensors", facts)
    tensors.write(tmp_path / "theirs.safetensors", facts, WRITTEN)
    assert (tmp_path / "new" / "ours.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()


def test_a_mapped_file_stays_as_it_was_when_another_takes_its_place(file: Path) -> None:
    opened = open_weights(file)
    tensors.write(file, {"step": 8}, {"model.table": torch.zeros(2)})
    assert np.array_equal(opened.part("model")["table"], WRITTEN["model.table"].numpy())
    copied = tensors.unmap(opened)
    assert copied.facts["step"] == 7
    assert all(torch.equal(copied.tensors[name], tensor) for name, tensor in WRITTEN.items())
    opened.write(file, {"step": 9})
    assert tensors.read(file).facts["step"] == 9


def test_what_is_no_checkpoint_is_refused(file: Path, tmp_path: Path) -> None:
    file.write_bytes(file.read_bytes()[:-5])
    for opener in (open_weights, read_facts):
        with pytest.raises(CheckpointError, match="not a whole safetensors file"):
            opener(file)
        with pytest.raises(CheckpointError, match=r"gone\.safetensors: no such checkpoint"):
            opener(tmp_path / "gone.safetensors")


def test_another_graph_is_refused_with_both_fingerprints(tmp_path: Path) -> None:
    facts = {"fingerprint": "aaaa", "dataset": "umls"}
    check_graph(facts, "aaaa", tmp_path, "umls")
    with pytest.raises(CheckpointError, match=r"vocabulary is aaaa \(umls\), that of nations is bbbb"):
        check_graph(facts, "bbbb", tmp_path, "nations")
