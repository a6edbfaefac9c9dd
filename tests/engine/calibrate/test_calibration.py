"""Probabilities: fitted where they were never judged, rising where they should, and read back as they were."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.calibrate.features import FEATURES, features
from pathformer.engine.calibrate.reliability import Bin, Reliability, draw_reliability, reliability
from pathformer.engine.find.candidates import Candidates
from pathformer.engine.find.exact_sets import ExactSets
from pathformer.kg.graph import Graph
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union

GRAPH = Graph.from_triples(np.empty((0, 3), np.int32), 50, 2)
ONE_HOP: Tree = Projection(0, Anchor(3))


def candidates(distances: list[float], known: list[bool] | None = None, tree: Tree = ONE_HOP) -> Candidates:
    count = len(distances)
    return Candidates(
        tree,
        np.arange(count),
        np.array(distances, np.float32),
        np.array(known or [False] * count),
        np.zeros(count, bool),
        entity_count=50,
        ends=0.0,
        sets=ExactSets(GRAPH),
    )


def material(queries: int, seed: int) -> tuple[list[Candidates], list[np.ndarray], list[np.ndarray]]:
    """Queries whose predictions are right with a chance that their distance tells, with that chance."""
    rng = np.random.default_rng(seed)
    found, right, chances = [], [], []
    for _ in range(queries):
        distances = np.sort(rng.uniform(0, 10, 12))
        chance = 0.8 / (1 + np.exp(distances - 3))
        found.append(candidates(distances.tolist()))
        right.append(rng.random(12) < chance)
        chances.append(chance)
    return found, right, chances


def test_features_are_what_they_are_called() -> None:
    tree = Intersection((Union((Projection(0, Projection(1, Anchor(0))), Projection(2, Anchor(1)))), Negation(ONE_HOP)))
    table = features(candidates([1.0, 2.0, 4.0, 7.0], [False, True, True, False], tree))
    rows = [dict(zip(FEATURES, row, strict=True)) for row in table.tolist()]
    assert [row["log rank"] for row in rows] == pytest.approx([0, np.log(2)])
    assert [row["distance"] for row in rows] == [1, 7]
    assert [row["behind the first"] for row in rows] == [0, 6]
    assert [row["behind the known"] for row in rows] == [-2, 4]
    assert rows[0]["any known"] == 1
    assert rows[0]["log known"] == pytest.approx(np.log(3))
    assert [rows[0][name] for name in ("hops", "anchors", "negations", "unions")] == [2, 3, 1, 1]
    assert (rows[0]["ends"], features(replace(candidates([1.0]), ends=0.7))[0, -1]) == (0, 0.7)


def test_features_without_known_answers_and_without_predictions() -> None:
    alone = dict(zip(FEATURES, features(candidates([5.0]))[0].tolist(), strict=True))
    assert (alone["behind the known"], alone["any known"], alone["log known"]) == (0, 0, 0)
    assert features(candidates([5.0], [True])).shape == (0, len(FEATURES))


def test_a_prediction_is_as_likely_in_a_short_list_as_in_a_long_one() -> None:
    found, right, _ = material(60, seed=1)
    fitted = Calibration.fit(found, right)
    long = candidates([0.5, 1.0, 3.0, 6.0], [False, True, False, False])
    short = candidates([0.5, 1.0, 3.0], [False, True, False])
    assert fitted.probabilities(long)[:3].tolist() == fitted.probabilities(short).tolist()


def test_fitted_probabilities_are_the_chances_on_other_queries() -> None:
    fitted = Calibration.fit(*material(1500, seed=2)[:2])
    found, right, chances = material(400, seed=3)
    given_ = np.concatenate([fitted.probabilities(one) for one in found])
    assert np.abs(given_ - np.concatenate(chances)).mean() < 0.03
    judged = reliability(given_, np.concatenate(right))
    assert judged.ece < 0.03
    assert judged.brier < 0.8 * judged.base_brier


def test_a_wrong_map_is_caught() -> None:
    _, right, chances = material(400, seed=3)
    judged = reliability(np.concatenate(chances) ** 0.3, np.concatenate(right))
    assert judged.ece > 0.1


def test_a_nearer_entity_is_never_less_likely_and_a_known_one_is_certain() -> None:
    found, right, _ = material(80, seed=4)
    rng = np.random.default_rng(0)
    odd = [rng.random(len(part)) < 0.3 for part in right]  # truth that has nothing to do with distance
    for truth in (right, odd):
        fitted = Calibration.fit(found, truth)
        for one in (*found[:20], candidates([0.1, 2.0, 2.0, 3.0], [False, True, False, True])):
            given_ = fitted.probabilities(one)
            assert (given_[one.known] == 1).all()
            predicted = given_[one.predicted]
            assert (np.diff(predicted) <= 0).all()
            assert ((predicted > 0) & (predicted < 1)).all()


@given(
    st.lists(st.tuples(st.floats(0, 10), st.booleans(), st.booleans()), min_size=1, max_size=12),
    st.sampled_from(["fitted", "habit"]),
)
def test_implausible_ones_change_nothing_and_lie_between_their_neighbours(
    listed: list[tuple[float, bool, bool]], which: str
) -> None:
    calibration = Calibration.fit(*material(80, seed=4)[:2]) if which == "fitted" else Calibration.none()
    distances, known, marked = zip(*sorted(listed), strict=True)
    found = candidates(list(distances), list(known))
    odd = np.array(marked) & found.predicted
    given_ = calibration.probabilities(replace(found, implausible=odd))
    assert given_[~odd].tolist() == calibration.probabilities(found.where(~odd)).tolist()
    assert (np.diff(given_[found.predicted]) <= 0).all()
    assert ((given_ > 0) & (given_ <= 1)).all()


def test_it_reads_back_from_json_as_it_was() -> None:
    found, right, _ = material(50, seed=5)
    for calibration in (Calibration.fit(found, right), Calibration.none()):
        again = Calibration.from_json(json.loads(json.dumps(calibration.to_json())))
        assert again.probabilities(found[0]).tolist() == calibration.probabilities(found[0]).tolist()
        assert again.fitted == calibration.fitted


TWO_HOPS: Tree = Projection(0, Projection(1, Anchor(3)))
KINDS = {"a link": (ONE_HOP, 0.8), "more links": (TWO_HOPS, 0.2)}  # and how often a prediction is right


def of_two_kinds(queries: int, seed: int) -> tuple[list[Candidates], list[np.ndarray]]:
    """Queries of both, in turn, whose distances say nothing."""
    rng = np.random.default_rng(seed)
    found, right = [], []
    for place in range(queries):
        tree, share = list(KINDS.values())[place % 2]
        found.append(candidates(np.sort(rng.uniform(0, 10, 10)).tolist(), tree=tree))
        right.append(rng.random(10) < share)
    return found, right


def test_each_kind_of_question_has_a_curve_of_its_own() -> None:
    found, right = of_two_kinds(400, seed=6)
    fitted = Calibration.fit(found, right)
    known = [f"{name}, nothing known" for name in KINDS]
    assert set(fitted.curves) == {"all", *KINDS, *known}
    for tree, share in KINDS.values():
        given_ = np.concatenate([fitted.probabilities(one) for one in found if one.tree == tree])
        assert given_.mean() == pytest.approx(share, abs=0.03)
    assert fitted.predictions == 4000


def test_where_few_of_a_kind_were_held_out_a_wider_one_stands_in() -> None:
    found, right = of_two_kinds(400, seed=6)
    fitted = Calibration.fit(found, right)
    some = candidates([0.5, 1.0, 2.0], [True, False, False])
    assert fitted.probabilities(some).tolist() == fitted.curves["a link"].probabilities(some).tolist()
    fewer = Calibration.fit(found[:98], right[:98])  # 49 questions of each kind, 490 predictions
    assert set(fewer.curves) == {"all"}
    assert fewer.probabilities(some).tolist() == fewer.curves["all"].probabilities(some).tolist()
    alike = Calibration.fit(found[::2], [np.ones(10, np.bool_)] * 199 + [np.zeros(10, np.bool_)])
    assert "more links" not in alike.curves


def test_a_relation_of_many_ends_is_told_from_one_of_one() -> None:
    rng = np.random.default_rng(7)
    ends = [float(n) for n in rng.integers(0, 2, 300)]
    found = [replace(candidates(np.sort(rng.uniform(0, 10, 10)).tolist()), ends=n) for n in ends]
    fitted = Calibration.fit(found, [rng.random(10) < 0.1 + 0.5 * n for n in ends])
    for n in (0.0, 1.0):
        given_ = np.concatenate([fitted.probabilities(one) for one in found if one.ends == n])
        assert given_.mean() == pytest.approx(0.1 + 0.5 * n, abs=0.04)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"curves": []}, "'curves' is not an object"),
        ({"curves": {}}, "'all' is missing"),
        ({"curves": {"all": 3}}, "'all' is not an object"),
        ({"curves": {"all": {}}}, "'predictions' is missing"),
    ],
)
def test_what_is_no_calibration_is_refused(table: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Calibration.from_json(table)


@pytest.mark.parametrize("answer", [True, False])
def test_where_all_are_right_or_all_wrong_nothing_is_fitted(answer: bool) -> None:
    found = [candidates([1.0, 2.0])] * 5
    assert not Calibration.fit(found, [np.full(2, answer)] * 5).fitted
    assert not Calibration.fit([], []).fitted


def test_the_default_falls_with_the_rank() -> None:
    default = Calibration.none().probabilities(candidates([1.0, 2.0, 3.0]))
    assert default[0] == pytest.approx(0.1, abs=1e-3)
    assert default[0] > default[1] > default[2] > 0


def test_reliability_by_hand() -> None:
    judged = reliability(np.array([0.9, 0.1, 0.3, 0.7]), np.array([True, False, True, False]), bins=2)
    assert judged.bins == (Bin(2, pytest.approx(0.2), 0.5), Bin(2, pytest.approx(0.8), 0.5))  # type: ignore[arg-type]
    assert judged.ece == pytest.approx(0.3)
    assert judged.brier == pytest.approx((0.01 + 0.01 + 0.49 + 0.49) / 4)
    assert judged.base_brier == 0.25
    assert Reliability.from_plain(json.loads(json.dumps(judged.plain()))) == judged


def test_reliability_of_nothing() -> None:
    judged = reliability(np.zeros(0), np.zeros(0, np.bool_))
    assert (judged.predictions, judged.ece, judged.brier) == (0, 0, 0)
    assert draw_reliability(judged).startswith("<svg")


def test_bins_have_equal_mass() -> None:
    judged = reliability(np.linspace(0, 1, 100), np.arange(100) % 2 == 0)
    assert len(judged.bins) == 15
    assert {part.count for part in judged.bins} == {6, 7}


def test_the_picture_shows_every_bin_and_the_figures() -> None:
    judged = reliability(np.linspace(0, 0.3, 60), np.arange(60) % 5 == 0)
    picture = draw_reliability(judged)
    assert picture.count("<circle") == 15
    assert f"ECE {judged.ece:.3f}" in picture
    assert "60 predictions" in picture
