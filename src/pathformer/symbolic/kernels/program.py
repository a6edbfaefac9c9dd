"""A structure as two small integer programs: one computes a query's answers, the other walks a query out of the graph.

Both are arrays of (operation, argument) rows that compiled code interprets, so that any shape a user writes runs at
full speed without a new compilation.

The answer program is postfix over a stack of sets; the argument is a column of the query's row of ids (for NARROW and
EXCLUDE the column of an anchor; its relation is in the next column). The walk program starts at an answer entity and
goes backwards: every branch of a fork starts from the fork's entity.

A set holds entities on two nested graphs at once. It is a segment of a stack: entity ids with two membership bits each
(1: in the set on the smaller graph, 2: on the larger), and one `rest` value for every entity that is not listed: 0, or
BOTH for a complement. So a negation costs nothing until a projection follows it, and one traversal finds easy, hard and
vanished answers together.

Membership in a segment is looked up with a sparse set (Briggs and Torczon 1993): `where[e]` may hold anything, and is
believed only if it points into the segment at an entry that holds `e`. Nothing is ever cleared.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from pathformer.query.structures import Shape, Structure, is_chain, letters

__all__ = [
    "ANCHOR",
    "BOTH",
    "ENDLESS",
    "EXCLUDE",
    "INTERSECT",
    "KEEP",
    "LARGE",
    "LEAVE",
    "NARROW",
    "NEGATE",
    "PROJECT",
    "RETURN",
    "SMALL",
    "STEP",
    "UNITE",
    "Edges",
    "Program",
    "Workspace",
    "compile_structure",
    "workspace",
]

ANCHOR, PROJECT, NEGATE, INTERSECT, UNITE, NARROW, EXCLUDE = range(7)  # operations of the answer program
STEP, KEEP, RETURN, LEAVE = range(1, 5)  # operations of the walk program, besides ANCHOR

# One hop from an anchor, and its complement: they narrow a set without being computed themselves.
_LINKS = {("e", ("r",)): NARROW, ("e", ("r", "n")): EXCLUDE}

Code = npt.NDArray[np.int32]  # (operations, 2)


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """The two programs of a structure, for compiled code."""

    answer: Code
    walk: Code
    twins: npt.NDArray[np.int32]  # (pairs, 3): first column of a branch, of a sibling of the same shape, their width
    capped: int  # the step of the last projection if all that follows only takes answers away by complements, else -1
    depth: int  # the most sets the answer program holds at once
    chain: bool  # one anchor and operators: can be walked forwards too


def compile_structure(structure: Structure) -> Program:
    """Compiles a structure into its programs."""
    answer, walk = _answer(structure.shape, 0), list(_walk(structure.shape, 0))
    twins = list(_twins(structure.shape, 0))
    return Program(
        answer=np.array(answer, np.int32).reshape(-1, 2),
        walk=np.array(walk, np.int32).reshape(-1, 2),
        twins=np.array(twins, np.int32).reshape(-1, 3),
        capped=_find_capped(answer),
        depth=_depth(answer),
        chain=is_chain(structure.shape) and structure.shape[0] == "e",
    )


def _width(shape: Shape) -> int:
    return sum(letter in ("e", "r") for letter in letters(shape))


def _branches(shape: Shape, column: int) -> list[tuple[Shape, int]]:
    """Returns the branches of a fork, each with its first column."""
    placed = []
    for branch in shape[:-1] if shape[-1] == ("u",) else shape:
        placed.append((branch, column))
        column += _width(branch)
    return placed


def _answer(shape: Shape, column: int) -> list[tuple[int, int]]:
    if not is_chain(shape):
        return _fork(shape, column)
    start, operators = shape
    code = [(ANCHOR, column)] if start == "e" else _answer(start, column)
    column += _width(start)
    for operator in operators:
        if operator == "n":
            code.append((NEGATE, 0))
        else:
            code.append((PROJECT, column))
            column += 1
    return code


def _fork(shape: Shape, column: int) -> list[tuple[int, int]]:
    join = UNITE if shape[-1] == ("u",) else INTERSECT
    first, *others = sorted(_branches(shape, column), key=lambda placed: _order(placed[0]))
    code = _answer(*first)
    for branch, position in others:
        if join == INTERSECT and branch in _LINKS and not _complements(code)[-1]:
            code.append((_LINKS[branch], position))
        else:
            code += [*_answer(branch, position), (join, 0)]
    return code


def _order(branch: Shape) -> int:
    """Orders branches: complements first, so that what they exclude is known early; single links last."""
    return 2 if branch in _LINKS else int(branch[1][-1] != "n") if is_chain(branch) else 1


def _walk(shape: Shape, column: int) -> Iterator[tuple[int, int]]:
    if not is_chain(shape):
        yield KEEP, 0
        for branch, first in _branches(shape, column):
            yield RETURN, 0
            yield from _walk(branch, first)
        yield LEAVE, 0
        return
    start, operators = shape
    position = column + _width(shape)
    for operator in reversed(operators):
        if operator == "r":
            position -= 1
            yield STEP, position
    if start == "e":
        yield ANCHOR, column
    else:
        yield from _walk(start, column)


def _twins(shape: Shape, column: int) -> Iterator[tuple[int, int, int]]:
    """Finds sibling branches of the same shape: a query must not have the same ids in both."""
    if is_chain(shape):
        if shape[0] != "e":
            yield from _twins(shape[0], column)
        return
    branches = _branches(shape, column)
    for (one, first), (other, second) in combinations(branches, 2):
        if one == other:
            yield first, second, _width(one)
    for branch, first in branches:
        yield from _twins(branch, first)


def _depth(answer: list[tuple[int, int]]) -> int:
    depth = most = 0
    for operation, _ in answer:
        depth += {ANCHOR: 1, INTERSECT: -1, UNITE: -1}.get(operation, 0)
        most = max(most, depth)
    return most


def _find_capped(answer: list[tuple[int, int]]) -> int:
    """Returns the last projection if its set is only joined with complements, which lie below it on the stack."""
    last = max((step for step, (operation, _) in enumerate(answer) if operation == PROJECT), default=-1)
    stack = _complements(answer[: last + 1])
    only_taken_from = all(operation in (INTERSECT, EXCLUDE) for operation, _ in answer[last + 1 :])
    return last if only_taken_from and all(stack[:-1]) else -1


def _complements(answer: list[tuple[int, int]]) -> list[bool]:
    """Returns, for each set that a program leaves on the stack, whether it is a complement."""
    stack: list[bool] = []
    for operation, _ in answer:
        if operation == ANCHOR:
            stack.append(False)
        elif operation == NEGATE:
            stack[-1] = not stack[-1]
        elif operation == PROJECT:
            stack[-1] = False
        elif operation in (INTERSECT, UNITE):
            one, other = stack.pop(), stack.pop()
            stack.append((one and other) if operation == INTERSECT else (one or other))
    return stack


SMALL, LARGE, BOTH = np.uint8(1), np.uint8(2), np.uint8(3)
ENDLESS = np.int64(2**62)

# The arrays of a graph pair (see `kg.graph` for the first four). bits (E): BOTH for an edge of the smaller graph,
# LARGE for one that only the larger has. The same pairs grouped by relation: those of relation r are relation_ptr[r]
# : relation_ptr[r + 1] of relation_head (P) and relation_pair (P).
Edges = namedtuple("Edges", "head_ptr pair_relation pair_ptr tails bits relation_ptr relation_head relation_pair")

# ids, bits: the stack. Two sparse sets (N): where for the set that is looked up, seen for the tails of a projection.
# start, rest: a row for each set on the stack.
Workspace = namedtuple("Workspace", "ids bits where seen start rest")


def workspace(entities: int, depth: int) -> Workspace:
    """Reserves memory for the deepest program, which is not touched: a query pays for the pages it uses.

    Each set holds at most all entities, and a projection writes beside its source.
    """
    room = (depth + 1) * entities + 1
    if room >= 2**31:
        raise MemoryError(f"{depth} sets of {entities:,} entities are more than positions of 32 bits can count")
    return Workspace(
        ids=np.empty(room, np.int32),
        bits=np.empty(room, np.uint8),
        where=np.empty(entities, np.int32),
        seen=np.empty(entities, np.int32),
        start=np.zeros(depth + 2, np.int64),
        rest=np.zeros(depth + 2, np.uint8),
    )
