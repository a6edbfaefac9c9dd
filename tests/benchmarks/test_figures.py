"""What the pages say of speed is what was recorded: the model, training, and the page of figures."""

from __future__ import annotations

import json
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def rows(name: str) -> dict[str, list[str]]:
    """The lines of a page's tables by their first cell; of lines that begin alike, the last."""
    lines = [line.split("|")[1:-1] for line in page(name).splitlines() if line.startswith("|")]
    return {line[0].strip(): [cell.strip(" *") for cell in line[1:]] for line in lines}


def kept(name: str) -> tuple[dict[str, Any], str]:
    """The figures of a benchmark, and their commit."""
    found = json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))
    return found["figures"], found["commit"][:7]


def cost(figures: dict[str, Any]) -> list[str]:
    """Queries a second, ms and memory of an update, as pages show them."""
    speed, peak = round(figures["queries_per_second"], -3), figures["peak_bytes"] / 2**30
    return [f"{speed:,.0f}", f"{figures['milliseconds']:.2f}", f"{peak:.2f} GiB"]


def test_the_speed_of_an_update_is_that_recorded() -> None:
    table, (found, commit) = rows("pathformer"), kept("train")
    assert f"Measured at commit `{commit}` (`benchmarks/results/train.json`)" in page("pathformer")
    assert f"({found['matrix rate'] / 1e12:.0f} TFLOP/s measured)" in page("pathformer")
    for words, case in {"2,560 (512 of each of 1p 2p 3p 2i 3i)": "5 x 512", "512 mixed": "512 mixed"}.items():
        speed, spent, peak = cost(found[case])
        share = found[case]["teraflops"] * 1e12 / found["matrix rate"]
        assert table[words] == [speed, spent, f"{100 * share:.1f} %", peak]


def test_the_page_of_figures_says_the_same_of_a_card() -> None:
    table, (found, commit) = rows("benchmarks"), kept("train")
    ranking, ranked = kept("l1_rank")
    assert f"training at commit `{commit}`, ranking at `{ranked}`" in page("benchmarks")
    assert table["ranking all of it, float32"][0] == f"{ranking['ranking']['whole_s']:.2f} s"
    large, small = (cost(found[case]) for case in ("5 x 512", "512 mixed"))
    assert table["training, 2,560 queries an update"][0] == f"{large[0]} queries/s"
    assert table["training, 512 mixed"][0] == f"{small[0]} queries/s"
    assert table["the most memory of the two"][0] == large[2]
    relative = cost(found["relative positions"])
    assert table["relative positions, 2,560 queries an update"][0] == f"{relative[0]} queries/s"
    most = found["matrix rate"] / 1e12
    shares = ", ".join(f"{100 * found[case]['teraflops'] / most:.1f} %" for case in ("5 x 512", "512 mixed"))
    assert table[f"share of the matrix rate ({most:.0f} TFLOP/s measured), 2,560 and 512"][0] == shares


def test_what_other_settings_cost_is_that_recorded() -> None:
    table, (found, _) = rows("pathformer"), kept("train")
    renamed = {
        "EFOL, 10 x 512": "EFOL, 512 of each of ten structures",
        "one structure, 512": "512 of one structure",
    }
    others = [name for name, figures in found.items() if isinstance(figures, dict) and "peak_bytes" in figures]
    for name in others[2:]:
        assert table[renamed.get(name, name)] == cost(found[name]), name
    assert len(others) == 11
    lost = 1 - found["relative positions"]["queries_per_second"] / found["5 x 512"]["queries_per_second"]
    assert f"Relative positions cost {100 * lost:.0f} %" in page("pathformer")


def test_where_the_time_of_an_update_goes_is_what_was_recorded() -> None:
    found = kept("train")[0]["5 x 512"]["groups_ms"]
    renamed = {"sums": "column sums", "tokens and pooling": "tokens"}
    lines = page("pathformer").splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("| matrix products |"))
    names, figures = ([cell.strip() for cell in lines[at].split("|")[1:-1]] for at in (place, place + 2))
    shown = dict(zip(names, figures, strict=True))
    assert shown == {renamed.get(name, name): f"{spent:.2f}" for name, spent in found.items()}
    assert f"(ms of {sum(found.values()):.2f} in kernels)" in page("pathformer")


def test_a_small_update_is_split_as_recorded() -> None:
    found = kept("train")[0]["512 mixed"]["groups_ms"]
    total = sum(found.values())
    share, adam = (100 * found[name] / total for name in ("matrix products", "optimiser"))
    words = " ".join(page("pathformer").split())
    assert f"({total:.2f} ms in kernels) matrix products take {share:.0f} % and the optimiser {adam:.0f} %" in words
    assert f"has the same {found['optimiser']:.2f} ms at any batch" in words
    assert f"[the optimiser has {adam:.0f} %](pathformer.md#how-fast)" in page("results")


def test_the_phases_of_an_update_are_those_recorded() -> None:
    ends = list(kept("train")[0]["phases, 5 x 512"].values())
    each = [end - before for end, before in zip(ends, [0.0, *ends], strict=False)]
    words = ("drawing", "encoding", "distance and loss", "backward", "optimiser")
    parts = ", ".join(f"{word} {spent:.2f}" for word, spent in zip(words, each, strict=True))
    assert f"By phase: {parts} ms." in page("pathformer")


