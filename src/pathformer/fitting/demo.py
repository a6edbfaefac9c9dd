"""The demo: hides a part of the bundled graph, learns the rest, asks, and checks predictions against the hidden part.

Also makes example questions for any graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from pathformer.engine.answer.answers import KNOWN, PREDICTED
from pathformer.engine.answer.show import COLOURS, notes, percent
from pathformer.engine.engine import Engine
from pathformer.fitting.fit import fit
from pathformer.fitting.report import FitReport
from pathformer.fitting.settings import settings_for
from pathformer.kg.datasets import load
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.ast import Atom, Constant, Query, Variable
from pathformer.query.compile.bind import bind
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.parse import parse, write
from pathformer.query.picture.text_tree import Labels, tree_lines
from pathformer.query.tree import Tree
from pathformer.symbolic.answer import answer

if TYPE_CHECKING:
    from rich.console import Console

    from pathformer.engine.answer.answers import Answer, Answers

__all__ = ["QUESTIONS", "Question", "example_questions", "learn", "show_learned"]

_HIDDEN = 0.05  # share of facts that are hidden; validation takes as many again
_KNOWN, _PREDICTED = 12, 5  # answers shown


@dataclass(frozen=True, slots=True)
class Question:
    """A question in words and in the formula language."""

    words: str
    formula: str


QUESTIONS = (
    Question(
        "Two hops: which are the capitals of the countries of Northern Europe?",
        "?city : capital_of(?city, ?country) & in_region(?country, Northern_Europe)",
    ),
    Question(
        "And, not: which countries of Western Africa are not French-speaking?",
        "?country : in_region(?country, Western_Africa) & !speaks(?country, French)",
    ),
    Question(
        "Or: in which countries is Spanish or Portuguese spoken?",
        "?country : speaks(?country, Spanish) | speaks(?country, Portuguese)",
    ),
)


def learn(world: KnowledgeGraph, seconds: float, progress: bool = True) -> tuple[Engine, FitReport]:
    """Trains on the graph for `seconds`; the engine knows nothing about the hidden part."""
    parts = world.split(_HIDDEN, _HIDDEN)
    names = parts.vocabulary
    usual = settings_for(entities=names.entity_count, triples=parts.triple_count, minutes=seconds / 60.0)
    training = replace(usual.training, minutes=seconds / 60.0, validations=1)
    scale = replace(usual, trained_per_structure=10_000, held_out_per_structure=40, minutes=None, training=training)
    learnt = fit(parts, settings=scale, progress=progress)
    seen = KnowledgeGraph(parts.name, names, {"train": parts.splits["train"], "valid": parts.splits["valid"]})
    links = None if learnt.links is None else learnt.links.on(seen.graph())
    engine = Engine(seen, learnt.encoder, learnt.index, learnt.calibration, learnt.about, links=links)
    return engine, FitReport.from_json(learnt.files["report.json"].decode())


def show_learned(console: Console, seconds: float) -> None:
    """Trains, measures, asks three questions and draws one of them."""
    start = perf_counter()
    world = load("world")
    hidden = int(_HIDDEN * world.triple_count)
    console.print(f"[bold]The bundled graph of the world[/]: {world.triple_count:,} facts, {hidden} of them hidden.")
    console.print(f"A model learns from the rest for {seconds:.0f} s and has to guess what is hidden.\n")
    engine, report = learn(world, seconds)
    _figures(report, console)
    for number, question in enumerate(QUESTIONS):
        _show(question, engine, world, console, drawn=number == 1)
    console.print(f"All of it took {perf_counter() - start:.0f} s. What to type next:")
    for line in (
        "pathformer demo '?c : borders(?c, France) & speaks(?c, French)'",
        "pathformer fit world --out world",
        f"pathformer ask world '{QUESTIONS[0].formula}'",
        "pathformer fit your-triples.tsv --out yours",
    ):
        console.print(Text(f"  {line}", "green"), soft_wrap=True)


def _figures(report: FitReport, console: Console) -> None:
    assert report.scores is not None
    assert report.frequency is not None
    assert report.calibration is not None
    kinds, links = len(report.scores.scores), report.scores.scores["1p"]
    console.print(
        f"\n[bold]Held-out MRR {100 * report.scores.mrr:.1f} %[/], mean of {kinds} structures of questions;"
        f" the counting baseline has {100 * report.frequency.mrr:.1f} %."
    )
    console.print(
        f"A hidden fact is among the ten best guesses {100 * links.hits[10]:.0f} times of 100."
        f" Probabilities are off by {100 * report.calibration.ece:.1f} points on average.\n"
    )


def _show(question: Question, engine: Engine, world: KnowledgeGraph, console: Console, *, drawn: bool) -> None:
    tree = _tree(question.formula, world)
    truth = {world.vocabulary.entity(int(entity)) for entity in answer(tree, world.graph())}
    answers = engine.ask(question.formula, top=_PREDICTED)
    console.print(Text(question.words, "bold"))
    console.print(Padding(Text(question.formula, "cyan"), (0, 0, 1 if drawn else 0, 2)))
    if drawn:
        lines = tree_lines(tree, Labels(world.vocabulary), f"?{parse(question.formula).answer.name}")
        console.print(Padding(Text("\n".join(lines)), (0, 0, 1, 4)))
    console.print(Padding(_known(answers), (0, 0, 0, 2)))
    for guess in answers.predicted:
        for line in _guess(guess, guess.entity in truth):
            console.print(line)
    if said := notes(replace(answers, hidden=())):  # only `ask` can show hidden predictions
        console.print(Padding(Text(said, "dim"), (0, 0, 0, 2)))
    missed = truth - {found.entity for found in answers}
    if missed:
        console.print(Padding(Text(f"hidden and not among these: {_listed(missed, world)}", "dim"), (0, 0, 0, 2)))
    console.print()


def _known(answers: Answers) -> Text:
    names = [found.label for found in answers.known]
    more = f" and {len(names) - _KNOWN} more" if len(names) > _KNOWN else ""
    return Text.assemble(("known      ", COLOURS[KNOWN]), (", ".join(names[:_KNOWN]) or "none", COLOURS[KNOWN]), more)


def _guess(guess: Answer, true: bool) -> list[Text | Padding]:
    """Shows a predicted answer, whether it is true, and its reason."""
    verdict = (" true: the hidden facts say so", "bold green") if true else (" not in the hidden facts", "dim")
    line = Text.assemble((f"  predicted  {guess.label}, {percent(guess)}", COLOURS[PREDICTED]), verdict)
    return [line, *([] if guess.reason is None else [Padding(Text(str(guess.reason), "dim"), (0, 0, 0, 13))])]


def _listed(names: set[str], world: KnowledgeGraph) -> str:
    labels = sorted(world.vocabulary.label(world.vocabulary.entity_id(name)) for name in names)
    return ", ".join(labels[:_KNOWN]) + (" ..." if len(labels) > _KNOWN else "")


def _tree(formula: str, world: KnowledgeGraph) -> Tree:
    return to_tree(bind(parse(formula), world.vocabulary), world.vocabulary)


_LOOKED_AT, _LONG = 100, 80  # triples of which the first is taken whose names together have at most so many letters


def example_questions(kg: KnowledgeGraph) -> tuple[str, str]:
    """Returns two questions about a triple of the graph, one in each direction."""
    names, answer = kg.vocabulary, Variable("x")
    rows: list[list[int]] = kg.splits["train"][:_LOOKED_AT].tolist()
    head, relation, tail = next((row for row in rows if _length(row, kg) <= _LONG), rows[0])
    atoms = (
        Atom(names.relation(relation), Constant(names.entity(head)), answer),
        Atom(names.relation(relation), answer, Constant(names.entity(tail))),
    )
    first, second = (write(Query(answer, atom)) for atom in atoms)
    return first, second


def _length(row: list[int], kg: KnowledgeGraph) -> int:
    head, relation, tail = row
    return sum(map(len, (kg.vocabulary.entity(head), kg.vocabulary.relation(relation), kg.vocabulary.entity(tail))))
