"""The page of the tables, its pictures and the pages of the methods show the results that are in the package."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from pathformer.experiments.records import Record, read_records
from pathformer.experiments.tables.agreement import compared_orders
from pathformer.experiments.tables.catalogue import CASES, COMPARED, MEASURED
from pathformer.experiments.tables.order import Order
from pathformer.experiments.tables.progress import progress
from pathformer.experiments.tables.timed import speeds
from pathformer.experiments.tables.tries import last_validation, tries

ROOT = Path(__file__).parents[2]
NOT_KEPT = ROOT / "benchmarks" / "runs" / "rows-not-kept"
WHY = "**Why it is below.**"


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "scripts" / "make_tables_docs.py"))


def test_the_page_is_current(made: dict[str, Any]) -> None:
    written = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    assert written == made["page"](), "run: python scripts/make_tables_docs.py"


def test_the_pictures_are_current(made: dict[str, Any]) -> None:
    folder = ROOT / "docs" / "images"
    drawn = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("table-*.svg")}
    assert drawn == made["pictures"](), "run: python scripts/make_tables_docs.py"


def test_the_pages_of_the_methods_are_current(made: dict[str, Any]) -> None:
    for name, text in made["methods_pages"]().items():
        written = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert written == text, f"{name}; run: python scripts/make_tables_docs.py"


def test_every_method_of_the_compared_tables_has_its_rows_on_a_page(made: dict[str, Any]) -> None:
    models = {place.model for number in COMPARED for place in MEASURED[number].places}
    assert sorted(model for models in made["METHODS"].values() for model in models) == sorted(models - {"Pathformer"})


def test_a_page_says_why_its_method_is_below_and_only_then(made: dict[str, Any]) -> None:
    below = {row.model for row in progress(read_records()) if row.dataset.startswith("FB") and row.is_below}
    due = {name for name, models in made["METHODS"].items() if below & set(models)}
    told = {name for name in made["METHODS"] if WHY in (ROOT / "docs" / name).read_text(encoding="utf-8")}
    assert due - told == set(), f"below 70 % of the paper's 1p on FB15k-237: say why, in a paragraph that begins {WHY}"
    assert told - due == set(), f"no longer below: the paragraph that begins {WHY} needs another beginning"


def test_of_two_tries_the_one_is_kept_that_was_ahead_on_validation() -> None:
    kept = {record.file_name: record for record in read_records()}
    others = read_records([NOT_KEPT])
    assert len(others) == 16
    for other in others:
        mine = kept[other.file_name]
        assert mine.curve[-1].keys() == other.curve[-1].keys(), "not comparable"
        assert mine.settings["valid_queries"] == other.settings["valid_queries"]
        assert last_validation(mine) > last_validation(other), f"{other.file_name}: the other try was ahead"


def test_both_tries_stand_beside_each_other() -> None:
    def one(run: str, validation: float, date: str, **settings: object) -> Record:
        curve = [{"seconds": 1.0, "1p": 0.0, "2p": 0.0}, {"seconds": 2.0, "1p": validation, "2p": validation + 2}]
        known = {"trained": "epfo", "training.turns": False, "training.batch": 512, "training.update.rate": 0.1}
        return Record(
            run=run, minutes=5.0, steps=1200, seconds=300.0, queries="", trained_on="", mrr={"last": {"1p": 1.0}},
            curve=curve, date=date, beside=len(settings) + 10, settings=known | settings, changes=settings,
        )  # fmt: skip

    first = [one(run, 4.0, "2026-11-16") for run in ("fb15k-237-epfo", "fb15k-237-q2b", "fb15k-237-efol-mlp")]
    second = [one(record.run, 6.0, "2026-11-16T09:05Z", **{"training.batch": 256}) for record in first]
    kept, others = [*second[:2], first[2]], [*first[:2], second[2]]
    figures = "10 | 1,200 | 5.0 | 11 | 1,200 | 7.0 | `batch` 512 → 256"
    assert tries(kept, others).splitlines()[2:] == [
        f"| Pathformer, FB15k-237 and FB237-Q2B | {figures} | second |",
        f"| MLP, FB15k-237, negation | {figures} | first |",
    ]
    assert tries(kept, []) == "No row was measured twice."


def test_the_page_says_truly_how_unequal_rows_are() -> None:
    """Figures that stand in the text by hand: where results are taken that change them, it is to be written anew."""
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())
    rows = progress(read_records())
    updates = [row.record.updates or 0 for row in rows]
    assert f"a row has {min(updates):,} to {max(updates):,} updates" in text
    first = {row.model: row.record for row in rows if (row.table, row.dataset) == (1, "FB15k-237")}
    words = "GQE sees {:.0f} million queries in its time, MLP-Mixer {:.1f} million"
    assert words.format(*((first[name].seen or 0) / 1e6 for name in ("GQE", "MLP-Mixer"))) in text
    boxes = {(row.dataset.startswith("NELL"), row.record.minutes) for row in rows}
    assert boxes == {(False, 5.0), (True, 2.0)}
    assert "5 minutes of training by the clock on FB15k-237 and 2 on NELL995" in text
    assert min(row.record.beside for row in rows) == 10
    assert {(row.model, row.dataset) for row in rows if row.record.beside == 20} == {
        *((name, "FB15k-237") for name in ("BetaE", "GammaE")),
        *((f"Pathformer(1)+{name} embedding", "FB15k-237") for name in ("Box", "Beta")),
        ("MLP-Mixer", "NELL995"),
    }
    long = {record.file_name: record for record in read_records()}["fb15k-237-epfo@20min.json"].figures("last")["avg"]
    short = first["Pathformer"].figures("last")["avg"]
    assert f"Pathformer has {short:.1f} on average after these 5 minutes, and {long:.1f} after 20" in text


def test_the_page_says_truly_how_much_of_its_own_speed_a_row_had() -> None:
    """Beside the speed alone of Table 15's file, all structures in one update of 512 each, as those rows are."""
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())
    (speed,) = speeds()
    names = {run: name for name, run in CASES.items()}
    found: dict[bool, list[float]] = {True: [], False: []}
    for record in (*read_records(), *read_records([NOT_KEPT])):
        name = names.get(record.run.replace("-efol", "-epfo"))
        if record.minutes == 5.0 and name is not None and record.settings["training.batch"] == 512:
            alone = speed["methods"][name]["efol" if "-efol" in record.run else "epfo"]["queries_per_second_at_once"]
            found[record.beside == 10].append((record.seen or 0) / record.seconds / alone)
    ten, more = ([f"{100 * bound(shares):.0f}" for bound in (min, max)] for shares in (found[True], found[False]))
    told = "had {} to {} % of the speed that they have alone with ten runs on the card, {} to {} % with more"
    assert told.format(*ten, *more) in text


