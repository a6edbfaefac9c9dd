"""A link that another statement gives away is predicted first, with that statement as its reason."""

from __future__ import annotations

import numpy as np

from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.links.evidence.counts import Counts
from pathformer.links.mixing import Mixing
from pathformer.links.scorer import LinkScorer


def test_the_other_direction_of_a_symmetric_relation() -> None:
    """`near` is stated both ways for all pairs but one, `likes` is not."""
    pairs = [(f"a{n}", f"b{n}") for n in range(40)]
    both = [(x, "near", y) for x, y in pairs] + [(y, "near", x) for x, y in pairs[1:]]
    kg = KnowledgeGraph.from_triples(both + [(f"a{n}", "likes", f"b{(7 * n + 3) % 40}") for n in range(40)])
    graph, names = kg.graph(), kg.vocabulary
    near, likes = names.relation_id("near"), names.relation_id("likes")
    scorer = LinkScorer(graph, [Counts(graph)], Mixing.even(["counts"]))
    head, tail = names.entity_id("b0"), names.entity_id("a0")
    assert scorer.predict(head, near, 3).tails[0] == tail
    (piece,) = scorer.pieces(head, near, tail)
    assert graph.has(*piece.facts[0])
    assert 0.9 < piece.part < 1.0
    assert scorer.say(piece, (head, near, tail), names) == (
        f"the graph states near(a0, b0); {100 * piece.part:.0f} % of such facts are also stated as near(b0, a0)"
    )
    assert not scorer.pieces(head, likes, tail)
    without = Mixing.even(["counts"])
    plain = LinkScorer(graph, [Counts(graph)], without)
    plain.__dict__["restated"] = type("Nothing", (), {"tails": lambda *_: []})()
    row, bare = (one.shares(np.array([head]), likes)[0] for one in (scorer, plain))
    assert np.array_equal(row, bare)  # nothing else is moved
