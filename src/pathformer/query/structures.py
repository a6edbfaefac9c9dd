"""Structures of queries: the fourteen of the benchmark and any other, as nested tuples.

A shape is a tree with its ids taken out. In tuples `e` is an anchor, `r` a relation, `n` a negation, `u` marks a union:

    (e, (r, r))                       a chain: anchor, then operators        2p
    ((e, (r,)), (e, (r, n)))          branches side by side: intersection    2in
    ((e, (r,)), (e, (r,)), (u,))      the same, marked: union                2u
    (((e, (r,)), (e, (r,))), (r,))    a fork, then operators                 ip

An instance has ids in place of `e` and `r`, -2 for `n` and -1 for `u`. Its *row* is those ids alone, in reading order:
a table of rows and one shape describe any number of queries of one structure.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pathformer.errors import QuerySyntaxError, UnsupportedQueryError
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union

__all__ = [
    "EFOL_TRAINED",
    "EPFO",
    "EPFO_TRAINED",
    "NEGATION",
    "NEGATION_STRUCTURES",
    "STRUCTURES",
    "UNION",
    "Instance",
    "Shape",
    "Structure",
    "benchmark_structure",
    "instance_of_tree",
    "is_chain",
    "letters",
    "shape_text",
    "structure",
    "structure_of",
    "tree_of_instance",
    "unchain",
]

UNION, NEGATION = -1, -2  # what released instances hold in place of u and n

Shape = Any  # nested tuples of "e", "r", "n", "u"
Instance = Any  # nested tuples of ints

_SHAPES: dict[str, Shape] = {
    "1p": ("e", ("r",)),
    "2p": ("e", ("r", "r")),
    "3p": ("e", ("r", "r", "r")),
    "2i": (("e", ("r",)), ("e", ("r",))),
    "3i": (("e", ("r",)), ("e", ("r",)), ("e", ("r",))),
    "ip": ((("e", ("r",)), ("e", ("r",))), ("r",)),
    "pi": (("e", ("r", "r")), ("e", ("r",))),
    "2u": (("e", ("r",)), ("e", ("r",)), ("u",)),
    "up": ((("e", ("r",)), ("e", ("r",)), ("u",)), ("r",)),
    "2in": (("e", ("r",)), ("e", ("r", "n"))),
    "3in": (("e", ("r",)), ("e", ("r",)), ("e", ("r", "n"))),
    "inp": ((("e", ("r",)), ("e", ("r", "n"))), ("r",)),
    "pin": (("e", ("r", "r")), ("e", ("r", "n"))),
    "pni": (("e", ("r", "r", "n")), ("e", ("r",))),
}

EPFO_TRAINED = ("1p", "2p", "3p", "2i", "3i")  # ip, pi, 2u and up are never trained on
EPFO = (*EPFO_TRAINED, "ip", "pi", "2u", "up")
NEGATION_STRUCTURES = ("2in", "3in", "inp", "pin", "pni")
EFOL_TRAINED = EPFO_TRAINED + NEGATION_STRUCTURES


@dataclass(frozen=True, slots=True)
class Structure:
    """A named shape; equal when the shapes are."""

    name: str
    shape: Shape

    @property
    def columns(self) -> tuple[str, ...]:
        """The kind of each column of a row: "e" or "r"."""
        return tuple(letter for letter in letters(self.shape) if letter in "er")

    @property
    def negated(self) -> bool:
        """Whether a negation occurs in it."""
        return "n" in tuple(letters(self.shape))

    @property
    def united(self) -> bool:
        """Whether a union occurs in it."""
        return "u" in tuple(letters(self.shape))

    def row(self, instance: Instance) -> tuple[int, ...]:
        """The ids of an instance, in reading order."""
        return tuple(value for value in letters(instance) if value >= 0)

    def instance(self, row: Sequence[int]) -> Instance:
        """The nested tuple that holds the ids of `row`."""
        return _fill(self.shape, iter(row))

    def tree(self, row: Sequence[int]) -> Tree:
        """The computation tree that holds the ids of `row`."""
        return tree_of_instance(self.instance(row))

    def __str__(self) -> str:
        return self.name


STRUCTURES: dict[str, Structure] = {name: Structure(name, shape) for name, shape in _SHAPES.items()}
_BY_SHAPE: dict[Shape, Structure] = {s.shape: s for s in STRUCTURES.values()}


def structure(text: str | Shape) -> Structure:
    """A structure by name ("2in"), by tuple, or by a tuple written as text ("((e,(r,)),(e,(r,n)))").

    A shape that has no name is called by its text.
    """
    if isinstance(text, str):
        if text in STRUCTURES:
            return STRUCTURES[text]
        shape = _parse_shape(text)
    else:
        shape = text
    _check(shape)
    return _BY_SHAPE.get(shape) or Structure(shape_text(shape), shape)


def structure_of(tree: Tree) -> Structure:
    """The structure of a tree, branches in the tree's own order."""
    return structure(_shape_of_instance(instance_of_tree(tree)))


def benchmark_structure(tree: Tree) -> Structure | None:
    """The one of the fourteen that a tree has, whatever the order of its branches; None for any other shape."""
    return _BY_UNORDERED.get(_sort_branches(_shape_of_instance(instance_of_tree(tree))))


