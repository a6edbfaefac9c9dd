"""Answers, as they are read, filtered, cut and handed on.

Known answers come first: exact traversal of the given graph proves them. Predicted ones follow, most likely first.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, overload

from pathformer.engine.reasons.why import Why
from pathformer.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from rich.console import Group

__all__ = ["COLUMNS", "Answer", "Answers", "check_share", "to_csv"]

COLUMNS = ("rank", "entity", "label", "known", "probability", "calibrated", "score", "why")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer."""

    rank: int  # from 1; predicted answers go on after the last known one
    entity: str  # the name that queries use
    label: str  # what people read
    known: bool  # whether the graph proves it; a negated part counts as true where the graph does not state it
    probability: float  # 1 for a known answer
    score: float  # minus the model's distance: larger is nearer, to be compared within one question only
    why: Why | None = None  # None where it was not asked for
    calibrated: bool = True  # whether held-out questions stand behind the probability; True of a known answer

    @property
    def predicted(self) -> bool:
        """Whether the model says so, and not the graph."""
        return not self.known

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "entity": self.entity,
            "label": self.label,
            "rank": self.rank,
            "score": self.score,
            "probability": self.probability,
            "calibrated": self.calibrated,
            "known": self.known,
            "why": None if self.why is None else self.why.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Answers(Sequence[Answer]):
    """The answers to one question, in order."""

    question: str
    items: tuple[Answer, ...]
    note: str = ""  # why the graph has no answer, where it has none; what options hid, where they hid all predictions
    doubt: str = ""  # why no held-out questions stand behind the probabilities, where none do
    held_back: tuple[Answer, ...] = ()  # nearer predictions that are unlike all that stands there, without a reason

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.items)

    def __contains__(self, value: object) -> bool:
        """Whether an answer is among them, or one of that name or label."""
        if isinstance(value, str):
            return any(value in (answer.entity, answer.label) for answer in self.items)
        return value in self.items

    @overload
    def __getitem__(self, place: int) -> Answer: ...
    @overload
    def __getitem__(self, place: slice) -> Answers: ...
    def __getitem__(self, place: int | slice) -> Answer | Answers:
        return replace(self, items=self.items[place]) if isinstance(place, slice) else self.items[place]

    @property
    def calibrated(self) -> bool:
        """Whether held-out questions like this one stand behind the probabilities."""
        return not self.doubt

    @property
    def known(self) -> Answers:
        """Those that the graph proves."""
        return self.where(lambda answer: answer.known)

    @property
    def predicted(self) -> Answers:
        """The others."""
        return self.where(lambda answer: not answer.known)

    def where(self, keep: Callable[[Answer], bool]) -> Answers:
        """Those that a function keeps, with the ranks they had; of those held back, too."""
        return replace(self, items=tuple(filter(keep, self.items)), held_back=tuple(filter(keep, self.held_back)))

    def at_least(self, probability: float) -> Answers:
        """Those that are at least so likely."""
        check_share("a probability", probability)
        return self.where(lambda answer: answer.probability >= probability)

    def at_precision(self, precision: float) -> Answers:
        """As many as can be taken so that this share of the predicted ones is expected to be right.

        All known ones stay; of the predicted ones, the longest run of the most likely whose mean probability is at
        least `precision`. Known answers do not make room for unlikely ones, and a prediction whose probability nobody
        has measured (`calibrated` is false) goes: it would make the promise an empty one.
        """
        check_share("a precision", precision)
        measured = self.predicted.where(lambda answer: answer.calibrated)
        likely = sorted(measured, key=lambda answer: -answer.probability)
        total, count = 0.0, 0
        for number, answer in enumerate(likely, 1):
            total += answer.probability
            if total < precision * number - 1e-12:
                break
            count = number
        kept = {answer.entity for answer in likely[:count]}
        return self.where(lambda answer: answer.known or answer.entity in kept)

    def to_dict(self) -> dict[str, Any]:
        """As plain values: the question, a note where there is one, `answers`, and what is held back of them."""
        return {
            "question": self.question,
            "note": self.note,
            "calibrated": self.calibrated,
            "doubt": self.doubt,
            "answers": [answer.to_dict() for answer in self.items],
            "held_back": [answer.to_dict() for answer in self.held_back],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def to_csv(self) -> str:
        """One line an answer, with a header; `why` as text."""
        return _csv(COLUMNS, self.rows())

    def to_pandas(self) -> Any:
        """A pandas table, one row an answer; `why` as text."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("to_pandas", "pandas", "pandas") from error
        return pd.DataFrame(self.rows(), columns=list(COLUMNS))

    def to_polars(self) -> Any:
        """A polars table, one row an answer; `why` as text."""
        try:
            import polars as pl
        except ImportError as error:
            raise MissingExtraError("to_polars", "polars", "polars") from error
        types = (pl.Int64, pl.String, pl.String, pl.Boolean, pl.Float64, pl.Boolean, pl.Float64, pl.String)
        return pl.DataFrame(self.rows(), schema=dict(zip(COLUMNS, types, strict=True)), orient="row")

    def table(self, *, why: bool = True) -> Group:
        """What rich prints: a line an answer, known and predicted in different colours, and its reason below."""
        from pathformer.engine.answer.show import terminal_lines

        return terminal_lines(self, why=why)

    def __rich__(self) -> Group:
        return self.table()

    def _repr_html_(self) -> str:
        from pathformer.engine.answer.show import html_table

        return html_table(self)

    def __str__(self) -> str:
        from pathformer.engine.answer.show import plain_text

        return plain_text(self)

    def __repr__(self) -> str:
        known = len(self.known)
        held_back = f", {len(self.held_back):,} held back" if self.held_back else ""
        return f"<Answers: {known:,} known, {len(self) - known:,} predicted{held_back}; {self.question}>"

    def rows(self) -> list[tuple[Any, ...]]:
        """One tuple an answer, in the order of COLUMNS; `why` as text."""
        return [
            (
                *(a.rank, a.entity, a.label, a.known, a.probability, a.calibrated, a.score),
                None if a.why is None else str(a.why),
            )
            for a in self.items
        ]


def to_csv(several: Sequence[Answers]) -> str:
    """The answers of several questions in one table, with the question before each."""
    return _csv(("question", *COLUMNS), [(answers.question, *row) for answers in several for row in answers.rows()])


def _csv(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def check_share(what: str, value: object) -> None:
    """Refuse what is no number between 0 and 1."""
    if not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
        raise InputError(f"{what} lies between 0 and 1, got {value!r}")