def test_the_speed_of_distances_is_that_recorded() -> None:
    found, commit = kept("l1_rank")
    tiles = dict(found["tiles_ms"])
    floor, cdist = tiles.pop("floor"), tiles.pop("torch.cdist 512 rows")
    words = " ".join(page("training").split())
    assert (
        f"commit `{commit}`): 8,192 points against 63,361 entities of 800 dimensions take {min(tiles.values()):.1f} ms"
        in words
    )
    assert f"{floor / min(tiles.values()):.0%}".replace("%", " %") in words
    assert f"({floor:.1f} ms); `torch.cdist(p=1)` needs {cdist:.0f} ms" in words


def test_graphs_and_queries_are_as_fast_as_recorded() -> None:
    table, text = rows("benchmarks"), page("benchmarks")
    read, commit = kept("import")
    assert f"commit `{commit}`" in text
    assert table["10 million triples to a saved graph"][0] == f"{read['import']['seconds'] + 1e-9:.1f} s"
    assert table["peak memory of that"][0] == f"{read['import']['peak_gb']:.2f} GB"
    tenth = read["tenth"]
    shown = f"{tenth['import']['seconds']:.1f} s against {tenth['plain_python']['seconds']:.1f} s"
    assert table["a tenth of it, against the same job in plain Python"][0] == shown
    assert table["a saved graph opens, with its index"][0] == f"{1e3 * read['saved']['open']['median_seconds']:.0f} ms"
    twin, commit = kept("sampler-twin")
    assert f"Commit `{commit}" in text
    for name, found in twin.items():
        ratio = f"{found['ratio']} ({found['ratio_lowest']} to {found['ratio_highest']})"
        assert table[name] == [f"{found['ours_per_s']:,}", f"{found['twin_per_s']:,}", ratio, str(found["aim"])]
    whole = kept("sampler-benchmark")[0]
    words = f"the complete FB15k-237 benchmark: {whole['queries']:,} queries, {whole['answers']:,} answers"
    assert table[words][0] == f"{whole['seconds']:.1f} s"


def test_an_engine_answers_as_fast_as_recorded() -> None:
    table, (found, commit) = rows("benchmarks"), kept("ask")
    assert f"commit `{commit}`" in page("benchmarks")
    cases = [found[f"{layers} layers, bfloat16, {index}"] for layers in (2, 6) for index in ("lsh", "exact")]
    for words, (*place, decimals, unit) in {
        "one question, all of it, `why` apart": ("single", "median_ms", 1, " ms"),
        "its 90th percentile": ("single", "p90_ms", 1, " ms"),
        "of that, the encoder": ("stages", "encode", "median_ms", 1, " ms"),
        "of that, the search for 64 entities": ("stages", "search", "median_ms", 1, " ms"),
        "one question with its reasons": ("with_why", "median_ms", 0, " ms"),
        "in a batch of 560, questions a second": ("batch_queries_per_s", 0, ""),
    }.items():
        shown = [f"{reduce(getitem, place, case):.{decimals}f}{unit}" for case in cases]
        assert table[words][:4] == shown, words


def test_what_a_release_costs_is_what_was_recorded() -> None:
    table = rows("release")
    for file, lines in {
        "release-fit": {
            "`pathformer fit world --minutes 2`: from a ComplEx, d = 128": "world",
            "`pathformer fit codex-s --minutes 4`: likewise, d = 256": "codex-s",
            "`pathformer train umls-small`: L1, d = 64": "umls-small",
        },
        "release": {
            "world, 2 minutes, an older `fit`: cosine, d = 64": "world",
            "CoDEx-S, 4 minutes, likewise": "codex",
        },
    }.items():
        found, commit = kept(file)
        assert f"`{commit}`" in page("release")
        for words, engine in lines.items():
            costs = [found[engine][form]["cost"] for form in ("bf16", "int8")]
            means = [sum(mrr.values()) / len(mrr) for mrr in (costs[0]["full"], *(cost["released"] for cost in costs))]
            same = [f"{cost['shared']:.1f} %" for cost in costs]
            assert table[words] == [*(f"{mean:.2f}" for mean in means), *same]
            assert {*costs[0]["queries"].values(), *costs[1]["queries"].values()} == {200}
            assert len(costs[0]["queries"]) == 14


def test_what_a_release_saves_is_what_was_recorded() -> None:
    table = rows("release")
    for file, lines in {
        "release": {
            "`scratch-fb15k-237`, d = 800": "scratch-fb15k-237, untrained",
            "`scratch-nell995`, d = 800": "scratch-nell995, untrained",
            "`scratch-nell995`, d = 400": "scratch-nell995,model.dim=400, untrained",
        },
        "release-sizes": {
            "`fast-nell995`, d = 2,000": "fast-nell995, untrained",
            "`fast-nell995`, d = 400": "fast-nell995,model.dim=400, untrained",
        },
    }.items():
        found, commit = kept(file)
        assert f"`{commit}`" in page("release")
        for words, engine in lines.items():
            full, int8 = found[engine]["full"], found[engine]["int8"]
            sizes = [found[engine][form]["bytes"]["all"] for form in ("full", "bf16", "int8")]
            sizes.append(full["bytes"]["graph"])
            search = int8["search_seconds"] / full["search_seconds"]
            assert table[words] == [
                *(f"{size / 1e6:,.1f}" for size in sizes),
                f"{int8['open_seconds']:.2f} s",
                f"{search:.2f}",
            ]


def test_every_folder_and_file_of_runs_is_told_of_on_their_page() -> None:
    folder = ROOT / "benchmarks" / "runs"
    told = (folder / "README.md").read_text(encoding="utf-8")
    found = {path.name for path in folder.iterdir()} - {"README.md"}
    assert "fb15k-237-softmax-45s" in found
    assert [name for name in sorted(found) if f"`{name}" not in told] == []
