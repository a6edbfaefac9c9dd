"""Exact answers: set semantics on any computation tree.

`answer` takes one tree and the graph as loaded, in plain numpy: nothing is compiled or copied first. `answer_rows`
takes a table of queries of one structure and a pair of nested graphs, in compiled code on all cores, and returns easy
and hard answers from one traversal.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathformer.compiled import cores
from pathformer.errors import InputError
from pathformer.kg.graph import Graph
from pathformer.kg.ragged import Ragged
from pathformer.query.structures import Structure
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.symbolic.kernels.program import compile_structure, workspace

__all__ = ["answer", "answer_rows", "threads"]

Ids = npt.NDArray[np.int32]
CHUNK = 2048  # queries of a task: small enough to balance two cores, large enough to hide the cost of a task


def answer(tree: Tree, graph: Graph) -> Ids:
    """Returns the entities that answer a tree on a graph, ascending."""
    answers = _solve(tree, graph)
    if answers.complement:
        return np.setdiff1d(np.arange(graph.entities, dtype=np.int32), answers.ids, assume_unique=True)
    return answers.ids


@dataclass(frozen=True, slots=True)
class _Set:
    """Ascending ids; with `complement`, every entity except these."""

    ids: Ids
    complement: bool = False


def _solve(tree: Tree, graph: Graph) -> _Set:
    match tree:
        case Anchor(entity):
            return _Set(np.array([entity], np.int32))
        case Projection(relation, of):
            source = _solve(of, graph)
            heads = _other_heads(graph, relation, source.ids) if source.complement else source.ids
            return _Set(_tails(graph, heads, relation))
        case Negation(of):
            inner = _solve(of, graph)
            return _Set(inner.ids, not inner.complement)
        case Intersection(branches):
            return _intersection([_solve(branch, graph) for branch in branches])
        case Union(branches):  # by De Morgan
            solved = [_solve(branch, graph) for branch in branches]
            outside = _intersection([_Set(s.ids, not s.complement) for s in solved])
            return _Set(outside.ids, not outside.complement)


def _intersection(sets: list[_Set]) -> _Set:
    plain = sorted((s.ids for s in sets if not s.complement), key=len)
    barred = [s.ids for s in sets if s.complement]
    if not plain:
        return _Set(np.unique(np.concatenate(barred)), complement=True)
    ids = plain[0]
    for other in plain[1:]:
        ids = ids[np.isin(ids, other, assume_unique=True)]
    for other in barred:
        ids = ids[~np.isin(ids, other, assume_unique=True)]
    return _Set(ids)


def _tails(graph: Graph, heads: Ids, relation: int) -> Ids:
    """Returns the distinct tails of `relation` from `heads`, by one binary search in all their relations at once."""
    low, end = graph.head_ptr[heads], graph.head_ptr[heads + np.int64(1)]
    high = end.copy()
    while True:
        open_ = low < high
        if not open_.any():
            break
        middle = (low + high) >> 1
        less = open_ & (graph.pair_relation[np.minimum(middle, len(graph.pair_relation) - 1)] < relation)
        low = np.where(less, middle + 1, low)
        high = np.where(open_ & ~less, middle, high)
    pairs = low[low < end]
    pairs = pairs[graph.pair_relation[pairs] == relation]
    if len(pairs) == 1:
        return graph.tails[graph.pair_ptr[pairs[0]] : graph.pair_ptr[pairs[0] + 1]]
    starts, counts = graph.pair_ptr[pairs], graph.pair_ptr[pairs + 1] - graph.pair_ptr[pairs]
    ends = np.cumsum(counts)
    positions = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
    return np.unique(graph.tails[positions])


def _other_heads(graph: Graph, relation: int, barred: Ids) -> Ids:
    """Returns the heads of `relation` that are not barred."""
    pairs = np.flatnonzero(graph.pair_relation == relation)
    heads = graph.heads_of(pairs)
    return heads[~np.isin(heads, barred, assume_unique=True)]


def threads() -> int:
    """Returns how many threads answer: one for each core, or as `PATHFORMER_THREADS` says."""
    given = os.environ.get("PATHFORMER_THREADS", "").strip()
    if not given:
        return cores()
    if not given.isdecimal() or not int(given):
        raise InputError(f"PATHFORMER_THREADS is {given!r}: set it to a number of threads, 1 or more")
    return int(given)


def answer_rows(structure: Structure, rows: npt.NDArray[np.integer], graphs: GraphPair) -> tuple[Ragged, Ragged]:
    """Returns the easy and hard answers of every row (n, k) of a structure.

    Easy answers are the answers on the smaller graph, also those that a negation takes away on the larger one (vanished
    answers); hard answers are the answers on the larger graph that are not easy.
    """
    from pathformer.symbolic.kernels.evaluate import answer_rows as kernel

    program = compile_structure(structure)
    edges = graphs.edges()
    table = np.ascontiguousarray(rows, np.int32)

    def work(chunk: npt.NDArray[np.int32]) -> tuple[Ragged, Ragged]:
        space = workspace(graphs.large.entities, program.depth)
        room = max(4 * graphs.large.entities, 1 << 20)
        pieces: list[tuple[Ragged, Ragged]] = []
        done = 0
        while done < len(chunk):
            easy, hard = np.empty(room, np.int32), np.empty(room, np.int32)
            ends = np.zeros((2, len(chunk)), np.int64)
            upto = kernel(program.answer, chunk, done, edges, space, easy, hard, ends[0], ends[1])
            pieces.append((_rows(easy, ends[0, done:upto]), _rows(hard, ends[1, done:upto])))
            done = upto
        return Ragged.concatenate([p[0] for p in pieces]), Ragged.concatenate([p[1] for p in pieces])

    chunks = [table[i : i + CHUNK] for i in range(0, len(table), CHUNK)]
    with ThreadPoolExecutor(threads()) as pool:
        done = list(pool.map(work, chunks))
    return Ragged.concatenate([d[0] for d in done]), Ragged.concatenate([d[1] for d in done])


def _rows(values: Ids, ends: npt.NDArray[np.int64]) -> Ragged:
    ptr = np.concatenate([np.zeros(1, np.int64), ends])
    return Ragged(ptr, values[: ptr[-1]].copy())
