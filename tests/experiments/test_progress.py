"""What its budget bought a row: counted, shared, and told in Markdown, from made-up records."""

from __future__ import annotations

import pytest

from pathformer.experiments.records import Record
from pathformer.experiments.tables.captions import common_settings
from pathformer.experiments.tables.progress import longer, progress
from pathformer.experiments.tables.rows import bought, of_methods
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

SETTINGS = {"trained": "epfo", "training.turns": False, "training.batch": 100, "training.schedule": "cosine"}


def made(run: str, value: float = 20.0, minutes: float = 5.0, **more: object) -> Record:
    """A run with one figure for all structures, that grew evenly."""
    curve = [{"seconds": n * 30.0, **dict.fromkeys(EPFO, value * n / 10)} for n in range(1, 11)]
    plain: dict[str, object] = {
        "steps": 1000, "seconds": 60 * minutes, "trained_on": "", "queries": "", "machine": {"device": "card"},
        "mrr": {"last": dict.fromkeys(EPFO, value)}, "curve": curve, "settings": SETTINGS,
        "changes": {"training.turns": False, "valid_queries": 9}, "commit": "abc", "date": "2026-11-16T09:05Z",
    }  # fmt: skip
    return Record(run=run, minutes=minutes, **{**plain, **more})  # type: ignore[arg-type]


def with_negation(run: str) -> Record:
    curve = [{"seconds": 75.0 * n, **dict.fromkeys((*EPFO, *NEGATION_STRUCTURES), float(n))} for n in range(1, 5)]
    figures = {"last": dict.fromkeys(EPFO, 30.0) | dict.fromkeys(NEGATION_STRUCTURES, 4.0)}
    return made(run, mrr=figures, curve=curve, settings=SETTINGS | {"trained": "efol"})


def test_a_row_has_its_share_its_averages_and_its_quarters() -> None:
    (row,) = progress([made("fb15k-237-epfo-gqe")])  # the paper: 35.0 on 1p, 16.3 on average
    assert row.share == pytest.approx(20 / 35)
    assert row.is_below
    assert row.averages == pytest.approx((20.0, 16.3))
    assert row.quarters == pytest.approx((4.0, 10.0, 14.0, 20.0))  # looks at 60 or 90, 150, 210 or 240, 300 s
    (at_the_bar,) = progress([made("fb15k-237-epfo-gqe", 24.5)])
    assert (at_the_bar.share, at_the_bar.is_below) == (0.7, False)
    (part,) = progress([made("fb15k-237-epfo-gqe", mrr={"last": {"1p": 20.0}})])
    assert (part.share, part.averages) == (pytest.approx(20 / 35), None)


def test_a_row_with_negation_is_judged_by_it_and_has_no_share() -> None:
    (row,) = progress([with_negation("fb15k-237-efol-betae")])
    assert (row.table, row.share, row.is_below) == (3, None, False)
    assert row.averages == (4.0, 5.5)
    assert row.quarters == (1.0, 2.0, 3.0, 4.0)


def test_quarters_need_four_validations_of_all_structures() -> None:
    few = made("fb15k-237-epfo-gqe").curve[:3]
    part = [{"seconds": 60.0 * n, "1p": 1.0} for n in range(5)]
    for curve in ([], few, part):
        (row,) = progress([made("fb15k-237-epfo-gqe", curve=curve)])
        assert row.quarters == ()


def test_a_row_of_two_tables_is_told_once() -> None:
    records = [made("fb15k-237-epfo-q2b"), made("fb15k-237-box")]
    assert [(row.table, row.model) for row in progress(records)] == [(1, "Q2B"), (8, "Pathformer(1)+Box embedding")]
    assert [row.table for row in progress(records, numbers=(8,))] == [8, 8]


def test_settings_of_all_rows_are_said_once() -> None:
    own = made("fb15k-237-epfo-q2p", changes={}, settings=SETTINGS)  # its run file has what the other has changed
    fast = made(
        "fb15k-237-epfo-gqe",
        settings=SETTINGS | {"training.update.rate": 0.001},
        changes={"training.turns": False, "training.update.rate": 0.001, "valid_queries": 9},
    )
    assert common_settings([own, fast]) == {"training.turns": False}
    text = bought([own, fast])
    assert "named without their group `training`; in all rows `turns=false`." in text
    assert "| `update.rate=0.001` |" in text
    slow = made("fb15k-237-epfo-mlp", settings=SETTINGS | {"training.turns": True}, changes={})
    assert common_settings([own, fast, slow]) == {}
    assert "| `turns=false`, `update.rate=0.001` |" in bought([own, fast, slow])
    assert common_settings([fast]) == {}  # in a row of its own it stands there


