"""Whether a question asks of things what such things have: what stands at the ends of relations, read off the graph.

R directed relations of the graph, K entities found for a question. Entities have no types here; what tells their kind
is which directed relations they have. The *company* of a relation is every relation that some entity with it has,
itself among them. An entity that has nothing of that company never stands where the relation starts, and is like
nothing that does: a link from there was not among the held-out questions that probabilities were measured on, nor was
such an answer ever right there.

Three more signs are taken off the graph: whether a relation leads from anything to itself, whether anything that is
like an entity has a relation which that entity has not, and how many ends a relation has where it has any.

All tests are exact and one-sided: they never doubt an edge that the graph has.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from pathformer.engine.find.candidates import Candidates
from pathformer.kg.graph import Graph
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union, children

__all__ = ["Kinds", "say_stray", "say_unheard"]

_SEVERAL = 10  # entities that are enough to speak of
_SCANNED = 64  # relations that are looked for one by one; beyond that all are sorted once
_KEPT = 2048  # companies, of R bytes each

Link = tuple[int, Anchor | Projection]  # a directed relation, and what it starts from


class Kinds:
    """What the relations of a graph stand beside, each looked up when first asked for and kept."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._companies: dict[int, npt.NDArray[np.bool_]] = {}
        self._starts: dict[int, npt.NDArray[np.int32]] = {}
        self._back: dict[int, bool] = {}

    def company(self, relation: int) -> npt.NDArray[np.bool_]:
        """(R,) the relations of the entities that a directed relation leaves."""
        found = self._companies.get(relation)
        if found is None:
            if len(self._companies) >= _KEPT:
                self._companies.clear()  # perhaps while another thread asks
            found = self._companies[relation] = _company(self.graph, self.starts(relation))
        return found

    def starts(self, relation: int) -> npt.NDArray[np.int32]:
        """The entities that a directed relation leaves, ascending."""
        if relation not in self._starts:
            few = len(self._starts) < _SCANNED
            pairs = np.flatnonzero(self.graph.pair_relation == relation) if few else self._pairs[relation]
            self._starts[relation] = self.graph.heads_of(pairs)
        return self._starts[relation]

    @cached_property
    def _pairs(self) -> list[npt.NDArray[np.int64]]:
        """The (head, relation) pairs of every relation, ascending."""
        ends = np.cumsum(np.bincount(self.graph.pair_relation, minlength=self.graph.relations))
        return np.split(np.argsort(self.graph.pair_relation, kind="stable"), ends[:-1])

    def alike(self, entity: int, relation: int) -> tuple[int, int]:
        """How many others are like an entity, and how many of them have a relation.

        Alike is what has its relations, the most common first, as far as several others have them all.
        """
        own = sorted((self.starts(each) for each in self.graph.relations_of(entity).tolist()), key=len, reverse=True)
        others = np.empty(0, np.int32)
        for place, starts in enumerate(own):
            fewer = starts[np.isin(starts, others, kind="table")] if place else starts[starts != entity]
            if len(fewer) < _SEVERAL:
                break
            others = fewer
        return len(others), int(np.isin(others, self.starts(relation), kind="table").sum())

    def ends(self, tree: Tree) -> float:
        """How many ends the last link of a tree has, where it has any: the log of the mean over what it starts from.

        Of several that must hold the fewest count, of several that may hold the most.
        """
        match tree:
            case Projection(relation, _):
                return float(self._ends[relation])
            case Intersection(branches):
                return min((self.ends(branch) for branch in branches if not isinstance(branch, Negation)), default=0.0)
            case Union(branches):
                return max(map(self.ends, branches))
            case Anchor() | Negation():
                return 0.0

    @cached_property
    def _ends(self) -> npt.NDArray[np.float64]:
        """(R,) of each relation; 0 where the graph has none of it."""
        relation, size = self.graph.pair_relation, self.graph.relations
        pairs = np.bincount(relation, minlength=size)
        edges = np.bincount(relation, weights=np.diff(self.graph.pair_ptr), minlength=size)
        means: npt.NDArray[np.float64] = np.log(np.maximum(edges, 1.0) / np.maximum(pairs, 1))
        return means

    def turning(self, relation: int) -> float:
        """Of the entities that a directed relation enters, which share it leaves as well: of `sibling` it is high."""
        entered = self.starts(relation ^ 1)
        return float(np.isin(entered, self.starts(relation), kind="table").sum() / max(len(entered), 1))

    def leads_back(self, relation: int) -> bool:
        """Whether a relation leads from anything to itself, or stands at too few things to tell.

        The same of both its directions, and those are counted of which there are more: a hundred departments, none of
        which is a part of itself, tell that the two which they are parts of are none of themselves, either.
        """
        forward = relation & ~1
        if forward not in self._back:
            pairs = np.flatnonzero(self.graph.pair_relation == forward)
            first, counts = self.graph.pair_ptr[pairs], self.graph.pair_ptr[pairs + 1] - self.graph.pair_ptr[pairs]
            tails = self.graph.tails[_places(first, counts)]
            itself = bool((tails == np.repeat(self.graph.heads_of(pairs), counts)).any())
            self._back[forward] = itself or max(len(pairs), len(np.unique(tails))) < _SEVERAL
        return self._back[forward]

    def fits(self, entity: int, tree: Tree) -> bool:
        """Whether an entity has any relation of those that stand where the last links of a tree end.

        Nor does it fit where it would stand in a relation to itself that nothing stands in to itself.
        """
        match tree:
            case Projection(relation, Anchor(start)) if start == entity and not self.leads_back(relation):
                return False
            case Projection(relation, _):
                return bool(self.company(relation ^ 1)[self.graph.relations_of(entity)].any())
            case Intersection(branches):
                return all(self.fits(entity, branch) for branch in branches)
            case Union(branches):
                return any(self.fits(entity, branch) for branch in branches)
            case Anchor() | Negation():  # neither says what kind of thing it holds
                return True

    def odd(self, found: Candidates, top: int) -> npt.NDArray[np.bool_]:
        """(K,) which of the predictions do not fit; those behind the `top`-th that does are not looked at."""
        odd, left = np.zeros(len(found), np.bool_), top
        for place in found.predicted.nonzero()[0].tolist():
            if not left:
                break
            odd[place] = not self.fits(int(found.entities[place]), found.tree)
            left -= not odd[place]
        return odd

    def stray(self, tree: Tree) -> Link | None:
        """The first link of a tree that starts from what has no relation of those that it does start from."""
        for child in children(tree):
            if found := self.stray(child):
                return found
        if isinstance(tree, Projection):
            company = self.company(tree.relation)
            for source in _sources(tree.of):
                if not company[self._relations(source)].any():
                    return tree.relation, source
        return None

    def unheard(self, tree: Tree) -> Link | None:
        """The first link of a tree, negated parts apart, that an entity has not, nor has anything that is like it."""
        match tree:
            case Negation():
                return None
            case Projection(relation, Anchor(entity) as source):
                if len(self.graph.tails_of(entity, relation)):
                    return None
                alike, having = self.alike(entity, relation)
                return (relation, source) if alike and not having else None
        return next(filter(None, map(self.unheard, children(tree))), None)

    def _relations(self, source: Anchor | Projection) -> npt.NDArray[np.int32] | npt.NDArray[np.bool_]:
        """The relations of an entity, or of all entities that a relation ends in."""
        if isinstance(source, Anchor):
            return self.graph.relations_of(source.entity)
        return self.company(source.relation ^ 1)


