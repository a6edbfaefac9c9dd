"""The held-out parts of a graph in a fit, and the questions that are drawn from its parts.

    train   the model learns from it
    valid   held out: picks the best weights, fits the probabilities (queries on train, answered on train and valid)
    test    held out: judges both (queries on train and valid, answered on everything)

The engine's model is the one that was trained on `train`, not one trained again on everything. The held-out parts are
small, the engine knows their triples all the same, by traversal, and weights that had seen them could not be judged.

A held-out triple goes with all that state the same. Held-out questions are drawn on the graph by what it states
(`kg/holdout.spell_out`): what train states by another relation is known there. The model learns `train` as it is.

A fit keeps its questions in its folder: how many were drawn in time depends on the clock, so drawing them again would
not give the same ones. Only ids are kept; answers follow from the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pathformer.errors import DamagedError, InputError
from pathformer.files.arrays import read_npz
from pathformer.files.atomic import new_file
from pathformer.files.saved import check_file
from pathformer.fitting.settings import ALL_DRAWN, TRAIN_QUERIES_DRAWN, FitSettings
from pathformer.kg.holdout import spell_out
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.ragged import common, difference, select, union
from pathformer.query.structures import EFOL_TRAINED, STRUCTURES
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets, graph_pair
from pathformer.querysets.sampler import Rules, sample
from pathformer.symbolic.answer import answer_rows
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.training.budget import TimeBudget

__all__ = [
    "attempts",
    "draw_held_out",
    "draw_questions",
    "drop_new_entities",
    "everyday_split",
    "hold_out",
    "load_or_draw",
    "refresh_answers",
]

_EVERYDAY = "everyday "
_HELD_OUT = ("valid", "test", f"{_EVERYDAY}valid", f"{_EVERYDAY}test")

Advance = Callable[[str], None]  # called with the name of what was drawn

_MOST = 120  # missing answers of a held-out query, as in the benchmark's protocol


def everyday_split(split: str) -> str:
    """Returns the name of the split whose queries are drawn whether or not an answer is missing."""
    return _EVERYDAY + split


def hold_out(kg: KnowledgeGraph, share: float, seed: int = 0) -> KnowledgeGraph:
    """Splits the graph in three parts: its own, if it has them, else `share` of it for valid and for test."""
    if not kg.triple_count:
        raise InputError(f"the graph {kg.name!r} holds no triples: there is nothing to learn from")
    if {"valid", "test"} <= kg.splits.keys():
        return kg
    return kg.split(share, share, seed=seed)


def draw_questions(
    kg: KnowledgeGraph,
    settings: FitSettings,
    seed: int = 0,
    advance: Advance | None = None,
    budget: TimeBudget | None = None,
    learned: tuple[str, ...] = EFOL_TRAINED,
    judged: tuple[str, ...] = tuple(STRUCTURES),
) -> QuerySets[Queries]:
    """Draws the questions that a fit trains on and is judged by; fewer of them where its time is short.

    learned, judged: the structures of either.
    """
    announce, budget = advance or (lambda _: None), budget or TimeBudget()
    draws = _Draws(seed, announce, budget.first(TRAIN_QUERIES_DRAWN), len(learned))
    count = settings.trained_per_structure
    train = draws.with_answers(GraphPair.of(kg.graph("train")), learned, count, "train", settings.limit)
    kg = spell_out(kg)
    if not {"valid", "test"} <= kg.splits.keys() or not min(len(kg.splits["valid"]), len(kg.splits["test"])):
        held_out: dict[str, dict[str, Queries]] = {split: {} for split in _HELD_OUT}
        return QuerySets(splits={"train": train, **held_out}, graph=kg.name)
    draws, count = _Draws(seed, announce, budget.first(ALL_DRAWN), 4 * len(judged)), settings.held_out_per_structure
    parts = {
        split: draws.with_answers(graph_pair(kg, split), judged, count, split, _MOST) for split in ("valid", "test")
    }
    everyday = {everyday_split(split): draws.everyday(kg, split, judged, settings) for split in parts}
    return QuerySets(splits={"train": train, **parts, **everyday}, graph=kg.name)


def draw_held_out(
    kg: KnowledgeGraph, split: str, count: int, seed: int = 0, names: tuple[str, ...] = tuple(STRUCTURES)
) -> dict[str, Queries]:
    """Draws the questions of a held-out part alone; none if the graph has no such part."""
    kg = spell_out(kg)
    if not len(kg.splits.get(split, ())):
        return {}
    return _Draws(seed, lambda _: None).with_answers(graph_pair(kg, split), names, count, split, _MOST)


def refresh_answers(queries: Mapping[str, Queries], kg: KnowledgeGraph) -> dict[str, Queries]:
    """Returns held-out questions with the answers that they have on the grown graph `kg`.

    What the new triples make true is an answer like any other: others are not ranked against it. What they prove, with
    all that is not held out for the test, is known now and no longer to be found; what they make untrue by a negation
    is no answer any more. A question that has none left to find is not asked.
    """
    if not queries:
        return {}  # a graph that could spare nothing has no part to ask about
    graphs, found = graph_pair(spell_out(kg), "test"), {}
    for name, asked in queries.items():
        easy, missing = answer_rows(asked.structure, asked.ids, graphs)
        hard = common(asked.hard, missing)
        known = union(asked.easy, union(easy, missing))
        again = Queries(asked.structure, asked.ids, difference(known, hard), hard)
        some = np.flatnonzero(hard.counts)
        if len(some):
            found[name] = again.take(some)
    return found


def drop_new_entities(queries: Mapping[str, Queries], entities: int) -> dict[str, Queries]:
    """Drops the easy answers that are newer than the first `entities`; no missing answer is."""
    return {name: replace(q, easy=select(q.easy, q.easy.values < entities)) for name, q in queries.items()}


class _Draws:
    """Draws structure after structure with one seed; they share the time of the budget, each step is announced."""

    def __init__(self, seed: int, advance: Advance, budget: TimeBudget | None = None, structures: int = 0) -> None:
        """structures: how many share the budget; without one there is no hurry."""
        self._seed, self._advance, self._budget, self._waiting = seed, advance, budget or TimeBudget(), structures

    def with_answers(
        self, graphs: GraphPair, names: tuple[str, ...], count: int, stream: str, limit: int
    ) -> dict[str, Queries]:
        """Draws queries with an answer, a missing one where `graphs` are two; at most `limit` answers each."""
        train = stream == "train"
        rules = Rules(forward=train, limit=limit, link_limit=None if train else limit, attempts=attempts(count))
        drawn = {}
        for name in names:
            queries = self._sample(name, graphs, count, stream, rules)
            if name == "1p" and not train and len(queries) > count:  # all links are listed: some of them will do
                queries = queries.take(self._some(len(queries), count))
            if len(queries):
                drawn[name] = queries
            self._advance(f"{stream} {name}")
        return drawn

    def everyday(
        self, kg: KnowledgeGraph, split: str, names: tuple[str, ...], settings: FitSettings
    ) -> dict[str, Queries]:
        """Draws queries that hold on the graph without `split`, with what it adds to their answers, be it nothing."""
        count, both = settings.held_out_per_structure, graph_pair(kg, split)
        known = GraphPair.of(kg.graph("train" if split == "valid" else "valid"))
        rules = Rules(limit=settings.limit, link_limit=settings.limit, attempts=attempts(count))
        drawn = {}
        for name in names:
            structure, rows = STRUCTURES[name], self._sample(name, known, count, f"everyday {split}", rules).ids
            if len(rows) > count:
                rows = rows[self._some(len(rows), count)]
            if len(rows):
                drawn[name] = Queries(structure, rows, *answer_rows(structure, rows, both))
            self._advance(f"everyday {name}")
        return drawn

    def _sample(self, name: str, graphs: GraphPair, count: int, stream: str, rules: Rules) -> Queries:
        rules = replace(rules, seconds=self._budget.next_of(self._waiting))
        self._waiting -= 1
        return sample(STRUCTURES[name], graphs, count, seed=self._seed, stream=stream, rules=rules)

    def _some(self, total: int, count: int) -> npt.NDArray[np.int64]:
        return np.sort(np.random.default_rng(self._seed).permutation(total)[:count])


def attempts(count: int) -> int:
    """Returns how often to try for so many queries: a graph that hardly holds a shape must not hold up the others."""
    return max(200_000, 50 * count)


_FILE = "questions.npz"
_REMEDY = "the unfinished fit is damaged: start again with --fresh"


def load_or_draw(folder: Path, kg: KnowledgeGraph, draw: Callable[[], QuerySets[Queries]]) -> QuerySets[Queries]:
    """Returns the questions that an earlier sitting in this folder drew, else draws them and keeps them there."""
    file = folder / _FILE
    if file.is_file():
        return _read(file, kg)
    questions = draw()
    with new_file(file, "fit") as draft:
        np.savez(draft, **_rows(questions))  # type: ignore[arg-type]  # its other keyword is not meant
    return questions


def _rows(questions: QuerySets[Queries]) -> dict[str, npt.NDArray[np.int32]]:
    return {
        f"{part}/{name}": asked.ids for part, queries in questions.splits.items() for name, asked in queries.items()
    }


def _read(file: Path, kg: KnowledgeGraph) -> QuerySets[Queries]:
    check_file(file, "fit")
    parts: dict[str, dict[str, Queries]] = {"train": {}, **{split: {} for split in _HELD_OUT}}
    spelled = spell_out(kg)
    try:
        with file.open("rb") as opened:
            stored = read_npz(opened)
        for key, rows in stored.items():
            part, name = key.split("/")
            structure = STRUCTURES[name]
            graphs = graph_pair(kg if part == "train" else spelled, part.removeprefix(_EVERYDAY))
            parts[part][name] = Queries(structure, rows, *answer_rows(structure, rows, graphs))
    except (ValueError, LookupError, OSError) as error:
        raise DamagedError(file, f"does not hold the questions that were drawn ({error})", _REMEDY) from error
    return QuerySets(splits=parts, graph=kg.name)
