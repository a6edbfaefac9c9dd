"""What the pages of the recipe say of levers is what was recorded."""

from __future__ import annotations

import pytest
from recipe_page import ROOT, RUNS, WORDS, lever_of, lines_of, looked, looks, pairs, record_of, rounds_to, row

from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

SCRATCH, AGAIN, SCRATCH_NELL = "fb15k-237-scratch-3min", "fb15k-237-scratch-3min-2", "nell995-scratch-6min"
KEPT, SHARES = "fb15k-237-temperature-168s", "fb15k-237-efol-180s"
NELL, NELL_BEFORE = "nell995-base-150s-2", "nell995-base-150s"
FB, FB_BEFORE, NEGATION = "fb15k-237-base-150s-2", "fb15k-237-base-150s", "fb15k-237-efol-150s"

LEVERS = {  # how lines of the list begin -> of each, the folder, and the lever without and with it
    "softmax over all entities": [(AGAIN, "margin", "recipe"), (SCRATCH_NELL, "margin", "recipe")],
    "cosine, for L1": [(SCRATCH, "l1", "recipe"), (SCRATCH_NELL, "l1", "recipe")],
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
    "unions by probability": [(folder, "smallest", "probability") for folder in (AGAIN, SCRATCH_NELL, FB)],
    "variables as expected": [(folder, "variables: vector", "variables: expected") for folder in (AGAIN, SCRATCH_NELL)],
}


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


HISTORY = (ROOT / "docs" / "recipe-history.md").read_text(encoding="utf-8")
BARE = {  # folder -> how lines of its table begin in the history, and their levers
    SCRATCH: {"the run as it is": "recipe", "L1": "l1", "the same queries always": "fixed-queries",
              "relative": "relative", "weights not": "no-average", "cosine decay": "cosine-decay",
              "half": "half-batch", "one answer": "one-answer"},
    AGAIN: {"the run as it is": "recipe", "the paper's": "margin", "MLP": "mlp-fork", "every query": "unweighted",
            "six": "six-layers"},
    SCRATCH_NELL: {"the run as it is": "recipe", "L1": "l1", "the paper's": "margin"},
}  # fmt: skip


@pytest.mark.parametrize("folder", BARE)
def test_levers_without_a_base_have_the_structures_that_were_recorded(folder: str) -> None:
    table = HISTORY[HISTORY.index(f"(`benchmarks/runs/{folder}`)") :].split("\n\n")[1].splitlines()[2:]
    assert len(table) == len(BARE[folder])
    for line, (first, name) in zip(table, BARE[folder].items(), strict=True):
        words, _, updates, *shown = (cell.strip(" *") for cell in line.split("|")[1:-1])
        lever = lever_of(folder, name)
        assert words.startswith(first)
        assert updates == f"{lever['steps']:,}"
        assert all(map(rounds_to, shown, (lever[key] for key in ("EPFO", *EPFO)))), words


def test_how_fast_levers_of_nell995_came_so_far_is_as_logged() -> None:
    def after(name: str, step: int) -> str:
        look = looks(SCRATCH_NELL, name)[step]
        return f"{sum(look[structure] for structure in EPFO) / len(EPFO):.1f}"

    words = " ".join(HISTORY.split())
    assert f"the first has {after('recipe', 3520)} (3,520 updates) and the second {after('l1', 3909)} (3,909)" in words
    assert f"the paper's loss, at {after('margin', 4210)} then (4,210)" in words
    for name, told in (("l1", "ip {} → {}, and unions by probability lose, 2u {} → {}, up {} → {};"),
                       ("margin", "ip {} → {}, 2u {} → {}, up {} → {}.")):  # fmt: skip
        ways = lever_of(SCRATCH_NELL, name)["other_ways"]
        variables = [ways[f"variables: {kind}"]["ip"] for kind in ("vector", "expected")]
        unions = [ways[way][structure] for structure in ("2u", "up") for way in ("smallest", "probability")]
        assert told.format(*(f"{figure:.1f}" for figure in (*variables, *unions))) in words


def test_what_is_confirmed_on_nell995_is_as_recorded() -> None:
    margin, l1, recipe = (f"{lever_of(SCRATCH_NELL, name)['EPFO']:.1f}" for name in ("margin", "l1", "recipe"))
    before = max(looked(record_of("fast-nell995@6min.json", RUNS / "fast-6min")))
    now = max(looked(record_of("fast-nell995@36s.json")))
    assert (
        f"the softmax {margin} → {recipe}, over one by L1 {l1} → {recipe}, and on the base {before:.1f} before" in WORDS
    )
    assert f"before domains (`d016f64`), {now:.1f} with all that came since, five structures each" in WORDS


def test_levers_are_said_in_the_order_of_what_they_gave() -> None:
    def gave(first: str, place: int = 0) -> float:
        (_, (without, given)), *_ = pairs(lines_of(first)[place][2])
        return round(float(given) - float(without), 1)

    softmax, cosine = ([gave(first, place) for place in (0, 1)] for first in ("softmax over all", "cosine, for L1"))
    base, answers = gave("ComplEx of rank 400"), gave("all answers")
    parts = (
        f"{softmax[0]} on FB15k-237 and {softmax[1]} on NELL995, of which {cosine[0]} and {cosine[1]} are what it has"
    )
    assert f"the softmax by cosine gave most, {parts} over one by L1 and 512 drawn entities" in WORDS
    assert f"then the base, {base} at rank 400, and all answers" in WORDS
    assert f"all answers as targets, {answers}; then a second model beside, {gave('[`scratch` beside]')}," in WORDS
    assert softmax[0] > base > cosine[0] > answers > gave("[`scratch` beside]")


def test_a_lever_is_called_by_all_that_it_changes() -> None:
    """The paper's loss is by L1 there, and one by L1 draws its entities: neither line is of one setting alone."""
    margin, l1 = (lever_of(SCRATCH_NELL, name)["settings"] for name in ("margin", "l1"))
    assert {"model.space=point", "training.update.objective=margin", "training.update.table_rate=1.0"} <= set(margin)
    assert {"model.space=point", "training.update.softmax.entities=drawn", "training.update.negatives=512"} == set(l1)
    for folder, name, settings in ((AGAIN, "margin", margin), (SCRATCH, "l1", l1)):
        assert lever_of(folder, name)["settings"] == settings
    assert len(lines_of("softmax over all entities by cosine, for the paper's loss, which is by L1")) == 2
    assert len(lines_of("cosine, for L1 and a softmax over 512 drawn")) == 2
    assert "has the rate of `scratch`, for tables half of it" in WORDS  # 2.0 there


def test_what_walks_from_an_answer_cost_the_query2box_queries_is_as_recorded() -> None:
    anchor = record_of("fast-nell995-q2b@4min.json", RUNS / "fast-4min-2").figures("best")
    answer = record_of("fast-nell995-q2b@4min-both.json", RUNS / "nell995-both-4min").figures("best")
    lost = " and ".join(f"{anchor[name] - answer[name]:.1f}" for name in ("2p", "3p"))
    shown = " and ".join(f"{anchor[name]:.1f} → {answer[name]:.1f}" for name in ("2p", "3p"))
    assert f"2p and 3p lose {lost} ({shown};" in WORDS


def test_every_line_of_the_list_is_checked() -> None:
    lines = [line for line in lines_of("")[2:] if line[3]]
    assert len(lines) == sum(map(len, (*LEVERS.values(), *WAYS.values()))) + len(lines_of("[`scratch` beside]")) > 30


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
