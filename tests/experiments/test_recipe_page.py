"""What the page of the recipe says of runs and levers is what was recorded."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pathformer.experiments.records import PACKAGED, Record, read_records
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "benchmarks" / "runs"
PAGE = (ROOT / "docs" / "recipe.md").read_text(encoding="utf-8")
DRAWN, NEGATED, Q2B = ("avg", *EPFO), ("avg negation", *NEGATION_STRUCTURES), "Query2box test queries"
SCRATCH, AGAIN = "fb15k-237-scratch-3min", "fb15k-237-scratch-3min-2"
KEPT, SHARES = "fb15k-237-temperature-168s", "fb15k-237-efol-180s"
NELL, NELL_BEFORE = "nell995-base-150s-2", "nell995-base-150s"
FB, FB_BEFORE, NEGATION = "fb15k-237-base-150s-2", "fb15k-237-base-150s", "fb15k-237-efol-150s"


def section(start: str, end: str) -> list[list[str]]:
    """The cells of the lines of tables between two places of the page, without their marks."""
    text = PAGE[PAGE.index(start) :]
    lines = text[: text.index(end)].splitlines()
    return [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]


def row(start: str, end: str, first: str) -> list[str]:
    """The one line that begins with these words, without them."""
    found = [line[1:] for line in section(start, end) if line[0].startswith(first)]
    assert len(found) == 1, first
    return found[0]


def record_of(name: str, folder: Path = PACKAGED) -> Record:
    return {record.file_name: record for record in read_records([folder])}[name]


def lever_of(folder: str, name: str) -> dict[str, Any]:
    kept = json.loads((RUNS / folder / "levers.json").read_text(encoding="utf-8"))["figures"]["levers"]
    (found,) = (figures for title, figures in kept.items() if title.partition(":")[0] == name)
    return dict(found)


def looks(folder: str, name: str) -> dict[int, dict[str, float]]:
    """The validations of a lever by update, in percent."""
    lines = map(json.loads, (RUNS / folder / f"log-{name}.jsonl").read_text(encoding="utf-8").splitlines())
    return {int(line["step"]): {k.removeprefix("valid/"): 100 * v for k, v in line.items()} for line in lines}


@pytest.mark.parametrize(
    ("first", "name", "folder"),
    [
        ("`fast-fb15k-237`, 48 + 48 s", "fast-fb15k-237@48s-alone.json", PACKAGED),
        ("3 + 4 minutes, seed 0", "fast-fb15k-237@4min.json", PACKAGED),
        ("seed 1", "fast-fb15k-237@4min-seed1.json", PACKAGED),
        ("seed 2", "fast-fb15k-237@4min-seed2.json", PACKAGED),
        ("`fast-fb15k-237-efol`", "fast-fb15k-237-efol@4min.json", PACKAGED),
        ("`fast-nell995`, 48 + 36 s", "fast-nell995@36s-alone.json", PACKAGED),
        ("`fast-nell995`, 3 + 4 minutes", "fast-nell995@4min.json", PACKAGED),
        ("`fast-nell995-efol`", "fast-nell995-efol@4min.json", PACKAGED),
    ],
)
def test_the_drawn_test_queries_are_those_recorded(first: str, name: str, folder: Path) -> None:
    figures = record_of(name, folder).figures("best")
    told = row("| test | EPFO |", "| test | negation |", first)
    assert told == [f"{figures[structure]:.1f}" for structure in DRAWN]


def test_the_mean_of_three_seeds_is_their_mean() -> None:
    three = [record_of(f"fast-fb15k-237@4min{seed}.json").figures("best") for seed in ("", "-seed1", "-seed2")]
    told = row("| test | EPFO |", "| test | negation |", "the mean of the three")
    assert told == [f"{sum(figures[structure] for figures in three) / 3:.1f}" for structure in DRAWN]


@pytest.mark.parametrize("dataset", ["fb15k-237", "nell995"])
def test_negation_is_as_recorded(dataset: str) -> None:
    figures = record_of(f"fast-{dataset}-efol@4min.json").figures("best")
    told = row("| test | negation |", "**What a card", f"`fast-{dataset}-efol`")
    assert told == [f"{figures[structure]:.1f}" for structure in NEGATED]


@pytest.mark.parametrize(
    ("first", "name", "folder"),
    [
        ("`fast-fb15k-237-q2b`", "fast-fb15k-237-q2b@4min.json", PACKAGED),
        ("`fast-nell995-q2b`", "fast-nell995-q2b@4min.json", PACKAGED),
        ("the weights of `fast-nell995`", "fast-nell995-q2b@4min-both.json", RUNS / "nell995-both-4min"),
    ],
)
def test_the_query2box_queries_are_as_recorded(first: str, name: str, folder: Path) -> None:
    figures = record_of(name, folder).figures("best")
    assert row(f"| {Q2B} |", "Trained at first", first) == [f"{figures[structure]:.1f}" for structure in DRAWN]


def test_what_chose_the_run_of_nell995_is_as_recorded() -> None:
    def curve(record: Record) -> list[str]:
        return [f"{sum(look[structure] for structure in EPFO) / len(EPFO):.2f}" for look in record.curve]

    ours, alone = record_of("fast-nell995@4min.json"), record_of("fast-nell995@36s-alone.json")
    ten = record_of("fast-nell995-efol@4min.json")
    whole = [sum(value for name, value in look.items() if name != "seconds") for look in ten.curve]
    words = " ".join(PAGE.split())
    best = curve(ten)[whole.index(max(whole))]
    assert f"{best} with ten structures learned, {max(curve(alone))} with five and the card to itself" in words
    assert f"{max(curve(ours))} beside others." in words
    assert f"step {ours.weights['best']:,} of {ours.weights['last']:,}; the last ones have" in words
    assert f"the last ones have {ours.figures('last')['avg']:.1f} on test" in words
    for name, record in {"FB15k-237, seed 0, has": record_of("fast-fb15k-237@4min.json"), "NELL995": ours}.items():
        *some, last = curve(record)
        assert f"{name} {', '.join(some)} and {last}" in words


def test_the_goals_are_judged_by_what_was_recorded() -> None:
    alone = record_of("fast-fb15k-237@48s-alone.json").figures("best")["avg"]
    seeds = [record_of(f"fast-fb15k-237@4min{seed}.json").figures("best")["avg"] for seed in ("", "-seed1", "-seed2")]
    assert min(alone, *seeds) >= 26.5
    reached = {line[0]: line[1] for line in section("| goal | reached |", "**Why NELL995")[2:]}
    assert reached["FB15k-237 without negation, 26.5"] == f"{alone:.1f}, {sum(seeds) / 3:.1f}"
    for dataset, title in (("fb15k-237", "FB15k-237"), ("nell995", "NELL995")):
        figures = record_of(f"fast-{dataset}-efol@4min.json").figures("best")
        assert figures["avg negation"] >= 8.5
        assert reached[f"{title} with negation, 8.5"] == f"{figures['avg negation']:.1f}"
    assert reached["NELL995 without negation, 32.0"] == f"{figures['avg']:.1f}"
    assert f"**missed by {32.0 - round(figures['avg'], 1):.1f}**" in PAGE


LEVERS = {  # how lines of the list begin -> of each, the folder, and the lever without and with it
    "softmax over all entities": [(AGAIN, "margin", "recipe")],
    "cosine, for L1": [(SCRATCH, "l1", "recipe")],
    "all answers": [(SCRATCH, "one-answer", "recipe")],
    "batches of 512": [(SCRATCH, "half-batch", "recipe")],
    "two layers, for six": [(AGAIN, "six-layers", "recipe")],
    "an order-free fork": [(AGAIN, "mlp-fork", "recipe")],
    "hubs count more": [(AGAIN, "unweighted", "recipe")],
    "fresh queries": [(SCRATCH, "fixed-queries", "recipe")],
    "linear decay": [(SCRATCH, "cosine-decay", "recipe")],
    "relative positions": [(SCRATCH, "recipe", "relative")],
    "averaged weights": [(SCRATCH, "no-average", "recipe")],
    "a temperature kept": [(KEPT, "recipe", "kept-temperature")],
    "kept at 0.1": [(KEPT, "warm", "kept-warm")],
    "ComplEx of rank 400": [("fb15k-237-base-1", "recipe", "hops-weighed")],
    "tables tuned": [("fb15k-237-base-1", "hops-operators", "hops-tuned")],
    "rank 1,000 and one layer": [("fb15k-237-base-2", "roots-own", "roots-wide")],
    "the encoder's own tables": [(NELL_BEFORE, "recipe", "wide-own"), (FB_BEFORE, "recipe", "wide-own")],
    "sharpness 2.0": [(NELL_BEFORE, "recipe", "sharp")],
    "domains": [(NELL_BEFORE, "recipe", "domains-fast"), (FB_BEFORE, "recipe", "domains")],
    "a network at forks": [(NELL, "recipe", "fast-both")],
    "paths walked from an answer": [(NELL, "recipe", "backward"), (FB, "recipe", "backward")],
    "two link predictors": [(FB_BEFORE, "recipe", "members2")],
}
WAYS = {  # likewise, of weights that were ranked in two ways
    "unions by probability": [(AGAIN, "smallest", "probability"), (FB, "smallest", "probability")],
    "variables as expected": [(AGAIN, "variables: vector", "variables: expected")],
}


def pairs(cell: str) -> list[tuple[str, list[str]]]:
    """Of "20.7 → 23.5, 1p 41.1 → 45.4": what it is of, and both figures; the average has no name."""
    found = [re.fullmatch(r"(?:(\w+) )?([\d.]+) → ([\d.]+)", part) for part in cell.split(", ")]
    told = [(part[1] or "EPFO", [part[2], part[3]]) for part in found if part is not None]
    assert len(told) == len(found), cell
    return told


def rounds_to(shown: str, figure: float) -> bool:
    return abs(float(shown) - figure) <= 0.5 * float(f"1e-{len(shown.partition('.')[2])}") + 1e-9


def lines_of(first: str) -> list[list[str]]:
    return [line for line in section("| lever | expected | without", "In short:") if line[0].startswith(first)]


@pytest.mark.parametrize("first", LEVERS)
def test_a_lever_gave_what_was_recorded(first: str) -> None:
    for (_, _, gave, updates), (folder, *names) in zip(lines_of(first), LEVERS[first], strict=True):
        levers = [lever_of(folder, name) for name in names]
        assert pairs(gave)[0][0] == "EPFO"
        for structure, shown in pairs(gave):
            assert all(rounds_to(*both) for both in zip(shown, [lever[structure] for lever in levers], strict=True))
        assert updates == ", ".join(f"{lever['steps']:,}" for lever in levers)


@pytest.mark.parametrize("first", WAYS)
def test_another_way_to_rank_gave_what_was_recorded(first: str) -> None:
    for (_, _, gave, _), (folder, *ways) in zip(lines_of(first), WAYS[first], strict=True):
        found = lever_of(folder, "recipe")["other_ways"]
        assert pairs(gave)
        for structure, shown in pairs(gave):
            assert all(rounds_to(*both) for both in zip(shown, [found[way][structure] for way in ways], strict=True))


def test_every_line_of_the_list_is_checked() -> None:
    lines = [line for line in lines_of("")[2:] if line[3]]
    assert len(lines) == sum(map(len, (*LEVERS.values(), *WAYS.values())))


@pytest.mark.parametrize(
    ("first", "name"),
    [
        ("as it was", "recipe"),
        ("walked from an answer", "backward"),
        ("a network at forks", "fast-both"),
        ("`roots-own`", "roots-own"),
        ("`roots-both`", "roots-both"),
    ],
)
def test_the_levers_of_nell995_are_those_recorded(first: str, name: str) -> None:
    *told, then = row("| lever | updates | EPFO |", "Together, at full length", first)
    lever = lever_of(NELL, name)
    assert told == [f"{lever['steps']:,}", f"{lever['EPFO']:.2f}", *(f"{lever[structure]:.1f}" for structure in EPFO)]
    average, step = then.rstrip(")").split(" (")
    assert average == f"{looks(NELL, name)[int(step)]['mrr']:.2f}"


@pytest.mark.parametrize(
    ("first", "folder", "name"),
    [
        ("the recipe", NEGATION, "recipe"),
        ("without `contested`", NEGATION, "walked"),
        ("without `removed`", NEGATION, "uncounted"),
        ("without both", NEGATION, "plain"),
        ("one weighted mean", NEGATION, "mix"),
        ("a branch denied in the fork", NEGATION, "denied"),
        ("the same", SHARES, "denied"),
        ("besides, negated", SHARES, "denied+mix-negation"),
        ("besides, 1p", SHARES, "denied+mix-epfo"),
    ],
)
def test_the_levers_of_negation_are_those_recorded(first: str, folder: str, name: str) -> None:
    _, *told, then = row("| lever | expected | updates | negation |", "`contested` gives", first)
    lever = lever_of(folder, name)
    assert told == [f"{lever['steps']:,}", *(f"{lever[key]:.1f}" for key in ("negation", *NEGATION_STRUCTURES, "EPFO"))]
    average, step = then.rstrip(")").split(" (")
    look = looks(folder, name)[int(step)]
    assert average == f"{sum(look[structure] for structure in NEGATION_STRUCTURES) / 5:.1f}"
