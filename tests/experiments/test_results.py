"""Recorded runs: their pictures are current, and what the page of results says of them is what was recorded."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pathformer.experiments.records import Record, read_records
from pathformer.experiments.settings import read_run
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("|")]
RECORDS = read_records()
LOGS = ROOT / "benchmarks" / "runs"
GROUPS = {"epfo": (*EPFO, "avg"), "efol": (*NEGATION_STRUCTURES, "avg negation")}
OURS = {  # run -> how its row begins
    "fb15k-237-epfo": "ours, betae-protocol draw",
    "fb15k-237-q2b": "ours, the released Query2box test queries",
    "fb15k-237-efol": "ours, betae-protocol draw",
    "nell995-epfo": "ours, drawn by the protocol",
}


def longest(run: str) -> Record:
    """The longest record of the run file's own settings, of equally long ones the first."""
    return max((record for record in RECORDS if record.run == run and not record.variant), key=lambda r: r.seconds)


def shown(figures: Mapping[str, float], names: tuple[str, ...]) -> list[str]:
    return [f"{figures[name]:.1f}" for name in names]


def kept(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "benchmarks" / name).read_text(encoding="utf-8"))["figures"]
    return found


def test_pictures_are_current() -> None:
    for name, text in runpy.run_path(str(ROOT / "scripts" / "draw_results.py"))["figures"]().items():
        drawn = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
        assert drawn == text, "run: python scripts/draw_results.py"


@pytest.mark.parametrize("run", OURS)
def test_a_run_of_the_papers_recipe_stands_between_the_paper_and_the_difference(run: str) -> None:
    names = GROUPS[read_run(run).trained]
    paper = [str(read_run(run).paper.mrr[name]) for name in names]
    record = longest(run)
    found = [
        place
        for place, (words, *figures) in enumerate(ROWS)
        if words.startswith(OURS[run])
        and figures == shown(record.figures("best" if "(best)" in words else "last"), names)
    ]
    assert len(found) == 1, f"no row, or several, of {record.file_name}"
    before, (_, *ours), after = ROWS[found[0] - 1 : found[0] + 2]
    assert before[0].startswith("paper, ")
    assert before[1:] == paper
    difference = [f"{float(one) - float(other):+.1f}" for one, other in zip(ours, paper, strict=True)]
    assert after == ["difference", *difference]


@pytest.mark.parametrize("run", [run for run in OURS if run != "fb15k-237-q2b"])  # the weights of the first
def test_the_length_speed_and_commit_of_a_run_are_those_recorded(run: str) -> None:
    record = longest(run)
    assert record.minutes is not None
    assert record.queries_per_second is not None
    assert f": {record.minutes:.0f} minutes" in PAGE
    assert f"{record.steps:,} steps of {'ten' if 'efol' in run else 'five'} updates" in WORDS
    assert f"`{record.commit}`" in PAGE
    speeds = [float(text.replace(",", "")) for text in re.findall(r"([\d,]+) queries a second", WORDS)]
    assert any(abs(speed / record.queries_per_second - 1) < 0.005 for speed in speeds)


def test_what_each_part_of_the_twenty_minutes_gave_is_what_was_recorded() -> None:
    record = longest("fb15k-237-epfo")
    log = [json.loads(line) for line in (LOGS / "fb15k-237-epfo-20min" / "log.jsonl").read_text().splitlines()]
    mean = [0.0, *(sum(look[name] for name in EPFO) / len(EPFO) for look in record.curve)]
    steps = [0, *(line["step"] for line in log)]
    gained = [f"{mean[end] - mean[end - 5]:.2f}" for end in (5, 10, 15, 20)]
    assert f"validation gained {', '.join(gained[:3])} and {gained[3]} points" in WORDS
    assert f"dropped at step {steps[10]:,} ({', '.join(f'{mean[at]:.1f}' for at in (8, 9, 10))} in" in WORDS
    assert f"drop gave {mean[11] - mean[10]:.2f}, the four after it {mean[15] - mean[11]:.2f}, and the" in WORDS
    assert f"went from {mean[15]:.1f} to {mean[20]:.1f}" in WORDS
    learned = {name: record.curve[9][name] - record.curve[4][name] for name in EPFO}
    first, second, third, fourth = sorted(learned, key=lambda name: -learned[name])[:4]
    told = "{} gained {:.1f} points on validation and {} {:.1f}, {} {:.1f}, and no other more than {:.1f}"
    figures = ((name, learned[name]) for name in (first, second, third))
    assert told.format(*(part for pair in figures for part in pair), learned[fourth]) in WORDS
    minute = (steps[20] - steps[2]) / 18
    assert f"made {steps[2]:,} steps where two later ones make {round(2 * minute, -1):,.0f}" in WORDS
    alone = round(60 * steps[20] / minute)
    assert f"what {alone // 60}:{alone % 60:02} minutes alone" in WORDS
    assert f"Five updates of 512 take {1e3 * 2560 / (record.queries_per_second or 1):.1f} ms" in WORDS


def test_twenty_minutes_and_seventeen_stand_beside_each_other() -> None:
    record, folder = longest("fb15k-237-epfo"), LOGS / "fb15k-237-epfo-17min"
    before = json.loads((folder / "test-last.json").read_text(encoding="utf-8"))
    old = {json.loads(line)["step"]: json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()}
    here = sum(record.curve[7][name] for name in EPFO) / len(EPFO)
    there = 100 * old[32_603]["valid/mrr"]
    assert f"validation {here:.1f} after 31,072 steps here, {there:.1f} after 32,603 there" in WORDS
    more = {name: f"{record.mrr['last'][name] - 100 * before['scores'][name]['mrr']:.1f}" for name in EPFO}
    assert (
        f"gained {more['3p']} (3p) to {more['ip']} (ip) points on the test, 2i {more['2i']} and 3i {more['3i']}"
        in WORDS
    )
    assert (min(more.values()), max(more.values())) == (more["3p"], more["ip"])
    average = record.figures("last")["avg"] - 100 * before["averages"]["avg"]["mrr"]
    share = 100 * (record.steps / max(old) - 1)
    assert f"{share:.0f} % more steps than in 17 minutes gave {average:.1f} points on the test" in WORDS


