"""The reasons for predictions from links: the evidence for a single link, and the best assignment of a longer question.

Evidence is the facts of the graph that a score rests on.
"""

from __future__ import annotations

from pathformer.engine.find.candidates import Candidates
from pathformer.engine.reasons.proof import Reason, Step, in_names
from pathformer.engine.reasons.why import Evidence, Why
from pathformer.kg.vocabulary import Vocabulary
from pathformer.links.evidence._base import Fact, spell_fact
from pathformer.links.scorer import LinkScorer
from pathformer.query.tree import Anchor, Negation, Projection, Tree, node_at

__all__ = ["give_assignment", "give_evidence"]

_MOST = 3  # pieces that are shown


def give_evidence(tree: Tree, tail: int, links: LinkScorer, vocabulary: Vocabulary) -> Why:
    """Returns the reason for a predicted tail of a single link."""
    assert isinstance(tree, Projection)
    assert isinstance(tree.of, Anchor)
    link = (tree.of.entity, tree.relation, tail)
    return in_names(Reason(steps=(Step(*link, rank=0),)), tree, vocabulary, _evidence(link, links, vocabulary, _MOST))


def give_assignment(candidates: Candidates, entity: int, links: LinkScorer | None, vocabulary: Vocabulary) -> Why:
    """Returns the best assignment of a predicted answer as its reason, with evidence for the links it predicts."""
    tree, assigned = candidates.tree, candidates.assign and candidates.assign(entity)
    if assigned is None:
        return in_names(Reason(), tree, vocabulary, ())
    steps: list[Step] = []
    evidence: tuple[Evidence, ...] = ()
    for link in (link for link in assigned.links if not link.denied):
        ids = (link.head, link.relation, link.tail)
        steps.append(Step(*ids, rank=None if link.known else 0, probability=None if link.known else link.probability))
        if not link.known and links is not None:
            evidence += _evidence(ids, links, vocabulary, 1)
    absent = tuple(
        (part.of, denial.entity)
        for denial in assigned.denials
        if isinstance(part := node_at(tree, denial.node), Negation)
    )
    return in_names(Reason(assigned.bindings, tuple(steps), absent), tree, vocabulary, evidence)


def _evidence(link: Fact, links: LinkScorer, vocabulary: Vocabulary, most: int) -> tuple[Evidence, ...]:
    """Returns the strongest pieces of evidence for a link, in names."""
    return tuple(
        Evidence(
            source=piece.source,
            text=links.say(piece, link, vocabulary),
            facts=tuple(spell_fact(fact, vocabulary) for fact in piece.facts),
            part=piece.part,
        )
        for piece in links.pieces(*link)[:most]
    )
