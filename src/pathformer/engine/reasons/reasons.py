"""Gives each answer its reason: a proof for a known one, the most likely binding for a predicted one."""

from __future__ import annotations

from collections.abc import Sequence

from pathformer.engine.find.candidates import Candidates
from pathformer.engine.reasons.guess import Guesser
from pathformer.engine.reasons.proof import in_names, prove
from pathformer.engine.reasons.why import Why
from pathformer.index._base import Index
from pathformer.kg.schema import RelationSchema
from pathformer.kg.vocabulary import Vocabulary
from pathformer.plan.encoder import Encoder

__all__ = ["give_reasons"]


def give_reasons(
    candidates: Candidates,
    chosen: Sequence[int],
    vocabulary: Vocabulary,
    encoder: Encoder,
    index: Index,
    schema: RelationSchema,
) -> dict[int, Why]:
    """Returns the reasons of the chosen candidates, by their position among the candidates."""
    tree, entities, sets = candidates.tree, candidates.entities, candidates.sets
    known = [position for position in chosen if candidates.known[position]]
    predicted = [position for position in chosen if not candidates.known[position]]
    reasons = {position: prove(tree, int(entities[position]), sets) for position in known}
    if predicted:
        guesser = Guesser(encoder, index, sets, schema=schema)
        reasons |= dict(zip(predicted, guesser.explain(tree, entities[predicted]), strict=True))
    return {position: in_names(reason, tree, vocabulary) for position, reason in reasons.items()}
