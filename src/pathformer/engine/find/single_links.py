"""The candidates of a single link, (head, relation, ?): known tails, and those that the evidence speaks for."""

from __future__ import annotations

import numpy as np

from pathformer.engine.find.candidates import Candidates
from pathformer.engine.find.exact_sets import ExactSets
from pathformer.kg.schema import RelationSchema
from pathformer.links.scorer import LinkScorer
from pathformer.query.tree import Anchor, Projection, Tree
from pathformer.symbolic.plausible import log_mean_tails

__all__ = ["find_link", "is_link"]


def is_link(tree: Tree) -> bool:
    """Whether a tree is a single link from an anchor."""
    return isinstance(tree, Projection) and isinstance(tree.of, Anchor)


def find_link(tree: Tree, schema: RelationSchema, links: LinkScorer, top: int) -> Candidates:
    """Returns the known tails of a link on the graph of `schema`, and the `top` best others.

    The distance of a prediction is minus the log of its share, that of a known tail 0.
    """
    assert isinstance(tree, Projection)
    assert isinstance(tree.of, Anchor)
    graph, sets = schema.graph, ExactSets(schema.graph)
    known = sets.of(tree).astype(np.int64)
    predicted = links.predict(tree.of.entity, tree.relation, top, known) if top else None
    others = np.zeros(0, np.int64) if predicted is None else predicted.tails
    none: list[float] = []
    shares, likely = (none, none) if predicted is None else (predicted.log_shares, predicted.probabilities)
    count = len(known) + len(others)
    return Candidates(
        tree=tree,
        entities=np.concatenate([known, others]),
        distances=np.concatenate([np.zeros(len(known)), -np.asarray(shares)]).astype(np.float32),
        known=np.arange(count) < len(known),
        implausible=np.zeros(count, np.bool_),
        entity_count=graph.entities,
        ends=log_mean_tails(tree, schema),
        sets=sets,
        probabilities=np.concatenate([np.ones(len(known)), np.asarray(likely, np.float64)]),
    )
