"""`pathformer ask`: questions to an engine, answers as a table, JSON or CSV."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathformer.engine.answer.answers import Answers
    from pathformer.engine.engine import Engine

__all__ = ["command", "read_questions"]


def command(
    engine: Annotated[Path, typer.Argument(help="The folder that `pathformer fit` made.", show_default=False)],
    questions: Annotated[
        list[str] | None,
        typer.Argument(help="Questions: a formula, SPARQL, or a tuple of ids.", show_default=False),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", "-f", help="A file with one question on each line, or with one SPARQL query; - reads the input."
        ),
    ] = None,
    top: Annotated[int, typer.Option(help="How many predicted answers to show; known answers are all shown.")] = 10,
    known: Annotated[bool, typer.Option("--known", help="Show only answers that the graph proves.")] = False,
    predicted: Annotated[
        bool, typer.Option("--predicted", help="Show only answers that the graph does not prove.")
    ] = False,
    min_probability: Annotated[
        float | None, typer.Option(help="Leave out answers that are less likely than this, 0 to 1.", show_default=False)
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            help="Show so many predictions that this share of them should be right, 0 to 1.", show_default=False
        ),
    ] = None,
    any_kind: Annotated[
        bool,
        typer.Option(
            "--any-kind", help="Also show predictions of a kind that never stands in that position in the graph."
        ),
    ] = False,
    why: Annotated[bool, typer.Option(help="Show the reason of each answer.")] = True,
    explain: Annotated[bool, typer.Option("--explain", help="First show how the question is read.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON; with several questions, one object on each line.")
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Answer questions: first what the graph proves, then what is likely although the graph lacks it.

    A known answer (green) follows from edges of the graph; a predicted one (yellow) comes with its probability, and its
    reason says which edges it assumes.

    Examples:

        $ pathformer ask films '?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)'

        $ pathformer ask films 'SELECT ?x { :Fellini :directed/:stars ?x }' --top 3 --json

        $ pathformer ask films --file questions.txt --predicted --precision 0.9 --csv > answers.csv
    """
    from pathformer.engine.engine import load
    from pathformer.errors import InputError

    if known and predicted:
        raise InputError("--known and --predicted exclude each other: leave both out to see all answers")
    if json and csv:
        raise InputError("--json and --csv exclude each other: leave one out")
    if explain and (json or csv):
        raise InputError("--explain goes with the table of answers: leave out --json and --csv")
    asked = {f"question {number}": text for number, text in enumerate(questions or (), 1)}
    asked |= read_questions(file) if file is not None else {}
    if not asked:
        raise InputError("there is no question: write one after the engine, in quotes, or name a file with --file")
    opened = load(engine)
    _check(asked, opened)
    wanted = True if known else False if predicted else None
    found = opened.ask(
        list(asked.values()), top=top, known=wanted, min_probability=min_probability, why=why, any_kind=any_kind
    )
    if precision is not None:
        found = [_cut(answers, precision) for answers in found]
    if json:
        _print_json(found)
    elif csv:
        _print_csv(found)
    else:
        _print_tables(found, opened, why=why, explain=explain)


def read_questions(file: Path) -> dict[str, str]:
    """Returns the questions of a file by their position: one on each line, or the whole file as one SPARQL query.

    The file is one query if it ends in .rq or .sparql, or if its first line begins a query and does not end it. Empty
    lines and lines that start with # are left out.
    """
    from pathformer.errors import InputError

    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text: save it as UTF-8") from error
    text = text.removeprefix("\ufeff")  # of the input, too
    numbered = {f"{file}:{number}": line.strip() for number, line in enumerate(text.splitlines(), 1)}
    lines = {place: line for place, line in numbered.items() if line and not line.startswith("#")}
    if not lines:
        raise InputError(f"{'the input' if str(file) == '-' else file} holds no question: write one on each line")
    if file.suffix.lower() in (".rq", ".sparql") or _begins_a_query(next(iter(lines.values()))):
        return {str(file): text}
    return lines


def _begins_a_query(line: str) -> bool:
    """Whether a line is the first of several lines of a SPARQL query."""
    whole = line.count("{") == line.count("}") > 0
    return not whole and re.match(r"(select|prefix|base)\b", line, re.IGNORECASE) is not None


def _check(asked: dict[str, str], engine: Engine) -> None:
    """Fails, before any question is answered, if one of several cannot be read."""
    from pathformer.engine.answer.read import read_question
    from pathformer.errors import InputError, QueryError

    if len(asked) == 1:
        return
    for place, text in asked.items():
        try:
            read_question(text, engine.kg)
        except QueryError as error:
            raise InputError(f"{place}, {text}: {error}") from error


def _print_json(found: list[Answers]) -> None:
    for answers in found:
        typer.echo(answers.to_json(indent=2 if len(found) == 1 else None))


def _print_csv(found: list[Answers]) -> None:
    """Prints a table of all answers, and its notes on stderr, so that the output stays one CSV file."""
    from pathformer.engine.answer.answers import to_csv
    from pathformer.engine.answer.show import notes

    typer.echo(found[0].to_csv() if len(found) == 1 else to_csv(found), nl=False)
    for answers in found:
        for note in notes(answers).splitlines():
            typer.echo(note if len(found) == 1 else f"{answers.question}: {note}", err=True)


def _print_tables(found: list[Answers], engine: Engine, *, why: bool, explain: bool) -> None:
    from rich.console import Console

    from pathformer.engine.answer.show import PIPED, nothing

    console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPED)
    for number, answers in enumerate(found):
        if number:
            console.print()
        if explain:
            _explain(answers.question, engine)
        elif len(found) > 1:
            console.print(answers.question, style="bold", markup=False)
        console.print(answers.table(why=why) if len(answers) else nothing(answers), markup=False)


def _cut(answers: Answers, precision: float) -> Answers:
    """Returns the answers cut at a precision, with a note if no prediction is left."""
    from dataclasses import replace

    cut = answers.at_precision(precision)
    if len(cut.predicted) or not (len(answers.predicted) or answers.hidden):
        return cut
    best = max((answer.probability for answer in answers.predicted if answer.calibrated), default=None)
    left_out = "No precision can be promised: no probability of these predictions was measured."
    if best is not None:
        left_out = f"No prediction reaches a precision of {100 * precision:g} % (best measured: {100 * best:.1f} %)."
    return replace(cut, note=" ".join(filter(None, (answers.note, left_out))))


def _explain(question: str, engine: Engine) -> None:
    from itertools import islice

    from pathformer.query.explain import explain
    from pathformer.query.iris import Naming
    from pathformer.text import visible

    for title, lines in islice(explain(question, Naming.of(engine.kg)), 3):  # as read, scope, computation tree
        typer.secho(title, bold=True)
        typer.echo("\n".join(f"  {visible(line)}" for line in lines))
    typer.echo()
