"""The report says the same thing three times."""

from __future__ import annotations

import io
import json
from math import isnan, nan

import pytest
from rich.console import Console

from pathformer.evaluation.metrics import Scores
from pathformer.evaluation.report import Report
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES


def scores(mrr: float) -> Scores:
    return Scores(mrr, {1: mrr / 2, 3: mrr, 10: min(1.0, 2 * mrr)}, queries=1200, answers=3400)


def text_of(report: Report, width: int = 200) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(report.table())
    return out.getvalue()


def test_averages_are_the_papers_two_groups() -> None:
    report = Report(scores={**{s: scores(0.2) for s in EPFO}, **{s: scores(0.1) for s in NEGATION_STRUCTURES}})
    assert {name: round(s.mrr, 6) for name, s in report.averages.items()} == {"avg": 0.2, "avg negation": 0.1}


def test_an_incomplete_group_is_not_called_avg() -> None:
    assert list(Report(scores={"1p": scores(0.2), "2p": scores(0.4)}).averages) == ["avg of these"]
    assert Report(scores={"1p": scores(0.2)}).averages == {}


NOTHING = Scores(nan, {1: nan, 3: nan, 10: nan}, queries=0, answers=0)


def test_a_structure_without_ranked_queries_is_in_no_average() -> None:
    report = Report(scores={**{s: scores(0.2) for s in EPFO}, "up": NOTHING, "2in": scores(0.5)})
    assert list(report.averages) == ["avg of these"]  # not the nine of the paper
    assert report.mrr == report.averages["avg of these"].mrr == pytest.approx((8 * 0.2 + 0.5) / 9)
    assert report.averages["avg of these"].queries == 9 * 1200
    assert isnan(Report(scores={"up": NOTHING}).mrr)
    assert isnan(Report(scores={}).mrr)


def test_what_could_not_be_measured_has_a_dash() -> None:
    report = Report(scores={"1p": scores(0.2), "up": NOTHING}, paper={"1p": 44.8, "up": 9.9})
    assert "| up | 0 | 0 | - | 9.9 |  | - | - | - |" in report.markdown()
    assert "nan" not in text_of(report)


def test_what_could_not_be_measured_is_null_in_json() -> None:
    report = Report(scores={"1p": scores(0.2), "up": NOTHING})
    stored = json.loads(report.json(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert stored["scores"]["up"] == {"mrr": None, "hits@1": None, "hits@3": None, "hits@10": None} | {
        "queries": 0,
        "answers": 0,
    }
    again = Report.from_json(report.json()).scores
    assert again["1p"] == report.scores["1p"]
    assert isnan(again["up"].mrr)
    assert all(map(isnan, again["up"].hits.values()))


def test_table_and_markdown_show_paper_ours_difference() -> None:
    report = Report(scores={"1p": scores(0.4567), "2p": scores(0.1)}, paper={"1p": 44.8}, about={"ties": "expected"})
    for text in (text_of(report), report.markdown()):
        assert "45.7" in text
        assert "44.8" in text
        assert "+0.9" in text
        assert "ties: expected" in text
        assert "1,200" in text
    assert "| 1p | 1,200 | 3,400 | 45.7 | 44.8 | +0.9 | 22.8 | 45.7 | 91.3 |" in report.markdown()


def test_without_the_papers_figures_there_is_no_such_column() -> None:
    assert "paper" not in text_of(Report(scores={"1p": scores(0.2)}))


def test_the_table_fits_eighty_columns() -> None:
    wide = Scores(1.0, {1: 1.0, 3: 1.0, 10: 1.0}, queries=22_812, answers=347_713)
    names = (*EPFO, *NEGATION_STRUCTURES)
    report = Report(scores=dict.fromkeys(names, wide), paper={"avg": 24.2, "avg negation": 7.1})
    shown = text_of(report, width=80)
    assert "…" not in shown
    assert "3,129,417" in shown  # the answers of nine structures, in one piece
    assert "avg negation" in shown


def test_json_reads_back() -> None:
    report = Report(scores={"1p": scores(0.2), "2p": scores(0.4)}, paper={"1p": 44.8}, about={"split": "test"})
    assert Report.from_json(report.json()) == report
    assert json.loads(report.json())["averages"]["avg of these"]["mrr"] == report.mrr
