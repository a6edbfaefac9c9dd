"""The answers to a question: to read, filter, cut at a precision and hand on.

Known answers come first: exact traversal of the graph proves them. Predicted ones follow, most likely first.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, overload

from pathformer.engine.reasons.why import Why
from pathformer.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from rich.console import Group

__all__ = ["COLUMNS", "FORMAT", "KNOWN", "PREDICTED", "Answer", "Answers", "check_share", "to_csv"]

KNOWN, PREDICTED = "known", "predicted"  # the status of an answer
FORMAT = 1  # of the JSON; a change that a reader must know of counts it up
COLUMNS = ("rank", "entity", "label", "status", "probability", "calibrated", "score", "reason")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: an entity for each column of the question, and what is known about it."""

    rank: int  # from 1; predicted answers continue after the last known one
    values: Mapping[str, str] = field(hash=False)  # column -> entity; a column is the answer's variable without "?"
    labels: Mapping[str, str] = field(hash=False)  # column -> the label that people read
    status: str  # "known": the graph proves it, where a negated part counts as true unless stated; or "predicted"
    probability: float  # 1 for a known answer
    score: float  # minus the model's distance: larger is nearer; comparable within one question only
    reason: Why | None = None  # None where none was asked for
    calibrated: bool = True  # whether the probability was measured on held-out questions; True for a known answer

    @property
    def entity(self) -> str:
        """The name of the entity, of an answer with one column."""
        (entity,) = self.values.values()
        return entity

    @property
    def label(self) -> str:
        """The label of the entity, of an answer with one column."""
        (label,) = self.labels.values()
        return label

    @property
    def known(self) -> bool:
        """Whether the graph proves the answer."""
        return self.status == KNOWN

    @property
    def predicted(self) -> bool:
        """Whether the model gives the answer and the graph does not prove it."""
        return not self.known

    def to_dict(self) -> dict[str, Any]:
        """Returns the answer as plain values."""
        return {
            "rank": self.rank,
            "values": dict(self.values),
            "entity": self.entity,
            "label": self.label,
            "status": self.status,
            "known": self.known,
            "probability": self.probability,
            "calibrated": self.calibrated,
            "score": self.score,
            "reason": None if self.reason is None else self.reason.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Answers(Sequence[Answer]):
    """The answers to one question, in order."""

    question: str
    items: tuple[Answer, ...]
    note: str = ""  # why the graph has no answer, if it has none; what the options left out, if they left out all
    doubt: str = ""  # why the probabilities were not measured on questions like this one, if they were not
    hidden: tuple[Answer, ...] = ()  # near predictions that are implausible: nothing of their kind stands there

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.items)

    def __contains__(self, value: object) -> bool:
        """Whether an answer is among these, or one with this name or label."""
        if isinstance(value, str):
            return any(value in (answer.entity, answer.label) for answer in self.items)
        return value in self.items

    @overload
    def __getitem__(self, index: int) -> Answer: ...
    @overload
    def __getitem__(self, index: slice) -> Answers: ...
    def __getitem__(self, index: int | slice) -> Answer | Answers:
        return replace(self, items=self.items[index]) if isinstance(index, slice) else self.items[index]

    @property
    def calibrated(self) -> bool:
        """Whether the probabilities were measured on held-out questions like this one."""
        return not self.doubt

    @property
    def known(self) -> Answers:
        """The answers that the graph proves."""
        return self.where(lambda answer: answer.known)

    @property
    def predicted(self) -> Answers:
        """The answers that the graph does not prove."""
        return self.where(lambda answer: answer.predicted)

    def where(self, keep: Callable[[Answer], bool]) -> Answers:
        """The answers, hidden ones too, for which a function returns True; they keep their ranks."""
        return replace(self, items=tuple(filter(keep, self.items)), hidden=tuple(filter(keep, self.hidden)))

    def at_least(self, probability: float) -> Answers:
        """The answers with at least this probability."""
        check_share("a probability", probability)
        return self.where(lambda answer: answer.probability >= probability)

    def at_precision(self, precision: float) -> Answers:
        """The most predictions of which this share is expected to be right, after all known answers.

        These are the longest run of the most likely predictions whose mean probability is at least `precision`. Known
        answers do not make room for unlikely ones. A prediction whose probability was not measured (`calibrated` is
        false) is left out, because nothing could be promised for it.
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
        kept = {answer.rank for answer in likely[:count]}
        return self.where(lambda answer: answer.known or answer.rank in kept)

    def to_dict(self) -> dict[str, Any]:
        """Returns the question, what is to be said about the answers, and the answers, as plain values."""
        return {
            "format": FORMAT,
            "question": self.question,
            "note": self.note,
            "calibrated": self.calibrated,
            "doubt": self.doubt,
            "answers": [answer.to_dict() for answer in self.items],
            "hidden": [answer.to_dict() for answer in self.hidden],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Returns `to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def to_csv(self) -> str:
        """Returns a header and one line for each answer; the reason is text."""
        return _csv(COLUMNS, self.rows())

    def to_pandas(self) -> Any:
        """Returns a pandas table with one row for each answer; the reason is text."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("to_pandas", "pandas", "pandas") from error
        return pd.DataFrame(self.rows(), columns=list(COLUMNS))

    def to_polars(self) -> Any:
        """Returns a polars table with one row for each answer; the reason is text."""
        try:
            import polars as pl
        except ImportError as error:
            raise MissingExtraError("to_polars", "polars", "polars") from error
        types = (pl.Int64, pl.String, pl.String, pl.String, pl.Float64, pl.Boolean, pl.Float64, pl.String)
        return pl.DataFrame(self.rows(), schema=dict(zip(COLUMNS, types, strict=True)), orient="row")

    def table(self, *, why: bool = True) -> Group:
        """Returns what rich prints: a line for each answer, coloured by its status, with its reason below."""
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
        hidden = f", {len(self.hidden):,} hidden" if self.hidden else ""
        return f"<Answers: {known:,} known, {len(self) - known:,} predicted{hidden}; {self.question}>"

    def rows(self) -> list[tuple[Any, ...]]:
        """Returns one tuple for each answer, in the order of COLUMNS; the reason is text."""
        return [
            (
                *(a.rank, a.entity, a.label, a.status, a.probability, a.calibrated, a.score),
                None if a.reason is None else str(a.reason),
            )
            for a in self.items
        ]


def to_csv(several: Sequence[Answers]) -> str:
    """Returns the answers to several questions as one table, with the question before each answer."""
    return _csv(("question", *COLUMNS), [(answers.question, *row) for answers in several for row in answers.rows()])


def _csv(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def check_share(what: str, value: object) -> None:
    """Refuses a value that is not a number from 0 to 1."""
    if not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
        raise InputError(f"{what} must be a number from 0 to 1, got {value!r}")
