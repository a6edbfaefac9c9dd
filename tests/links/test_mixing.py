"""The mixture of sources: its weights are the optimum of what they are to minimise, and its shares are softmax."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from pathformer.links.mixing import Features, Mixing, Question

SOURCES, WIDTH = ("one", "other"), 4
RIDGE, SHRINK = 1e-2, 5.0  # of the common weights, and of a relation's from the common ones


def drawn_questions(count: int, weights: dict[int, list[float]], seed: int = 0) -> list[Question]:
    """Questions whose right candidate was drawn by the weights of its relation."""
    draw, found = np.random.default_rng(seed), []
    for number in range(count):
        relation = list(weights)[number % len(weights)]
        x, size = draw.normal(size=(12, WIDTH)), draw.integers(1, 9, 12)
        odds = size * np.exp(x @ weights[relation])
        right = draw.choice(12, p=odds / odds.sum())
        order = [right, *(other for other in range(12) if other != right)]
        found.append(Question(relation, x[order].astype(np.float32), size[order].astype(np.float32)))
    return found


def loss(weights: np.ndarray, questions: list[Question], fitted: Mixing, toward: np.ndarray, ridge: float) -> float:
    """-sum log p(right one) + ridge / 2 |w - toward|^2, one candidate at a time."""
    total = ridge / 2 * sum((w - v) ** 2 for w, v in zip(weights, toward, strict=True))
    for one in questions:
        z = [float(weights @ ((row - fitted.mean) / fitted.scale)) for row in one.features]
        odds = [n * np.exp(score) for n, score in zip(one.stands_for, z, strict=True)]
        total -= np.log(odds[0] / sum(odds))
    return float(total)


def slope(weights: np.ndarray, *given: Any) -> np.ndarray:
    steps = 1e-4 * np.eye(WIDTH)
    return np.array([(loss(weights + step, *given) - loss(weights - step, *given)) / 2e-4 for step in steps])


PLANTED = {0: [1.0, 0.5, -0.5, 0.0], 2: [-1.0, 0.5, 1.5, 0.0], 5: [1.0, 1.0, 0.0, -1.0]}


def test_weights_are_where_the_loss_is_flat() -> None:
    questions = drawn_questions(90, PLANTED)
    fitted = Mixing.fit(SOURCES, questions)
    assert slope(fitted.common, questions, fitted, np.zeros(WIDTH), RIDGE) == pytest.approx(np.zeros(WIDTH), abs=1e-3)
    assert set(fitted.own) == set(PLANTED)
    for relation, weights in fitted.own.items():
        some = [one for one in questions if one.relation == relation]
        assert slope(weights, some, fitted, fitted.common, SHRINK) == pytest.approx(np.zeros(WIDTH), abs=1e-3)


def test_features_are_standardised() -> None:
    questions = drawn_questions(30, PLANTED)
    fitted, sample = Mixing.fit(SOURCES, questions), np.concatenate([one.features for one in questions])
    scaled = (sample - fitted.mean) / fitted.scale
    assert (scaled.mean(axis=0), scaled.std(axis=0)) == (pytest.approx(0, abs=1e-5), pytest.approx(1, rel=1e-5))


def test_planted_weights_are_found_and_a_relation_of_few_has_nearly_the_common_ones() -> None:
    many = drawn_questions(1500, {0: PLANTED[0]})
    fitted = Mixing.fit(SOURCES, [*many, *drawn_questions(2, {2: PLANTED[2]})])
    assert fitted.own[0] / fitted.scale == pytest.approx(PLANTED[0], abs=0.15)
    few = np.abs(fitted.own[2] - fitted.common).max()
    assert 0 < few < np.abs(np.array(PLANTED[2]) - PLANTED[0]).max() / 4


def test_scores_are_log_shares_of_the_candidates() -> None:
    """Weights of any sign; no candidate is one in any of them."""
    values = np.random.default_rng(1).normal(size=(30, WIDTH)).astype(np.float32)
    out = [3, 17, 29]
    values[out, 0::2] = -np.inf
    fitted = Mixing.fit(SOURCES, drawn_questions(60, PLANTED))
    for one in (fitted, Mixing.even(SOURCES)):  # even: ranks weigh 0
        for relation in (0, 2, 9):
            weights = one.own.get(relation, one.common)
            odds = np.array([0 if n in out else np.exp(weights @ (x / one.scale)) for n, x in enumerate(values)])
            scores = one.scores(Features(values), relation)
            assert np.isneginf(scores[out]).all()
            assert np.exp(scores) == pytest.approx(odds / odds.sum(), rel=1e-4)


def test_no_candidate_at_all_has_no_share() -> None:
    scores = Mixing.even(SOURCES).scores(Features(np.full((5, WIDTH), -np.inf, np.float32)), 0)
    assert np.isneginf(scores).all()


def test_even_takes_the_mean_of_the_log_shares() -> None:
    assert Mixing.fit(SOURCES, []).to_json() == Mixing.even(SOURCES).to_json()  # nothing was held out
    values = np.log(np.array([[0.5, 1.0, 0.1, 1.0], [0.5, 1.0, 0.9, 1.0]], np.float32))
    scores = Mixing.even(SOURCES).scores(Features(values), 0)
    odds = np.sqrt([0.5 * 0.1, 0.5 * 0.9])
    assert np.exp(scores) == pytest.approx(odds / odds.sum())


def test_json_and_back() -> None:
    fitted = Mixing.fit(SOURCES, drawn_questions(60, PLANTED))
    read = Mixing.from_json(json.loads(json.dumps(fitted.to_json())))
    assert read.to_json() == fitted.to_json()
    given = Features(np.random.default_rng(2).normal(size=(9, WIDTH)).astype(np.float32))
    for relation in (0, 9):
        np.testing.assert_array_equal(read.scores(given, relation), fitted.scores(given, relation))


@pytest.mark.parametrize(
    "wrong",
    [
        {"mean": None},
        {"own": [1.0]},
        {"common": [1.0]},
        {"mean": [0.0, 0.0, 0.0, float("nan")]},
        {"scale": [1.0, 1.0, 1.0, 0.0]},
        {"sources": ["one"]},
        {"own": {"2": [1.0, 2.0]}},
        {"own": {"two": [1.0, 2.0, 3.0, 4.0]}},
        {"common": [[1.0], [], [], []]},
        {"common": [{}, {}, {}, {}]},
    ],
)
def test_anything_else_is_no_mixture(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Mixing.from_json({**Mixing.even(SOURCES).to_json(), **wrong})
