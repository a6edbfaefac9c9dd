"""`pathformer demo`: the whole idea on the bundled graph, in about a minute."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["Answers", "command", "exact_answers"]


@dataclass(frozen=True, slots=True)
class Answers:
    """The labels to show, sorted; how many answers there are in all; how many seconds it took to find them."""

    shown: list[str]
    count: int
    seconds: float


def command(
    question: Annotated[
        str | None,
        typer.Argument(
            help="Your own question as a formula, SPARQL or a tuple of ids; it is answered exactly, at once."
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(help="How many seconds the model learns.", min=0.1)] = 40.0,
) -> None:
    """Learn the bundled graph of the world and answer three questions about it; or answer one of yours.

    A part of the graph is hidden while the model learns. Known answers follow from the graph; predicted ones come with
    a probability and a reason, and are looked up in the hidden part. The graph holds countries, cities, airports,
    languages, currencies and time zones; its entities read like `Italy`, `New_York_City`, `FCO`, `Swiss_German`,
    `Euro`, its relations like `borders` and `capital_of`.

    Examples:

        $ pathformer demo

        $ pathformer demo '?c : borders(?c, France) & !speaks(?c, French)'
    """
    from rich.console import Console

    console = Console(highlight=False)
    if question is not None:
        _answer(question, console)
        return
    from pathformer.fitting.demo import show_learned

    show_learned(console, seconds)


def _answer(question: str, console: Console) -> None:
    """Answers one question exactly."""
    from rich.columns import Columns
    from rich.markup import escape
    from rich.padding import Padding

    from pathformer.kg.datasets import load

    world = load("world")
    answers = exact_answers(question, world)
    console.print(
        f"[bold]The bundled graph[/]: {world.vocabulary.entity_count:,} entities,"
        f" {world.vocabulary.relation_count // 2} relations, {len(world.splits['train']):,} facts\n"
    )
    console.print(Padding(f"[cyan]{escape(question)}[/]", (0, 0, 0, 2), expand=False))
    console.print(Padding(Columns(map(escape, answers.shown), padding=(0, 3)), (0, 0, 0, 4), expand=False))
    part = f"{len(answers.shown)} of " if len(answers.shown) < answers.count else ""
    plural = "" if answers.count == 1 else "s"
    console.print(f"  [dim]{part}{answers.count} answer{plural}, found in {1000 * answers.seconds:.1f} ms[/]\n")
    if not answers.count:
        console.print(Padding(escape(_why_none(question, world)), (0, 0, 1, 2), expand=False))


def _why_none(question: str, knowledge: KnowledgeGraph) -> str:
    """Says which part of a question has no answer."""
    from pathformer.engine.answer.read import read_question
    from pathformer.engine.find.exact_sets import ExactSets
    from pathformer.engine.reasons.empty import why_empty
    from pathformer.kg.schema import RelationSchema

    asked, graph = read_question(question, knowledge), knowledge.graph()
    return why_empty(asked.tree, ExactSets(graph), knowledge.vocabulary, RelationSchema(graph))


def exact_answers(question: str, knowledge: KnowledgeGraph) -> Answers:
    """Returns the exact answers of a question in any syntax, at most as many as it asks for (SPARQL's LIMIT)."""
    from pathformer.query.compile.bind import bind
    from pathformer.query.compile.to_tree import to_tree
    from pathformer.query.iris import Naming
    from pathformer.query.parse import request
    from pathformer.symbolic.answer import answer

    vocabulary = knowledge.vocabulary
    asked = request(question, naming=Naming.of(knowledge))
    tree, graph = to_tree(bind(asked.query, vocabulary), vocabulary), knowledge.graph()
    start = perf_counter()
    found = answer(tree, graph)
    seconds = perf_counter() - start
    labels = sorted(vocabulary.label(int(entity)) for entity in found)
    return Answers(labels[: asked.limit], len(labels), seconds)
