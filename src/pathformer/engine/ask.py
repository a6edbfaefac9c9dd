"""From questions to answers: the flow on one screen.

question ─read→ tree ─encode→ points ─search→ candidates ─calibrate→ probabilities ─explain→ Answers
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathformer.engine.answers import Answer, Answers
from pathformer.engine.calibrate import Calibration
from pathformer.engine.candidates import Candidates
from pathformer.engine.contradiction import contradicts_itself
from pathformer.engine.empty import why_empty
from pathformer.engine.encode import Encoder
from pathformer.engine.guess import Guesser
from pathformer.engine.kinds import Kinds, say_stray
from pathformer.engine.proof import Reason, Sets, prove, say
from pathformer.engine.question import Asked
from pathformer.engine.search import search
from pathformer.engine.spell import Speller
from pathformer.errors import InputError
from pathformer.index import Index
from pathformer.kg.graph import Graph
from pathformer.kg.vocab import Vocabulary

__all__ = ["Options", "Service", "ask"]

_TOGETHER = 1024  # questions encoded and searched at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is wanted of the answers."""

    top: int = 10  # predicted answers; known ones are all given
    known: bool | None = None  # True: known ones alone, False: predicted ones alone
    min_probability: float | None = None
    why: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.top, int | np.integer) or self.top < 0:
            raise InputError(f"top is a number of predicted answers, 0 or more, got {self.top}")
        if self.min_probability is not None and not 0.0 <= self.min_probability <= 1.0:
            raise InputError(f"a probability lies between 0 and 1, got {self.min_probability}")


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
        found = search([asked.tree for asked in part], service.graph, service.encoder, service.index, top)
        answers += [_answers(asked, one, service, options) for asked, one in zip(part, found, strict=True)]
    return answers


def _answers(asked: Asked, found: Candidates, service: Service, options: Options) -> Answers:
    if absurd := contradicts_itself(asked.tree):
        found = found.where(found.known)
    doubt, vocabulary, sets = _doubt(asked, service), service.vocabulary, Sets(service.graph)
    probabilities = service.calibration.probabilities(found)
    ranked = _ranked(found, probabilities, options)[: asked.limit]
    reasons = _reasons(found, [place for _, place in ranked], sets, service) if options.why else {}
    needed = options.why or not found.known.any()
    speller = Speller(vocabulary, asked.answer, asked.variables if needed else {})
    items = []
    for rank, place in ranked:
        entity, known = int(found.entities[place]), bool(found.known[place])
        items.append(
            Answer(
                rank=rank,
                entity=vocabulary.entity(entity),
                label=vocabulary.label(entity),
                known=known,
                probability=float(probabilities[place]),
                calibrated=known or (not doubt and service.kinds.fits(entity, asked.tree)),
                score=-float(found.distances[place]),
                why=say(reasons[place], speller) if options.why else None,
            )
        )
    left_out = _left_out(found, probabilities, options)
    if absurd:
        note = "the question contradicts itself: it asks for what one of its negated parts denies"
    elif found.known.any():
        note = left_out if not items or (options.top and all(item.known for item in items)) else ""
    else:
        note = "; ".join(filter(None, (why_empty(asked.tree, sets, speller), left_out)))
    return Answers(asked.text, tuple(items), note, doubt)


def _ranked(found: Candidates, probabilities: npt.NDArray[np.float64], options: Options) -> list[tuple[int, int]]:
    """Rank and place of the candidates that are wanted; a rank counts those that are not, too."""
    places = [*found.known.nonzero()[0].tolist(), *found.predicted.nonzero()[0].tolist()]
    return [
        (rank, place)
        for rank, place in enumerate(places, 1)
        if options.known in (None, bool(found.known[place]))
        and (options.min_probability is None or probabilities[place] >= options.min_probability)
    ]


def _doubt(asked: Asked, service: Service) -> str:
    """Why no held-out question stands behind the probabilities, where none does."""
    if not service.calibration.fitted:
        return "probabilities are a mere habit: too little was held out to measure them by"
    link = service.kinds.stray(asked.tree)
    if link is None:
        return ""
    return f"{say_stray(link, service.vocabulary)}: probabilities were not measured on such a question"


def _left_out(found: Candidates, probabilities: npt.NDArray[np.float64], options: Options) -> str:
    """What the options hide of the predictions."""
    if options.known is True:
        return ""
    if not options.top:
        return "no predictions were asked for"
    least = options.min_probability or 0.0
    hidden = probabilities[found.predicted & (probabilities < least)]
    if not len(hidden):
        return ""
    least, best = 100 * least, 100 * hidden.max()
    if len(hidden) == 1:
        return f"one prediction is less likely than {least:g} %: it has {best:.1f} %"
    return f"{len(hidden):,} predictions are less likely than {least:g} %, the best of them {best:.1f} %"


def _reasons(found: Candidates, places: list[int], sets: Sets, service: Service) -> dict[int, Reason]:
    known = [place for place in places if found.known[place]]
    predicted = [place for place in places if not found.known[place]]
    reasons = {place: prove(found.tree, int(found.entities[place]), sets) for place in known}
    if predicted:
        guesser = Guesser(service.encoder, service.index, sets)
        reasons |= dict(zip(predicted, guesser.explain(found.tree, found.entities[predicted]), strict=True))
    return reasons
