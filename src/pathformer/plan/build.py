"""Makes a plan of tables of queries, for any tree: unions are rewritten, then paths and forks are put into levels.

A structure is decomposed once, with column numbers instead of ids, so n queries of it cost no more Python than one. A
path that starts at an anchor has level 0. A path that starts at a fork has the level after the fork's, and a fork has
the level of its latest branch. All paths of a level, of all structures, are one step, and so are all its forks: the
fourteen benchmark structures together make three steps.

The method chooses what becomes of unions (`Model.union`): "dnf" gives a query one point for each disjunct, "demorgan"
a tree without unions, "native" a step of unions after the forks of its level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pathformer.plan.layout import Block, ForkStep, Ints, Layout, PathStep, Step, Token, UnionWay
from pathformer.query.compile.dnf import to_demorgan, to_dnf
from pathformer.query.compile.paths import Fork, Path, to_paths
from pathformer.query.structures import NEGATION, Structure, instance_of_tree, structure_of
from pathformer.query.tree import Tree

__all__ = ["Plan", "build_layout", "build_plan", "by_structure", "decompose", "plan_trees"]


@dataclass(frozen=True, eq=False)
class Plan:
    """A layout filled with ids."""

    layout: Layout
    ids: npt.NDArray[np.int32]  # (I,) the blocks' tables, row by row, one after the other
    order: Ints  # (Q,) the layout's number of each query, in the order in which they were given


def build_plan(parts: Sequence[tuple[Structure, npt.NDArray[np.integer]]], union: UnionWay = "dnf") -> Plan:
    """Makes a plan for tables of ids (n, k), each of one structure (`Queries.structure`, `Queries.ids`)."""
    for structure, table in parts:
        if table.ndim != 2 or table.shape[1] != len(structure.columns):
            raise ValueError(
                f"queries of {structure} need {len(structure.columns)} ids a row "
                f"({' '.join(structure.columns)}), got a table of shape {table.shape}"
            )
    layout = build_layout([Block(structure, len(table)) for structure, table in parts], union)
    flat = [np.asarray(table, np.int32).reshape(-1) for _, table in parts]
    ids = np.concatenate(flat) if flat else np.empty(0, np.int32)
    return Plan(layout, ids, np.arange(layout.queries))


def plan_trees(trees: Sequence[Tree], union: UnionWay = "dnf") -> Plan:
    """Makes a plan for any trees, in any order: trees of one structure share a block."""
    tables = by_structure(trees)
    parts = [(structure, np.asarray(list(rows.values()), np.int32)) for structure, rows in tables.items()]
    plan = build_plan(parts, union)
    order = np.empty(len(trees), np.int64)
    order[[position for rows in tables.values() for position in rows]] = np.arange(len(trees))
    return Plan(plan.layout, plan.ids, order)


def by_structure(trees: Sequence[Tree]) -> dict[Structure, dict[int, tuple[int, ...]]]:
    """Returns, for each structure, the ids of its trees by the tree's position."""
    tables: dict[Structure, dict[int, tuple[int, ...]]] = {}
    for position, tree in enumerate(trees):
        structure = structure_of(tree)
        tables.setdefault(structure, {})[position] = structure.row(instance_of_tree(tree))
    return tables


def build_layout(blocks: Sequence[Block], union: UnionWay = "dnf") -> Layout:
    """Returns the steps of a batch; blocks without queries cost nothing. union: how the method takes unions."""
    return _Builder(tuple(blocks), union).layout()


@lru_cache(maxsize=4096)
def decompose(structure: Structure, union: UnionWay = "dnf") -> tuple[Path | Fork, ...]:
    """Returns the paths and forks of a structure, one for each point, with column numbers instead of ids."""
    tree = structure.tree(range(len(structure.columns)))
    match union:
        case "dnf":
            return tuple(map(to_paths, to_dnf(tree)))
        case "native":
            return (to_paths(tree, unions=True),)
        case "demorgan":
            return (to_paths(to_demorgan(tree)),)


@dataclass(eq=False)
class _Run:
    """One path or fork of a structure, for all queries of a block; it writes the values first, first + 1, ..."""

    block: Block
    rows: Ints  # (count,) position of the first id of each query of the block
    level: int
    first: int = -1

    @property
    def numbers(self) -> Ints:
        return self.first + np.arange(self.block.count)


