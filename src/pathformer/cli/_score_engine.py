"""Scores an engine for `pathformer evaluate`: reads what it is asked, and shows how far it has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pathformer.cli._options import load_graph
from pathformer.errors import InputError

if TYPE_CHECKING:
    from pathformer.engine.engine import Engine
    from pathformer.evaluation.engine_report import EngineReport
    from pathformer.evaluation.questions import Questions
    from pathformer.kg.knowledge import KnowledgeGraph
    from pathformer.querysets.queries import StoredQueries
    from pathformer.querysets.query_sets import QuerySets

__all__ = ["score_engine"]


def score_engine(
    folder: Path,
    facts: str | None,
    queries: str | None,
    *,
    graph: str | None,
    split: str | None,
    structures: Sequence[str],
    data: Path | None,
) -> EngineReport:
    """Returns the report of an engine on facts or on a folder of queries."""
    from pathformer.engine.engine import load
    from pathformer.evaluation.evaluate_engine import check_engine, score_facts, score_queries, steps_of
    from pathformer.evaluation.questions import ask_facts

    if (facts is None) == (queries is None):
        raise InputError(
            f"{folder} is an engine: say what it is asked, either --facts FILE with facts that it was not fitted on, "
            "or --queries DIR"
        )
    if facts is not None and (graph is not None or structures):
        raise InputError("--graph and --structure go with --queries: facts are single links, with names of their own")
    engine = load(folder)
    check_engine(engine)
    about = {"engine": str(folder), "asked": facts or queries}
    if facts is not None:
        asked = ask_facts(engine.kg, load_graph(facts, data), split)
        with _progress(steps_of(asked)) as advance:
            return score_facts(engine, asked, about, advance)
    assert queries is not None
    asked = _read_queries(engine, queries, graph, split or "test", structures, data)
    with _progress(steps_of(asked)) as advance:
        return score_queries(engine, asked, about, advance)


def _read_queries(
    engine: Engine, folder: str, graph: str | None, split: str, structures: Sequence[str], data: Path | None
) -> Questions:
    from pathformer.evaluation.questions import ask_folder
    from pathformer.querysets.query_sets import read_folder

    stored = read_folder(folder, (split,))
    return ask_folder(engine.kg, stored, split, _find_owner(stored, engine.kg, graph, data), structures)


def _find_owner(
    stored: QuerySets[StoredQueries], known: KnowledgeGraph, graph: str | None, data: Path | None
) -> KnowledgeGraph | None:
    """Returns the graph whose ids the queries are written in; None for the engine's own."""
    from pathformer.kg.datasets import is_known

    if graph is not None:
        return load_graph(graph, data)
    assert stored.folder is not None
    if (stored.folder / "train.txt").is_file():
        return load_graph(stored.folder, data)
    if stored.fingerprint is None:
        raise InputError(
            f"{stored.folder} does not say which graph its ids belong to: name it with --graph, or name the engine "
            "there if they are the engine's own"
        )
    if stored.fingerprint != known.fingerprint() and is_known(stored.graph):
        return load_graph(stored.graph, data)
    return None


@contextmanager
def _progress(total: int) -> Iterator[Callable[[str, int], None] | None]:
    """Yields a function to call with what is done and the questions of each step; None where nobody looks."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("ranking", total=total)
        yield lambda what, count: bar.update(task, description=what, advance=count)
