"""Whether a tree fits a graph: links that nothing like their start has, entities unlike all others in their position.

Every test is exact and one-sided: it never doubts an edge that the graph has.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pathformer.kg.schema import RelationSchema
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union, children

__all__ = [
    "Link",
    "find_impossible_link",
    "find_unprecedented_link",
    "is_plausible",
    "log_mean_tails",
    "say_impossible",
    "say_unprecedented",
]

Link = tuple[int, Anchor | Projection]  # a directed relation, and the node that it starts from


def find_impossible_link(tree: Tree, schema: RelationSchema) -> Link | None:
    """Returns the first link whose start has none of the relations of the entities that the relation leaves."""
    for child in children(tree):
        if link := find_impossible_link(child, schema):
            return link
    if isinstance(tree, Projection):
        beside = schema.relations_beside(tree.relation)
        for source in _sources(tree.of):
            if not beside[_relations(source, schema)].any():
                return tree.relation, source
    return None


def find_unprecedented_link(tree: Tree, schema: RelationSchema) -> Link | None:
    """Returns the first link outside negations that neither its entity has nor any entity like it."""
    match tree:
        case Negation():
            return None
        case Projection(relation, Anchor(entity) as source):
            if len(schema.graph.tails_of(entity, relation)):
                return None
            alike, having = schema.count_alike(entity, relation)
            return (relation, source) if alike and not having else None
    return next(filter(None, (find_unprecedented_link(child, schema) for child in children(tree))), None)


def is_plausible(entity: int, tree: Tree, schema: RelationSchema) -> bool:
    """Whether an entity has any relation of those that stand beside the ends of a tree's last links.

    It has not where the link would lead from the entity to itself and the graph has no such link.
    """
    match tree:
        case Projection(relation, Anchor(start)) if start == entity and not schema.may_link_to_itself(relation):
            return False
        case Projection(relation, _):
            return bool(schema.relations_beside(relation ^ 1)[schema.graph.relations_of(entity)].any())
        case Intersection(branches):
            return all(is_plausible(entity, branch, schema) for branch in branches)
        case Union(branches):
            return any(is_plausible(entity, branch, schema) for branch in branches)
        case Anchor() | Negation():  # neither says what kind of thing it holds
            return True


def log_mean_tails(tree: Tree, schema: RelationSchema) -> float:
    """The log of the mean number of tails that the last link of a tree has, over the entities that have any.

    The fewest count of several links that must hold, the most of several that may hold.
    """
    match tree:
        case Projection(relation, _):
            return float(schema.log_mean_tails[relation])
        case Intersection(branches):
            return min((log_mean_tails(b, schema) for b in branches if not isinstance(b, Negation)), default=0.0)
        case Union(branches):
            return max(log_mean_tails(branch, schema) for branch in branches)
        case Anchor() | Negation():
            return 0.0


def say_impossible(link: Link, vocabulary: Vocabulary) -> str:
    """Returns a sentence about a link that starts from what never has it."""
    relation, source = link
    if isinstance(source, Anchor):
        what = vocabulary.distinct_label(source.entity)
    else:
        what = f"what `{vocabulary.short_relation_label(source.relation)}` {_ends(source.relation)}"
    return (
        f"In this graph `{vocabulary.short_relation_label(relation)}` never {_ends(relation ^ 1)} anything like {what}."
    )


def say_unprecedented(link: Link, vocabulary: Vocabulary) -> str:
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


def _relations(source: Anchor | Projection, schema: RelationSchema) -> npt.NDArray[np.int32] | npt.NDArray[np.bool_]:
    """The relations of an entity, or of all entities that a relation ends in."""
    if isinstance(source, Anchor):
        return schema.graph.relations_of(source.entity)
    return schema.relations_beside(source.relation ^ 1)
