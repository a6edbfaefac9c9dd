"""Says why the graph itself has no answer to a question: which part of the tree is empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from pathformer.engine.find.exact_sets import ExactSets
from pathformer.kg.schema import RelationSchema
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.print import spell
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union
from pathformer.text import counted

__all__ = ["why_empty"]

_NAMED = 5  # empty parts of a union that are named
_HARDLY = 0.05  # largest share of entities at both ends of a relation whose two ends are of different kinds


def why_empty(tree: Tree, sets: ExactSets, vocabulary: Vocabulary, schema: RelationSchema | None = None) -> str:
    """Returns sentences that name the smallest empty part of a tree without an answer on the graph of `sets`.

    schema: to say whether similar entities have the missing link, and whether the other direction may be meant.
    """
    return _Search(sets, vocabulary, schema).reason(tree)


@dataclass(frozen=True, slots=True)
class _Search:
    sets: ExactSets
    vocabulary: Vocabulary
    schema: RelationSchema | None

    def reason(self, tree: Tree) -> str:
        match tree:
            case Projection(_, of) if not self._count(of):
                return self.reason(of)
            case Projection(relation, of, variable):
                nothing = f"The graph states nothing for {self._spell(tree)}"
                missing = f"{self._never(of, relation)}{self._others(of, relation)}."
                return f"{nothing}: {missing}{self._turned(of, relation, variable)}"
            case Union(branches):
                return _join(dict.fromkeys(self.reason(branch) for branch in branches))
            case Intersection(branches):
                return self._fork(branches)
            case _:
                return f"The graph states nothing for {self._spell(tree)}."

    def _never(self, source: Tree, relation: int) -> str:
        """Says that the entities a projection starts from do not have the relation."""
        role = f"the {_role(relation)} of `{self.vocabulary.short_relation_label(relation)}`"
        if isinstance(source, Anchor):
            return f"{self.vocabulary.distinct_label(source.entity)} is never {role}"
        count = self._count(source)
        which = "the only entity" if count == 1 else f"none of the {count:,} entities"
        return f"{which} in {self._spell(source)} is {'never ' if count == 1 else ''}{role}"

    def _others(self, source: Tree, relation: int) -> str:
        """Says whether entities like an anchor have the relation."""
        if self.schema is None or not isinstance(source, Anchor):
            return ""
        alike, having = self.schema.count_alike(source.entity, relation)
        if not alike:
            return ""
        if not having:
            return f", and neither are the {alike:,} entities like it"
        return f", but {having:,} of the {alike:,} entities like it are"

    def _turned(self, source: Tree, relation: int, variable: str | None) -> str:
        """Proposes the other direction, if the graph has it here and nothing similar has the direction that was asked.

        It does not if that would lead back by the link that led here, nor for a relation like `sibling`, which has the
        same entities at both ends: there the link is one that the graph lacks.
        """
        if self.schema is None or not self._is_strange(source, relation, self.schema):
            return ""
        turned = Projection(relation ^ 1, source, variable)
        if not (count := self._count(turned)):
            return ""
        return f" The other direction has {counted(count, 'answer')}: did you mean {self._spell(turned)}?"

    def _is_strange(self, source: Tree, relation: int, schema: RelationSchema) -> bool:
        """Whether nothing like the start of a link has the relation, and hardly anything is at both of its ends."""
        match source:
            case Anchor(entity):
                alike, having = schema.count_alike(entity, relation)
                return not having and schema.share_at_both_ends(relation) <= (_HARDLY if alike else 0)
            case Projection(before, _):
                strange = before != relation and not schema.relations_beside(before ^ 1)[relation]
                return strange and schema.share_at_both_ends(relation) <= _HARDLY
        return False

    def _fork(self, branches: tuple[Tree, ...]) -> str:
        """Names the first branch that is empty by itself; if none is, says that the branches have nothing in common."""
        for branch in branches:
            if not self._count(branch):
                return self.reason(branch)
        given = [
            f"{self._spell(branch)} ({self._count(branch):,})"
            for branch in branches
            if not isinstance(branch, Negation)
        ]
        barred = " & ".join(self._spell(branch) for branch in branches if isinstance(branch, Negation))
        if len(given) == 1:
            return f"In the graph, {barred} removes everything from {given[0]}."
        return f"In the graph, no entity is in all of {', '.join(given)}{f', with {barred}' if barred else ''}."

    def _count(self, tree: Tree) -> int:
        return len(self.sets.of(tree))

    def _spell(self, tree: Tree) -> str:
        return spell(tree, self.vocabulary)


def _role(relation: int) -> str:
    return "subject" if relation % 2 == 0 else "object"


def _join(reasons: Mapping[str, None]) -> str:
    """Returns the first reasons, and how many others there are."""
    others = len(reasons) - _NAMED
    more = (f"{counted(others, 'other part is', 'other parts are')} empty, too.",) if others > 0 else ()
    return " ".join((*islice(reasons, _NAMED), *more))
