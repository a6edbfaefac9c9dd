"""Answers for the eye: lines in the terminal, a table in a notebook; known and predicted in different colours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING

from pathformer.text import visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderableType

    from pathformer.engine.answer.answer import Answer, Answers

__all__ = ["KNOWN", "PIPED", "PREDICTED", "html_table", "notes", "nothing", "percent", "plain_text", "terminal_lines"]

KNOWN, PREDICTED = "green", "yellow"  # as the terminal calls them
PIPED = 100_000  # columns of what is no terminal: lines are left whole, for what reads them
_WIDEST = 60  # columns that names are given; a longer one pushes the rest of its line as far as there is room
_NARROWEST = 12  # columns that a name has on the narrowest screen
_KIND = 9  # columns of "predicted"
_HTML = {True: "#1a7f37", False: "#9a6700"}


def percent(answer: Answer) -> str:
    """A probability for people: what is not known is never shown as certain, nor as impossible.

    What was not measured has a question mark.
    """
    if answer.known:
        return "100 %"
    share = 100 * answer.probability
    text = "< 1 %" if share < 1 else "> 99 %" if share > 99 else f"{share:.0f} %"
    return text if answer.calibrated else f"{text}?"


def terminal_lines(answers: Answers, *, why: bool = True) -> Group:
    """A line an answer, and its reason below where there is one."""
    from rich.console import Group

    return Group(_Lines(answers, why))


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines at the width of whatever they are printed on: a long name is folded within its own column."""

    answers: Answers
    why: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.padding import Padding
        from rich.text import Text

        first = max((len(f"{answer.rank}") for answer in self.answers), default=0)
        share = 6 if all(answer.calibrated for answer in self.answers) else 7  # a question mark more
        room = max(_NARROWEST, options.max_width - (first + 2 + 2 + _KIND + 2 + share))
        width = min(_WIDEST, room, max((Text(visible(_name(answer))).cell_len for answer in self.answers), default=0))
        for answer in self.answers:
            colour = KNOWN if answer.known else PREDICTED
            end = f"  {_kind(answer):<{_KIND}}  {percent(answer):>{share}}"
            name, *more = Text(visible(_name(answer))).wrap(console, room) or [Text()]
            name.rstrip()
            name.pad_right(max(0, width - name.cell_len))
            yield Text.assemble((f"{answer.rank:>{first}}  ", "dim"), (name.plain + end, colour))
            for part in more:
                yield Text(" " * (first + 2) + part.plain.rstrip(), colour)
            if self.why and answer.why is not None:
                yield Padding(Text(visible(str(answer.why)), "dim"), (0, 0, 0, first + 4), expand=False)
        if note := notes(self.answers):
            yield Text(note, "italic")


def plain_text(answers: Answers) -> str:
    """The same lines without colours, or why there is none."""
    from rich.console import Console

    if not len(answers):
        return nothing(answers)
    written = StringIO()
    Console(file=written, width=PIPED, highlight=False, color_system=None).print(terminal_lines(answers))
    return written.getvalue().rstrip("\n")


def nothing(answers: Answers) -> str:
    """What is said where there is no answer."""
    told = "; ".join(notes(answers).splitlines())
    return f"no answer: {told}" if told else "no answer is left"


def html_table(answers: Answers) -> str:
    """The same for a notebook."""
    rows = "".join(
        f"<tr><td>{answer.rank}</td>"
        f'<td style="text-align:left;color:{_HTML[answer.known]}">{escape(_name(answer))}</td>'
        f'<td style="text-align:left;color:{_HTML[answer.known]}">{_kind(answer)}</td>'
        f"<td>{escape(percent(answer))}</td>"
        f'<td style="text-align:left">{escape(str(answer.why or ""))}</td></tr>'
        for answer in answers
    )
    head = "<tr><th></th><th>answer</th><th></th><th></th><th>why</th></tr>"
    below = f"<p>{escape(note)}</p>" if (note := notes(answers)) else ""
    return f"<p><code>{escape(answers.question)}</code></p><table>{head}{rows}</table>{below}"


def _kind(answer: Answer) -> str:
    return "known" if answer.known else "predicted"


def _name(answer: Answer) -> str:
    """The label, with the name beside it where they differ by more than how blanks are written."""
    same = answer.label.replace("_", " ") == answer.entity.replace("_", " ")
    return answer.label if same else f"{answer.label} ({answer.entity})"


def notes(answers: Answers) -> str:
    """What is to be said of the answers together, a line each."""
    doubt = answers.doubt
    if not doubt and any(not answer.calibrated for answer in answers):
        doubt = "a probability with ? was not measured: the graph has no link like it"
    told = (answers.note, _held_back(len(answers.held_back)), doubt if answers.predicted else "")
    return "\n".join(map(visible, filter(None, told)))


def _held_back(count: int) -> str:
    if not count:
        return ""
    these, them = ("one is", "it") if count == 1 else (f"{count:,} are", "them")
    return (
        f"of the nearest predictions {these} held back: the graph has no link like {them} "
        f"(--any-kind or any_kind=True shows {them})"
    )
