"""Why the graph itself has no answer: which branch of the tree is empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from pathformer.engine.find.known import ExactSets
from pathformer.kg.schema import Kinds
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.print import spell
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union
from pathformer.text import counted

__all__ = ["why_empty"]

_TOLD = 5  # parts of a union that are empty
_HARDLY = 0.05  # share at both ends of a relation up to which its two ends are of different kinds


def why_empty(tree: Tree, sets: ExactSets, vocabulary: Vocabulary, kinds: Kinds | None = None) -> str:
    """A sentence that names the smallest part at fault of a tree that has no answer on the graph of `sets`.

    kinds: to tell whether what an entity has not is had by others like it, and whether the other way round is meant.
    """
    return _Search(sets, vocabulary, kinds).reason(tree)


@dataclass(frozen=True, slots=True)
class _Search:
    sets: ExactSets
    vocabulary: Vocabulary
    kinds: Kinds | None

    def reason(self, tree: Tree) -> str:
        match tree:
            case Projection(_, of) if not self._count(of):
                return self.reason(of)
            case Projection(relation, of, variable):
                role = "subject" if relation % 2 == 0 else "object"
                missing = f"the {role} of no {self.vocabulary.short_relation_label(relation)}"
                part = spell(tree, self.vocabulary)
                others = f"{self._others(of, relation)}{self._turned(of, relation, variable)}"
                return f"the graph states nothing for {part}: {self._who(of)} {missing}{others}"
            case Union(branches):
                return _some(dict.fromkeys(self.reason(branch) for branch in branches))
            case Intersection(branches):
                return self._fork(branches)
            case _:
                return f"the graph states nothing for {spell(tree, self.vocabulary)}"

    def _who(self, source: Tree) -> str:
        """The entities that a projection starts from."""
        if isinstance(source, Anchor):
            return f"{self.vocabulary.distinct_label(source.entity)} is"
        count = self._count(source)
        part = spell(source, self.vocabulary)
        return f"the {count:,} of {part} are" if count > 1 else f"the one of {part} is"

    def _others(self, source: Tree, relation: int) -> str:
        """Whether others like an anchor have the relation."""
        if self.kinds is None or not isinstance(source, Anchor):
            return ""
        alike, having = self.kinds.alike(source.entity, relation)
        if alike and not having:
            return f", nor are the {alike:,} others like it"
        return f", while {having:,} of {alike:,} others like it are" if alike else ""

    def _turned(self, source: Tree, relation: int, variable: str | None) -> str:
        """The link the other way round, where the graph has such from here, and no link as asked from anything like it.

        Not where that would lead back by the link that led here, nor of a relation such as `sibling`, at both of whose
        ends the same things stand: there the link as asked is one that the graph lacks.
        """
        if self.kinds is None or not self._is_strange(source, relation, self.kinds):
            return ""
        turned = Projection(relation ^ 1, source, variable)
        if not (count := self._count(turned)):
            return ""
        role = "object" if relation % 2 == 0 else "subject"
        return f", but the {role} of {count:,}: ask {spell(turned, self.vocabulary)}"

    def _is_strange(self, source: Tree, relation: int, kinds: Kinds) -> bool:
        """Whether nothing like what a link starts from has the relation, and hardly anything at both of its ends."""
        match source:
            case Anchor(entity):
                alike, having = kinds.alike(entity, relation)
                return not having and kinds.turning(relation) <= (_HARDLY if alike else 0)
            case Projection(before, _):
                strange = before != relation and not kinds.company(before ^ 1)[relation]
                return strange and kinds.turning(relation) <= _HARDLY
        return False

    def _fork(self, branches: tuple[Tree, ...]) -> str:
        """The first branch that is empty by itself, or how branches that are not fail to meet."""
        for branch in branches:
            if not self._count(branch):
                return self.reason(branch)
        spelled = [spell(branch, self.vocabulary) for branch in branches]
        given = [
            f"{text} ({self._count(branch):,})"
            for text, branch in zip(spelled, branches, strict=True)
            if not isinstance(branch, Negation)
        ]
        barred = " & ".join(t for t, branch in zip(spelled, branches, strict=True) if isinstance(branch, Negation))
        if len(given) == 1:
            return f"in the graph nothing is left of {given[0]} by {barred}"
        also = f", with {barred}" if barred else ""
        return f"in the graph no entity is in all of {', '.join(given)}{also}"

    def _count(self, tree: Tree) -> int:
        return len(self.sets.of(tree))


def _some(reasons: Mapping[str, None]) -> str:
    """The first reasons, and how many others there are."""
    others = len(reasons) - _TOLD
    more = (f"{counted(others, 'other part is', 'other parts are')} empty, too",) if others > 0 else ()
    return "; ".join((*islice(reasons, _TOLD), *more))