def test_rows_below_the_bar_are_bold_and_named() -> None:
    text = bought([made("fb15k-237-epfo-gqe", 20.0), made("fb15k-237-epfo-mlp", 40.0), made("nell995-epfo-gqe", 30.0)])
    lines = text.splitlines()
    assert lines[2] == "Below 70 % of the paper's 1p, in bold: FB15k-237: GQE (57 %); NELL995: none."
    figures = "1,000 | 0.5 M | 20.0, 35.0 | **57 %** | 20.0, 16.3 | 4.0, 10.0, 14.0, 20.0"
    assert f"| **GQE** | 5 min | 1 | {figures} |  | `abc` |" in lines
    assert any(
        line.startswith("| MLP | 5 min | 1 | 1,000 | 0.5 M | 40.0, 42.7 | 94 % | 40.0, 22.6 |") for line in lines
    )
    assert lines[0].startswith(
        "Time by the clock on one card, 2026-11-16; the runs on it are all that shared it at most"
    )
    assert bought([]) == "No row has a run yet."


def test_rows_that_were_trained_otherwise_are_told_apart() -> None:
    again = made("fb15k-237-epfo-mlp", beside=20, commit="def", date="2026-11-18")
    lines = bought([made("fb15k-237-epfo-gqe", beside=10), again]).splitlines()
    assert lines[0].startswith("Time by the clock on one card, 2026-11-16 to 2026-11-18;")
    found = [line for line in lines if line.startswith(("| **GQE**", "| **MLP**"))]
    assert [line.split(" | ")[1:3] for line in found] == [["5 min", "10"], ["5 min", "20"]]
    assert [line.rsplit("`", 2)[1] for line in found] == ["abc", "def"]


def test_one_training_for_two_tables_is_told() -> None:
    words = "Pathformer is the training of Table 1, whose queries its validation has."
    assert words in bought([made("fb15k-237-epfo"), made("fb15k-237-q2b")])
    assert words not in bought([made("fb15k-237-epfo"), made("fb15k-237-q2b", 21.0)])
    assert words not in bought([made("fb15k-237-epfo", curve=[]), made("fb15k-237-q2b", curve=[])])


def test_longer_runs_stand_below() -> None:
    records = [made(run) for run in ("fb15k-237-epfo", "fb15k-237-epfo-gqe")]
    long = made("fb15k-237-epfo", 42.0, minutes=17.0)
    others = [made("fb15k-237-epfo", minutes=9.0, variant="wide"), made("fb15k-237-epfo", minutes=1.0)]
    rows = progress([*records, long, *others])
    assert [row.record.minutes for row in rows] == [5.0, 5.0]
    (more,) = longer(rows, [*records, long, *others])
    assert (more.record, more.ours["1p"]) == (long, 42.0)
    as_long = made("fb15k-237-epfo", minutes=6.0, seconds=300.0)
    assert longer(rows, [*records, as_long]) == []
    assert "| Table 1, FB15k-237, Pathformer | 17 min | 1 |" in bought([*records, long])
    assert "Longer runs" not in bought(records)
    best = made("fb15k-237-epfo", minutes=17.0, mrr={"best": dict.fromkeys(EPFO, 42.0)})
    assert "| Table 1, FB15k-237, Pathformer, best weights | 17 min | 1 |" in bought([*records, best])


def test_the_page_of_a_method_has_its_rows_alone() -> None:
    records = [
        made("fb15k-237-epfo-betae", 10.0),
        with_negation("fb15k-237-efol-betae"),
        made("nell995-epfo-betae", 50.0, minutes=2.0),
        made("fb15k-237-epfo-gqe"),
        made("fb15k-237-beta"),
    ]
    lines = of_methods(["BetaE"], records).splitlines()
    assert lines[0].startswith("**Measured.** Time by the clock on one card, 2026-11-16;")
    assert lines[0].endswith("; in all rows `turns=false`.")
    assert [line.split(" | ")[:2] for line in lines[4:]] == [
        ["| **Table 1, FB15k-237**", "5 min"],
        ["| Table 1, NELL995", "2 min"],
        ["| Table 3 (negation), FB15k-237", "5 min"],
    ]
    both = of_methods(["BetaE", "Pathformer(1)+Beta embedding"], records)
    assert "| **Pathformer(1)+Beta embedding, FB15k-237** |" in both
    assert of_methods(["ConE"], records) == "**Measured.** No run yet."
