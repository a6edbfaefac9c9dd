"""Learning curves: every look is drawn, time counts from the first run on, and pages and pictures are current."""

from __future__ import annotations

import json
import runpy
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pathformer.experiments.cards import card_of_record, paper_figures
from pathformer.experiments.curves import Curve, curve_of_record, group_of, panels, race
from pathformer.experiments.keep import plain_settings, run_of, seconds_before
from pathformer.experiments.records import PACKAGED, Record
from pathformer.experiments.settings import read_run, run_names
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES
from pathformer.training import checkpoint

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def record() -> Record:
    return Record.read(PACKAGED / "fb15k-237-epfo@20min.json")


def script(name: str) -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "scripts" / f"{name}.py"))


def test_a_curve_is_the_mean_over_the_structures_of_its_group(record: Record) -> None:
    assert group_of(record) == ("avg", EPFO)
    points = curve_of_record(record, "theirs").points
    assert len(points) == len(record.curve) == 20
    assert points[0][0] == record.curve[0]["seconds"]
    assert points[-1][1] == pytest.approx(sum(record.curve[-1][name] for name in EPFO) / 9)
    assert curve_of_record(record, "theirs").test == record.figures("best")["avg"]
    late = curve_of_record(replace(record, before=90.0), "theirs").points
    assert late[0] == (points[0][0] + 90.0, points[0][1])
    negated = Record.read(PACKAGED / "fb15k-237-efol@9min.json")
    assert group_of(negated) == ("avg negation", NEGATION_STRUCTURES)
    beside = replace(negated, settings={**negated.settings, "beside": "scratch-fb15k-237"})
    assert group_of(beside) == ("avg", EPFO)  # what stands beside it is there for these


def test_a_race_draws_every_look_and_the_papers_line() -> None:
    rising = [(10.0, 9.0), (20.0, 12.0), (40.0, 18.0)]
    curves = [Curve("a < b", [(1.0, 5.0), (100.0, 20.0)]), Curve("c", rising, test=16.0)]
    picture = ElementTree.fromstring(race(curves, paper=24.2))
    assert len(picture.findall(f"{SVG}circle")) == 5
    lines = picture.findall(f"{SVG}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [2, 3]
    words = [text.text for text in picture.findall(f"{SVG}text")]
    ends = {"— a < b: 20.0 at the end", "— c: 18.0 at the end, its best weights on the test 16.0"}
    assert words[0] == "mean MRR of validation in percent, over the time of training by its logarithm"
    assert ends | {"the paper, test: 24.2", "1 s", "10 s", "30 s", "1 min"} <= set(words)
    axis = max(float(text.attrib["y"]) for text in picture.findall(f"{SVG}text") if text.text == "1 min")
    legend = [float(text.attrib["y"]) for text in picture.findall(f"{SVG}text") if text.text in ends]
    assert axis < min(legend) < max(legend) < float(picture.attrib["height"])  # where no curve passes
    assert "the paper" not in race(curves)


def test_heights_follow_the_figures() -> None:
    picture = ElementTree.fromstring(race([Curve("a", [(1.0, 0.0), (10.0, 10.0), (100.0, 20.0)])]))
    line = picture.findall(f"{SVG}polyline")[0].attrib["points"].split()
    x, y = ([float(point.split(",")[axis]) for point in line] for axis in (0, 1))
    assert y[0] - y[1] == pytest.approx(y[1] - y[2], abs=0.2)
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.2)  # by the logarithm


def test_panels_show_every_structure_and_what_is_known(record: Record) -> None:
    picture = ElementTree.fromstring(panels(record, paper_figures(read_run(record.run))))
    words = [text.text for text in picture.findall(f"{SVG}text")]
    assert [word for word in words if word in ("avg", *EPFO)] == ["avg", *EPFO]
    assert "24.2" in words
    assert "22.0" in words
    assert len(picture.findall(f"{SVG}polyline")) == 10
    bare = panels(replace(record, settings={**record.settings, "training.schedule": "linear"}), {})
    assert "24.2" not in bare
    assert "the learning rate drops" not in bare


