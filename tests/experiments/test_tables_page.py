"""The page of the tables, its pictures and the pages of the methods show the results that are in the package."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from pathformer.experiments.records import read_records
from pathformer.experiments.tables.agreement import compared_orders
from pathformer.experiments.tables.catalogue import CASES, COMPARED, EXTRAS, MEASURED
from pathformer.experiments.tables.order import kendall
from pathformer.experiments.tables.progress import progress
from pathformer.experiments.tables.timed import speeds

ROOT = Path(__file__).parents[2]
WHY = "**Why it is below.**"
_LED = [(low, high) for low in ("BetaE", "GammaE") for high in ("MLP", "ConE")]  # in the paper's Table 3


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
    assert {row.record.beside for row in rows} == {10}
    assert "on one H200 that ten runs shared" in text
    long = {record.file_name: record for record in read_records()}["fb15k-237-epfo@20min.json"].figures("last")["avg"]
    short = first["Pathformer"].figures("last")["avg"]
    assert f"Pathformer has {short:.1f} on average after these 5 minutes, and {long:.1f} after 20" in text


def test_the_page_says_truly_how_much_of_its_own_speed_a_row_had() -> None:
    """Beside the speed alone of Table 15's file, all structures in one update of 512 each, as those rows are."""
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())
    (speed,) = speeds()
    names = {run: name for name, run in CASES.items()}
    shares = []
    for record in (row.record for row in progress(read_records())):
        name = names.get(record.run.replace("-efol", "-epfo"))
        if record.minutes == 5.0 and name is not None and record.settings["training.batch"] == 512:
            alone = speed["methods"][name]["efol" if "-efol" in record.run else "epfo"]["queries_per_second_at_once"]
            shares.append((record.seen or 0) / record.seconds / alone)
    assert len(shares) == 9
    told = f"had {100 * min(shares):.0f} to {100 * max(shares):.0f} % of the speed that they have alone"
    assert told in text


def test_the_page_says_truly_that_the_order_is_that_of_what_was_seen() -> None:
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())
    orders = {order.dataset: order for number, order in compared_orders(read_records()) if number == 1}
    ours, papers = (
        [
            kendall([(order.figures[model][side], order.seen[model]) for model in order.figures])
            for order in orders.values()
        ]
        for side in (1, 0)
    )
    assert list(orders) == ["FB15k-237", "NELL995"]
    assert "is {:.2f} on FB15k-237 and {:.2f} on NELL995, that of the paper's".format(*ours) in text
    assert "with the same number {:.2f} and {:.2f}.".format(*papers) in text
    against = {
        (dataset, turn.above, turn.below)
        for dataset, order in orders.items()
        for turn in order.wide
        if order.seen[turn.above] >= order.seen[turn.below]
    }
    assert against == {
        *((dataset, "ConE", "Q2P") for dataset in orders), ("FB15k-237", "GammaE", "Q2P"), ("NELL995", "MLP", "Q2P"),
        ("NELL995", "Pathformer", "MLP-Mixer"),
    }  # fmt: skip
    first = orders["FB15k-237"]
    assert set(sorted(first.seen, key=lambda model: first.seen[model])[:3]) == {"MLP-Mixer", "Pathformer", "FuzzQE"}
    assert (
        max(first.figures[name][1] for name in ("Pathformer", "FuzzQE", "GammaE", "MLP-Mixer"))
        < first.figures["GQE"][1]
    )
    assert min(orders["NELL995"].figures.values(), key=lambda two: two[1]) == orders["NELL995"].figures["Pathformer"]
    short = {one.run: one.figures("last")["avg"] for one in read_records() if one.variant == "short"}
    assert (
        f"one layer has {short['fb15k-237-layers-1']:.1f} on FB15k-237 and six have {short['fb15k-237-epfo']:.1f}"
        in text
    )
    third = next(order for number, order in compared_orders(read_records()) if number == 3)
    assert f"{len(third.turns) - len(third.wide)} of the {len(third.turns)} pairs that are turned" in text


def test_the_page_says_truly_what_agrees_with_the_paper() -> None:
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())
    tables = {(number, order.dataset): order.figures for number, order in compared_orders(read_records())}
    first, eighth = tables[1, "FB15k-237"], tables[8, "FB15k-237"]
    negated = [(tables[3, dataset], pair) for dataset in ("FB15k-237", "NELL995") for pair in _LED]
    for figures, chain in (
        *negated,
        (first, ("GQE", "Q2B", "Q2P", "MLP")), (first, ("GQE", "ConE", "MLP")), (first, ("BetaE", "GammaE")),
        (eighth, ("Q2B", "Pathformer(1)+Box embedding")), (eighth, ("BetaE", "Pathformer(1)+Beta embedding")),
    ):  # fmt: skip
        for side in (0, 1):
            assert [figures[model][side] for model in chain] == sorted(figures[model][side] for model in chain), chain
    for kind, method in (("Box", "Q2B"), ("Beta", "BetaE")):
        assert (
            f"above {method} ({eighth[f'Pathformer(1)+{kind} embedding'][1]:.1f} and {eighth[method][1]:.1f})" in text
        )


def test_the_page_says_truly_how_far_nell995_came() -> None:
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())
    records = read_records()
    rows = [row for row in progress(records) if (row.table, row.dataset) == (1, "NELL995")]
    updates = [row.record.updates or 0 for row in rows]
    assert (len(rows), sum(row.is_below for row in rows)) == (10, 6)
    assert f"{min(updates):,} to {max(updates):,} updates in Table 1, over 63,361 entities, and six of ten rows" in text
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


def test_the_page_says_truly_what_our_own_recipe_has() -> None:
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())
    own = {one.run: one for one in read_records() if one.run.startswith("fast-") and not one.variant}
    last, best = ({run: one.figures(kind) for run, one in own.items()} for kind in ("last", "best"))
    shown = [f"{last[f'fast-{name}-q2b']['avg']:.1f}" for name in ("fb15k-237", "nell995")]
    assert f"it has {shown[0]} on FB15k-237 (the paper 28.5) and {shown[1]} on NELL995 (34.2)" in text
    for run, words, average in (
        ("fast-nell995", "on NELL995 without negation", "avg"),
        ("fast-fb15k-237-efol", "on FB15k-237 with negation", "avg negation"),
    ):
        assert f"{words} {best[run][average]:.1f}, here {last[run][average]:.1f}" in text
    rows = [own[place.run] for number in EXTRAS for place, _ in EXTRAS[number]]
    minutes = [((one.before or 0.0) + one.seconds) / 60 for one in rows]
    assert f"{min(minutes):.1f} to {max(minutes):.0f} minutes of a card that it has to itself" in text
    assert {one.beside for one in rows} == {1}
    assert "fast-nell995-pair" not in {one.run for one in rows}  # two side by side are in no table


def test_words_that_the_page_shows_by_are_there() -> None:
    """A variant that no result has any longer is an error for who follows the page."""
    told = set(re.findall(r"--variant ([a-z]\w*)", (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")))
    assert told == {"short"} <= {one.variant for one in read_records()}
