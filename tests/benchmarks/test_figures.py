"""What the pages say of speed is what was recorded: the model, training, and the page of figures."""

from __future__ import annotations

import json
import re
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TOKEN = r"([\d,]+) q/s +([\d.]+) ms .* = +([\d.]+)% of measured +peak ([\d.]+) GiB"


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


def number(text: str) -> float:
    return float(text.replace(",", ""))


@pytest.fixture(scope="module")
def log() -> str:
    """What `bench train` printed in the run that the page names."""
    named = re.search(r"`benchmarks/runs/(train-(\w+)\.txt)`", page("pathformer"))
    assert named is not None
    assert f"commit `{named[2]}`" in page("pathformer")
    return (ROOT / "benchmarks" / "runs" / named[1]).read_text(encoding="utf-8")


def measured(log: str, case: str) -> list[float]:
    """Queries a second, ms, percent of the matrix rate, GiB."""
    found = re.search(f"^{re.escape(case)} +{TOKEN}", log, re.MULTILINE)
    assert found is not None, case
    return [number(text) for text in found.groups()]


def test_the_speed_of_an_update_is_that_recorded(log: str) -> None:
    table = rows("pathformer")
    for words, case in {
        "2,560 (512 of each of 1p 2p 3p 2i 3i)": "EPFO, 5 x 512",
        "512 mixed": "EPFO, 512 mixed",
    }.items():
        speed, spent, share, peak = measured(log, case)
        assert table[words] == [f"{round(speed, -3):,.0f}", f"{spent:.2f}", f"{share} %", f"{peak:.2f} GiB"]
    rate = re.search(r"measured bf16 matrix rate (\d+) TFLOP/s", log)
    assert rate is not None
    assert f"({rate[1]} TFLOP/s measured)" in page("pathformer")


def test_what_other_settings_cost_is_that_recorded(log: str) -> None:
    table, (older, commit) = rows("pathformer"), kept("train")
    cases = ["relative positions", "no dropout", "post-norm", "Mixer fork", "MLP2Vector fork", "set fork"]
    for name in cases:
        speed, spent, _, peak = measured(log, name)
        assert table[name] == [f"{round(speed, -3):,.0f}", f"{spent:.2f}", f"{peak:.2f} GiB"], name
    for words, name in {
        "one layer": "one layer",
        "EFOL, 512 of each of ten structures": "EFOL, 10 x 512",
        "512 of one structure": "one structure, 512",
    }.items():
        found = older[name]
        speed, peak = found["queries_per_second"], found["peak_bytes"] / 2**30
        assert table[words] == [f"{round(speed, -3):,.0f}", f"{found['milliseconds']:.2f}", f"{peak:.2f} GiB"], name
    assert f"the last three at `{commit}`" in page("pathformer")
    relative, plain = (measured(log, case)[0] for case in ("relative positions", "EPFO, 5 x 512"))
    assert f"Relative positions cost {1 - relative / plain:.0%}".replace("%", " %") in page("pathformer")


def test_where_the_time_of_an_update_goes_is_what_was_recorded(log: str) -> None:
    first = log[log.index("EPFO, 5 x 512") : log.index("EPFO, 512 mixed")]
    found: dict[str, str] = dict(re.findall(r"^    (\w[\w ]+?) +([\d.]+) ms +[\d.]+%$", first, re.MULTILINE))
    renamed = {"sums": "column sums", "tokens and pooling": "tokens"}
    lines = page("pathformer").splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("| matrix products |"))
    names, figures = ([cell.strip() for cell in lines[at].split("|")[1:-1]] for at in (place, place + 2))
    shown = dict(zip(names, map(float, figures), strict=True))
    assert shown.keys() == {renamed.get(name, name) for name in found}
    for name, spent in found.items():
        assert abs(shown[renamed.get(name, name)] - float(spent)) <= 0.0051, name
    total = re.search(r"kernels ([\d.]+) ms", first)
    assert total is not None
    assert f"(ms of {float(total[1]):.2f} in kernels)" in page("pathformer")


def test_the_phases_of_an_update_are_those_recorded(log: str) -> None:
    found = re.search(r"phases: (.+)", log)
    assert found is not None
    ends = [float(text) for text in re.findall(r"([\d.]+) ms", found[1])]
    each = [end - before for end, before in zip(ends, [0.0, *ends], strict=False)]
    shown = re.search(
        r"By phase: drawing ([\d.]+), encoding ([\d.]+), distance and loss ([\d.]+), backward ([\d.]+), "
        r"optimiser ([\d.]+) ms",
        page("pathformer"),
    )
    assert shown is not None
    assert [float(text) for text in shown.groups()] == pytest.approx(each, abs=0.0051)


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
