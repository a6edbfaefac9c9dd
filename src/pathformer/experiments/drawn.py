"""The training queries of a run, where it does not take them as they are given.

`walk_from_answer` and `weigh_by_removed` say how some structures are drawn, at first and later; `redraw_every` replaces
all queries but the links while a run is trained.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pathformer.experiments.settings import Run
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import Structure, is_chain
from pathformer.querysets.protocol import protocol_for
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets, graph_pair
from pathformer.querysets.removed_answers import all_with_removed, sample_by_removed_answers
from pathformer.querysets.sampler import Rules, sample

__all__ = ["first_set", "fresh_set", "with_origins"]


def first_set(run: Run, kg: KnowledgeGraph, given: Mapping[str, Queries]) -> list[Queries]:
    """The training queries that a run starts with: those given, but drawn anew where it says how."""
    drawn = [_drawn(run, kg, asked, "first") if _own_way(run, asked.structure) else asked for asked in given.values()]
    return _with_removed(run, kg, drawn)


def fresh_set(run: Run, kg: KnowledgeGraph, given: Mapping[str, Queries], number: int) -> list[Queries]:
    """The n-th set of training queries: as many of each structure as given, drawn anew; all links every time."""
    drawn = [asked if name == "1p" else _drawn(run, kg, asked, f"fresh {number}") for name, asked in given.items()]
    return _with_removed(run, kg, drawn)


def with_origins(run: Run, sets: QuerySets[Queries]) -> QuerySets[Queries]:
    """The queries of a run, whose origin says which of the training queries it draws in its own way."""
    ways = {f"train {name}": _own_way(run, asked.structure) for name, asked in sets["train"].items()}
    return replace(sets, sources={part: ways.get(part) or words for part, words in sets.sources.items()})


def _own_way(run: Run, structure: Structure) -> str:
    """How a run draws training queries of a structure, in words; empty where it takes what is given."""
    if structure.negated:
        return "drawn by what their negations take away" if run.training.weigh_by_removed else ""
    walked = run.training.walk_from_answer and is_chain(structure.shape) and structure.name != "1p"
    return "drawn, walked from an answer" if walked else ""


def _drawn(run: Run, kg: KnowledgeGraph, queries: Queries, stream: str) -> Queries:
    """As many training queries of a structure, drawn anew."""
    backward = run.training.walk_from_answer or protocol_for(kg).backward
    graphs, rules, seed = graph_pair(kg, "train"), Rules(forward=not backward), run.training.seed
    structure, count, most = queries.structure, len(queries), run.training.weigh_by_removed
    if most and structure.negated:
        return sample_by_removed_answers(structure, graphs, count, most, seed=seed, stream=stream, rules=rules)
    return sample(structure, graphs, count, seed=seed, stream=stream, rules=rules)


def _with_removed(run: Run, kg: KnowledgeGraph, queries: Iterable[Queries]) -> list[Queries]:
    """Training queries, and what their negations take away where the objective asks for it."""
    if not run.training.update.softmax.removed:
        return list(queries)
    return all_with_removed(queries, graph_pair(kg, "train"))