def test_our_own_recipe_has_the_averages_of_its_records() -> None:
    lines = {
        "`fast-fb15k-237`, seeds 0, 1, 2": ("fast-fb15k-237", "avg", ("", "seed1", "seed2")),
        "`fast-fb15k-237-efol`, without negation, seeds 0, 1": ("fast-fb15k-237-efol", "avg", ("", "seed1")),
        "`fast-fb15k-237-efol`, negation, seeds 0, 1": ("fast-fb15k-237-efol", "avg negation", ("", "seed1")),
        "`fast-nell995`": ("fast-nell995", "avg", ("",)),
        "`fast-nell995-efol`, without negation": ("fast-nell995-efol", "avg", ("",)),
        "`fast-nell995-efol`, negation": ("fast-nell995-efol", "avg negation", ("",)),
        "`fast-nell995-pair`, without negation": ("fast-nell995-pair", "avg", ("",)),
        "`fast-nell995-pair`, negation": ("fast-nell995-pair", "avg negation", ("",)),
        "`fast-fb15k-237-q2b`": ("fast-fb15k-237-q2b", "avg", ("",)),
        "`fast-nell995-q2b`": ("fast-nell995-q2b", "avg", ("",)),
    }
    records = {(record.run, record.variant): record for record in RECORDS}
    table = {row[0]: row[2] for row in ROWS if row[0].startswith("`fast-")}
    assert table.keys() == lines.keys()
    last = []
    for words, (run, average, variants) in lines.items():
        of = [records[run, variant] for variant in variants]
        assert table[words] == ", ".join(f"{record.figures('best')[average]:.1f}" for record in of), words
        last.append(", ".join(f"{record.figures('last')[average]:.1f}" for record in of))
    assert f"With the last weights averages are {'; '.join(last)}:" in WORDS
    assert f"the pair then misses its goal ({records['fast-nell995-pair', ''].figures('last')['avg']:.2f})" in WORDS
    two = [records["fast-fb15k-237-efol", seed] for seed in ("", "seed1")]
    steps = " and ".join(f"{record.weights['best']:,}" for record in two)
    assert f"(steps {steps} of {two[0].steps:,})" in WORDS


def test_the_variants_are_those_recorded() -> None:
    runs = kept("runs/fb15k-237-variants-60s/boxes.json")["runs"]
    assert len(runs) == 10
    for name, found in ((settings.partition(",")[0], found) for settings, found in runs.items()):
        row = next(row for row in ROWS if row[0] == f"`{name}`" and len(row) == 15)
        figures = {structure: found[f"last {structure}"] for structure in GROUPS["epfo"]}
        speed = f"{round(found['queries_per_second'], -3):,.0f}"
        paper = str(read_run(name).paper.mrr["avg"])
        assert row[2:] == [f"{found['steps']:,}", speed, *shown(figures, GROUPS["epfo"]), paper]
    mixer, mlp = (
        next(found for settings, found in runs.items() if settings.partition(",")[0] == name)
        for name in ("fb15k-237-mixer", "fb15k-237-epfo")
    )
    spent = [f"{2560e3 / found['queries_per_second']:.1f}" for found in (mixer, mlp)]
    told = f"makes {mixer['steps']:,} updates in the time of {mlp['steps']:,} ({spent[0]} ms each against {spent[1]})"
    assert f"{told} and is behind by {mlp['last avg'] - mixer['last avg']:.1f} points" in WORDS


def test_the_short_boxes_are_those_recorded() -> None:
    rows = [row for row in ROWS if len(row) == 5 and "turns=" in row[0]]
    runs = kept("runs/fb15k-237-epfo-25s/boxes.json")["runs"]
    assert len(rows) == len(runs) == 4
    for (words, *figures), (settings, found) in zip(rows, runs.items(), strict=True):
        speed = f"{round(found['queries_per_second'], -2):,.0f}"
        assert figures == [f"{found['steps']:,}", speed, f"{found['valid_mrr']:.1f}", f"{found['last avg']:.1f}"]
        assert ("turns=false" in words) == ("turns=false" in settings)
        assert ("cosine" in words) == ("cosine" in settings)


def test_the_time_of_a_whole_ranking_is_that_recorded() -> None:
    found = kept("results/l1_rank.json")["ranking"]
    rows = {row[0]: row[1] for row in ROWS if len(row) == 2}
    rest = found["whole_s"] - found["encode_s"] - found["distances_s"]
    for start, seconds in {
        "**the whole": f"**{found['whole_s']:.3f}**",
        "encoding": f"{found['encode_s']:.3f}",
        "distances": f"{found['distances_s']:.3f}",
        "gathering": f"{rest:.3f}",
    }.items():
        assert [value for words, value in rows.items() if words.startswith(start)] == [seconds]
    assert f"(tf32: {found['encode_tf32_s']:.3f})" in PAGE
    assert f"the whole takes {found['whole_tf32_s']:.3f} s" in WORDS
    assert f"Peak memory {found['peak_gb']:.1f} GB" in WORDS
