"""Tree optimisation against brute force over all assignments, on random tables and random trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.query_strategies import ENTITIES, RELATIONS, Edges, evaluate, graphs, trees
from support.search_twin import best_score, matrix, predictions, value, variables

from pathformer.errors import ConfigError
from pathformer.kg.graph import Graph
from pathformer.links.table import LinkTable
from pathformer.query.structures import STRUCTURES
from pathformer.query.tree import Anchor, Negation, Projection, Tree, children
from pathformer.search.optimise import optimise, score
from pathformer.search.settings import SearchSettings

NORMS = ("product", "goedel", "lukasiewicz")
EVERY = list(range(ENTITIES))


def settings(**fixed: object) -> st.SearchStrategy[SearchSettings]:
    choices = {
        "norm": st.sampled_from(NORMS),
        "width": st.sampled_from([None, ENTITIES]),
        "negation": st.sampled_from(["answers", "links"]),
        "negation_scale": st.sampled_from([1.0, 3.0]),
    }
    return st.builds(SearchSettings, **{**choices, **{name: st.just(value) for name, value in fixed.items()}})


def index(edges: Edges) -> Graph:
    return Graph.from_triples(np.array(sorted(edges), np.int32).reshape(-1, 3), ENTITIES, RELATIONS)


def table_of(edges: Edges, predicted: np.ndarray | None, threshold: float = 0.0) -> LinkTable:
    predict = None if predicted is None else lambda heads, relation: predicted[relation][heads]
    return LinkTable(index(edges), predict, threshold=threshold)


def nodes(tree: Tree) -> list[Tree]:
    return [tree, *(node for child in children(tree) for node in nodes(child))]


def has_variable_below_negation(tree: Tree) -> bool:
    below = [node for negation in nodes(tree) if isinstance(negation, Negation) for node in nodes(negation)]
    return any(isinstance(node, Projection) and not isinstance(node.of, Anchor) for node in below)


def assume_few_variables(tree: Tree) -> None:
    links = SearchSettings(negation="links")
    assume(len(list(variables(tree, links))) <= 3)


@given(trees(max_leaves=4), graphs(), predictions(), settings(), st.sampled_from([0.0, 0.01]))
def test_scores_are_those_of_the_best_assignments(
    tree: Tree, edges: Edges, predicted: np.ndarray, how: SearchSettings, threshold: float
) -> None:
    assume_few_variables(tree)
    links = matrix(edges, predicted)
    expected = [best_score(tree, entity, links, how) for entity in EVERY]
    assert score([tree], table_of(edges, predicted, threshold), how)[0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", STRUCTURES)
def test_every_structure_has_the_scores_of_the_best_assignments(name: str, norm: str) -> None:
    rng = np.random.default_rng(len(name))
    predicted = (0.9 * rng.random((RELATIONS, ENTITIES, ENTITIES))).astype(np.float32)
    edges = frozenset({(0, 0, 1), (1, 1, 0), (1, 2, 3), (3, 3, 1)})
    shape, how = STRUCTURES[name], SearchSettings(norm=norm, width=None)
    bounds = [ENTITIES if column == "e" else RELATIONS for column in shape.columns]
    asked = [shape.tree(rng.integers(0, bounds).tolist()) for _ in range(5)]
    found = score(asked, table_of(edges, predicted), how)
    links = matrix(edges, predicted)
    for tree, scores in zip(asked, found, strict=True):
        assert scores == pytest.approx([best_score(tree, entity, links, how) for entity in EVERY], abs=1e-5)


@given(trees(max_leaves=6), graphs(), predictions(), settings(negation="answers"), st.integers(1, ENTITIES))
def test_a_narrow_search_never_scores_higher(
    tree: Tree, edges: Edges, predicted: np.ndarray, how: SearchSettings, width: int
) -> None:
    assume(not has_variable_below_negation(tree))
    narrow = SearchSettings(norm=how.norm, negation_scale=how.negation_scale, width=width)
    table = table_of(edges, predicted)
    assert (score([tree], table, narrow) <= score([tree], table, how) + 1e-6).all()


@given(trees(), graphs(), predictions(), st.sampled_from(NORMS), st.integers(1, 3))
def test_a_known_answer_scores_one_in_the_narrowest_search(
    tree: Tree, edges: Edges, predicted: np.ndarray, norm: str, width: int
) -> None:
    assume(not any(isinstance(node, Negation) for node in nodes(tree)))
    known = sorted(evaluate(tree, edges))
    scores = score([tree], table_of(edges, predicted), SearchSettings(norm=norm, width=width))[0]
    assert (scores[known] == 1).all()
    if norm != "lukasiewicz":  # whose union of two likely parts may be certain
        assert (np.delete(scores, known) < 1).all()


@given(trees(), graphs(), st.sampled_from(NORMS), st.integers(1, 3))
def test_facts_alone_give_the_exact_answers(tree: Tree, edges: Edges, norm: str, width: int) -> None:
    scores = score([tree], table_of(edges, None), SearchSettings(norm=norm, width=width))[0]
    assert scores.tolist() == [float(entity in evaluate(tree, edges)) for entity in EVERY]


@given(trees(max_leaves=6), graphs(), predictions(), settings())
def test_the_bindings_give_the_score_again(
    tree: Tree, edges: Edges, predicted: np.ndarray, how: SearchSettings
) -> None:
    found, links = optimise([tree], table_of(edges, predicted), how), matrix(edges, predicted)
    for entity in EVERY:
        best = found.assignment(entity)
        if best is None:
            assert found.scores[0, entity] == 0
            continue
        assert best.belief == found.scores[0, entity]
        assert value(tree, entity, best.bindings, links, how) == pytest.approx(best.belief, abs=1e-5)
        for link in best.links:
            belief = links[link.relation, link.head, link.tail]
            counted = 1 - min(1, how.negation_scale * belief) if link.denied else belief
            assert link.probability == pytest.approx(counted)
            assert link.known == ((link.head, link.relation, link.tail) in edges)


def test_a_reason_names_facts_predictions_and_denials() -> None:
    predicted = np.zeros((RELATIONS, ENTITIES, ENTITIES), np.float32)
    predicted[2, 1, 3], predicted[4, 2, 3] = 0.5, 0.25
    shape = STRUCTURES["pin"]  # r0 then r2 from entity 0, but not r4 from entity 2
    found = optimise([shape.tree([0, 0, 2, 2, 4])], table_of(frozenset({(0, 0, 1), (1, 1, 0)}), predicted))
    best = found.assignment(3)
    assert best is not None
    assert best.belief == pytest.approx(0.5 * 0.75)
    assert best.bindings == {(0, 0): 1}
    assert [(link.head, link.relation, link.tail, link.known) for link in best.links] == [
        (0, 0, 1, True),
        (1, 2, 3, False),
    ]
    assert [(denial.node, denial.entity, denial.belief) for denial in best.denials] == [((1,), 3, 0.75)]


def test_the_reason_of_a_union_is_the_branch_that_suffices() -> None:
    predicted = np.full((RELATIONS, ENTITIES, ENTITIES), 0.5, np.float32)
    edges = frozenset({(1, 2, 3), (3, 3, 1)})
    found = optimise([STRUCTURES["2u"].tree([0, 0, 1, 2])], table_of(edges, predicted))
    certain, likely = found.assignment(3), found.assignment(4)
    assert certain is not None
    assert likely is not None
    assert [link.head for link in certain.links] == [1]
    assert [link.head for link in likely.links] == [0, 1]  # both branches are needed for 0.75


def test_a_batch_is_as_one_by_one() -> None:
    rng = np.random.default_rng(0)
    predicted = (0.9 * rng.random((RELATIONS, ENTITIES, ENTITIES))).astype(np.float32)
    asked = []
    for number in range(300):  # more than a block of some structures, in mixed order
        shape = list(STRUCTURES.values())[number % 3]
        bounds = [ENTITIES if column == "e" else RELATIONS for column in shape.columns]
        asked.append(shape.tree(rng.integers(0, bounds).tolist()))
    for threshold in (0.0, 0.3):
        table = table_of(frozenset(), predicted, threshold)
        together = score(asked, table, SearchSettings(width=2))
        alone = [score([tree], table, SearchSettings(width=2))[0] for tree in asked]
        assert np.array_equal(together, alone)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [({"norm": "sum"}, "product, goedel, lukasiewicz"), ({"width": 0}, "width"), ({"negation_scale": 0.0}, "scale")],
)
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        SearchSettings(**wrong)
