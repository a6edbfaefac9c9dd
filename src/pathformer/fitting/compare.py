"""Two engines over one graph, on the same held-out questions: what a smaller form costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pathformer.engine.engine import Engine
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.fitting.cost import TOP, Cost
from pathformer.fitting.heldout import draw_held_out
from pathformer.fitting.reindex import takes
from pathformer.models._encoder import model_of
from pathformer.query.structures import STRUCTURES
from pathformer.query.tree import Tree
from pathformer.querysets.queries import Queries

__all__ = ["cost_of", "held_out_queries"]

_COMPARED = 25  # questions of a structure whose predictions are compared


def held_out_queries(engine: Engine, count: int, structures: Sequence[str] | None = None) -> dict[str, Queries]:
    """`count` questions of each structure that need a triple of the held-out part `test`; none where there is no such.

    structures: those alone; of what the method cannot take, none.
    """
    names = tuple(
        name
        for name, structure in STRUCTURES.items()
        if (structures is None or name in structures) and takes(engine.encoder, structure)
    )
    return draw_held_out(engine.kg, "test", count, int(engine.about.get("seed") or 0), names)


def cost_of(full: Engine, less: Engine, queries: Mapping[str, Queries]) -> Cost:
    """Rank the questions by both engines' weights, and compare what both would answer."""
    before, after = (evaluate(ModelRanker(model_of(engine.encoder)), queries) for engine in (full, less))
    return Cost(
        form=less.encoder.form,
        queries={name: scores.queries for name, scores in before.scores.items()},
        full=before.mrr_percent(),
        released=after.mrr_percent(),
        shared=round(100 * _shared(full, less, queries), 2),
    )


def _shared(full: Engine, less: Engine, queries: Mapping[str, Queries]) -> float:
    """Of the ten best predictions, by the engines' own indexes, the share that both have."""
    shares = []
    for asked in queries.values():
        trees: list[Tree] = [asked.structure.tree(row.tolist()) for row in asked.ids[:_COMPARED]]
        known = full.kg.graph("valid")
        for one, other in zip(*(engine.candidates(trees, TOP, known) for engine in (full, less)), strict=True):
            ten, others = (set(found.entities[found.predicted].tolist()) for found in (one, other))
            shares.append(len(ten & others) / max(1, len(ten)))
    return float(np.mean(shares)) if shares else 1.0
