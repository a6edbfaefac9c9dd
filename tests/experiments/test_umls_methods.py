"""Methods made of networks learn a small graph: an operator that is not what it should be shows here."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from pathformer.evaluation.evaluate import ScoreRanker, evaluate
from pathformer.experiments.run import Material, gather, train_run
from pathformer.experiments.settings import Run, read_run
from pathformer.links.frequency import Frequency
from pathformer.training.display import Display

pytestmark = [pytest.mark.slow, pytest.mark.data]

RUN = """
dataset = "umls"
queries = "drawn"

[training]
steps = 900
batch = 32
update_per_structure = false
schedule = "cosine"
warmup = 0.05
validations = 1
update = { rate = 0.02, negatives = 32 }
"""
SMALL = {
    "mlp": ["model.dim=64"],
    "mlp-mixer": ["model.dim=64", "model.token_hidden=32"],
    "fuzzqe": ["model.dim=64", "model.bases=16"],
    "q2p": ["model.dim=32", "training.update.rate=0.005"],
    "biqe": ["model.dim=64", "model.layers=2", "model.dropout=0.0", "training.update.rate=0.003"],
}


def read(folder: Path, name: str) -> Run:
    (folder / "run.toml").write_text(RUN)
    return read_run(folder / "run.toml", [f"method={name}", *SMALL[name]])


@pytest.fixture(scope="module")
def material(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Material:
    return gather(read(tmp_path_factory.mktemp("run"), "mlp"), data_dir)


@pytest.fixture(scope="module")
def counted(material: Material) -> dict[str, float]:
    """What counting alone gives."""
    report = evaluate(ScoreRanker(Frequency(material.kg.graph("train"))), material.sets["test"])
    return {name: scores.mrr for name, scores in report.scores.items()}


@pytest.mark.parametrize(
    ("name", "floor"), [("mlp", 0.75), ("mlp-mixer", 0.72), ("fuzzqe", 0.75), ("q2p", 0.72), ("biqe", 0.8)]
)
def test_a_method_learns_umls(
    name: str, floor: float, material: Material, counted: dict[str, float], tmp_path: Path
) -> None:
    quiet = Display(Console(file=io.StringIO()))
    outcome = train_run(read(tmp_path, name), tmp_path, material=material, device="cpu", display=quiet)
    found = {structure: scores.mrr for structure, scores in outcome.reports["last"].scores.items()}
    print(name, {structure: round(100 * mrr, 1) for structure, mrr in found.items()}, counted)
    assert found["1p"] >= floor
    assert sum(found.values()) > 1.2 * sum(counted.values())
    behind = {structure: mrr for structure, mrr in found.items() if mrr <= counted[structure]}
    assert not behind, f"structures where counting is better: {behind}"