def say_stray(link: Link, vocabulary: Vocabulary) -> str:
    """Returns a sentence about a link that starts from what never has it."""
    relation, source = link
    if isinstance(source, Anchor):
        what = vocabulary.distinct_label(source.entity)
    else:
        what = f"what `{vocabulary.short_relation_label(source.relation)}` {_ends(source.relation)}"
    return (
        f"In this graph `{vocabulary.short_relation_label(relation)}` never {_ends(relation ^ 1)} anything like {what}."
    )


def say_unheard(link: Link, vocabulary: Vocabulary) -> str:
    """Returns a sentence about a link that an entity and everything like it lack."""
    relation, source = link
    assert isinstance(source, Anchor)
    role = "subject" if relation % 2 == 0 else "object"
    name = vocabulary.distinct_label(source.entity)
    return f"In this graph nothing like {name} is the {role} of `{vocabulary.short_relation_label(relation)}`."


def _ends(relation: int) -> str:
    """Returns the verb that joins a directed relation to the entities that it leads to."""
    return "ends in" if relation % 2 == 0 else "starts from"


def _sources(tree: Tree) -> list[Anchor | Projection]:
    """The nodes whose entities a projection of the tree starts from."""
    match tree:
        case Anchor() | Projection():
            return [tree]
        case Intersection(branches) | Union(branches):
            return [source for branch in branches for source in _sources(branch)]
        case Negation():
            return []


def _company(graph: Graph, heads: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    first, counts = graph.head_ptr[heads], graph.head_ptr[heads + 1] - graph.head_ptr[heads]
    company = np.zeros(graph.relations, np.bool_)
    company[graph.pair_relation[_places(first, counts)]] = True
    return company


def _places(first: npt.NDArray[np.integer], counts: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Runs of so many numbers from each first one on, one behind the other."""
    places: npt.NDArray[np.int64] = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    return places
