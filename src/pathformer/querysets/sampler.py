"""Draws benchmark queries by the published protocol: random walks, rejection, no duplicates.

Attempts are made in blocks of a fixed size. A block's random stream depends only on the seed, the split, the structure
and the number of the block, and blocks are merged in order, so the result is the same for any number of threads.

The reference code draws the start of every walk anew; here walks take all entities in turn, in a random order, so that
each starts equally often. The expectation is the same; the figures of one seed scatter less.
"""

from __future__ import annotations

import hashlib
import math
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.query.structures import STRUCTURES, Structure
from pathformer.querysets.queries import Queries
from pathformer.symbolic.answer import answer_rows, threads
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.symbolic.kernels.program import Program, Workspace, compile_structure, workspace

__all__ = ["BlockDrawer", "Fates", "Rules", "draw_rows", "is_sampler_compiled", "list_links", "sample"]

Rows = npt.NDArray[np.int32]
BLOCK = 4096  # attempts of a block
PATIENCE = 2_000_000  # attempts without a new query before a structure is given up
SEEN = 1000  # accepted draws for one new query before a structure is given up
REMEMBERED = 2**18  # rows whose fate a thread remembers
FATES = ("accepted", "broken", "empty", "no hard answer", "no vanished answer", "over the limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a query must satisfy, and how its walk goes."""

    limit: int | None = None  # most hard (or vanished) answers; in training, most answers; None: no limit
    link_limit: int | None = None  # the limit of 1p; the paper's counts are without one
    forward: bool = False  # walk chains from the anchor, as for released training queries; forks always go backwards
    attempts: int | None = None  # most attempts, in whole blocks; None: until the graph seems to hold no more queries
    seconds: float | None = None  # when to stop, by the clock; the first blocks are always drawn


@dataclass(frozen=True, slots=True)
class Fates:
    """The results of all attempts of a draw."""

    attempts: int
    counts: dict[str, int]  # fate -> attempts
    repeated: int  # accepted, but drawn before


def sample(
    structure: Structure,
    graphs: GraphPair,
    count: int | None,
    *,
    seed: int = 0,
    stream: str = "train",
    rules: Rules | None = None,
    progress: Callable[[int], None] | None = None,
) -> Queries:
    """Draws up to `count` distinct queries with all their answers; of 1p all queries are listed.

    On a single graph (training) the answers are the easy ones; on a pair, easy and hard.
    """
    rules = rules or Rules()
    if structure == STRUCTURES["1p"]:
        rows = list_links(graphs)
    else:
        rows, _ = draw_rows(structure, graphs, count or 0, seed=seed, stream=stream, rules=rules, progress=progress)
    easy, hard = answer_rows(structure, rows, graphs)
    queries = Queries(structure, rows, easy, hard)
    if structure == STRUCTURES["1p"] and rules.link_limit is not None:
        sizes = hard.counts if graphs.nested else easy.counts
        queries = queries.take(np.flatnonzero(sizes <= rules.link_limit))
    return queries


def is_sampler_compiled() -> bool:
    """Whether drawing can begin at once; otherwise its loops are compiled first, once on a machine."""
    from pathformer.symbolic.kernels.walk import draw

    compiled: Any = draw
    if not hasattr(compiled, "stats"):  # a plain function: numba was told to leave it so
        return True
    folder = compiled.stats.cache_path if not compiled.signatures else None  # None, too, where nothing can be kept
    return bool(compiled.signatures) or (folder is not None and any(Path(folder).glob("walk.draw-*.nbi")))


def list_links(graphs: GraphPair) -> Rows:
    """Returns each (head, relation) of the edges that only the larger graph has, or of all edges of a single graph."""
    graph = graphs.large
    if graphs.nested:
        added = np.concatenate([np.zeros(1, np.int64), np.cumsum(~graphs.known)])
        pairs = np.flatnonzero(np.diff(added[graph.pair_ptr]) > 0)
    else:
        pairs = np.arange(len(graph.pair_relation))
    return np.stack([graph.heads_of(pairs), graph.pair_relation[pairs]], axis=1)


def draw_rows(
    structure: Structure,
    graphs: GraphPair,
    count: int,
    *,
    seed: int = 0,
    stream: str = "train",
    rules: Rules | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[Rows, Fates]:
    """Returns the ids of `count` distinct accepted queries, fewer if the graph seems to hold no more."""
    rules = rules or Rules()
    count = count if graphs.large.edges else 0  # an empty graph has no walks
    name = f"{seed}/{stream}/{structure.name}"
    starts = np.random.default_rng(int(_seed(name))).permutation(graphs.starts())
    drawer = BlockDrawer(structure, compile_structure(structure), graphs, rules, name, starts)
    kept = np.empty((0, len(structure.columns)), np.int32)
    tally = np.zeros(len(FATES), np.int64)
    blocks = idle = 0
    most = sys.maxsize if rules.attempts is None else -(-rules.attempts // BLOCK)
    end = math.inf if rules.seconds is None else time.monotonic() + rules.seconds
    with ThreadPoolExecutor(threads()) as pool:
        while len(kept) < count and idle < _patience(len(kept), blocks * BLOCK - idle) and blocks < most:
            if blocks and time.monotonic() > end:
                break
            wave = range(blocks, min(most, blocks + _wave(count - len(kept), len(kept), blocks)))
            drawn = list(pool.map(drawer.draw_block, wave))
            blocks = wave.stop
            before, accepted = len(kept), sum(len(rows) for rows, _ in drawn)
            kept = _distinct(np.concatenate([kept, *(rows for rows, _ in drawn)]))
            tally += sum(fates for _, fates in drawn)
            idle = 0 if len(kept) > before else idle + len(wave) * BLOCK
            if progress:
                progress(min(len(kept), count))
            if SEEN * (len(kept) - before) < accepted:  # nearly all were drawn before: the graph holds few more
                break
    fates = Fates(blocks * BLOCK, dict(zip(FATES, tally.tolist(), strict=True)), int(tally[0]) - len(kept))
    return kept[:count], fates


def _patience(found: int, busy: int) -> int:
    """Returns after how many attempts without a new query to give up: more if queries were hard to find so far.

    So an exhausted small graph is left soon, and a rare structure of a large graph is not.
    """
    return min(PATIENCE, max(16 * BLOCK, 4 * busy)) if found else PATIENCE


def _wave(missing: int, found: int, blocks: int) -> int:
    """Returns how many blocks to draw next: slightly more than the rate so far asks for."""
    if not blocks:
        return 1 if missing <= BLOCK // 16 else 4
    if not found:
        return min(2 * blocks, 256)
    return min(max(4, int(1.1 * missing * blocks / found) + 1), 4 * blocks, 256)


@dataclass(frozen=True, eq=False, slots=True)
class _Memory:
    """A thread's memory for sets, and the fates of rows it has judged."""

    space: Workspace
    keys: npt.NDArray[np.uint64]
    fates: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, entities: int, depth: int) -> _Memory:
        return cls(workspace(entities, depth), np.zeros(REMEMBERED, np.uint64), np.zeros(REMEMBERED, np.uint8))


@dataclass(frozen=True, eq=False, slots=True)
class BlockDrawer:
    """Draws blocks of queries of one structure; safe to call from several threads."""

    structure: Structure
    program: Program
    graphs: GraphPair
    rules: Rules
    stream: str
    starts: npt.NDArray[np.int32]
    threads: threading.local = field(default_factory=threading.local)

    def draw_block(self, number: int) -> tuple[Rows, npt.NDArray[np.int64]]:
        """Draws a block; returns its accepted rows and counts the fates of its attempts."""
        from pathformer.symbolic.kernels.walk import draw

        program, graphs = self.program, self.graphs
        rows = np.empty((BLOCK, len(self.structure.columns)), np.int32)
        tally = np.zeros(len(FATES), np.int64)
        limit = -1 if self.rules.limit is None else self.rules.limit
        memory = self._memory()
        accepted = draw(
            program.answer,
            program.capped,
            program.walk,
            program.twins,
            self.rules.forward and program.chain,
            self.starts,
            number * BLOCK,
            graphs.edges(),
            memory.space,
            _seed(f"{self.stream}/{number}"),
            self.must_judge,
            graphs.nested,
            self.structure.negated,
            limit,
            memory.keys,
            memory.fates,
            rows,
            tally,
        )
        return rows[:accepted], tally

    def _memory(self) -> _Memory:
        """Returns the memory that this thread reuses from block to block."""
        if not hasattr(self.threads, "memory"):
            self.threads.memory = _Memory.of(self.graphs.large.entities, self.program.depth)
        memory: _Memory = self.threads.memory
        return memory

    @property
    def must_judge(self) -> bool:
        """Whether a query must be judged after its walk, which needs no more if there is no negation and no limit."""
        return self.graphs.nested or self.structure.negated or self.rules.limit is not None


def _seed(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()))


def _distinct(rows: Rows) -> Rows:
    """Returns the first occurrence of every row, in order."""
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:  # an odd multiplier is invertible: unequal rows share a key with chance 2^-64 a pair
        keys = (keys ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    if not np.array_equal(rows[first][group], rows):  # two different rows share a key after all
        _, first = np.unique(rows, axis=0, return_index=True)
    return rows[np.sort(first)]
