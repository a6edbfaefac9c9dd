"""Compares two engines over one graph on the same held-out questions: what a smaller form costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pathformer.engine.engine import Engine
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.fitting.heldout import draw_held_out
from pathformer.fitting.reindex import takes
from pathformer.models._encoder import model_of
from pathformer.query.structures import STRUCTURES
from pathformer.query.tree import Tree
from pathformer.querysets.queries import Queries

__all__ = ["Cost", "measure_cost", "sample_held_out"]

_TOP = 10  # predictions that are compared
_COMPARED = 25  # questions of a structure whose predictions are compared


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a release costs: figures with the weights as trained and with those of the release, in percent."""

    form: str
    queries: Mapping[str, int]  # structure -> number of held-out questions
    full: Mapping[str, float]  # structure -> MRR with the weights as trained
    released: Mapping[str, float]  # structure -> MRR with the weights of the release
    shared: float  # share of the ten best predictions that both have, the mean over questions

    @property
    def mean(self) -> tuple[float, float]:
        """The mean MRR over all structures, as trained and of the release."""
        before, after = (sum(part.values()) / len(part) for part in (self.full, self.released))
        return before, after

    def sentence(self) -> str:
        """Returns a sentence for people."""
        before, after = self.mean
        return (
            f"On {sum(self.queries.values()):,} held-out questions the MRR is {after:.2f} % in {self.form} "
            f"and {before:.2f} % as trained; {self.shared:.1f} % of the {_TOP} best predictions are the same."
        )

    def plain(self) -> dict[str, Any]:
        """Returns plain values."""
        return asdict(self)


def sample_held_out(engine: Engine, count: int, structures: Sequence[str] | None = None) -> dict[str, Queries]:
    """Returns `count` questions of each structure that need a triple of the held-out part `test`, if there is one.

    structures: only these; structures that the method cannot take are left out.
    """
    names = tuple(
        name
        for name, structure in STRUCTURES.items()
        if (structures is None or name in structures) and takes(engine.encoder, structure)
    )
    return draw_held_out(engine.kg, "test", count, int(engine.about.get("seed") or 0), names)


def measure_cost(full: Engine, less: Engine, queries: Mapping[str, Queries]) -> Cost:
    """Ranks the questions with the weights of both engines, and compares their best predictions."""
    before, after = (evaluate(ModelRanker(model_of(engine.encoder)), queries) for engine in (full, less))
    return Cost(
        form=less.encoder.form,
        queries={name: scores.queries for name, scores in before.scores.items()},
        full=before.mrr_percent(),
        released=after.mrr_percent(),
        shared=round(100 * _shared(full, less, queries), 2),
    )


def _shared(full: Engine, less: Engine, queries: Mapping[str, Queries]) -> float:
    """Returns the share of the ten best predictions, each found with the engine's own index, that both have."""
    shares = []
    for asked in queries.values():
        trees: list[Tree] = [asked.structure.tree(row.tolist()) for row in asked.ids[:_COMPARED]]
        known = full.kg.graph("valid")
        for one, other in zip(*(engine.candidates(trees, _TOP, known) for engine in (full, less)), strict=True):
            ten, others = (set(found.entities[found.predicted].tolist()) for found in (one, other))
            shares.append(len(ten & others) / max(1, len(ten)))
    return float(np.mean(shares)) if shares else 1.0