@dataclass(eq=False)
class _PathRun(_Run):
    start: int | _ForkRun = 0  # column of the anchor, or the fork
    operators: tuple[int, ...] = ()  # columns, or NEGATION

    def tokens(self) -> tuple[npt.NDArray[np.int8], Ints]:
        """Returns the kinds and the sources of this run's tokens, each (count, 1 + operators)."""
        count = self.block.count
        zeros = np.zeros(count, np.int64)
        columns = [self.start.numbers if isinstance(self.start, _ForkRun) else self.rows + self.start]
        columns += [zeros if operator == NEGATION else self.rows + operator for operator in self.operators]
        kinds = [Token.VARIABLE if isinstance(self.start, _ForkRun) else Token.ENTITY]
        kinds += [Token.NEGATION if operator == NEGATION else Token.RELATION for operator in self.operators]
        return np.tile(np.array(kinds, np.int8), (count, 1)), np.stack(columns, axis=1)


@dataclass(eq=False)
class _ForkRun(_Run):
    branches: tuple[_Run, ...] = ()
    united: bool = False


@dataclass(eq=False)
class _Level:
    paths: list[_PathRun] = field(default_factory=list)
    forks: list[_ForkRun] = field(default_factory=list)
    unions: list[_ForkRun] = field(default_factory=list)


class _Builder:
    """Collects runs by level and turns them into steps."""

    def __init__(self, blocks: tuple[Block, ...], union: UnionWay) -> None:
        self.blocks, self.union = blocks, union
        self.levels: list[_Level] = []
        self.values = 0

    def layout(self) -> Layout:
        roots: list[list[_Run]] = []
        base = 0
        for block in self.blocks:
            width = len(block.structure.columns)
            rows = base + np.arange(block.count) * width
            roots.append([self._collect(query, block, rows) for query in decompose(block.structure, self.union)])
            base += block.count * width
        steps: list[Step] = []
        for level in self.levels:
            if any(run.block.count for run in level.paths):
                steps.append(self._path_step(level.paths))
            for runs in (level.forks, level.unions):
                if any(run.block.count for run in runs):
                    steps.append(self._fork_step(runs))
        return Layout(self.blocks, tuple(steps), *self._roots(roots), self.union)

    def _collect(self, query: Path | Fork, block: Block, rows: Ints) -> _Run:
        """Adds a run for this path or fork, after the runs that it depends on."""
        return self._fork(query, block, rows) if isinstance(query, Fork) else self._path(query, block, rows)

    def _fork(self, fork: Fork, block: Block, rows: Ints) -> _ForkRun:
        """Adds a fork after its branches; unions come after the forks of their level, so a fork of one comes later."""
        branches = tuple(self._collect(branch, block, rows) for branch in fork.branches)
        level = max(run.level + (isinstance(run, _ForkRun) and run.united) for run in branches)
        made = _ForkRun(block, rows, level, branches=branches, united=fork.united)
        (self._at(level).unions if fork.united else self._at(level).forks).append(made)
        return made

    def _path(self, path: Path, block: Block, rows: Ints) -> _PathRun:
        start = self._fork(path.start, block, rows) if isinstance(path.start, Fork) else path.start
        level = start.level + 1 if isinstance(start, _ForkRun) else 0
        run = _PathRun(block, rows, level, start=start, operators=path.operators)
        self._at(level).paths.append(run)
        return run

    def _at(self, level: int) -> _Level:
        """Returns a level, which is made if needed."""
        while len(self.levels) <= level:
            self.levels.append(_Level())
        return self.levels[level]

    def _number(self, run: _Run) -> None:
        """Gives a run the next values."""
        run.first = self.values
        self.values += run.block.count

    def _path_step(self, runs: list[_PathRun]) -> PathStep:
        first = self.values
        runs = sorted(runs, key=lambda run: -len(run.operators))
        kinds, sources, lengths = [], [], []
        for run in runs:
            self._number(run)
            kind, source = run.tokens()
            kinds.append(kind.reshape(-1))
            sources.append(source.reshape(-1))
            lengths.append(np.full(run.block.count, 1 + len(run.operators), np.int64))
        return PathStep(first, np.concatenate(lengths), np.concatenate(kinds), np.concatenate(sources))

    def _fork_step(self, runs: list[_ForkRun]) -> ForkStep:
        first = self.values
        runs = sorted(runs, key=lambda run: -len(run.branches))
        for run in runs:
            self._number(run)
        widest = max(len(run.branches) for run in runs if run.block.count)
        branches = []
        for number in range(widest):
            having = [run.branches[number].numbers for run in runs if number < len(run.branches)]
            branches.append(np.concatenate(having))
        return ForkStep(first, tuple(branches), runs[0].united)

    def _roots(self, roots: list[list[_Run]]) -> tuple[Ints, Ints]:
        """Returns the value and the query of each disjunct."""
        values, owners, query = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
        for block, runs in zip(self.blocks, roots, strict=True):
            values.append(np.stack([run.numbers for run in runs], axis=1).reshape(-1))
            owners.append(np.repeat(query + np.arange(block.count), len(runs)))
            query += block.count
        return np.concatenate(values), np.concatenate(owners)