def unchain(tree: Tree) -> tuple[Anchor | Intersection | Union, tuple[int, ...]]:
    """Returns the start (an anchor or a fork) and the operators of the chain that ends in the root."""
    operators: list[int] = []
    while isinstance(tree, Projection | Negation):
        operators.append(NEGATION if isinstance(tree, Negation) else tree.relation)
        tree = tree.of
    return tree, tuple(reversed(operators))


def instance_of_tree(tree: Tree) -> Instance:
    """A tree as nested tuples of ids, -2 for a negation and -1 for a union."""
    start, chain = unchain(tree)
    match start:
        case Anchor(entity):
            return (entity, chain)
        case Intersection(branches):
            fork = tuple(map(instance_of_tree, branches))
        case Union(branches):
            fork = (*map(instance_of_tree, branches), (UNION,))
    return (fork, chain) if chain else fork


def tree_of_instance(instance: Instance) -> Tree:
    """The computation tree of a nested tuple of ids."""
    if is_chain(instance):
        start, operators = instance
        tree: Tree = Anchor(int(start)) if not isinstance(start, tuple) else tree_of_instance(start)
        for operator in operators:
            tree = Negation(tree) if operator == NEGATION else Projection(int(operator), tree)
        return tree
    if instance[-1] == (UNION,):
        return Union(tuple(map(tree_of_instance, instance[:-1])))
    return Intersection(tuple(map(tree_of_instance, instance)))


def shape_text(shape: Shape) -> str:
    """A shape as it is written, without quotes: `((e,(r,)),(e,(r,n)))`."""
    if not isinstance(shape, tuple | list):
        return str(shape)
    inner = ",".join(map(shape_text, shape))
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def is_chain(node: Any) -> bool:
    """Whether a tuple is (start, operators): operators are all plain, and are not the mark of a union."""
    if len(node) != 2 or not isinstance(node[1], tuple) or node[1] in ((UNION,), ("u",)):
        return False
    return not any(isinstance(operator, tuple) for operator in node[1])


def _shape_of_instance(instance: Instance) -> Shape:
    if is_chain(instance):
        start, operators = instance
        head = _shape_of_instance(start) if isinstance(start, tuple) else "e"
        return (head, tuple("n" if o == NEGATION else "r" for o in operators))
    return tuple(("u",) if part == (UNION,) else _shape_of_instance(part) for part in instance)


def _sort_branches(shape: Shape) -> Shape:
    """The shape with its branches sorted: equal for shapes that differ in their order alone."""
    if is_chain(shape):
        start, operators = shape
        return (_sort_branches(start) if isinstance(start, tuple) else start, operators)
    return tuple(sorted((part if part == ("u",) else _sort_branches(part) for part in shape), key=repr))


_BY_UNORDERED: dict[Shape, Structure] = {_sort_branches(s.shape): s for s in STRUCTURES.values()}


def letters(node: Any) -> Iterator[Any]:
    """The letters of a shape, or the numbers of an instance, in reading order."""
    if isinstance(node, tuple):
        for part in node:
            yield from letters(part)
    else:
        yield node


def _fill(shape: Shape, ids: Iterator[int]) -> Instance:
    if isinstance(shape, tuple):
        return tuple(_fill(part, ids) for part in shape)
    return {"n": NEGATION, "u": UNION}.get(shape) or int(next(ids))


def _parse_shape(text: str) -> Shape:
    try:
        with warnings.catch_warnings():  # of "2inn" Python warns, besides that it is no expression
            warnings.simplefilter("ignore")
            node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError) as error:
        known = ", ".join(STRUCTURES)
        raise QuerySyntaxError(
            f"no structure {text!r}: expected one of {known}, or a shape such as ((e,(r,)),(e,(r,n)))", text
        ) from error

    def read(part: ast.expr) -> Shape:
        match part:
            case ast.Tuple(elts):
                return tuple(map(read, elts))
            case ast.Name(id) if id in {"e", "r", "n", "u"}:
                return id
        raise QuerySyntaxError(
            f"a shape is made of tuples and the letters e, r, n, u; found {ast.unparse(part)!r}", text, part.col_offset
        )

    return read(node)


def _check(shape: Shape) -> None:
    """Refuse a nested tuple that is not a shape, by what is wrong with it."""
    text = shape_text(shape)
    if not isinstance(shape, tuple) or not shape:
        raise UnsupportedQueryError(f"a shape is a tuple, not {text!r}")
    if is_chain(shape):
        start, operators = shape
        if not operators or not set(operators) <= {"r", "n"}:
            raise UnsupportedQueryError(f"in {text}, the operators after a start are r or n, at least one")
        if isinstance(start, tuple):
            _check(start)
        elif start != "e":
            raise UnsupportedQueryError(f"in {text}, a chain starts with e or with a fork, not {start!r}")
        return
    branches = shape[:-1] if shape[-1] == ("u",) else shape
    if len(branches) < 2:
        raise UnsupportedQueryError(f"{text} is a fork with fewer than two branches")
    for branch in branches:
        if not isinstance(branch, tuple):
            raise UnsupportedQueryError(f"in {text}, {branch!r} stands where a branch was expected")
        _check(branch)
