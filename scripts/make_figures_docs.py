"""Fill the figures of the docs from what was measured: `python scripts/make_figures_docs.py`.

A page marks where a table stands; its name is a function here:

    <!-- figures: headline -->
    <!-- end of figures -->

Figures come from `benchmarks/records` (trained runs), `benchmarks/results` (benchmarks) and the run files (the
paper's). A test keeps the pages current.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pathformer.experiments.records import Record, read_records
from pathformer.experiments.settings import read_run
from pathformer.experiments.tables.catalogue import MEASURED, TableOptions
from pathformer.experiments.tables.measured import grid
from pathformer.experiments.tables.render import to_markdown
from pathformer.experiments.tables.timed import running_time, speeds
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
MARKED = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
MAKERS: dict[str, Callable[[], str]] = {}

FB, NELL = "FB15k-237", "NELL995"


def figure(make: Callable[[], str]) -> Callable[[], str]:
    """Registers a function that makes a table of this name, with - for _."""
    MAKERS[make.__name__.replace("_", "-")] = make
    return make


def pages() -> list[Path]:
    """All pages that may hold figures."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def filled(text: str) -> str:
    """A page's text with every figure as it is now."""
    return MARKED.sub(lambda found: f"{found[1]}{MAKERS[found[2]]()}\n{found[3]}", text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A table in Markdown; the columns after the first `left` are numbers."""
    line = ["---"] * left + ["--:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, line, *rows])


@cache
def _records() -> dict[str, Record]:
    """Every record by the name of its file."""
    return {record.file_name.removesuffix(".json"): record for record in read_records()}


def _result(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def _value(record: Record, name: str, weights: str = "best") -> str:
    value = record.figures(weights).get(name)
    return "" if value is None else f"{value:.1f}"


def _paper(run: str, name: str) -> str:
    value = read_run(run).paper.mrr.get(name)
    return "" if value is None else f"{value:.1f}"


def _time(record: Record) -> str:
    seconds = record.seconds + (record.seconds_before or 0)
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


@figure
def headline() -> str:
    """The comparison with the paper at one glance."""
    one, negated = _records()["fast-fb15k-237@24s"], _records()["fast-fb15k-237-efol@54s"]
    nell, pair = _records()["fast-nell995-efol@72s"], _records()["fast-nell995-pair@402s"]
    box, box_nell = _records()["fast-fb15k-237-q2b@24s"], _records()["fast-nell995-q2b@36s"]

    def both(epfo: str, negation: str) -> str:
        return f"{epfo} / {negation}"

    rows = [
        (
            "the paper", "a day and more",
            both(_paper("fb15k-237-epfo", "avg"), _paper("fb15k-237-efol", "avg negation")),
            both(_paper("nell995-epfo", "avg"), _paper("nell995-efol", "avg negation")),
            _paper("fb15k-237-q2b", "avg"), _paper("nell995-q2b", "avg"),
        ),
        (
            "the recipe `fast`", "two minutes of an H200",
            f"**{both(_value(one, 'avg'), _value(negated, 'avg negation'))}**",
            both(_value(nell, "avg"), _value(nell, "avg negation")),
            f"**{_value(box, 'avg')}**", f"**{_value(box_nell, 'avg')}**",
        ),
        (
            "two models side by side", f"{_time(pair)} of an H200",
            "", f"**{both(_value(pair, 'avg'), _value(pair, 'avg negation'))}**", "", "",
        ),
    ]  # fmt: skip
    return table(["", "trained for", FB, NELL, f"Query2box's queries: {FB}", NELL], rows, left=2)


_FAST = (  # record, words
    ("fast-fb15k-237@24s", "`fast-fb15k-237`"),
    ("fast-fb15k-237@24s-seed1", "seed 1"),
    ("fast-fb15k-237@24s-seed2", "seed 2"),
    ("fast-fb15k-237-efol@54s", "`fast-fb15k-237-efol`"),
    ("fast-fb15k-237-efol@54s-seed1", "seed 1"),
    ("fast-nell995@36s", "`fast-nell995`"),
    ("fast-nell995-efol@72s", "`fast-nell995-efol`"),
    ("fast-nell995-pair@402s", "`fast-nell995-pair`"),
    ("fast-fb15k-237-q2b@24s", "`fast-fb15k-237-q2b`"),
    ("fast-nell995-q2b@36s", "`fast-nell995-q2b`"),
)
_PAPERS = {"fb15k-237": "fb15k-237-epfo", "nell995": "nell995-epfo"}


def _by_structure(names: Sequence[tuple[str, str]], columns: Sequence[str], kind: str) -> str:
    """Rows of records by structure, each group under the paper's row."""
    rows, paper = [], ""
    for name, words in names:
        record = _records()[name]
        graph = "fb15k-237" if "fb15k-237" in name else "nell995"
        queries = "q2b" if "q2b" in name else kind
        if (run := f"{graph}-{queries}") != paper:
            paper = run
            rows.append((f"the paper, `{run}`", "a day", *(_paper(run, column) for column in columns)))
        rows.append((words, _time(record), *(_value(record, column) for column in columns)))
    return table(
        ["test MRR in %", "trained for", *(column.replace("avg negation", "avg") for column in columns)], rows, left=2
    )


@figure
def recipe() -> str:
    """All runs of the recipe by structure, without negation."""
    return _by_structure(_FAST, ("avg", *EPFO), "epfo")


@figure
def recipe_negation() -> str:
    """The runs of the recipe by structure with negation."""
    names = [(name, words) for name, words in _FAST if "avg negation" in _records()[name].figures("best")]
    return _by_structure(names, ("avg negation", *NEGATION_STRUCTURES), "efol")


@figure
def last_weights() -> str:
    """Averages of the recipe by the best weights and by the last."""
    rows = []
    for name, _ in _FAST:
        record = _records()[name]
        for average in ("avg", "avg negation"):
            if average in record.figures("best"):
                words = name.partition("@")[0] + (f", seed {name[-1]}" if "seed" in name else "")
                what = "with negation" if "negation" in average else "without negation"
                rows.append((f"`{words}`", what, _value(record, average), _value(record, average, "last")))
    return table(["run", "test queries", "best weights", "last weights"], rows, left=2)


@figure
def paper_recipe() -> str:
    """The paper's own recipe in minutes, beside the paper."""
    rows = []
    for name in ("fb15k-237-epfo@20min", "fb15k-237-q2b@20min", "nell995-epfo@9min"):
        record = _records()[name]
        rows.append((f"the paper, `{record.run}`", "", *(_paper(record.run, column) for column in (*EPFO, "avg"))))
        rows.append(
            (
                f"ours, {record.minutes:g} minutes",
                f"{record.steps:,}",
                *(_value(record, c, "last") for c in (*EPFO, "avg")),
            )
        )
    return table(["test MRR in %", "steps", *EPFO, "avg"], rows)


@figure
def paper_recipe_negation() -> str:
    """The same with negation."""
    record, columns = _records()["fb15k-237-efol@9min"], (*NEGATION_STRUCTURES, "avg negation")
    rows = [
        ("the paper, `fb15k-237-efol`", "", *(_paper(record.run, column) for column in columns)),
        (
            f"ours, {record.minutes:g} minutes",
            f"{record.steps:,}",
            *(_value(record, column, "last") for column in columns),
        ),
    ]
    return table(["test MRR in %", "steps", *NEGATION_STRUCTURES, "avg"], rows)


@figure
def variants() -> str:
    """A minute of each variant of Tables 4 to 7."""
    rows = []
    for name, record in _records().items():
        if name.endswith("@1min-short"):
            rows.append((
                f"`{record.run}`", f"{record.steps:,}", f"{round(record.queries_per_second or 0, -3):,.0f}",
                *(_value(record, column, "last") for column in (*EPFO, "avg")), _paper(record.run, "avg"),
            ))  # fmt: skip
    return table(["run", "steps", "queries/s", *EPFO, "avg", "paper's avg"], rows)


@figure
def averages() -> str:
    """Averages of every row of the tables of methods, the paper's and ours."""
    rows = []
    for number in (1, 2, 3, 8):
        average = "avg negation" if number == 3 else "avg"
        found = grid(number, list(_records().values()), TableOptions())
        dataset = ""
        for line in found.lines:
            values = [(one or {}).get(average, (one or {}).get("avg")) for one in (line.paper, line.ours)]
            shown = ["" if value is None else f"{value:.1f}" for value in values]
            difference = "" if None in values else f"{round(values[1], 1) - round(values[0], 1):+.1f}"
            dataset = line.dataset or dataset
            rows.append((f"{number}", dataset, line.model, *shown, difference))
    return table(["table", "graph", "method", "paper", "ours", "difference"], rows, left=3)


@figure
def table_15() -> str:
    """Seconds for a hundred steps."""
    return to_markdown(running_time(speeds()))


_METHODS = {
    "counting": "*counting*", "pathformer": "Pathformer, 1 layer", "pathformer + box": "Pathformer + Box",
    "pathformer + beta": "Pathformer + Beta", "gqe": "GQE", "q2b": "Query2box", "betae": "BetaE", "cone": "ConE",
    "gammae": "GammaE", "mlp": "MLP", "mlp-mixer": "MLP-Mixer", "fuzzqe": "FuzzQE", "q2p": "Query2Particles",
    "biqe": "BIQE",
}  # fmt: skip


@figure
def umls() -> str:
    """Every method on a small graph, for seconds of a processor core."""
    figures, rows = _result("methods-umls")["figures"], []
    for key, name in _METHODS.items():
        first, second = figures["epfo"][key], figures["efol"].get(key, {"mrr": {}})
        updates = f"{first['updates']:,}" if "updates" in first else ""
        negation = second["mrr"].get("avg negation")
        shown = (f"{first['mrr'][column]:.1f}" for column in (*EPFO, "avg"))
        rows.append((name, updates, *shown, "" if negation is None else f"{negation:.1f}"))
    return table(["", "updates", *EPFO, "avg", "negation avg"], rows)


@figure
def fit() -> str:
    """What two minutes of a core teach, on three graphs."""
    figures, rows = _result("fit")["figures"], []
    words = {"fit": "`fit`", "counting": "counting", "complex": "ComplEx, chained"}
    for graph, found in figures.items():
        for kind, values in found["mrr"].items():
            mean = 100 * sum(values.values()) / len(values)
            shown = (f"{100 * values[name]:.1f}" for name in (*EPFO, *NEGATION_STRUCTURES))
            rows.append((f"`{graph}`", words.get(kind, kind), *shown, f"{mean:.1f}"))
    return table(["graph", "", *EPFO, *NEGATION_STRUCTURES, "mean"], rows, left=2)


@figure
def training_speed() -> str:
    """Updates on a card by setting."""
    figures, rows = _result("train")["figures"], []
    for name, found in figures.items():
        if isinstance(found, dict) and "queries_per_second" in found:
            rate, ms, peak = found["queries_per_second"], found["milliseconds"], found["peak_bytes"] / 2**30
            rows.append((name, f"{round(rate, -3):,.0f}", f"{ms:.2f}", f"{peak:.2f} GiB"))
    return table(["queries an update, setting", "queries/s", "ms", "peak memory"], rows)


@figure
def ranking() -> str:
    """Ranking a whole test set."""
    found = _result("l1_rank")["figures"]["ranking"]
    seconds = {
        "whole_s": "the whole, float32",
        "encode_s": "of that, encoding",
        "distances_s": "of that, distances",
        "whole_tf32_s": "the whole, encoding in tf32",
    }
    rows = [(words, f"{found[key]:.2f} s") for key, words in seconds.items() if key in found]
    rows.append(("peak memory", f"{found['peak_gb']:.1f} GB"))
    return table(["", "figure"], rows)


@figure
def graphs() -> str:
    """Reading ten million triples."""
    found = _result("import")["figures"]
    tenth, plain = (found["tenth"][name]["seconds"] for name in ("import", "plain_python"))
    loading = found["load_fb15k_237_with_imports"]["median_seconds"]
    rows = [
        ("10 million triples to a saved graph", f"{found['import']['seconds']:.1f} s"),
        ("peak memory of that", f"{found['import']['peak_gb']:.2f} GB"),
        ("a tenth of it, against plain Python", f"{tenth:.1f} s, {plain:.1f} s"),
        ("a saved graph opens", f"{1000 * found['saved']['open']['median_seconds']:.0f} ms"),
        ("FB15k-237 from its files, imports included", f"{loading:.2f} s"),
    ]
    return table(["", "figure"], rows)


@figure
def sampler() -> str:
    """Drawing queries beside a plain Python twin."""
    twin = _result("sampler-twin")["figures"]
    rows = [
        (
            name,
            f"{one['ours_per_s']:,}",
            f"{one['twin_per_s']:,}",
            f"{one['ratio']} ({one['ratio_lowest']} to {one['ratio_highest']})",
        )
        for name, one in twin.items()
    ]
    whole, bulk = _result("sampler-benchmark")["figures"], _result("sampler-bulk")["figures"]
    words = (
        f"The complete FB15k-237 benchmark, {whole['queries']:,} queries with {whole['answers']:,} answers, "
        f"takes {whole['seconds']:.1f} s;\nall answers of a NELL995 test set, {bulk['queries']:,} queries, "
        f"take {bulk['median_s']:.2f} s."
    )
    return table(["structure", "ours, queries/s", "twin, queries/s", "ratio (five rounds)"], rows) + f"\n\n{words}"


@figure
def indexes() -> str:
    """The backends on three tables of 63,361 entities."""
    rows = []
    for name, words in (
        ("index-800-l1", "L1, d = 800"),
        ("index-256-l1", "L1, d = 256"),
        ("index-256-inner", "inner product, d = 256"),
    ):
        for backend, found in _result(name)["figures"]["backends"].items():
            rows.append((words, f"`{backend}`" if backend in ("exact", "lsh", "hnsw") else backend, *_index_row(found)))
            words = ""
    head = ["table", "index", "recall@10", "worst structure", "one point, ms", "in batches, ms", "built in, s"]
    return table(head, rows, left=2)


def _index_row(found: dict[str, Any]) -> tuple[str, ...]:
    columns = (
        ("recall", ".3f"),
        ("recall_worst", ".3f"),
        ("cpu_ms", ".2f"),
        ("cpu_ms_in_batches", ".2f"),
        ("build_cpu_s", ".1f"),
    )
    return tuple("" if name not in found else format(found[name], form) for name, form in columns)


@figure
def ask() -> str:
    """One question on an engine of NELL995's size."""
    rows = []
    for name, found in _result("ask")["figures"].items():
        if isinstance(found, dict) and "single" in found:
            rows.append(
                (
                    name,
                    f"{found['single']['median_ms']:.1f} ms",
                    f"{found['single']['p90_ms']:.1f} ms",
                    f"{found['open_s']:.2f} s",
                )
            )
    return table(["engine", "one question", "90th percentile", "opening"], rows)


def shown_tables() -> set[int]:
    """The numbers of the tables that have a record of ours."""
    runs = {record.run for record in _records().values()}
    return {number for number, found in MEASURED.items() if runs & {place.run for place in found.places}}


def main() -> None:
    """Fills all pages."""
    for path in pages():
        text = path.read_text(encoding="utf-8")
        if (new := filled(text)) != text:
            path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
