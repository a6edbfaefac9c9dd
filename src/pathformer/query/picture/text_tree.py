"""A computation tree, and its paths and forks, as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.compile.paths import Fork, Path
from pathformer.query.structures import NEGATION
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union, children

__all__ = ["Labels", "Listing", "tree_lines"]


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """Labels in place of ids: those of the graph unless two share one, with ⁻¹ for an inverse."""

    vocabulary: Vocabulary

    def entity(self, entity: int) -> str:
        """Returns the label of an entity."""
        return self.vocabulary.distinct_label(entity)

    def operator(self, operator: int) -> str:
        """Returns the label of a directed relation, or `not`."""
        if operator == NEGATION:
            return "not"
        return self.vocabulary.distinct_relation_label(operator) + ("⁻¹" if operator % 2 else "")

    def token(self, operator: int) -> str:
        """Returns the operator as a token of Eq. 2."""
        return "[Negation]" if operator == NEGATION else self.operator(operator)


def tree_lines(tree: Tree, labels: Labels, answer: str = "?x") -> Iterator[str]:
    """Yields the lines of a tree from the answer down to the anchors, with box characters."""
    yield answer
    yield from _below((tree,), labels, "")


def _below(branches: tuple[Tree, ...], labels: Labels, indent: str) -> Iterator[str]:
    for number, branch in enumerate(branches):
        last = number == len(branches) - 1
        yield f"{indent}{'└─' if last else '├─'} {_node(branch, labels)}"
        yield from _below(children(branch), labels, indent + ("   " if last else "│  "))


def _node(tree: Tree, labels: Labels) -> str:
    match tree:
        case Anchor(entity):
            return labels.entity(entity)
        case Projection(relation, _):
            return labels.operator(relation)
        case Negation():
            return "not"
        case Intersection():
            return "∩"
        case Union():
            return "∪"


@dataclass(slots=True)
class Listing:
    """Path queries P1, P2, ... and fork queries F1, F2, ... in the order in which they can be computed."""

    labels: Labels
    rows: list[tuple[str, str, str]] = field(default_factory=list)  # name, Eq. 1, Eq. 2
    paths: int = 0
    forks: int = 0

    def add(self, query: Path | Fork, end: str = "·") -> str:
        """Lists a query after its parts and returns its name; `end` is the name of its last variable."""
        if isinstance(query, Fork):
            branches = [self.add(branch) for branch in query.branches]
            self.forks += 1
            row = (f"F{self.forks}", f"{(' ∪ ' if query.united else ' ∩ ').join(branches)} → {end}", "")
        else:
            start = self.labels.entity(query.start) if isinstance(query.start, int) else self.add(query.start)
            self.paths += 1
            arrows = " · ".join(f"─{self.labels.operator(operator)}→" for operator in query.operators)
            tokens = ", ".join([start, *map(self.labels.token, query.operators)])
            row = (f"P{self.paths}", f"{start} {arrows} {end}", f"{{{tokens}}}")
        self.rows.append(row)
        return row[0]

    def lines(self) -> Iterator[str]:
        """Yields the rows in columns."""
        widths = [max((len(row[column]) for row in self.rows), default=0) for column in (0, 1)]
        for name, path, tokens in self.rows:
            yield f"{name:<{widths[0]}}  {path:<{widths[1]}}  {tokens}".rstrip()