def test_a_recipe_of_ours_stands_beside_the_papers_figures_of_the_same_data(record: Record) -> None:
    theirs = read_run("fb15k-237-epfo").paper.mrr
    assert paper_figures(read_run("fast-fb15k-237")) == theirs
    for name in ("fb15k-237", "nell995"):
        released = paper_figures(read_run(f"fast-{name}-q2b"))
        assert released == read_run(f"{name}-q2b").paper.mrr != read_run(f"{name}-epfo").paper.mrr
    assert paper_figures(read_run("fast-fb15k-237", ["queries=drawn"])) == {}
    assert paper_figures(read_run("umls-small")) == {}
    pair = paper_figures(read_run("fast-nell995-pair"))
    assert (pair["avg"], pair["avg negation"]) == (27.8, 6.3)
    assert pair.keys() == {"avg", "avg negation", *EPFO, *NEGATION_STRUCTURES}
    alone = paper_figures(read_run("fast-nell995-efol"))
    assert alone.keys() == {"avg negation", *NEGATION_STRUCTURES}
    ours = card_of_record(replace(record, run="fast-fb15k-237"))
    assert ours.beside["paper"] == theirs


def test_the_card_of_a_record_has_its_figures_and_its_command(record: Record) -> None:
    page = card_of_record(record).markdown()
    assert page.startswith("# fb15k-237-epfo, 20 min\n")
    assert f"| 3i | yes | {record.mrr['best']['3i']:.1f} | 47.3 |" in page
    assert "pathformer train fb15k-237-epfo training.minutes=20.0 valid_queries=500\n" in page
    for fact in ("NVIDIA H200", "commit: 4a10485", "50,627,200 numbers in the network", "11,984,000 in the tables",
                 "Freebase, CC BY", "remark: Beside up to 15 others"):  # fmt: skip
        assert fact in page, fact


def test_the_command_of_a_card_is_read_as_it_was(record: Record) -> None:
    """It said `valid_queries=null`, which no run takes, and a shell would have cut a list in two."""
    changes = {
        "valid_queries": None,
        "model.fork_hidden": [2, 3],
        "training.turns": False,
        "training.schedule": "cosine",
    }
    [command] = card_of_record(replace(record, changes=changes)).commands
    words = shlex.split(command)
    assert words[:3] == ["pathformer", "train", "fb15k-237-epfo"]
    run = read_run(words[2], words[3:])
    plain = plain_settings(run.plain())
    assert {key: plain[key] for key in changes} == {**changes, "model.fork_hidden": (2, 3)}
    assert run.training.minutes == record.minutes


def test_a_card_says_that_training_queries_were_drawn_anew(record: Record) -> None:
    fresh = {**record.settings, "training.fresh": 2000}
    for steps, settings, told in ((2001, fresh, True), (2000, fresh, False), (2001, record.settings, False)):
        page = card_of_record(replace(record, steps=steps, settings=settings)).markdown()
        assert ("; all but 1p drawn anew every 2,000 steps\n" in page) is told


def test_the_time_of_what_a_run_starts_from_is_found(tmp_path: Path) -> None:
    assert seconds_before(tmp_path, "") == 0.0
    assert seconds_before(tmp_path, "complex-fb15k-237") is None
    checkpoint.write(tmp_path / "start" / "last.safetensors", {"seconds": 61.04}, {})
    assert seconds_before(tmp_path, "complex-fb15k-237") == 61.0
    assert seconds_before(tmp_path / "other", str(tmp_path / "start")) == 61.0
    assert seconds_before(tmp_path / "other", str(tmp_path / "start" / "last.safetensors")) == 61.0
    best = tmp_path / "best"  # a folder without last weights: a run starts from its best ones, and so says their time
    checkpoint.write(best / "best.safetensors", {"seconds": 20.0}, {})
    assert seconds_before(tmp_path / "other", str(best)) == 20.0
    assert seconds_before(tmp_path / "other", f"{best},{tmp_path / 'start'}") == 81.0
    assert seconds_before(tmp_path / "other", str(best / "best.safetensors")) == 20.0
    assert seconds_before(tmp_path / "other", f"{best},{tmp_path / 'gone'}") is None
    assert seconds_before(tmp_path, "complex-fb15k-237", members=2) is None  # the second has not begun


def test_the_page_of_cards_is_current() -> None:
    written = (ROOT / "docs" / "model-cards.md").read_text(encoding="utf-8")
    assert written == script("make_model_cards")["page"](), "run: python scripts/make_model_cards.py"


