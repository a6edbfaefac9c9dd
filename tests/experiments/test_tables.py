"""Tables as views: which record a row shows, what is said below, what is drawn."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from pathformer.errors import InputError
from pathformer.experiments.records import Record
from pathformer.experiments.tables import paper, render
from pathformer.experiments.tables.catalogue import COUNTED, EXTRAS, MEASURED, TIMED, TITLES, TableOptions
from pathformer.experiments.tables.counted import printed_only
from pathformer.experiments.tables.measured import check_variant, choose_records, figures_of_paper, grid
from pathformer.experiments.tables.timed import running_time, speeds
from pathformer.experiments.tables.view import Line, Row
from pathformer.query.structures import EPFO


def made(run: str, minutes: float, value: float = 20.0, **more: object) -> Record:
    plain: dict[str, object] = {
        "steps": 1, "seconds": 60 * minutes, "trained_on": "", "mrr": {"last": dict.fromkeys(EPFO, value)},
        "queries": "betae-protocol draw, not the released queries", "machine": {"device": "card"},
    }  # fmt: skip
    return Record(run=run, minutes=minutes, **{**plain, **more})  # type: ignore[arg-type]


def line(table: int, model: str, records: list[Record], choice: TableOptions | None = None) -> Line:
    return next(line for line in grid(table, records, choice).lines if line.model == model)


def test_the_fifteen_tables_are_of_three_kinds() -> None:
    assert sorted([*MEASURED, *COUNTED, *TIMED]) == list(range(1, 16)) == sorted(TITLES)


def test_the_short_tables_are_the_averages_of_the_long_ones() -> None:
    for short, long in ((4, 12), (7, 14), (8, 13)):
        assert MEASURED[short].places == MEASURED[long].places


def test_every_figure_of_a_table_is_there() -> None:
    for table in MEASURED.values():
        for place in table.places:
            assert set(table.columns) <= figures_of_paper(place.run).keys(), (table.number, place)
    assert sum(len(table.columns) * len(table.places) for table in MEASURED.values()) == 539


def test_rows_that_shared_a_card_say_so() -> None:
    alone, shared = made("fb15k-237-epfo-gqe", 5.0), made("fb15k-237-epfo-mlp", 5.0, runs_on_device=6)
    table = grid(1, [alone, shared])
    assert table.notes[0].startswith(
        "Ours, FB15k-237 (GQE): 5 min of training each by the clock, each alone on card; last weights;"
    )
    assert table.notes[1].startswith(
        "Ours, FB15k-237 (MLP): 5 min of training each by the clock, on one card that up to 6 runs shared; last"
    )
    assert {line.about["runs_on_device"] for line in table.lines if line.ours is not None} == {1, 6}


def test_rows_with_less_of_the_card_are_named_in_the_one_sentence_on_the_budget() -> None:
    sharing = {"gqe": 10, "q2b": 10, "betae": 20, "mlp": 11}
    records = [made(f"fb15k-237-epfo-{name}", 5.0, runs_on_device=beside) for name, beside in sharing.items()]
    (told,) = (note for note in grid(1, records).notes if note.startswith("Ours"))
    less = "and so less of it"
    assert f"on one card that up to 10 runs shared (MLP: up to 11, {less}; BetaE: up to 20, {less}); last" in told
    fewer = [
        made("fb15k-237-epfo-gqe", 5.0, runs_on_device=9),
        *records[1:2],
        made("fb15k-237-epfo-cone", 5.0, runs_on_device=10),
    ]
    assert "that up to 10 runs shared (GQE: up to 9, and so more of it); last" in grid(1, fewer).notes[0]
    assert f"that up to 10 runs shared (MLP: up to 11, {less}); last" in grid(1, [records[3], records[0]]).notes[0]


def test_changed_settings_are_told_once_where_all_rows_have_them() -> None:
    def one(name: str, changes: dict[str, object], own: dict[str, object] | None = None) -> Record:
        settings = {"trained": "epfo", "training.update_per_structure": True, **(own or {}), **changes}
        return made(f"fb15k-237-epfo-{name}", 5.0, settings=settings, changes={**changes, "valid_queries": 9})

    rate = {"training.update.rate": 0.001}
    records = [
        one("gqe", {"training.update_per_structure": False, **rate}),
        one("mlp", {"training.update_per_structure": False, **rate}),
        one("q2p", {}, {"training.update_per_structure": False}),  # by its run file
        one("betae", {"training.update_per_structure": False, "training.batch": 256}),
    ]
    assert [note for note in grid(1, records).notes if note.startswith("Settings")] == [
        "Settings changed, FB15k-237: training.update_per_structure=false in all rows; "
        "training.update.rate=0.001 (GQE, MLP); training.batch=256 (BetaE)."
    ]
    alone = grid(1, records[3:]).notes
    assert "Settings changed, FB15k-237: training.batch=256, training.update_per_structure=false." in alone
    assert not any(note.startswith("Settings") for note in grid(1, [records[2]]).notes)


def test_methods_are_shown_at_the_budget_that_most_rows_have() -> None:
    records = [
        made("fb15k-237-epfo", 17.0, 22.0),
        made("fb15k-237-epfo", 5.0, 21.0),
        made("fb15k-237-epfo-gqe", 5.0, 10.0),
        made("fb15k-237-epfo-mlp", 30.0, 23.0),
    ]
    table = grid(1, records)
    shown = {line.model: line.about.get("budget") for line in table.lines if line.ours is not None}
    assert shown == {"GQE": "5 min", "MLP": "30 min", "Pathformer": "5 min"}
    assert any("(MLP): 30 min" in note for note in table.notes)
    long = line(1, "Pathformer", records, TableOptions(minutes=17.0))
    assert long.ours is not None
    assert long.ours["avg"] == pytest.approx(22.0)


def test_of_budgets_with_as_many_rows_the_one_measured_last_is_shown() -> None:
    runs = ("fb15k-237-epfo-gqe", "fb15k-237-epfo-mlp")
    old = [made(run, 2.0, date="2026-11-16") for run in runs]
    new = [made(run, 1.5, date="2026-11-16T09:05Z") for run in runs]
    assert _minutes([*old, *new]) == _minutes([*new, *old]) == [1.5, 1.5]
    assert _minutes([*old, new[0]]) == [2.0, 2.0]  # fewer rows
    undated = [made(run, minutes) for run in runs for minutes in (2.0, 1.5)]
    assert _minutes(undated) == [2.0, 2.0]  # the longest


def test_a_row_without_the_budget_shows_its_longest() -> None:
    others = [made(run, 5.0) for run in ("fb15k-237-epfo-gqe", "fb15k-237-epfo-mlp")]
    own = [made("fb15k-237-epfo", minutes) for minutes in (2.0, 9.0, 3.0)]
    assert _minutes([*others, *own]) == _minutes([*own, *others]) == [5.0, 5.0, 9.0]


def test_a_budget_is_as_new_as_its_newest_row_and_steps_are_the_longest_one() -> None:
    runs = ("fb15k-237-epfo-gqe", "fb15k-237-epfo-mlp")

    def dated(minutes: float, *days: int) -> list[Record]:
        return [made(run, minutes, date=f"2026-11-{day}") for run, day in zip(runs, days, strict=True)]

    assert _minutes([*dated(2.0, 10, 16), *dated(5.0, 12, 14)]) == [2.0, 2.0]
    by_steps = [replace(made(run, 2.0), minutes=None) for run in runs]
    assert _minutes([*by_steps, *(made(run, 50.0) for run in runs)]) == [None, None]


def test_of_two_records_of_one_budget_the_newer_is_shown() -> None:
    old, new = (made("fb15k-237-epfo-gqe", 5.0, steps=n, date=f"2026-11-1{n}") for n in (5, 6))
    for records in ([old, new], [new, old]):
        (shown,) = (record for record in choose_records(1, records, TableOptions()).values() if record is not None)
        assert shown is new


def test_the_same_row_again_is_one_row_of_its_budget() -> None:
    again = [made("fb15k-237-epfo-gqe", 5.0, date=f"2026-11-1{n}") for n in range(3)]
    others = [made(run, 2.0) for run in ("fb15k-237-epfo-mlp", "fb15k-237-epfo-gqe")]
    assert _minutes([*again, *others]) == [2.0, 2.0]


def _minutes(records: list[Record]) -> list[float | None]:
    return [record.minutes for record in choose_records(1, records, TableOptions()).values() if record is not None]


def test_weights_and_variants_are_chosen() -> None:
    records = [
        made("fb15k-237-epfo", 5.0, mrr={"last": dict.fromkeys(EPFO, 1.0), "best": dict.fromkeys(EPFO, 2.0)}),
        made("fb15k-237-epfo", 5.0, 3.0, variant="mine"),
    ]
    values = [
        line(6, "Pathformer", records, choice).ours
        for choice in (TableOptions(), TableOptions(weights="best"), TableOptions(variant="mine"))
    ]
    assert [round((ours or {})["avg"], 6) for ours in values] == [1.0, 2.0, 3.0]


def test_below_a_table_stands_what_is_needed_to_read_it() -> None:
    notes = grid(6, [made("fb15k-237-epfo", 5.0), made("fb15k-237-relative", 5.0, queries="something else")]).notes
    assert notes == (
        "Ours, FB15k-237 (Pathformer): 5 min of training each by the clock, each alone on card; last weights; "
        "ranked on: betae-protocol draw, in place of the released BetaE queries.",
        "Ours, FB15k-237 (Pathformer w/ RPE): 5 min of training each by the clock, each alone on card; last weights; "
        "ranked on: something else.",
        "No run yet: FB15k-237: Pathformer w/o PE.",
    )


def test_a_row_that_another_variant_has_is_not_said_to_be_without_a_run() -> None:
    records = [
        made("fb15k-237-epfo", 5.0),
        made("fb15k-237-relative", 1.0, variant="short"),
        made("fb15k-237-relative", 1.0, variant="other"),
    ]
    assert grid(6, records).notes[1:] == (
        "No run yet: FB15k-237: Pathformer w/o PE.",
        "No run yet with the settings of the run file, but with --variant other or with --variant short: "
        "FB15k-237: Pathformer w/ RPE.",
    )
    assert "No run yet of variant short, but without --variant: FB15k-237: Pathformer." in (
        grid(6, records, TableOptions(variant="short")).notes
    )


def test_a_variant_that_no_result_has_is_refused() -> None:
    records = [made("fb15k-237-epfo", 5.0), made("fb15k-237-epfo", 1.0, variant="short")]
    check_variant("short", records)
    check_variant("", [])
    with pytest.raises(InputError, match="no result of variant 'nope'; there are: short"):
        check_variant("nope", records)
    with pytest.raises(InputError, match="no result of variant 'nope'; there are: none"):
        check_variant("nope", records[:1])


def test_weights_that_stand_in_for_those_asked_for_are_named() -> None:
    records = [made("fb15k-237-epfo", 5.0, mrr={"best": dict.fromkeys(EPFO, 2.0)})]
    assert (
        "on card; best weights in place of the last ones, which were not ranked; ranked on" in grid(6, records).notes[0]
    )
    assert "on card; best weights; ranked on" in grid(6, records, TableOptions(weights="best")).notes[0]


def test_differences_are_ours_less_the_papers() -> None:
    row = line(7, "Pathformer(2)", [made("fb15k-237-layers-2", 5.0, 23.0, parameters=19_870_000)])
    assert row.difference("avg") == pytest.approx(-0.7)
    assert row.difference("Parameters") == pytest.approx(0.07)
    assert row.difference("1p") is None
    text = render.to_text(grid(7, [made("fb15k-237-layers-2", 5.0, 23.0)]))
    assert "ours   23.0" in text
    assert "diff   -0.7" in text


def test_notes_in_text_are_wrapped_and_words_stay_whole() -> None:
    table = grid(1, [made("fb15k-237-epfo-gqe", 5.0)])
    text = render.to_text(table)
    figures, *notes = text.split("\n\n")
    assert [" ".join(note.split()) for note in notes] == [" ".join(note.split()) for note in table.notes]
    assert 90 < max(map(len, text.splitlines())) <= 100
    assert len(figures.splitlines()) == 2 + 20 + 2
    address = "Not counted here: " + "a" * 200
    assert address.split()[-1] in render.to_text(printed_only(9, "nell995", address)).split()


def test_a_difference_that_rounds_to_nothing_has_no_sign() -> None:
    assert Row("a", 1000.0, 999.9).difference == Row("a", 1000.0, 1000.1).difference == "0.0 %"
    assert Row("a", 1000.0, 999.0).difference == "-0.1 %"
    for ours in (23.66, 23.74):
        text = render.to_text(grid(7, [made("fb15k-237-layers-2", 5.0, ours)]))
        assert re.search(r"diff +0\.0\b", text)
    table = grid(7, [made("fb15k-237-layers-2", 5.0, 23.7 - 1e-9)])
    (record,) = (entry for entry in table.records() if entry["column"] == "avg" and entry["difference"] is not None)
    assert str(record["difference"]) == "0.0"


def test_speeds_stand_beside_the_papers(tmp_path: Path) -> None:
    entry = {
        "about": "made up", "commit": "abc", "machine": {"device": "card"}, "of_the_papers_size": True,
        "methods": {"MLP": {"epfo": {"seconds_per_100_steps": 0.5}}, "GQE": {"epfo": {"seconds_per_100_steps": 0.25}}},
    }  # fmt: skip
    (tmp_path / "speed-card.json").write_text(json.dumps(entry))
    table = running_time(speeds(tmp_path))
    text = render.to_text(table)
    assert "MLP         paper         20.00        60.00" in text
    assert "card                MLP         ours           0.50\n" in text
    assert "diff         -19.50\n" in text
    assert [line.model for line in table.lines] == [*paper.RUNNING_TIME, "MLP", "GQE"]
    (tmp_path / "speed-small.json").write_text(json.dumps(entry | {"of_the_papers_size": False}))
    assert [line.against for line in running_time(speeds(tmp_path)).lines[-2:]] == [{}, {}]
    alone = running_time([])
    assert [line.model for line in alone.lines] == list(paper.RUNNING_TIME)
    assert "records of runs are not part of the package" in alone.notes[0]
    small = running_time([entry | {"of_the_papers_size": False}])
    assert "No benchmark at the paper's sizes yet" in small.notes[1]
    (tmp_path / "speed-card.json").write_text("{")
    with pytest.raises(InputError, match="not the figures of a benchmark"):
        speeds(tmp_path)


def test_the_papers_speeds_are_of_its_own_device_and_of_no_commit() -> None:
    entry = {
        "about": "made up", "commit": "abc", "machine": {"device": "card"}, "of_the_papers_size": True,
        "methods": {"MLP": {"epfo": {"seconds_per_100_steps": 0.5}}},
    }  # fmt: skip
    lines = list(csv.DictReader(io.StringIO(render.to_csv([running_time([entry])]))))
    papers = [line for line in lines if line["paper"]]
    assert len(papers) == 8
    assert {(line["dataset"], line["device"], line["commit"], line["ours"]) for line in papers} == {
        ("NVIDIA GTX 1080 Ti", "NVIDIA GTX 1080 Ti", "", "")
    }
    ours = next(line for line in lines if line["ours"])
    assert (ours["device"], ours["commit"], ours["difference"]) == ("card", "abc", "-19.5")


def test_a_run_of_our_own_recipe_stands_below_the_table_it_is_compared_with() -> None:
    records = [made("fast-fb15k-237", 9.0, 25.0), made("fb15k-237-epfo", 5.0, 20.0)]
    table = grid(1, records)
    own = table.lines[-1]
    assert (own.model, own.run, own.about["budget"]) == ("Pathformer, recipe fast", "fast-fb15k-237", "9 min")
    assert own.paper == line(1, "Pathformer", records).paper
    for shorter in ([made("fast-fb15k-237", 2.0), *records], [*records, made("fast-fb15k-237", 2.0)]):
        assert grid(1, shorter).lines[-1] == own  # of several the longest
    assert any("(Pathformer, recipe fast): 9 min" in note for note in table.notes)
    assert len(grid(1, records[1:]).lines) == 20
    assert len(grid(1, records, TableOptions(variant="short")).lines) == 20
    assert {like for number in EXTRAS for _, like in EXTRAS[number]} <= {
        p.run for t in (1, 2, 3) for p in MEASURED[t].places
    }


def test_without_data_the_papers_figures_stand_alone() -> None:
    view = printed_only(11, "nell995", "there is no such folder")
    assert view.records()[0] == {"table": 11, "dataset": "nell995", "column": "1p", "paper": 1.6, "ours": None}
    assert view.notes == ("Not counted here: there is no such folder",)
    assert view.title == "mean hard answers a test query, NELL995"
