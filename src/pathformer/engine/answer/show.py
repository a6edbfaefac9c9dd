"""How answers are shown: as lines in a terminal, as a table in a notebook; the status decides the colour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING

from pathformer.engine.answer.answers import KNOWN, PREDICTED, Answer, Answers
from pathformer.text import counted, visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderableType

__all__ = ["COLOURS", "PIPED", "html_table", "notes", "nothing", "percent", "plain_text", "terminal_lines"]

COLOURS = {KNOWN: "green", PREDICTED: "yellow"}  # in a terminal, by status
PIPED = 100_000  # the width used where the output is not a terminal, so that no line is folded
_WIDEST = 60  # columns for names; a longer name pushes the rest of its line to the right
_NARROWEST = 12  # columns for names on the narrowest screen
_STATUS = 9  # columns for the status
_HTML = {KNOWN: "#1a7f37", PREDICTED: "#9a6700"}


def percent(answer: Answer) -> str:
    """Returns a probability for people: a prediction is never shown as certain or impossible.

    A question mark follows a probability that was not measured.
    """
    if answer.known:
        return "100 %"
    share = 100 * answer.probability
    text = "< 1 %" if share < 1 else "> 99 %" if share > 99 else f"{share:.0f} %"
    return text if answer.calibrated else f"{text}?"


def terminal_lines(answers: Answers, *, why: bool = True) -> Group:
    """Returns what rich prints: a line for each answer, and its reason below."""
    from rich.console import Group

    return Group(_Lines(answers, why))


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines that fit the width they are printed at: a long name is folded within its own column."""

    answers: Answers
    why: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.padding import Padding
        from rich.text import Text

        first = max((len(f"{answer.rank}") for answer in self.answers), default=0)
        share = 6 if all(answer.calibrated for answer in self.answers) else 7  # a question mark more
        room = max(_NARROWEST, options.max_width - (first + 2 + 2 + _STATUS + 2 + share))
        width = min(_WIDEST, room, max((Text(visible(_name(answer))).cell_len for answer in self.answers), default=0))
        for answer in self.answers:
            colour = COLOURS[answer.status]
            end = f"  {answer.status:<{_STATUS}}  {percent(answer):>{share}}"
            name, *more = Text(visible(_name(answer))).wrap(console, room) or [Text()]
            name.rstrip()
            name.pad_right(max(0, width - name.cell_len))
            yield Text.assemble((f"{answer.rank:>{first}}  ", "dim"), (name.plain + end, colour))
            for part in more:
                yield Text(" " * (first + 2) + part.plain.rstrip(), colour)
            if self.why and answer.reason is not None:
                yield Padding(Text(visible(str(answer.reason)), "dim"), (0, 0, 0, first + 4), expand=False)
        if note := notes(self.answers):
            yield Text(note, "italic")


def plain_text(answers: Answers) -> str:
    """Returns the lines without colours, or why there is no answer."""
    from rich.console import Console

    if not len(answers):
        return nothing(answers)
    written = StringIO()
    Console(file=written, width=PIPED, highlight=False, color_system=None).print(terminal_lines(answers))
    return written.getvalue().rstrip("\n")


def nothing(answers: Answers) -> str:
    """Returns what is said where there is no answer."""
    return " ".join(["No answer.", *notes(answers).splitlines()])


def html_table(answers: Answers) -> str:
    """Returns the answers as a table for a notebook."""
    rows = "".join(
        f"<tr><td>{answer.rank}</td>"
        f'<td style="text-align:left;color:{_HTML[answer.status]}">{escape(_name(answer))}</td>'
        f'<td style="text-align:left;color:{_HTML[answer.status]}">{answer.status}</td>'
        f"<td>{escape(percent(answer))}</td>"
        f'<td style="text-align:left">{escape(str(answer.reason or ""))}</td></tr>'
        for answer in answers
    )
    head = "<tr><th></th><th>answer</th><th></th><th></th><th>reason</th></tr>"
    below = f"<p>{escape(note)}</p>" if (note := notes(answers)) else ""
    return f"<p><code>{escape(answers.question)}</code></p><table>{head}{rows}</table>{below}"


def _name(answer: Answer) -> str:
    """Returns the label, followed by the name if the two differ by more than underscores for blanks."""
    same = answer.label.replace("_", " ") == answer.entity.replace("_", " ")
    return answer.label if same else f"{answer.label} ({answer.entity})"


def notes(answers: Answers) -> str:
    """Returns what is to be said about the answers together, a line each."""
    doubt = answers.doubt
    if not doubt and any(not answer.calibrated for answer in answers):
        doubt = "A probability with ? was not measured: nothing of its kind stands there in the graph."
    lines = (answers.note, _hidden(len(answers.hidden)), doubt if answers.predicted else "")
    return "\n".join(map(visible, filter(None, lines)))


def _hidden(count: int) -> str:
    if not count:
        return ""
    are, their, them = ("is", "its", "it") if count == 1 else ("are", "their", "them")
    return (
        f"{counted(count, 'prediction')} {are} hidden: nothing of {their} kind stands there in the graph. "
        f"Show {them} with --any-kind (in Python any_kind=True)."
    )