def test_the_page_says_truly_what_second_tries_changed() -> None:
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())
    kept = {record.file_name: record for record in read_records()}
    lost = {record.file_name: record for record in read_records([NOT_KEPT])}
    first = [min((one, lost.get(name, one)), key=lambda record: record.date) for name, one in kept.items()]
    before, after = (dict(_third(records)) for records in (first, list(kept.values())))
    moved = "(2.8 to 2.1 points below, on average) and further from its order (14 to 8 of 21 pairs): 8 of the 13 pairs"
    assert moved in text
    assert [f"{_gap(order):.1f}" for order in (before["FB15k-237"], after["FB15k-237"])] == ["2.8", "2.1"]
    assert [before["FB15k-237"].kept, after["FB15k-237"].kept, after["FB15k-237"].pairs] == [14, 8, 21]
    assert (len(after["FB15k-237"].turns), len(after["FB15k-237"].wide)) == (13, 5)

    def both(name: str, column: str = "avg") -> tuple[str, ...]:
        old, new = sorted((kept[name], lost[name]), key=lambda record: record.date)
        share = f"{100 * (new.updates or 0) / (old.updates or 1):.0f}"
        return (*(f"{one.figures('last')[column]:.1f}" for one in (old, new)), share)

    told = {
        "BetaE from {} to {} on average with {} % of the updates": both("fb15k-237-epfo-betae@5min.json"),
        "and with negation from {} to {};": both("fb15k-237-efol-betae@5min.json", "avg negation"),
        "GammaE gained with negation ({} to {})": both("fb15k-237-efol-gammae@5min.json", "avg negation"),
        "and not without ({} and {})": both("fb15k-237-epfo-gammae@5min.json"),
        "a new start took it from {} to {} on NELL995": both("nell995-epfo-mlp-mixer@2min.json"),
        "FB15k-237, where it had {2} % of the updates": both("fb15k-237-epfo-mlp-mixer@5min.json"),
        "have new rates: {} to {} and": both("fb15k-237-box@5min.json"),
        "and {} to {} on FB15k-237": both("fb15k-237-beta@5min.json"),
        "has {} on average with 5e-4 and twice that for its tables, and {} with 1e-3 for all (and {} % of": both(
            "fb15k-237-epfo@5min.json"
        ),
    }
    for words, figures in told.items():
        assert words.format(*figures) in text, words.format(*figures)


def _third(records: list[Record]) -> list[tuple[str, Order]]:
    return [(order.dataset, order) for number, order in compared_orders(records) if number == 3]


def _gap(order: Order) -> float:
    return sum(papers - ours for papers, ours in order.figures.values()) / len(order.figures)


def test_the_page_says_truly_how_far_nell995_came() -> None:
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())
    records = read_records()
    rows = [row for row in progress(records) if (row.table, row.dataset) == (1, "NELL995")]
    updates = [row.record.updates or 0 for row in rows]
    assert (len(rows), sum(row.is_below for row in rows)) == (10, 7)
    assert (
        f"{min(updates):,} to {max(updates):,} updates in Table 1, over 63,361 entities, and seven of ten rows" in text
    )
    longer = next(one for one in records if one.file_name == "nell995-epfo@9min.json").figures("last")["1p"] / 56.4
    short = next(row.share or 0.0 for row in rows if row.model == "Pathformer")
    assert f"Pathformer, at {100 * short:.0f} % there, has {100 * longer:.0f} % after nine minutes" in text


def test_a_table_is_shown_by_the_variant_that_has_most_of_its_rows(made: dict[str, Any]) -> None:
    shown = dict(made["shown"]())
    assert len(shown) == len({table.number for table in shown.values()}), "a table stands there twice"
    assert "table-1" in shown
    assert all(line.ours is not None for line in shown["table-6-short"].lines)


def test_what_is_made_goes_between_the_markers_alone(made: dict[str, Any]) -> None:
    first = "<!-- Rows: made by scripts/make_tables_docs.py from the results in the package. -->"
    last = "<!-- Rows: end. -->"
    assert made["_between"](f"a\n{first}\nold\n{last}\nb", "Rows", "new") == f"a\n{first}\n\nnew\n\n{last}\nb"
    for text in ("a", f"a {first}", f"{last} {first}", f"{first} {last}".replace("Rows", "Order")):
        with pytest.raises(SystemExit, match=r"no '<!-- Rows: made by .* after it in a page that begins"):
            made["_between"](text, "Rows", "new")


def test_the_page_counts_runs_and_figures_right() -> None:
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())
    runs = {place.run for table in MEASURED.values() for place in table.places}
    figures = sum(len(table.columns) * len(table.places) for table in MEASURED.values())
    assert f"{len(runs)} runs, {figures} figures" in text
