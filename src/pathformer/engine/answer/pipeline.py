"""From questions to answers: the whole way on one screen.

question ─read→ tree ─find→ candidates ─calibrate→ probabilities ─select→ answers ─give reasons→ with reasons
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pathformer.engine.answer.answers import KNOWN, PREDICTED, Answer, Answers
from pathformer.engine.answer.read import Asked, Question, read_question
from pathformer.engine.answer.select import Options, Selection, select
from pathformer.engine.calibrate.calibration import Calibration, calibrate
from pathformer.engine.find.candidates import Candidates
from pathformer.engine.find.find import find
from pathformer.engine.find.finders import Finders
from pathformer.engine.reasons.empty import why_empty
from pathformer.engine.reasons.reasons import give_reasons
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.schema import RelationSchema

__all__ = ["Resources", "ask"]

_TOGETHER = 1024  # questions encoded and searched at once
_CONTRADICTION = "The question contradicts itself: it asks for what one of its negated parts denies."
_NOTHING_LEARNED = "This engine learned nothing: it answers what the graph states."
_IF_ANY = "These probabilities hold if there is an answer at all."  # all questions they were measured on had one


@dataclass(frozen=True, eq=False, slots=True)
class Resources:
    """Everything that answering reads."""

    kg: KnowledgeGraph
    schema: RelationSchema
    finders: Finders
    calibration: Calibration


def ask(questions: Sequence[Question], resources: Resources, options: Options) -> list[Answers]:
    """Returns the answers to every question; questions are encoded and searched many at once."""
    asked = [read_question(question, resources.kg) for question in questions]
    answers = []
    for first in range(0, len(asked), _TOGETHER):
        part = asked[first : first + _TOGETHER]
        trees = [one.tree for one in part]
        found = find(trees, resources.schema, resources.finders, options.predictions)
        answers += [_answers(one, its, resources, options) for one, its in zip(part, found, strict=True)]
    return answers


def _answers(asked: Asked, candidates: Candidates, resources: Resources, options: Options) -> Answers:
    """Returns the answers to one question from its candidates."""
    kg, schema, finders = resources.kg, resources.schema, resources.finders
    links = None if finders.links is None else finders.links.calibration
    probabilities = calibrate(candidates, resources.calibration, schema, kg.vocabulary, links)
    selection = select(candidates, probabilities.values, options, asked.limit)
    chosen = [position for _, position in selection.given] if options.why else []
    reasons = give_reasons(candidates, chosen, kg.vocabulary, finders, schema)
    empty = "" if candidates.known.any() else why_empty(asked.tree, candidates.sets, kg.vocabulary, schema)

    def answer(rank: int, position: int) -> Answer:
        entity = int(candidates.entities[position])
        return Answer(
            rank=rank,
            values={asked.answer: kg.vocabulary.entity(entity)},
            labels={asked.answer: kg.vocabulary.label(entity)},
            status=KNOWN if candidates.known[position] else PREDICTED,
            probability=float(probabilities.values[position]),
            calibrated=bool(probabilities.measured[position]),
            score=0.0 - float(candidates.distances[position]),
            reason=reasons.get(position),
        )

    return Answers(
        asked.text,
        items=tuple(answer(rank, position) for rank, position in selection.given),
        note=_note(candidates, selection, options, empty, doubted=bool(probabilities.doubt))
        if finders.points is not None or finders.links is not None or not options.predictions
        else " ".join(filter(None, (empty, _NOTHING_LEARNED))),
        doubt=probabilities.doubt,
        hidden=tuple(answer(rank, position) for rank, position in selection.hidden),
    )


def _note(candidates: Candidates, selection: Selection, options: Options, empty: str, *, doubted: bool) -> str:
    """Returns what is to be said where the graph has no answer, or where the options left out every prediction."""
    given = [position for _, position in selection.given]
    if candidates.contradictory:
        return _CONTRADICTION
    if candidates.known.any():
        only_known = options.top > 0 and all(candidates.known[position] for position in given)
        return selection.left_out if not given or only_known else ""
    if_any = _IF_ANY if given and not doubted else ""
    return " ".join(filter(None, (empty, selection.left_out, if_any)))
