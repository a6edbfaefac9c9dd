"""Learns how often a link of a list over all heads is right: most heads miss nothing.

`learn_mixture` fits probabilities on questions that have a missing answer. Here the questions are drawn from all pairs
(head, relation) that have a fact, whether or not one of theirs was held out, so that a probability says how often such
a link was among the held-out facts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pathformer.fitting.held_out_predictions import graph_without
from pathformer.kg.graph import Graph
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.links.calibration import LinkCalibration, Predictions
from pathformer.links.evidence._base import Evidence
from pathformer.links.mixing import Mixing, features

__all__ = ["learn_listing", "list_predictions"]

_MOST = 4000  # pairs that are drawn
_TOP = 50  # predictions of a pair
_TOGETHER = 64  # heads that are scored at once


def learn_listing(kg: KnowledgeGraph, sources: Sequence[Evidence], mixing: Mixing, seed: int = 0) -> LinkCalibration:
    """Fits the probabilities of a list on the held-out facts of `valid`, by sources made on the train graph."""
    predictions, right = list_predictions(kg, "valid", graph_without(kg, "valid"), sources, mixing, seed)
    return LinkCalibration.fit(predictions, right) if len(right) else LinkCalibration.none()


def list_predictions(
    kg: KnowledgeGraph, part: str, rest: Graph, sources: Sequence[Evidence], mixing: Mixing, seed: int = 0
) -> tuple[Predictions, npt.NDArray[np.bool_]]:
    """Returns the best predictions of pairs of `rest`, drawn at random, and which of them a held-out part states."""
    held_out = Graph.from_triples(kg.splits[part], rest.entities, rest.relations)
    pairs = np.random.default_rng(seed).permutation(len(rest.pair_relation))[:_MOST]
    heads, relations = rest.heads_of(pairs).astype(np.int64), rest.pair_relation[pairs]
    predictions: list[Predictions] = []
    right: list[npt.NDArray[np.bool_]] = [np.zeros(0, np.bool_)]
    for relation in np.unique(relations).tolist():
        chosen = heads[relations == relation]
        for first in range(0, len(chosen), _TOGETHER):
            some = chosen[first : first + _TOGETHER]
            known = [rest.tails_of(head, relation).astype(np.int64) for head in some.tolist()]
            for head, own, given in zip(some.tolist(), known, features(sources, some, relation, known), strict=True):
                row = mixing.scores(given, relation)
                best = np.argsort(-row, kind="stable")[:_TOP]
                best = best[np.isfinite(row[best])]
                predictions.append(Predictions.of(relation, row[best], len(own)))
                right.append(np.isin(best, held_out.tails_of(head, relation)))
    return Predictions.join(predictions), np.concatenate(right)
