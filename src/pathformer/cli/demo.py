"""`pathformer demo`: the whole idea on the bundled graph, in a second."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["QUESTIONS", "Answers", "Question", "command", "exact_answers"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question in words and in the formula language."""

    words: str
    formula: str


@dataclass(frozen=True, slots=True)
class Answers:
    """The labels that are shown, sorted; how many there are in all; the seconds that the search itself took."""

    shown: list[str]
    count: int
    seconds: float


QUESTIONS = (
    Question(
        "Several hops: in which scripts are the official languages of India's neighbours written?",
        "?script : borders(India, ?country) & official_language(?country, ?language) & written_in(?language, ?script)",
    ),
    Question(
        "Or: which capitals lie in a country where Dutch or Portuguese is official?",
        "?city : capital_of(?city, ?country)"
        " & (official_language(?country, Dutch) | official_language(?country, Portuguese))",
    ),
    Question(
        "Not: which countries of Europe use the euro, but have no neighbour that does?",
        "?country : in_continent(?country, Europe) & uses_currency(?country, Euro)"
        " & !(borders(?country, ?other) & uses_currency(?other, Euro))",
    ),
)


def command(
    question: Annotated[
        str | None, typer.Argument(help="Your own question, a formula, SPARQL or a tuple of ids, instead of the three.")
    ] = None,
) -> None:
    """Answer three example questions, or your own, exactly on the bundled graph of the world.

    The graph holds countries, cities, airports, languages, currencies and time zones; its entities read like
    `Italy`, `New_York_City`, `FCO`, `Swiss_German`, `Euro`, its relations like `borders` and `capital_of`.

    Examples:

        $ pathformer demo

        $ pathformer demo '?c : borders(?c, France) & !speaks(?c, French)'
    """
    from rich.console import Console

    from pathformer.kg.datasets import load

    console = Console(highlight=False)
    world = load("world")
    console.print(
        f"[bold]The bundled graph[/]: {world.vocabulary.entity_count:,} entities,"
        f" {world.vocabulary.relation_count // 2} relations, {len(world.splits['train']):,} facts\n"
    )
    for asked in QUESTIONS if question is None else (Question("", question),):
        _show(asked, world, console)
    if question is None:
        console.print("Ask your own: [green]pathformer demo '?c : borders(?c, France) & speaks(?c, French)'[/]")


def exact_answers(question: str, knowledge: KnowledgeGraph) -> Answers:
    """The exact answers of a question in any syntax, all or as many as it asks for (SPARQL's LIMIT)."""
    from pathformer.query.bind import bind
    from pathformer.query.naming import Naming, namespace_of
    from pathformer.query.parse import request
    from pathformer.query.tree import to_tree
    from pathformer.symbolic.answer import answer

    vocabulary = knowledge.vocabulary
    asked = request(question, naming=Naming(vocabulary, namespace_of(knowledge.name)))
    tree, graph = to_tree(bind(asked.query, vocabulary), vocabulary), knowledge.graph()
    start = perf_counter()
    found = answer(tree, graph)
    seconds = perf_counter() - start
    labels = sorted(vocabulary.label(int(entity)) for entity in found)
    return Answers(labels[: asked.limit], len(labels), seconds)


def _show(question: Question, world: KnowledgeGraph, console: Console) -> None:
    from rich.columns import Columns
    from rich.markup import escape
    from rich.padding import Padding

    answers = exact_answers(question.formula, world)
    if question.words:
        console.print(f"[bold]{escape(question.words)}[/]")
    console.print(Padding(f"[cyan]{escape(question.formula)}[/]", (0, 0, 0, 2), expand=False))
    console.print(Padding(Columns(map(escape, answers.shown), padding=(0, 3)), (0, 0, 0, 4), expand=False))
    part = f"{len(answers.shown)} of " if len(answers.shown) < answers.count else ""
    plural = "" if answers.count == 1 else "s"
    console.print(f"  [dim]{part}{answers.count} answer{plural}, found in {1000 * answers.seconds:.1f} ms[/]\n")
