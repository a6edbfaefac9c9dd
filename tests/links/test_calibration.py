"""Probabilities of predicted links: rates that were planted are found, and no rank overtakes one before it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from pathformer.links.calibration import LinkCalibration, Predictions

Truth = np.ndarray
OFFSETS = {0: 0.0, 2: -1.5, 4: 1.0}  # how much likelier than usual a prediction of each relation is


def planted(questions: int, offsets: dict[int, float], seed: int = 0) -> tuple[Predictions, Truth, Truth]:
    """Predictions, how likely each is, and whether it is right: drawn."""
    draw, parts = np.random.default_rng(seed), []
    for number in range(questions):
        odds = np.sort(draw.exponential(1.0, 10))[::-1]
        relation = list(offsets)[number % len(offsets)]
        parts.append(Predictions.of(relation, np.log(odds / odds.sum()), int(draw.integers(0, 9))))
    given = Predictions.join(parts)
    z = 1.2 * given.log_share - 0.4 * np.log(given.rank) + np.array([offsets[r] for r in given.relation.tolist()])
    likely = 1 / (1 + np.exp(-z))
    return given, likely, draw.random(len(likely)) < likely


@pytest.fixture(scope="module")
def fitted() -> LinkCalibration:
    given, _, right = planted(3000, OFFSETS)
    return LinkCalibration.fit(given, right)


def test_predictions_of_a_question_are_ranked_from_one() -> None:
    joined = Predictions.join([Predictions.of(3, np.log([0.5, 0.2]), 7), Predictions.of(5, np.log([0.9]), 0)])
    columns = (joined.relation, joined.rank, joined.known)
    assert [column.tolist() for column in columns] == [[3, 3, 5], [1, 2, 1], [7, 7, 0]]
    assert np.exp(joined.log_share) == pytest.approx([0.5, 0.2, 0.9])


def test_planted_rates_are_recovered(fitted: LinkCalibration) -> None:
    """On questions that it was not fitted on: by relation, and by how likely a prediction is."""
    given, likely, _ = planted(900, OFFSETS, seed=1)
    found = fitted.probabilities(given)
    assert fitted.fitted_on == 30_000
    for relation in OFFSETS:
        chosen = given.relation == relation
        assert found[chosen].mean() == pytest.approx(likely[chosen].mean(), rel=0.1)
    order = np.argsort(likely)
    for pool in np.array_split(order, 6):
        assert found[pool].mean() == pytest.approx(likely[pool].mean(), rel=0.15, abs=2e-3)


def test_probabilities_never_rise_with_rank(fitted: LinkCalibration) -> None:
    """Not even where the logits do: later ranks weigh more here than earlier ones."""
    odd = replace(fitted, weights=np.array([1.0, 3.0, 0.0, -3.0]))
    given, _, _ = planted(50, OFFSETS, seed=2)
    rises = 0
    for one in (fitted, odd):
        found, logits = one.probabilities(given).reshape(50, 10), one.logits(given).reshape(50, 10)
        assert (np.diff(found) <= 0).all()
        assert ((found > 0) & (found < 1)).all()
        rises += (np.diff(logits) > 0).sum()
        plain = np.interp(logits, one.steps, one.levels)
        assert found == pytest.approx(np.minimum.accumulate(plain, axis=1))  # each question apart
    assert rises


def test_no_prediction_has_no_probability(fitted: LinkCalibration) -> None:
    assert len(fitted.probabilities(Predictions.of(0, np.empty(0), 3))) == 0


def test_a_relation_without_data_has_the_common_probabilities(fitted: LinkCalibration) -> None:
    given, _, _ = planted(30, {2: 0.0}, seed=3)
    foreign = replace(given, relation=np.full_like(given.relation, 9))
    assert set(fitted.own) == set(OFFSETS)
    common = replace(fitted, own={}).probabilities(given)
    np.testing.assert_array_equal(fitted.probabilities(foreign), common)
    assert (fitted.probabilities(given) < common).mean() > 0.9  # a relation that is right less often


def test_a_relation_of_few_is_drawn_to_the_common_ones() -> None:
    usual, _, right = planted(600, {0: 0.0})
    few, _, _ = planted(2, {2: 0.0}, seed=4)
    fitted = LinkCalibration.fit(Predictions.join([usual, few]), np.append(right, np.ones(20, np.bool_)))
    many, _, _ = planted(200, {2: 0.0}, seed=4)
    other = LinkCalibration.fit(Predictions.join([usual, many]), np.append(right, np.ones(2000, np.bool_)))
    assert 0 < fitted.own[2] < other.own[2]


def test_a_shift_is_where_its_loss_is_flat(fitted: LinkCalibration) -> None:
    """-log likelihood of z + b_r, + 4 / 2 b_r^2."""
    given, _, right = planted(3000, OFFSETS)
    rough = replace(fitted, own={}).logits(given)
    for relation, shift in fitted.own.items():
        chosen = given.relation == relation
        p = 1 / (1 + np.exp(-(rough[chosen] + shift)))
        assert (p - right[chosen]).sum() + 4 * shift == pytest.approx(0, abs=1e-4)


def test_without_right_and_wrong_ones_shares_are_given_as_they_are() -> None:
    given, _, _ = planted(20, {0: 0.0})
    for right in (np.zeros(200, np.bool_), np.ones(200, np.bool_)):
        fitted = LinkCalibration.fit(given, right)
        assert fitted.fitted_on == 0
        assert fitted.probabilities(given) == pytest.approx(np.exp(given.log_share), abs=2e-3)


def test_json_and_back(fitted: LinkCalibration) -> None:
    given, _, _ = planted(30, {**OFFSETS, 9: 0.0}, seed=5)
    for one in (fitted, LinkCalibration.none()):
        read = LinkCalibration.from_json(json.loads(json.dumps(one.to_json())))
        assert read.to_json() == one.to_json()
        np.testing.assert_array_equal(read.probabilities(given), one.probabilities(given))


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": None},
        {"weights": [1.0, 2.0]},
        {"levels": [0.5]},
        {"steps": [], "levels": []},
        {"fitted_on": -1},
        {"own": {"2": float("inf")}},
        {"own": {"two": 1.0}},
        {"own": {"2": None}},
        {"steps": [{}], "levels": [0.5]},
        {"rates": {"common": [], "own": {}}},
        {"rates": 5},
    ],
)
def test_anything_else_is_no_calibration(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        LinkCalibration.from_json({**LinkCalibration.none().to_json(), **wrong})
