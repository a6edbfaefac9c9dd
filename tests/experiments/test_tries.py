"""Rows that were measured several times: which try is shown, and what the page of the tables says of the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import median

from pathformer.experiments.curves import group_of
from pathformer.experiments.records import Record, read_records
from pathformer.experiments.tables.progress import progress
from pathformer.experiments.tables.tries import last_validation, read_tries, to_show, tries

ROOT = Path(__file__).parents[2]
NOT_KEPT = ROOT / "benchmarks" / "runs" / "rows-not-kept"


def one_try(run: str, validation: float, date: str = "", beside: int = 10, **settings: object) -> Record:
    curve = [{"seconds": 1.0, "1p": 50.0, "2p": 50.0}, {"seconds": 2.0, "1p": validation, "2p": validation + 2}]
    known = {"trained": "epfo", "training.turns": False, "training.batch": 512, "training.update.rate": 0.1}
    return Record(
        run=run, minutes=5.0, steps=1200, seconds=300.0, queries="", trained_on="", mrr={"last": {"1p": 1.0}},
        curve=curve, date=date, beside=beside, settings=known | settings, changes=settings, commit=f"c{validation:.0f}",
    )  # fmt: skip


def test_of_tries_with_ten_on_the_card_the_one_ahead_on_validation_is_shown() -> None:
    low, high = one_try("fb15k-237-epfo", 4.0), one_try("fb15k-237-epfo", 6.0)
    more, fewer = one_try("fb15k-237-epfo", 8.0, beside=11), one_try("fb15k-237-epfo", 8.0, beside=9)
    for tried in ([low, high], [high, low], [more, low, high, fewer]):
        assert to_show(tried) is high
    assert to_show([more, low]) is low
    blind = replace(high, curve=[])
    assert to_show([blind, low]) is low
    assert to_show([more, fewer, blind]) is to_show([]) is None


def test_each_row_shows_the_try_that_the_rule_names() -> None:
    shown = {row.record.file_name: row.record for row in progress(read_records())}
    others = read_tries(NOT_KEPT)
    for name, mine in shown.items():
        tried = [mine, *(other for other in others if other.file_name == name)]
        assert len({str((one.curve[-1].keys(), one.settings["valid_queries"])) for one in tried}) == 1, "not comparable"
        ahead = to_show(tried)
        assert ahead is mine, f"{name}: to be shown is the one of {ahead and ahead.commit}"
    for pair in (
        ("fb15k-237-epfo@5min.json", "fb15k-237-q2b@5min.json"),
        ("nell995-epfo@2min.json", "nell995-q2b@2min.json"),
    ):
        first, second = (shown[name] for name in pair)
        assert first.curve == second.curve, "one training, two query sets: it moves as one"


def test_no_try_is_lost() -> None:
    rows = [row.record for row in progress(read_records())]
    assert Counter(record.commit for record in (*rows, *read_tries(NOT_KEPT))) == {
        "d016f64": 42, "be511cf": 16, "a4945f4": 42,
    }  # fmt: skip
    for folder in NOT_KEPT.iterdir():
        commit = folder.name.partition("-")[0]  # COMMIT-2: a second measurement at the same one
        assert {record.commit for record in read_records([folder])} == {commit}


def test_all_tries_stand_beside_each_other() -> None:
    runs = ("fb15k-237-epfo", "fb15k-237-q2b", "fb15k-237-efol-mlp")
    first, third = (
        [one_try(run, value, date) for run in runs] for value, date in ((4.0, "2026-11-15"), (6.0, "2026-11-17"))
    )
    second = [one_try(run, 8.0, "2026-11-16", 11, **{"training.batch": 256}) for run in runs]
    once = one_try("fb15k-237-epfo-gqe", 5.0)
    shown, others = [*third[:2], first[2], once], [*first[:2], *second, third[2]]
    small = "9.0 (1,200, `c8`, 11 runs, `batch=256`)"
    assert tries(shown, others).splitlines()[2:] == [
        f"| Pathformer, FB15k-237 and FB237-Q2B | 7.0 (1,200, `c6`) | {small}; 5.0 (1,200, `c4`) |",
        f"| MLP, FB15k-237, negation | 5.0 (1,200, `c4`) | 7.0 (1,200, `c6`); {small} |",
    ]
    assert tries(shown, []) == "No row was measured twice."


def test_a_try_without_a_validation_is_told_of_too() -> None:
    """The page could not be written; rows without one, of different trainings, were one row of it."""
    names = {"fb15k-237-epfo-gqe": 6.0, "fb15k-237-epfo-q2b": 8.0}
    blind = [replace(one_try(name, 4.0), curve=[]) for name in names]
    seen = [one_try(name, validation) for name, validation in names.items()]
    assert tries(seen, blind[:1]).splitlines()[2:] == [
        "| GQE, FB15k-237 | 7.0 (1,200, `c6`) | not validated (1,200, `c4`) |"
    ]
    assert tries(blind, seen).splitlines()[2:] == [
        "| GQE, FB15k-237 | not validated (1,200, `c4`) | 7.0 (1,200, `c6`) |",
        "| Q2B, FB15k-237 | not validated (1,200, `c4`) | 9.0 (1,200, `c8`) |",
    ]


def test_the_page_says_truly_how_far_two_tries_lie_apart() -> None:
    """Of rows measured twice with ten on the card and the same settings; MLP-Mixer has another start since."""
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())
    found: dict[str, list[Record]] = {}
    for record in (*(row.record for row in progress(read_records())), *read_tries(NOT_KEPT)):
        if record.beside == 10 and "mlp-mixer" not in record.run:
            found.setdefault(f"{record.run} {record.changes}", []).append(record)
    pairs = [sorted(two, key=lambda one: one.date) for two in found.values() if len(two) == 2]
    more = [(new.updates or 0) / (old.updates or 1) - 1 for old, new in pairs]
    name = {record.run: group_of(record)[0] for record, _ in pairs}
    apart = [abs(new.figures("last")[name[new.run]] - old.figures("last")[name[old.run]]) for old, new in pairs]
    assert len(pairs) == 20
    assert "Twenty rows were measured so" in text
    assert f"they had {-100 * min(more):.0f} % fewer to {100 * max(more):.0f} % more updates" in text
    assert f"differ by {median(apart):.1f} in the median, {max(apart):.1f} at most" in text
    beta = every("fb15k-237-efol-betae@5min.json")
    assert f"has {average(beta['a4945f4'])} and {average(beta['be511cf'])} on queries without it" in text
    assert abs((beta["a4945f4"].updates or 0) / (beta["be511cf"].updates or 1) - 1) < 0.01


def test_the_page_says_truly_what_other_settings_changed() -> None:
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())

    def both(name: str, old: str = "d016f64", new: str = "a4945f4", column: str = "avg") -> tuple[str, ...]:
        tried = every(name)
        share = f"{100 * (tried[new].updates or 0) / (tried[old].updates or 1):.0f}"
        return (average(tried[old], column), average(tried[new], column), share)

    def negated(name: str) -> tuple[str, ...]:
        return both(name, column="avg negation")

    told = {
        "BetaE from {} to {} on FB15k-237": both("fb15k-237-epfo-betae@5min.json"),
        "and from {} to {} on NELL995, GammaE": both("nell995-epfo-betae@2min.json"),
        "GammaE from {} to {} and": both("fb15k-237-epfo-gammae@5min.json"),
        "and from {} to {}; with negation": both("nell995-epfo-gammae@2min.json"),
        "with negation on FB15k-237 from {} to {} and": negated("fb15k-237-efol-betae@5min.json"),
        "and from {} to {}. GammaE with negation on NELL995 lost": negated("fb15k-237-efol-gammae@5min.json"),
        "a new start took it from {} to {} on FB15k-237": both("fb15k-237-epfo-mlp-mixer@5min.json"),
        "and from {} to {} on NELL995. Pathformer": both("nell995-epfo-mlp-mixer@2min.json"),
        "have new rates: {} to {} and": both("fb15k-237-box@5min.json"),
        "and {} to {} on FB15k-237,": both("fb15k-237-beta@5min.json"),
        "FB15k-237, {} to {} and": both("nell995-box@2min.json"),
        "and {} to {} on NELL995.": both("nell995-beta@2min.json"),
        "has {} on average with 5e-4": (fast := both("fb15k-237-epfo@5min.json", new="be511cf")),
        "for its tables, and {1} with 1e-3 for all (20 runs on the card, and {2} % of": fast,
    }
    for words, figures in told.items():
        assert words.format(*figures) in text, words.format(*figures)
    for name in ("nell995-efol-gammae@2min.json", "nell995-epfo-cone@2min.json"):
        assert last_validation(every(name)["a4945f4"]) < last_validation(every(name)["d016f64"])


def every(name: str) -> dict[str, Record]:
    """All tries of a row by commit."""
    tried = (one for one in (*read_records(), *read_tries(NOT_KEPT)) if one.file_name == name)
    return {one.commit: one for one in tried}


def average(record: Record, column: str = "avg") -> str:
    return f"{record.figures('last')[column]:.1f}"
