"""From questions to answers: the flow on one screen.

question ─read→ tree ─encode→ points ─search→ candidates ─calibrate→ probabilities ─explain→ Answers
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pathformer.engine.answer.answer import Answer, Answers
from pathformer.engine.answer.read import Asked
from pathformer.engine.answer.select import Options, looked_at, select
from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.find.candidates import Candidates
from pathformer.engine.find.nearest import search
from pathformer.engine.reasons.empty import why_empty
from pathformer.engine.reasons.guess import Guesser
from pathformer.engine.reasons.proof import Reason, Sets, prove, say
from pathformer.index._base import Index
from pathformer.kg.graph import Graph
from pathformer.kg.schema import Kinds, say_stray, say_unheard
from pathformer.kg.vocabulary import Vocabulary
from pathformer.models._encoder import Encoder
from pathformer.query.compile.parts import contradicts_itself

__all__ = ["Service", "ask"]

_TOGETHER = 1024  # questions encoded and searched at once
_IF_ANY = "probabilities hold if there is an answer at all"  # questions without a known one all had one to be measured


@dataclass(frozen=True, eq=False, slots=True)
class Service:
    """What answering needs."""

    graph: Graph
    vocabulary: Vocabulary
    encoder: Encoder
    index: Index
    calibration: Calibration
    kinds: Kinds


def ask(questions: Sequence[Asked], service: Service, options: Options) -> list[Answers]:
    """The answers of every question; as many as memory bears are encoded and searched at once."""
    top = 0 if options.known is True else options.top
    answers = []
    for first in range(0, len(questions), _TOGETHER):
        part = questions[first : first + _TOGETHER]
        trees = [asked.tree for asked in part]
        found = search(trees, service.kinds, service.encoder, service.index, looked_at(top))
        answers += [_answers(asked, one, service, options) for asked, one in zip(part, found, strict=True)]
    return answers


def _answers(asked: Asked, found: Candidates, service: Service, options: Options) -> Answers:
    if absurd := contradicts_itself(asked.tree):
        found = found.where(found.known)
    doubt, sets = _doubt(asked, service), Sets(service.graph)
    odd = service.kinds.odd(found, options.top)
    probabilities = service.calibration.probabilities(found, odd)
    chosen = select(found, odd, probabilities, options, asked.limit)
    reasons = _reasons(found, [place for _, place in chosen.given], sets, service) if options.why else {}

    def answer(rank: int, place: int) -> Answer:
        entity, known = int(found.entities[place]), bool(found.known[place])
        return Answer(
            rank=rank,
            entity=service.vocabulary.entity(entity),
            label=service.vocabulary.label(entity),
            known=known,
            probability=float(probabilities[place]),
            calibrated=known or not (doubt or odd[place]),
            score=-float(found.distances[place]),
            why=say(reasons[place], asked.tree, service.vocabulary) if place in reasons else None,
        )

    items = tuple(answer(rank, place) for rank, place in chosen.given)
    if absurd:
        note = "the question contradicts itself: it asks for what one of its negated parts denies"
    elif found.known.any():
        note = chosen.left_out if not items or (options.top and all(item.known for item in items)) else ""
    else:
        if_any = _IF_ANY if items and not doubt else ""
        empty = why_empty(asked.tree, sets, service.vocabulary, service.kinds)
        note = "; ".join(filter(None, (empty, chosen.left_out, if_any)))
    return Answers(asked.text, items, note, doubt, tuple(answer(rank, place) for rank, place in chosen.held_back))


def _doubt(asked: Asked, service: Service) -> str:
    """Why no held-out question stands behind the probabilities, where none does."""
    if not service.calibration.fitted:
        return "probabilities are a mere habit: too little was held out to measure them by"
    if link := service.kinds.stray(asked.tree):
        return f"{say_stray(link, service.vocabulary)}: probabilities were not measured on such a question"
    if link := service.kinds.unheard(asked.tree):
        return f"{say_unheard(link, service.vocabulary)}: probabilities were hardly measured on such a question"
    return ""


def _reasons(found: Candidates, places: list[int], sets: Sets, service: Service) -> dict[int, Reason]:
    known = [place for place in places if found.known[place]]
    predicted = [place for place in places if not found.known[place]]
    reasons = {place: prove(found.tree, int(found.entities[place]), sets) for place in known}
    if predicted:
        guesser = Guesser(service.encoder, service.index, sets, kinds=service.kinds)
        reasons |= dict(zip(predicted, guesser.explain(found.tree, found.entities[predicted]), strict=True))
    return reasons
