"""The questions that an engine is scored on: facts or queries of another graph, in the ids of the engine.

Names that are spelled the same are the same. What the engine cannot be asked, or knows already, is left out and told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathformer.errors import BenchmarkError, InputError
from pathformer.evaluation.link_ranks import link_questions
from pathformer.kg.graph import Graph
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.names import Names
from pathformer.kg.ragged import Ragged, difference, select, union
from pathformer.kg.splits import SPLITS
from pathformer.kg.vocabulary import Vocabulary
from pathformer.querysets.queries import Queries, StoredQueries
from pathformer.querysets.query_sets import QuerySets, graph_pair
from pathformer.symbolic.answer import answer_rows
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.text import counted

__all__ = ["Questions", "ask_facts", "ask_folder", "leave_known"]

Ids = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, slots=True)
class Questions:
    """Questions whose hard answers the engine does not know, by structure."""

    queries: Mapping[str, Queries]
    known: Graph  # the engine's facts, and those of other parts, which count as known
    left_out: tuple[str, ...]  # what was left out and why, in sentences


def ask_facts(known: KnowledgeGraph, facts: KnowledgeGraph, split: str | None = None) -> Questions:
    """Returns the questions of one hop, in both directions, that ask for facts which an engine's graph lacks.

    split: the part of `facts` that is asked for, by default all of it, or `test` where it has parts. The facts of its
    other parts count as known: they are neither asked for nor wrong.
    """
    part = split or ("test" if "test" in facts.splits else "train")
    if part not in facts.splits:
        raise InputError(f"{facts.name} has no {part} part, only {', '.join(facts.splits)}: name one of these")
    names = _Names.of(facts.vocabulary, known.vocabulary)
    asked, others = facts.splits[part], [rows for name, rows in facts.splits.items() if name != part]
    graph, added = _with_facts(known, names, others)
    named = names.triples(asked)
    new = named[[not graph.has(head, relation, tail) for head, relation, tail in named.tolist()]]
    told = _tell(counted(len(asked), "fact"), len(named) - len(new), "which it knows", len(asked) - len(named))
    if not len(new):
        raise InputError(
            f"{facts.name} holds nothing to ask the engine for. {told[0] if told else 'It holds no fact.'} "
            f"Name facts about the entities of {known.name} that were kept back when the engine was fitted"
        )
    return Questions({"1p": link_questions(new, graph)}, graph, (*told, *added))


def ask_folder(
    known: KnowledgeGraph,
    stored: QuerySets[StoredQueries],
    split: str,
    owner: KnowledgeGraph | None = None,
    structures: Sequence[str] = (),
) -> Questions:
    """Returns the queries of a folder in an engine's ids; hard are the answers that it does not know.

    owner: the graph whose ids the folder is written in, None if it is the engine's; the facts of its earlier parts
    count as known.
    """
    _check_owner(stored, owner or known)
    names = None if owner is None else _Names.of(owner.vocabulary, known.vocabulary)
    earlier = (
        [] if owner is None else [owner.splits[name] for name in SPLITS[: SPLITS.index(split)] if name in owner.splits]
    )
    graph, added = (known.graph(), ()) if names is None else _with_facts(known, names, earlier)
    queries: dict[str, Queries] = {}
    given = named = 0
    for name, part in _choose(stored, split, structures).items():
        whole = _complete(part, stored, split, owner)
        asked = whole if names is None else names.queries(whole)
        given, named = given + len(whole), named + len(asked)
        missing = leave_known(asked, graph)
        if len(missing):
            queries[name] = missing
    asked_for = sum(map(len, queries.values()))
    told = _tell(counted(given, "query", "queries"), named - asked_for, "without an unknown answer", given - named)
    if not queries:
        raise InputError(
            f"{stored.folder} holds nothing to ask the engine. {told[0] if told else 'It holds no query.'} "
            f"Name queries about the entities of {known.name} whose answers need facts that were kept back when the "
            "engine was fitted"
        )
    return Questions(queries, graph, (*told, *added))


def _with_facts(known: KnowledgeGraph, names: _Names, others: Sequence[Ids]) -> tuple[Graph, tuple[str, ...]]:
    """Returns an engine's graph with other facts beside its own, and a sentence if there are any."""
    graph = known.graph()
    if not others:
        return graph, ()
    added = names.triples(np.concatenate(others))
    both = np.concatenate([*known.splits.values(), added])
    larger = Graph.from_triples(both, graph.entities, graph.relations)
    new = (larger.edges - graph.edges) // 2
    told = f"{counted(new, 'fact')} of other parts, which the engine was not fitted on, count as known."
    return larger, (told,) if new else ()


