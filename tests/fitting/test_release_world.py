"""A fitted engine and its releases on real questions: what the page on releases promises."""

from __future__ import annotations

import pytest

import pathformer as pf
from pathformer.fitting.compare import measure_cost, sample_held_out
from pathformer.fitting.release import compress
from pathformer.kg.datasets import load


@pytest.mark.slow
def test_a_release_of_a_fitted_engine_costs_next_to_nothing() -> None:
    engine = pf.fit(load("world"), minutes=0.7, device="cpu", progress=False)
    page = compress(engine, "int8").files["MODEL_CARD.md"].decode()
    for fact in (
        f"- version: {pf.__version__}",
        "- date: 20",
        "- seed: 0",
    ):
        assert fact in page, fact
    held = sample_held_out(engine, 60)
    assert len(held) == 14
    for form, same in (("bf16", 98.0), ("int8", 95.0)):
        cost = measure_cost(engine, compress(engine, form), held)
        before, after = cost.mean
        assert before > 5.0  # it has learned something to lose
        assert abs(after - before) < 0.5
        assert cost.shared > same
