"""Two processor cores learn a small graph in under a minute."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from rich.console import Console

from pathformer.evaluation.evaluate import ScoreRanker, evaluate
from pathformer.experiments.run import train_run
from pathformer.experiments.settings import read_run
from pathformer.kg.datasets import load
from pathformer.links.frequency import Frequency
from pathformer.querysets.sources import collect_queries
from pathformer.training.display import Display


@pytest.mark.slow
@pytest.mark.data
def test_a_small_model_beats_frequency_on_every_structure_of_umls(data_dir: Path, tmp_path: Path) -> None:
    run = read_run("umls-small")
    start = time.monotonic()
    outcome = train_run(run, tmp_path, data=data_dir, device="cpu", display=Display(Console(file=io.StringIO())))
    spent = time.monotonic() - start
    kg = load("umls", data_dir)
    asked = collect_queries(
        kg, "drawn", trained=(), evaluated=run.evaluated_structures, data=data_dir, splits=("test",)
    )
    counts = evaluate(ScoreRanker(Frequency(kg.graph("train"))), asked["test"])
    learnt = outcome.reports["last"]
    assert learnt.scores["1p"].mrr >= 0.60
    behind = {
        name: (round(learnt.scores[name].mrr, 3), round(scores.mrr, 3))
        for name, scores in counts.scores.items()
        if learnt.scores[name].mrr <= scores.mrr
    }
    assert not behind, f"structures where counting is better (model, counts): {behind}"
    print(f"{spent:.0f} s for training and test: {learnt.markdown()}")
