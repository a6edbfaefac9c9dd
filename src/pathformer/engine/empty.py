"""Why the graph itself has no answer: which branch of the tree is empty."""

from __future__ import annotations

from dataclasses import dataclass

from pathformer.engine.proof import Sets
from pathformer.engine.spell import spell
from pathformer.kg.vocab import Vocabulary
from pathformer.query.computation import Anchor, Intersection, Negation, Projection, Tree, Union

__all__ = ["why_empty"]


def why_empty(tree: Tree, sets: Sets, vocabulary: Vocabulary) -> str:
    """A sentence that names the smallest part at fault of a tree that has no answer on the graph of `sets`."""
    return _Search(sets, vocabulary).reason(tree)


@dataclass(frozen=True, slots=True)
class _Search:
    sets: Sets
    vocabulary: Vocabulary

    def reason(self, tree: Tree) -> str:
        match tree:
            case Projection(_, of) if not self._count(of):
                return self.reason(of)
            case Projection(relation, of):
                role = "subject" if relation % 2 == 0 else "object"
                missing = f"the {role} of no {self.vocabulary.relation_label(relation)}"
                return f"the graph states nothing for {self._spell(tree)}: {self._who(of)} {missing}"
            case Union(branches):
                return "; ".join(dict.fromkeys(map(self.reason, branches)))
            case Intersection(branches):
                empty = next((branch for branch in branches if not self._count(branch)), None)
                return self._apart(branches) if empty is None else self.reason(empty)
            case _:
                return f"the graph states nothing for {self._spell(tree)}"

    def _who(self, source: Tree) -> str:
        """The entities that a projection starts from."""
        if isinstance(source, Anchor):
            return f"{self.vocabulary.label(source.entity)} is"
        count = self._count(source)
        return f"the {count:,} of {self._spell(source)} are" if count > 1 else f"the one of {self._spell(source)} is"

    def _apart(self, branches: tuple[Tree, ...]) -> str:
        """Branches that have answers each, and none in common."""
        parts = [f"{self._spell(b)} ({self._count(b):,})" for b in branches if not isinstance(b, Negation)]
        barred = " & ".join(self._spell(branch) for branch in branches if isinstance(branch, Negation))
        if len(parts) == 1:
            return f"{parts[0]} holds in the graph for nothing that {barred} leaves"
        also = f", with {barred}" if barred else ""
        return f"in the graph no entity is in all of: {'; '.join(parts)}{also}"

    def _count(self, tree: Tree) -> int:
        return len(self.sets.of(tree))

    def _spell(self, tree: Tree) -> str:
        return spell(tree, self.vocabulary)
