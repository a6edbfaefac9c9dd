"""Gives each answer its reason: a proof for a known one, the most likely binding for a predicted one."""

from __future__ import annotations

from collections.abc import Sequence

from pathformer.engine.find.candidates import Candidates
from pathformer.engine.find.finders import Finders
from pathformer.engine.find.single_links import is_link
from pathformer.engine.reasons.evidence import give_assignment, give_evidence
from pathformer.engine.reasons.guess import Guesser
from pathformer.engine.reasons.proof import in_names, prove
from pathformer.engine.reasons.why import Why
from pathformer.kg.schema import RelationSchema
from pathformer.kg.vocabulary import Vocabulary

__all__ = ["give_reasons"]


def give_reasons(
    candidates: Candidates,
    chosen: Sequence[int],
    vocabulary: Vocabulary,
    finders: Finders,
    schema: RelationSchema,
) -> dict[int, Why]:
    """Returns the reasons of the chosen candidates, by their position among the candidates."""
    tree, entities, sets = candidates.tree, candidates.entities, candidates.sets
    known = [position for position in chosen if candidates.known[position]]
    predicted = [position for position in chosen if not candidates.known[position]]
    reasons = {position: prove(tree, int(entities[position]), sets) for position in known}
    found = {position: in_names(reason, tree, vocabulary) for position, reason in reasons.items()}
    if predicted and finders.links is not None and is_link(tree):
        found |= {p: give_evidence(tree, int(entities[p]), finders.links, vocabulary) for p in predicted}
    elif predicted and candidates.assign is not None:
        for p in predicted:
            found[p] = give_assignment(candidates, int(entities[p]), finders.links, vocabulary)
    elif predicted and finders.points is not None:
        guesser = Guesser(*finders.points, sets, schema=schema)
        guessed = guesser.explain(tree, entities[predicted])
        found |= {p: in_names(one, tree, vocabulary) for p, one in zip(predicted, guessed, strict=True)}
    return found
