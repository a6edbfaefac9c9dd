"""`pathformer tables` as a user meets it: printed in four ways, drawn, and run."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pathformer.cli import app
from pathformer.errors import InputError
from pathformer.experiments.boxes import Filled
from pathformer.experiments.records import Record, read_records
from pathformer.kg import KnowledgeGraph
from pathformer.query.structures import EPFO


@pytest.fixture
def graph(small_graph_triples: dict[str, list[tuple[str, str, str]]], tmp_path: Path) -> Path:
    parts = (small_graph_triples[split] for split in ("train", "valid", "test"))
    return KnowledgeGraph.from_triples(*parts, name="small").save(tmp_path / "graph")


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["tables", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["tables", *map(str, arguments)])
    assert isinstance(result.exception, InputError), result.exception
    return str(result.exception)


def test_the_tables_of_the_data_of_any_graph(graph: Path) -> None:
    out = run(9, 11, "--dataset", graph)
    assert "Table 9: statistics of the graphs, small" in out
    assert "Table 11: mean hard answers a test query, small" in out
    told = "Counted on queries drawn now by the protocol, seed 0."
    assert told in out.split("Table 11: ")[1]
    assert told not in out.split("Table 11: ")[0]
    assert "The paper cuts its figures off after one decimal, so that 1.79 is its 1.7" in out
    assert "| Entities | - | 50 |  |" in run(9, "--dataset", graph, "--format", "markdown")
    entry = json.loads(run(9, "--dataset", graph, "--format", "json"))[0]
    assert entry["figures"][0] == {"table": 9, "dataset": "small", "column": "Entities", "paper": None, "ours": 50}


def test_all_fifteen_print_without_any_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PATHFORMER_DATA", raising=False)
    out = run("--data", tmp_path)
    titles = [line for line in out.splitlines() if line.startswith("Table ")]
    numbers = [int(line.split()[1].rstrip(":")) for line in titles]
    assert list(dict.fromkeys(numbers)) == list(range(1, 16))
    assert "Not counted here: " in out
    assert "149,689" in out  # the paper's own figures stand there all the same


def test_below_a_table_stands_how_far_its_order_is_the_papers(tmp_path: Path) -> None:
    for run_, value in (("fb15k-237-epfo-gqe", 20.0), ("fb15k-237-epfo-q2b", 18.0), ("fb15k-237-epfo-mlp", 21.0)):
        made = {
            "steps": 1,
            "seconds": 1.0,
            "queries": "",
            "trained_on": "",
            "mrr": {"last": dict.fromkeys(EPFO, value)},
        }
        Record(run=run_, minutes=3.0, variant="mine", **made).write(tmp_path)  # type: ignore[arg-type]
    out = run(1, "--variant", "mine", "--results", tmp_path)
    words = (
        "2 of 3 pairs as in the paper, Kendall's tau 0.33; turned by more than a point: Q2B (20.1, here 18.0) below GQE"
    )
    assert f"Order by avg, FB15k-237: {words}." in " ".join(out.split())


def test_one_table_in_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = run(1)
    assert "FB15k-237  GQE" in text
    assert "ranked on: betae-protocol draw, in place of the released BetaE queries" in " ".join(text.split())
    assert "| FB15k-237 | GQE | paper | 35.0 | 7.2 |" in run(1, "--format", "markdown")
    entries = json.loads(run(1, "--format", "json"))
    assert json.loads(run(1, "--json")) == entries
    assert refused(1, "--json", "--format", "csv") == "--json and --format csv exclude each other"
    assert run(1, "--csv") == run(1, "--format", "csv")
    assert refused(1, "--csv", "--format", "json") == "--csv and --format json exclude each other"
    assert refused(1, "--csv", "--json") == "--json and --csv exclude each other"
    assert entries[0]["table"] == 1
    lines = list(csv.DictReader(io.StringIO(run(1, 2, "--format", "csv"))))
    assert sum("recipe" not in line["model"] for line in lines) == 200 + 40  # our recipe's come and go
    first = lines[0]
    assert [first[key] for key in ("table", "dataset", "model", "column", "paper")] == [
        "1",
        "FB15k-237",
        "GQE",
        "1p",
        "35.0",
    ]
    run(1, "--svg", tmp_path / "one.svg")
    assert (tmp_path / "one.svg").read_text().startswith("<svg")


def test_what_cannot_be_shown_is_said_in_a_sentence(graph: Path, tmp_path: Path) -> None:
    for wrong in ("99", "0", "foo", "1.5"):
        assert refused(1, wrong) == f"no table {wrong}; there are 1 to 15"
    assert refused(1, "--format", "xml") == "format 'xml' is not one of text, markdown, json, csv"
    assert refused(1, "--weights", "first") == "weights 'first' is not one of last, best"
    there = {record.variant for record in read_records()} - {""}
    assert there
    assert refused(5, "--variant", "nope", "--results", tmp_path) == (
        f"no result of variant 'nope'; there are: {', '.join(sorted(there))}"
    )
    assert refused(10, "--queries", tmp_path) == "--queries belongs to one graph: name it with --dataset"
    assert refused(1, 2, "--svg", tmp_path / "x.svg").startswith("--svg draws one table of MRR, found 2")
    assert refused(15, "--svg", tmp_path / "x.svg").startswith("--svg draws one table of MRR, found 0")
    for option, value in (("only", "BetaE"), ("total", 5), ("set", "model.dim=8"), ("jobs", 2), ("device", "cpu")):
        assert refused(1, f"--{option}", value) == f"--{option} says how rows are run: give --run with it"
    assert refused("--run", 1) == "--run needs --minutes: the training time of each row"
    assert (
        refused("--run", 1, "--minutes", 1, "--total", 0.25, "--jobs", 2, "--variant", "new")
        == "--total 0.25 starts nothing: 19 s of it are kept for saving"
    )
    assert refused("--run", 9, "--minutes", 1).startswith("no table of 9 is made of runs")
    assert refused("--run", 1, "--minutes", 1, "--only", "BetaF").startswith(
        "no row 'BetaF' in these tables; closest: 'BetaE'"
    )
    assert "no test-last.json or test-best.json" in refused("--add", tmp_path)


def test_a_picture_that_cannot_be_drawn_is_refused_before_rows_are_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pathformer.experiments.boxes.fill", lambda *_, **__: pytest.fail("rows were run"))
    picture = ("--svg", tmp_path / "x.svg")
    assert refused("--run", 1, 2, "--minutes", 20, *picture).startswith("--svg draws one table of MRR, found 2")
    assert refused(*picture).startswith("--svg draws one table of MRR, found 11")
    assert not (tmp_path / "x.svg").exists()


def test_run_asks_for_the_rows_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def fill(boxes, out, work, **options):  # type: ignore[no-untyped-def]
        asked.append((boxes, out, work, options))
        return Filled([], list(boxes), {})

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pathformer.experiments.boxes.fill", fill)
    settings = ("--total", 2, "--jobs", 3, "--set", "training.turns=false")
    run("--run", 1, 3, "--minutes", 20, "--only", "pathformer", *settings)
    assert "variant new" in run("--run", 1, "--minutes", 20, "--only", "GQE", "--variant", "new")  # not refused
    del asked[1]
    ((boxes, out, work, options),) = asked
    # fb15k-237-epfo has its 20 minutes among the results of the package.
    assert [box.run for box in boxes] == ["nell995-epfo", "fb15k-237-efol", "nell995-efol"]
    assert {(box.minutes, box.settings) for box in boxes} == {(20.0, ("training.turns=false",))}
    assert (out, work, options["seconds"]) == (Path("runs/tables"), Path("runs/tables/work"), 120.0)
    assert options["jobs"] == 3
