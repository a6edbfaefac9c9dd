"""The order of methods and the share of one-hop figures beside the paper's, from made-up results."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.experiments.records import Record
from pathformer.experiments.tables.agreement import agreement, compared_orders
from pathformer.experiments.tables.measured import grid
from pathformer.experiments.tables.order import Order, kendall, order_notes, orders
from pathformer.experiments.tables.view import Line
from pathformer.query.structures import EPFO


def made(run: str, minutes: float, value: float, beside: int = 1) -> Record:
    """A run with one figure for all structures."""
    figures = {"last": dict.fromkeys(EPFO, value)}
    return Record(run=run, minutes=minutes, steps=1, seconds=1.0, queries="", trained_on="", mrr=figures, beside=beside)


def test_the_order_of_methods_is_compared() -> None:
    def one(model: str, papers: float, ours: float | None) -> Line:
        figures = None if ours is None else {"avg": ours}
        return Line(dataset="D", model=model, run="", paper={"avg": papers}, ours=figures)

    lines = [one("A", 3.0, 30.0), one("B", 2.0, 10.0), one("C", 1.0, 20.0), one("E", 1.0, 5.0), one("F", 9.0, None)]
    assert order_notes(lines, "avg") == [
        "Order by avg, D: 4 of 5 pairs as in the paper, Kendall's tau 0.55; "
        "turned by more than a point: B (2.0, here 10.0) below C."
    ]
    assert order_notes(lines[:2], "avg") == ["Order by avg, D: 1 of 1 pair as in the paper, Kendall's tau 1.00."]
    assert order_notes([lines[0], one("B", 2.0, 30.9)], "avg") == [
        "Order by avg, D: 0 of 1 pair as in the paper, Kendall's tau -1.00; none turned by more than a point."
    ]
    assert order_notes(lines[2:4], "avg") == []  # the paper prints them as equal
    assert order_notes([one("A", 2.0, 7.0), one("B", 1.0, 7.0)], "avg") == []  # no order here
    assert order_notes(lines[:1], "avg") == []
    tied = [one("A", 3.0, 7.0), one("B", 2.0, 7.0), one("C", 1.0, 5.0)]
    assert order_notes(tied, "avg")[0].startswith("Order by avg, D: 2 of 3 pairs as in the paper, Kendall's tau 0.82")


def test_only_rows_of_one_budget_are_compared() -> None:
    records = [
        made("fb15k-237-epfo-gqe", 5.0, 10.0),
        made("fb15k-237-epfo-q2b", 5.0, 12.0),
        made("fb15k-237-epfo-mlp", 5.0, 11.0, beside=4),
        made("fb15k-237-epfo", 17.0, 9.0),
    ]
    (order,) = orders(grid(1, records).lines, "avg")
    assert (order.tau, order.pairs, list(order.figures), order.apart) == (1.0, 1, ["GQE", "Q2B"], ("MLP", "Pathformer"))
    assert str(order).endswith("; left out, with another budget than 5 min: MLP, Pathformer")


def test_rows_that_had_a_neighbour_more_or_less_are_compared() -> None:
    runs = ("fb15k-237-epfo-gqe", "fb15k-237-epfo-q2b", "fb15k-237-epfo-mlp")
    records = [made(run, 5.0, 10.0 + n, beside=9 + n % 2) for n, run in enumerate(runs)]
    (order,) = orders(grid(1, records).lines, "avg")
    assert (order.budget, len(order.figures), order.apart) == ("5 min, 9 to 10 runs on the card", 3, ())


def test_turned_pairs_stand_by_the_method_that_fell() -> None:
    lines = [
        Line(dataset="D", model=model, run="", paper={"avg": papers}, ours={"avg": ours}, about={"seen": seen})
        for model, papers, ours, seen in (
            ("A", 9.0, 1.0, 5),
            ("B", 8.0, 7.0, 90),
            ("C", 7.0, 8.5, 80),
            ("E", 6.0, 4.0, 9),
        )
    ]
    (order,) = orders(lines, "avg")
    assert {model: [turn.below for turn in turns] for model, turns in order.fallen.items()} == {
        "A": ["C", "B", "E"],
        "B": ["C"],
    }
    assert order.fallen_words() == "A (9.0, here 1.0) below C, B, E; B (8.0, here 7.0) below C"
    assert order.starved == 3  # B was trained on more than C
    (silent,) = orders([replace(line, about={}) for line in lines], "avg")
    assert silent.starved == 0


def test_equal_figures_are_not_turned_nor_is_a_point_more_than_a_point() -> None:
    def of(ours: float, seen: int = 7) -> Order:
        return Order("D", "avg", "", {"A": (9.0, 5.0), "B": (8.0, ours)}, (), {"A": 7, "B": seen})

    assert of(5.0).turns == []
    assert [len(found) for found in (of(6.0).turns, of(6.0).wide)] == [1, 0]
    assert [(len(of(6.5, seen).wide), of(6.5, seen).starved) for seen in (6, 7, 8)] == [(1, 0), (1, 0), (1, 1)]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=8))
def test_of_a_turned_pair_the_one_above_in_the_paper_has_lost_more(pairs: list[tuple[int, int]]) -> None:
    figures = {str(n): (float(a), float(b)) for n, (a, b) in enumerate(pairs)}
    order = Order("D", "avg", "", figures, ())
    for turn in order.turns:
        (a, b), (c, d) = turn.paper, turn.ours
        assert c - a < d - b
    assert sum(map(len, order.fallen.values())) == len(order.wide)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9))
def test_kendalls_tau_is_that_of_its_definition(pairs: list[tuple[int, int]]) -> None:
    same = other = left_ties = right_ties = 0
    for k, (a, b) in enumerate(pairs):
        for c, d in pairs[:k]:
            same += (a < c and b < d) or (a > c and b > d)
            other += (a < c and b > d) or (a > c and b < d)
            left_ties += a == c
            right_ties += b == d
    every = len(pairs) * (len(pairs) - 1) / 2
    below = ((every - left_ties) * (every - right_ties)) ** 0.5
    assert kendall(pairs) == pytest.approx((same - other) / below if below else float("nan"), nan_ok=True)


def test_kendalls_tau_of_known_orders() -> None:
    assert kendall([(1, 1), (2, 2), (3, 3)]) == 1.0
    assert kendall([(1, 3), (2, 2), (3, 1)]) == -1.0
    assert kendall([(1, 1), (2, 1), (3, 2)]) == pytest.approx((2 / 3) ** 0.5)


def test_the_share_of_the_papers_one_hop_figures_names_who_is_below() -> None:
    records = [
        made("fb15k-237-epfo-gqe", 5.0, 35.0),  # the paper has 35.0
        made("fb15k-237-epfo-q2b", 5.0, 28.5),  # of 40.6: 70.2 %
        made("fb15k-237-epfo-betae", 5.0, 27.0),  # of 39.0: 69.2 %
        made("nell995-epfo-gqe", 5.0, 1.0),
        made("fb15k-237-efol-betae", 5.0, 1.0),
    ]
    share = "Share of the paper's 1p, FB15k-237: GQE 100 %, Q2B 70 %, BetaE 69 %; below 70 %: BetaE."
    assert share in grid(1, records).notes
    assert "Share of the paper's 1p, FB15k-237: Q2B 70 %, BetaE 69 %; below 70 %: BetaE." in grid(8, records).notes
    assert not any("Share" in note for note in grid(3, records).notes)
    above = grid(1, records[:1]).notes
    assert "Share of the paper's 1p, FB15k-237: GQE 100 %; below 70 %: none." in above


def test_a_share_just_below_the_bar_is_not_rounded_to_it() -> None:
    notes = grid(1, [made("fb15k-237-epfo-betae", 5.0, 27.2)]).notes  # of 39.0: 69.74 %
    assert "Share of the paper's 1p, FB15k-237: BetaE 69.7 %; below 70 %: BetaE." in notes


def test_agreement_stands_in_one_place() -> None:
    records = [
        made("fb15k-237-epfo-gqe", 5.0, 20.0),
        made("fb15k-237-epfo-q2b", 5.0, 18.0),
        made("fb15k-237-box", 5.0, 30.0),
        made("nell995-q2b", 1.25, 30.0),
        made("nell995-q2b-biqe", 1.25, 20.0),
        made("fast-fb15k-237", 5.0, 99.0),  # no row of the paper
    ]
    assert [(number, order.dataset, order.tau) for number, order in compared_orders(records)] == [
        (1, "FB15k-237", -1.0),
        (2, "NELL-Q2B", 1.0),
        (8, "FB15k-237", 1.0),
    ]
    text = agreement(records).splitlines()
    assert "| 1 | FB15k-237 | 5 min | 2 | 0 of 1 | -1.00 | 1 | 0 |" in text
    assert "| 2 | NELL-Q2B | 75 s | 2 | 1 of 1 | 1.00 | 0 |  |" in text
    assert agreement([]) == "No table has two methods with one budget yet, so there is no order to compare."