def test_a_new_record_is_drawn_by_itself(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    record = replace(record, beside=1)
    drawing = script("draw_results")
    monkeypatch.setitem(drawing["figures"].__globals__, "read_records", lambda: [record])
    before = drawing["figures"]()
    assert set(before) == {"fb15k-237-epfo.svg", "recipe-race.svg"}
    assert "ours, 1,000 validation queries a structure, 3 runs on the card:" in before["recipe-race.svg"]  # a stand-in
    ours = replace(record, run="fast-fb15k-237", minutes=9.0, before=30.0)
    monkeypatch.setitem(drawing["figures"].__globals__, "read_records", lambda: [record, ours])
    after = drawing["figures"]()
    assert set(after) == {"fb15k-237-epfo.svg", "fast-fb15k-237.svg", "recipe-race.svg"}
    assert "ours, 500 validation queries a structure:" in after["recipe-race.svg"]
    assert ", 3 runs on the card" not in after["recipe-race.svg"]
    crowded = replace(ours, beside=5)
    monkeypatch.setitem(drawing["figures"].__globals__, "read_records", lambda: [record, crowded])
    assert (
        "ours, 500 validation queries a structure, up to 5 runs on the card:" in drawing["figures"]()["recipe-race.svg"]
    )
    assert "on a device shared by up to 5 runs" in card_of_record(crowded).markdown()
    monkeypatch.setitem(drawing["figures"].__globals__, "read_records", lambda: [replace(ours, variant="seed 1")])
    assert set(drawing["figures"]()) == {"recipe-race.svg"}  # of stand-ins alone: a variant is not the recipe


def test_a_lever_stands_in_by_its_means_or_by_its_structures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    drawing = script("draw_results")
    looks = [{"seconds": 60.0, **dict.fromkeys(EPFO, 9.0), "2in": 99.0}, {"seconds": 90.0, **dict.fromkeys(EPFO, 11.0)}]
    looks[1]["1p"] += 9.0
    kept = {"figures": {"jobs": 3, "levers": {"means": {"curve": [[60.0, 9.0]]}, "recipe": {"curve": looks}}}}
    file = tmp_path / "levers.json"
    file.write_text(json.dumps(kept), encoding="utf-8")
    stand_ins = drawing["_stand_in"].__globals__["STAND_INS"]
    for lever, before, others, points, crowd in (
        ("means", 30.0, 0, [(90.0, 9.0)], "3 runs"),
        ("recipe", 0.0, 10, [(60.0, 9.0), (90.0, 12.0)], "up to 13 runs"),
    ):
        monkeypatch.setitem(stand_ins, "scratch-nell995", (file, lever, before, others))
        curve = drawing["_stand_in"]("scratch-nell995", "ours")
        assert curve.points == points
        assert curve.label == f"ours, 1,000 validation queries a structure, {crowd} on the card"


def test_every_runner_of_a_race_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = script("draw_results")
    races, longest = drawing["RACES"], drawing["_longest"]()
    assert len(drawing["_racers"]("recipe-race-nell995.svg", longest)) == len(races["recipe-race-nell995.svg"]) == 4
    monkeypatch.setitem(races, "recipe-race.svg", ("fb15k-237-epfo",) * 5)
    with pytest.raises(ValueError, match="zip"):  # rather than drawn without the fifth
        drawing["_racers"]("recipe-race.svg", longest)


def test_a_row_that_learned_with_other_settings_says_so() -> None:
    drawing = script("draw_results")
    (theirs, ours) = drawing["_racers"]("recipe-race-nell995-negation.svg", drawing["_longest"]())
    assert theirs.label.endswith("a structure, other batch and rate, up to 10 runs on the card")
    assert "other batch" not in ours.label
    assert "other batch" not in drawing["_racers"]("recipe-race.svg", drawing["_longest"]())[0].label


def test_a_run_is_known_by_the_run_file_nearest_to_it() -> None:
    twins = [name for name in run_names() if name.endswith("-fb15k-237") and not read_run(name).paper.mrr]
    assert "fast-fb15k-237" in twins
    for name in twins:
        assert run_of(read_run(name, ["training.minutes=3", "training.seed=5"])) == name


def test_the_end_of_a_panel_is_told_in_minutes_however_short_or_long_it_was(record: Record) -> None:
    for seconds, told in ((24.9, ">0.41 min<"), (72.0, ">1.2 min<"), (1200.0, ">20 min<"), (6600.0, ">110 min<")):
        one = replace(record, before=0.0, curve=[{**record.curve[-1], "seconds": seconds}])
        assert told in panels(one, {})


def test_the_words_below_a_race_fit_into_it() -> None:
    points = [(60.0, 10.0), (600.0, 20.0)]
    narrow, wide = (race([Curve("x" * count, points)]) for count in (5, 150))
    widths = [int(ElementTree.fromstring(picture).attrib["width"]) for picture in (narrow, wide)]
    assert widths[0] == 624
    assert widths[1] > 150 * 6