def _tell(given: str, known: int, why: str, unnamed: int) -> tuple[str, ...]:
    """Returns a sentence of what is left out, if anything is."""
    reasons = [
        *([f"{known:,} {why}"] if known else []),
        *([f"{unnamed:,} with a name that the engine does not know"] if unnamed else []),
    ]
    return (f"Of {given}, {' and '.join(reasons)} are left out.",) if reasons else ()


def leave_known(asked: Queries, graph: Graph) -> Queries:
    """Returns the queries that have a hard answer which a graph does not give; what it gives is easy."""
    given, _ = answer_rows(asked.structure, asked.ids, GraphPair.of(graph))
    hard = difference(asked.hard, given)
    easy = union(asked.easy, given)
    return Queries(asked.structure, asked.ids, difference(easy, hard), hard).take(np.flatnonzero(hard.counts))


def _check_owner(stored: QuerySets[StoredQueries], owner: KnowledgeGraph) -> None:
    """Refuses a graph that the queries do not belong to."""
    if stored.fingerprint is not None and stored.fingerprint != owner.fingerprint():
        named = f"{stored.graph!r}, a graph other than {owner.name!r}" if stored.graph else "another graph"
        raise BenchmarkError(
            f"{stored.folder}: these queries belong to {named}, so its ids mean other things here: name the graph "
            "they were drawn from with --graph; what is spelled the same is then taken for the same"
        )
    sizes = owner.vocabulary.entity_count, owner.vocabulary.relation_count
    for split, parts in stored.splits.items():
        for part in parts.values():
            part.check_range(*sizes, f"{stored.folder}: {split}")


def _choose(stored: QuerySets[StoredQueries], split: str, structures: Sequence[str]) -> Mapping[str, StoredQueries]:
    parts = stored.splits.get(split, {})
    if absent := [name for name in structures if name not in parts] if parts else [split]:
        there = f"its structures are {', '.join(parts)}" if parts else f"its parts are {', '.join(stored.splits)}"
        raise BenchmarkError(f"{stored.folder}: has no {' or '.join(absent)} queries: {there}")
    return {name: part for name, part in parts.items() if not structures or name in structures}


def _complete(
    part: StoredQueries, stored: QuerySets[StoredQueries], split: str, owner: KnowledgeGraph | None
) -> Queries:
    if part.easy is not None and part.hard is not None:
        return Queries(part.structure, part.ids, part.easy, part.hard)
    if owner is None:
        raise BenchmarkError(
            f"{stored.folder}: its {part.structure} queries have no answers: name the graph they follow from with "
            "--graph"
        )
    return part.complete(graph_pair(owner, split))


@dataclass(frozen=True, eq=False, slots=True)
class _Names:
    """The engine's id of each entity and directed relation of another graph; -1 for one that it does not know."""

    entities: Ids
    relations: Ids

    @classmethod
    def of(cls, theirs: Vocabulary, ours: Vocabulary) -> _Names:
        base = _match(theirs.relations, ours.relations)
        directed = np.where(base < 0, -1, 2 * base)
        both = np.stack([directed, np.where(base < 0, -1, directed + 1)], axis=1).reshape(-1)
        return cls(_match(theirs.entities, ours.entities), both.astype(np.int32))

    def triples(self, rows: npt.NDArray[np.integer]) -> Ids:
        """Returns the triples (n, 3) whose names are all known."""
        mapped = np.stack([self.entities[rows[:, 0]], self.relations[rows[:, 1]], self.entities[rows[:, 2]]], axis=1)
        return mapped[(mapped >= 0).all(axis=1)]

    def queries(self, asked: Queries) -> Queries:
        """Returns the queries whose ids are all known; answers that are not known are left out."""
        of_column = [self.entities if kind == "e" else self.relations for kind in asked.structure.columns]
        ids = np.stack([own[asked.ids[:, column]] for column, own in enumerate(of_column)], axis=1)
        easy, hard = (self._answers(rows) for rows in (asked.easy, asked.hard))
        return Queries(asked.structure, ids, easy, hard).take(np.flatnonzero((ids >= 0).all(axis=1)))

    def _answers(self, rows: Ragged) -> Ragged:
        mapped = Ragged(rows.ptr, self.entities[rows.values])
        found = select(mapped, mapped.values >= 0)
        return union(found, Ragged.empty(len(found)))  # ascending again


def _match(theirs: Names, ours: Names) -> Ids:
    return np.array([next(iter(ours.find(name)), -1) for name in theirs], np.int32)
