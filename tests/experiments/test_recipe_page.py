"""What the page of the recipe says of runs is what was recorded."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from recipe_page import PAGE, ROOT, RUNS, WORDS, lines_of, looked, looks, record_of, rounds_to, row, section

from pathformer.experiments.keep import changes_of
from pathformer.experiments.records import PACKAGED, read_records
from pathformer.experiments.settings import read_run
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

DRAWN, NEGATED, Q2B = ("avg", *EPFO), ("avg negation", *NEGATION_STRUCTURES), "Query2box test queries"


PAIR = "fast-nell995-pair@402s.json"


@pytest.mark.parametrize(
    ("first", "name"),
    [
        ("`fast-fb15k-237`, 48 + 24 s, seed 0", "fast-fb15k-237@24s.json"),
        ("seed 1", "fast-fb15k-237@24s-seed1.json"),
        ("seed 2", "fast-fb15k-237@24s-seed2.json"),
        ("`fast-fb15k-237-efol`", "fast-fb15k-237-efol@54s.json"),
        ("`fast-nell995`, 48 + 36 s", "fast-nell995@36s.json"),
        ("`fast-nell995-efol`", "fast-nell995-efol@72s.json"),
        ("that one, seed 1", "fast-fb15k-237-efol@54s-seed1.json"),
        ("`fast-nell995-pair`", PAIR),
    ],
)
def test_the_drawn_test_queries_are_those_recorded(first: str, name: str) -> None:
    figures = record_of(name).figures("best")
    told = row("| test | EPFO |", "| test | negation |", first)
    assert told == [f"{figures[structure]:.1f}" for structure in DRAWN]


SEEDS = [f"fast-fb15k-237@24s{seed}.json" for seed in ("", "-seed1", "-seed2")]
TEN = {"fb15k-237": "fast-fb15k-237-efol@54s.json", "nell995": "fast-nell995-efol@72s.json"}


def test_the_mean_of_three_seeds_is_their_mean() -> None:
    three = [record_of(name).figures("best") for name in SEEDS]
    told = row("| test | EPFO |", "| test | negation |", "the mean of the three")
    assert told == [f"{sum(figures[structure] for figures in three) / 3:.1f}" for structure in DRAWN]
    each = ", ".join(f"{figures['avg']:.2f}" for figures in three)
    assert f"the mean of three seeds ({each})" in WORDS
    ten = [record_of(f"fast-fb15k-237-efol@54s{seed}.json").figures("best")["avg"] for seed in ("", "-seed1")]
    assert f"of runs of ten structures that have {ten[0]:.1f} and {ten[1]:.1f} without;" in WORDS


def test_the_readme_has_the_figures_of_the_records() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    table = {
        line.split("|")[1].strip(): line.replace("*", "").split("|")[3:-1] for line in lines if line.count("|") == 7
    }
    told = {name: [cell.strip() for cell in cells] for name, cells in table.items()}
    best = {run: record_of(f"{run}.json").figures("best") for run in (
        *(name.removesuffix(".json") for name in (*SEEDS, *TEN.values(), PAIR)),
        "fast-nell995@36s", "fast-fb15k-237-q2b@24s", "fast-nell995-q2b@36s",
    )}  # fmt: skip
    mean = sum(best[name.removesuffix(".json")]["avg"] for name in SEEDS) / 3
    fast, denied = best["fast-nell995@36s"], {name: best[f.removesuffix(".json")] for name, f in TEN.items()}
    assert told["the recipe `fast`"] == [
        f"{mean:.1f} / {denied['fb15k-237']['avg negation']:.1f}",
        f"{fast['avg']:.1f} / {denied['nell995']['avg negation']:.1f}",
        *(f"{best[name]['avg']:.1f}" for name in ("fast-fb15k-237-q2b@24s", "fast-nell995-q2b@36s")),
    ]
    pair = best[PAIR.removesuffix(".json")]
    assert told["two models side by side"] == ["", f"{pair['avg']:.1f} / {pair['avg negation']:.1f}", "", ""]
    paper = {name: read_run(name).paper.mrr for dataset in TEN for name in _papers(dataset)}
    both = [f"{paper[f'{name}-epfo']['avg']:.1f} / {paper[f'{name}-efol']['avg negation']:.1f}" for name in TEN]
    assert told["the paper"] == [*both, *(f"{paper[f'{name}-q2b']['avg']:.1f}" for name in TEN)]


def _papers(dataset: str) -> list[str]:
    return [f"{dataset}-{kind}" for kind in ("epfo", "efol", "q2b")]


@pytest.mark.parametrize(
    ("first", "name"),
    [
        *((f"`fast-{dataset}-efol`", name) for dataset, name in TEN.items()),
        ("that one, seed 1", "fast-fb15k-237-efol@54s-seed1.json"),
        ("`fast-nell995-pair`", PAIR),
    ],
)
def test_negation_is_as_recorded(first: str, name: str) -> None:
    figures = record_of(name).figures("best")
    told = row("| test | negation |", "**What changed since**", first)
    assert told == [f"{figures[structure]:.1f}" for structure in NEGATED]


@pytest.mark.parametrize(
    ("first", "name", "folder"),
    [
        ("`fast-fb15k-237-q2b`", "fast-fb15k-237-q2b@24s.json", PACKAGED),
        ("`fast-nell995-q2b`", "fast-nell995-q2b@36s.json", PACKAGED),
        ("before, the weights of `fast-nell995`", "fast-nell995-q2b@4min-both.json", RUNS / "nell995-both-4min"),
    ],
)
def test_the_query2box_queries_are_as_recorded(first: str, name: str, folder: Path) -> None:
    figures = record_of(name, folder).figures("best")
    assert row(f"| {Q2B} |", "Trained at first", first) == [f"{figures[structure]:.1f}" for structure in DRAWN]


def test_what_chose_the_run_of_nell995_is_as_recorded() -> None:
    five, ten = record_of("fast-nell995@36s.json"), record_of(TEN["nell995"])
    whole = looked(ten, (*EPFO, *NEGATION_STRUCTURES))
    best = looked(ten)[whole.index(max(whole))]
    told = f"{looked(record_of(PAIR))[-1]:.2f} with two side by side, {best:.2f} with ten structures learned, "
    assert f"{told}{max(looked(five)):.2f} with five." in WORDS


def test_what_last_weights_cost_is_as_recorded() -> None:
    pair, ten = record_of(PAIR), record_of(TEN["nell995"])
    steps = {record.run: (record.weights["last"], record.weights["best"]) for record in (pair, ten)}
    told = "the pair has {:.2f} (its first model of step {:,} in place of {:,}), "
    assert told.format(pair.figures("last")["avg"], *steps[pair.run]) in WORDS
    told = "the run of ten structures {:.1f} ({:,} in place of {:,})."
    assert told.format(ten.figures("last")["avg"], *steps[ten.run]) in WORDS
    lost = [
        record.figures("best")[name] - record.figures("last")[name]
        for record in read_records([PACKAGED])
        if record.run.startswith("fast-") and record.run != "fast-fb15k-237-efol"
        for name in ("avg", "avg negation")
        if name in record.figures("best")
    ]
    assert f"All others differ by {max(map(abs, lost)):.2f} at most" in WORDS


def test_the_memory_it_took_is_as_recorded() -> None:
    def most(dataset: str, *kinds: str) -> str:
        runs = {f"fast-{dataset}{kind}" for kind in kinds}
        return f"{max(record.memory_gb or 0.0 for record in read_records([PACKAGED]) if record.run in runs):.1f}"

    both, negated = (("", "-q2b"), ("-efol",))
    told = f"Peak memory {most('fb15k-237', *both)} GB on FB15k-237 and {most('nell995', *both)} GB on NELL995, "
    told += f"with negation {most('fb15k-237', *negated)} and {most('nell995', *negated)}, "
    assert f"{told}{most('nell995', '-pair')} side by side." in WORDS


def test_what_the_place_of_a_link_predictors_weights_gave_is_as_recorded() -> None:
    """On validation, too, by which it was chosen to take the last ones."""
    middle = record_of("fast-fb15k-237@48s-alone.json", RUNS / "fast-4min-2")
    last = record_of("fast-fb15k-237@24s.json")
    links = [f"{record.curve[0]['1p']:.2f} and {record.figures('best')['1p']:.1f}" for record in (middle, last)]
    means = [(max(looked(record)), record.figures("best")["avg"]) for record in (middle, last)]
    told = f"{means[0][0]:.1f} on validation and {means[0][1]:.1f} on test from weights of the middle (1p {links[0]}), "
    assert f"{told}{means[1][0]:.1f} and {means[1][1]:.1f} from the last ones ({links[1]})." in WORDS


def test_what_time_gives_queries_is_as_recorded() -> None:
    record = record_of(TEN["fb15k-237"])
    both = list(zip(looked(record), looked(record, NEGATION_STRUCTURES), strict=True))
    told = [f"{one:.1f} / {other:.1f}" for one, other in both]
    after = [f"{look['seconds']:.0f}" for look in record.curve]
    assert f"has {told[0]} on validation after {after[0]} seconds and {told[-1]} after {after[-1]}." in WORDS
    last = record.figures("last")
    other = record_of("fast-fb15k-237-efol@54s-seed1.json").figures("last")
    again = f"(seed 1: {other['avg negation']:.1f} and {other['avg']:.1f})."
    assert f"has {last['avg negation']:.1f}, and without negation that run {last['avg']:.1f} {again}" in WORDS


def test_the_goals_are_judged_by_what_was_recorded() -> None:
    seeds = [record_of(name).figures("best")["avg"] for name in SEEDS]
    assert min(seeds) >= 26.5
    reached = {line[0]: line[1] for line in section("| goal | reached |", "**Why NELL995")[2:]}
    assert reached["FB15k-237 without negation, 26.5"] == f"{sum(seeds) / 3:.1f}"
    for dataset, title in (("fb15k-237", "FB15k-237"), ("nell995", "NELL995")):
        figures = record_of(TEN[dataset]).figures("best")
        assert figures["avg negation"] >= 8.5
        if dataset == "fb15k-237":
            assert reached[f"{title} with negation, 8.5"] == f"{figures['avg negation']:.1f}"
    pair = record_of(PAIR)
    assert pair.figures("best")["avg"] >= 32.0
    assert reached["NELL995 without negation, 32.0"] == f"{pair.figures('best')['avg']:.1f}"
    assert reached["NELL995 with negation, 8.5"] == f"{pair.figures('best')['avg negation']:.1f}"
    assert f"one seed; {figures['avg']:.1f} by one model" in PAGE
    margin, last = pair.figures("best")["avg"] - 32.0, pair.figures("last")["avg"]
    assert last < 32.0
    assert f"met by a margin of {margin:.1f}, and with the last weights of both, {last:.2f}, it is not:" in WORDS
    minutes = ((pair.before or 0.0) + pair.seconds) / 60
    assert minutes < 9.0
    assert reached["at most nine minutes on one H200"] == f"1.2 to 2; side by side {minutes:.1f}"
    assert f"**ours, {minutes:.1f} minutes: [two models side by side]" in PAGE
    alone = [record for record in read_records([PACKAGED]) if record.run.startswith("fast-") and record != pair]
    seconds = sorted((record.before or 0.0) + record.seconds for record in alone)
    assert f"Training took {seconds[0]:.0f} to {seconds[-1]:.0f} seconds by the clock, {60 * minutes:.0f} for" in WORDS


def test_one_command_makes_what_a_record_has() -> None:
    """A run file as it is, and nothing that is learned differs: the records of `fast` were made so or say the same."""
    found = [record for record in read_records([PACKAGED]) if record.run.startswith("fast-")]
    assert len(found) == 10
    for record in found:
        run = read_run(record.run)
        assert record.changes.keys() <= {"training.save_minutes", "training.seed", "start_minutes"}, record.file_name
        started = record.changes.get("start_minutes", run.start_minutes)
        assert (started or read_run(run.start).training.minutes) == read_run(run.start).training.minutes == 0.8
        assert changes_of(record.run, record.settings) == record.changes
        assert record.settings["training.minutes"] == run.training.minutes


def test_two_side_by_side_are_as_logged() -> None:
    folder, pair = RUNS / "nell995-pair", record_of(PAIR)
    first, second, both = section("| NELL995 | updates |", "All nine gain")[2:]
    assert (pair.waited, round(looks("nell995-pair", "second")[43_757]["waited"] / 100, 1)) == (0.0, 0.0)
    assert "is 0.0 s in" in WORDS
    (_, expected, gave, updates) = next(line for line in lines_of("[`scratch` beside]"))
    assert updates == f"{first[1]}, {second[1]}"
    assert gave == f"{first[2]} → {both[2]}, 2p {first[4]} → {both[4]}, 3p {first[5]} → {both[5]}"
    assert all(float(there) > float(here) for here, there in zip(first[2:], both[2:], strict=True))
    assert f"0.9 in the mean (expected, from the trial below: {expected.removesuffix(' more')})" in WORDS
    for name, line, step in (("first", first, pair.weights["best"]), ("second", second, None)):
        kept = [json.loads(text) for text in (folder / f"log-{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        (look,) = (
            one for one in kept if one["step"] == (step or int(line[1].replace(",", ""))) and "beside" not in one
        )
        assert line[1] == f"{look['step']:,}"
        figures = [100 * look[f"valid/{structure}"] for structure in EPFO]
        assert line[2:] == [f"{sum(figures) / 9:.2f}", *(f"{figure:.1f}" for figure in figures)]
    assert both[2:] == [f"{looked(pair)[-1]:.2f}", *(f"{pair.curve[-1][structure]:.1f}" for structure in EPFO)]
    trial = (RUNS / "nell995-side-by-side.txt").read_text(encoding="utf-8")
    for line in section("| side by side with `fast`", "Two that learned in the same way")[2:]:
        assert f" {line[1]} |" in trial, line


def test_what_a_second_model_costs_a_fit_is_as_printed() -> None:
    page = " ".join((ROOT / "docs" / "fit.md").read_text(encoding="utf-8").split())
    printed = (RUNS / "codex-s-more-links.txt").read_text(encoding="utf-8").partition("4. A second model")[2]
    found = dict(re.findall(r"^ +(.+?): +([\d.]+) \|", printed, re.MULTILINE))
    second, first, little, much = (float(found[name]) for name in ("the second alone", "alone", "w = 0.2", "w = 0.6"))
    assert f"bring it to {second:.1f} where the first has {first:.1f}," in page
    assert f"the first loses: {little:.1f} at a weight of 0.2, {much:.1f} at 0.6" in page
    assert first > little > much


LINKS = {  # how lines of the two tables begin -> of each, the logs of links and of queries
    "| NELL995, ten structures |": {
        "relations with weight 1": ("relations", "relations"),
        "none": ("no-relations", "no-relations"),
        "none, seed 1": ("no-relations-seed1", "no-relations-seed1"),
        "none, seed 1, sharpness 1.5": ("no-relations-seed1", "no-relations-seed1-sharpness-1.5"),
        "likewise, 10,000 updates": ("10000-updates", "10000-updates"),
        "likewise, relations with weight 0.3": ("relations-0.3", "relations-0.3"),
        "likewise, N3 0.025": ("n3-0.025", "n3-0.025"),
        "likewise, DURA 0.03": ("dura-0.03", "dura-0.03"),
        "none, N3 0.025": ("no-relations-n3-0.025", "no-relations-n3-0.025"),
        "rank 2,000": ("rank-2000", "rank-2000"),
        "two seeds side by side": ("", "two-seeds"),
        "two seeds, an encoder": ("", "two-seeds-full"),
        "one with relations": ("", "mixed"),
    },
    "| FB15k-237, five structures |": {
        "relations with weight 4": ("relations-4", "relations-4"),
        "weight 1": ("relations-1", "relations-1"),
        "none": ("no-relations", "no-relations"),
        "one of weight 4": ("", "mixed"),
    },
}


@pytest.mark.parametrize("title", LINKS)
def test_what_is_learned_on_a_link_predictor_is_as_logged(title: str) -> None:
    first, *lines = section(title, "| FB15k-237, five" if "NELL995" in title else "So chains of links do not tell")
    lines = lines[1:]
    assert len(lines) == len(LINKS[title])
    for line, (words, (links, queries)) in zip(lines, LINKS[title].items(), strict=True):
        assert line[0].strip("*").startswith(words)
        later = words.startswith("likewise")  # queries then started from the last weights, before from the best
        folder = ("nell995-links" if "NELL995" in title else "fb15k-237-links") + "-2" * later
        told = dict(zip(first, (cell.strip("*") for cell in line), strict=True))
        last = looks(folder, queries)[max(looks(folder, queries))]
        averages = {"EPFO": EPFO, **({"negation": NEGATION_STRUCTURES} if "negation" in told else {})}
        last |= {name: sum(last[one] for one in group) / len(group) for name, group in averages.items()}
        for name in ("EPFO", "2p", "3p", "2i", "3i", "pi", *(["negation"] if "negation" in told else [])):
            assert rounds_to(told[name], last[name]), (words, name)
        assert rounds_to(told["links"], last["1p"]), words  # single links are the link predictor's own
        if links:
            found = [look["mrr"] for look in looks(folder, f"complex-{links}").values()]
            assert (found[-1] if later else max(found)) == pytest.approx(last["1p"])


def test_ways_to_take_a_union_moved_what_was_printed() -> None:
    lines = (RUNS / "nell995-links-2" / "unions.txt").read_text(encoding="utf-8").splitlines()
    found = [re.fullmatch(r"(\S+), (.+): 2u (\S+) up (\S+)", line) for line in lines]
    ways = {(one[1], one[2]): [float(one[3]), float(one[4])] for one in found if one is not None}
    assert len(ways) == 4 * 7
    moved = [
        [there - here for there, here in zip(scores, ways[name, "smallest"], strict=True)]
        for (name, way), scores in ways.items()
        if way.startswith("log-sum-exp")
    ]
    spans = [f"{min(column):.1f} to {max(column):.1f}".replace("-", "−") for column in zip(*moved, strict=True)]
    assert f"moves 2u by {spans[0]} and up by {spans[1]} on these four" in WORDS


CHAINS = {  # likewise, as `chains.txt` calls it
    "| NELL995, ten structures |": {
        "relations with weight 1": "relations",
        "none": "no relations",
        "none, N3 0.025": "no relations N3 0.025",
        "rank 2,000": "rank 2000",
        "two seeds side by side": "relations + relations seed 1",
        "two seeds, an encoder": "relations + relations seed 1",
        "one with relations": "relations + no relations",
    },
    "| FB15k-237, five structures |": {
        "relations with weight 4": "relations 4",
        "weight 1": "relations 1",
        "none": "no relations",
        "one of weight 4": "relations 4 + no relations",
    },
}


@pytest.mark.parametrize("title", CHAINS)
def test_chains_of_links_alone_have_what_was_printed(title: str) -> None:
    folder = "nell995-links" if "NELL995" in title else "fb15k-237-links"
    printed = (RUNS / folder / "chains.txt").read_text(encoding="utf-8").splitlines()
    means = {line.partition(":")[0]: float(line.partition(": ")[2].split(" |")[0]) for line in printed}
    first, _, *lines = section(title, "| FB15k-237, five" if "NELL995" in title else "So chains of links do not tell")
    told = [(line[0], line[first.index("chains")]) for line in lines if line[first.index("chains")]]
    for (begins, shown), (words, name) in zip(told, CHAINS[title].items(), strict=True):
        assert begins.startswith(words)
        assert rounds_to(shown, means[f"{name}, sharpness 2.0"]), words


def test_narrower_networks_gave_what_was_logged() -> None:
    def reached(name: str) -> str:
        (look,) = looks("nell995-widths", name).values()
        return f"{sum(look[structure] for structure in EPFO) / len(EPFO):.2f}"

    assert f"the recipe {reached('recipe')}, sharpness 1.2 {reached('sharpness-1.2')}," in WORDS
    assert f"width 400 at forks {reached('fork-width-400')}, an encoder of width 800 {reached('width-800')}," in WORDS
    assert f"both {reached('both-widths')}." in WORDS
