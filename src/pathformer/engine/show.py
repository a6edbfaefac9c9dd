"""Answers for the eye: a table in the terminal, and one in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from pathformer.engine.answers import Answer, Answers

__all__ = ["KNOWN", "PREDICTED", "html_table", "percent", "terminal_table"]

KNOWN, PREDICTED = "green", "yellow"  # as the terminal calls them
_HTML = {True: "#1a7f37", False: "#9a6700"}


def percent(answer: Answer) -> str:
    """A probability for people: what is not known is never shown as certain, nor as impossible."""
    if answer.known:
        return "100 %"
    share = 100 * answer.probability
    return "< 1 %" if share < 1 else "> 99 %" if share > 99 else f"{share:.0f} %"


def terminal_table(answers: Answers, *, why: bool = True) -> Table:
    """A rich table; `why` adds the column of reasons where there are any."""
    from rich.markup import escape as plain
    from rich.table import Table

    table = Table(box=None, pad_edge=False, caption=_notes(answers), caption_justify="left")
    table.add_column("", justify="right", style="dim")
    table.add_column("answer", overflow="fold")
    table.add_column("")
    table.add_column("", justify="right", no_wrap=True)
    if why:
        table.add_column("why", overflow="fold", style="dim")
    for answer in answers:
        colour = KNOWN if answer.known else PREDICTED
        cells = [f"{answer.rank}", f"[{colour}]{plain(_name(answer))}[/]"]
        cells += [f"[{colour}]{_kind(answer)}[/]", percent(answer)]
        table.add_row(*cells, *([plain(str(answer.why or ""))] if why else []))
    return table


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
    notes = f"<p>{escape(note)}</p>" if (note := _notes(answers)) else ""
    return f"<p><code>{escape(answers.question)}</code></p><table>{head}{rows}</table>{notes}"


def _kind(answer: Answer) -> str:
    return "known" if answer.known else "predicted"


def _name(answer: Answer) -> str:
    """The label, with the name beside it where they differ."""
    return answer.label if answer.label == answer.entity else f"{answer.label} ({answer.entity})"


def _notes(answers: Answers) -> str:
    doubt = (
        "" if answers.calibrated or not answers.predicted else "probabilities are a mere habit: nothing was held out"
    )
    return "\n".join(note for note in (answers.note, doubt) if note)
