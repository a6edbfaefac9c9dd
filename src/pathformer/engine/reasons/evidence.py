"""The evidence for a predicted link: the facts that its score rests on, in names."""

from __future__ import annotations

from pathformer.engine.reasons.proof import Reason, Step, in_names
from pathformer.engine.reasons.why import Evidence, Why
from pathformer.kg.vocabulary import Vocabulary
from pathformer.links.evidence._base import spell_fact
from pathformer.links.scorer import LinkScorer
from pathformer.query.tree import Anchor, Projection, Tree

__all__ = ["give_evidence"]

_MOST = 3  # pieces that are shown


def give_evidence(tree: Tree, tail: int, links: LinkScorer, vocabulary: Vocabulary) -> Why:
    """Returns the reason for a predicted tail of a single link."""
    assert isinstance(tree, Projection)
    assert isinstance(tree.of, Anchor)
    link = (tree.of.entity, tree.relation, tail)
    evidence = tuple(
        Evidence(
            source=piece.source,
            text=links.say(piece, link, vocabulary),
            facts=tuple(spell_fact(fact, vocabulary) for fact in piece.facts),
            part=piece.part,
        )
        for piece in links.pieces(*link)[:_MOST]
    )
    return in_names(Reason(steps=(Step(*link, rank=0),)), tree, vocabulary, evidence)
