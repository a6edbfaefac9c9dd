"""Every method, of every space: what it is trained on rises first, what is held out follows and passes counting.

A wrong gradient, a projection that forgets its anchor or a loss of the wrong sign shows here, where minutes on a large
graph would show a row that is far off. The figures are printed (`-s`); docs/methods/index.md shows a run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.contract_cases import SMALL
from support.trials import TRAINED, asked_of, in_training

from pathformer.evaluation.evaluate import ModelRanker, ScoreRanker, evaluate
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.ragged import Ragged
from pathformer.links.frequency import Frequency
from pathformer.models._base import Model, find
from pathformer.querysets.queries import Queries
from pathformer.training.settings import SoftmaxOptions, StepConfig

UNSEEN = ("ip", "pi", "2u", "up")
SEVERAL_LINKS = ("2p", "2i", "ip", "up")  # on single links of this graph counting alone reaches 0.67
LOOKS = (0, 150, 600)  # updates
LIKELY: dict[str, Any] = {"weighted": False, "average_over": "batch", "softmax": SoftmaxOptions(targets=1)}
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {  # method, its settings, those of an update
    "pathformer": ("pathformer", {"dim": 64, "layers": 1, "margin": 6.0}, {"rate": 2e-3}),
    "pathformer box": ("pathformer", {"space": "box", "dim": 32, "layers": 1, "margin": 6.0}, {"table_rate": 2.0}),
    "pathformer beta": ("pathformer", {"space": "beta", "dim": 32, "layers": 1, "margin": 6.0}, {"table_rate": 4.0}),
    "gqe": ("gqe", {"dim": 64, "margin": 6.0}, {"rate": 5e-3}),
    "q2b": ("q2b", {"dim": 64, "margin": 6.0}, {"rate": 5e-3}),
    "betae": ("betae", {"dim": 32, "hidden": 128, "margin": 6.0}, {"rate": 1e-3, "table_rate": 4.0}),
    "gammae": ("gammae", {"dim": 32, "hidden": 128, "margin": 6.0}, {"rate": 1e-3, "table_rate": 4.0}),
    "cone": ("cone", {"dim": 64, "hidden": 128, "margin": 4.0}, {"rate": 1e-3, "table_rate": 5.0}),
    "mlp": ("mlp", {"dim": 64, "margin": 6.0}, {"rate": 2e-3}),
    "mlp-mixer": ("mlp-mixer", {"dim": 64, "token_hidden": 32, "margin": 6.0}, {"rate": 5e-3}),
    "fuzzqe": ("fuzzqe", {"dim": 64, "bases": 16}, {"rate": 1e-2, "filtered": False, "epsilon": 1e-6}),
    "q2p": ("q2p", {"dim": 32}, {"rate": 5e-3, **LIKELY}),
    "biqe": ("biqe", {"dim": 64, "layers": 2, "dropout": 0.0}, {"rate": 2e-3, **LIKELY}),
}


def test_every_method_is_here() -> None:
    apart = {"complex", "composed", "pair"}  # links alone; two that are trained apart
    assert {name for name, _, _ in CASES.values()} == set(SMALL) - apart
    assert all(find(name).name == name for name, _, _ in CASES.values())


@pytest.fixture(scope="module")
def held_out(kg: KnowledgeGraph) -> dict[str, Queries]:
    return asked_of(kg, (*TRAINED, *UNSEEN), 200)


@pytest.fixture(scope="module")
def counted(kg: KnowledgeGraph, held_out: dict[str, Queries]) -> dict[str, float]:
    """MRR of counting alone."""
    scores = evaluate(ScoreRanker(Frequency(kg.graph("train"))), held_out).scores
    return {name: scores[name].mrr for name in SEVERAL_LINKS}


def as_asked(queries: Queries) -> Queries:
    """Training queries with their answers to be ranked."""
    some = queries.spread(200)
    nothing = Ragged(np.zeros(len(some) + 1, np.int64), np.empty(0, np.int32))
    return Queries(some.structure, some.ids, nothing, some.easy)


def mean(made: Model, asked: dict[str, Queries]) -> float:
    """MRR in %, over the structures."""
    return 100 * float(np.mean([score.mrr for score in evaluate(ModelRanker(made), asked).scores.values()]))


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("case", CASES)
def test_training_queries_rise_and_others_follow(
    case: str,
    kg: KnowledgeGraph,
    seen: dict[str, Queries],
    held_out: dict[str, Queries],
    counted: dict[str, float],
) -> None:
    name, settings, update = CASES[case]
    config = StepConfig(**{"negatives": 32, "rate": 2e-3, **update})
    step = in_training((name, settings), kg.graph("train"), seen, 32, config)
    parts = (
        {name: as_asked(queries) for name, queries in seen.items()},
        {name: held_out[name] for name in TRAINED},
        {name: held_out[name] for name in UNSEEN},
    )
    looks, done = [], 0
    for updates in LOOKS:
        step.run(updates - done)
        done = updates
        looks.append([mean(step.model, part) for part in parts])
    print(case, *(" ".join(f"{value:5.1f}" for value in look) for look in looks), sep=" | ")
    (begun, *first), (half, *_), (fitted, *last) = looks
    assert begun + 5 < half < fitted, "training queries do not rise"
    assert fitted > 45, "training queries are not learnt"
    assert all(end > 1.5 * start for start, end in zip(first, last, strict=True)), "what is held out does not follow"
    learnt = evaluate(ModelRanker(step.model), {name: held_out[name] for name in SEVERAL_LINKS}).scores
    behind = {name: (learnt[name].mrr, mrr) for name, mrr in counted.items() if learnt[name].mrr <= mrr}
    assert not behind, f"structures where counting is better: {behind}"
