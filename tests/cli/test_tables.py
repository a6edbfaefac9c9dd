"""`pathformer tables` as a user meets it: printed in four ways, with the records of any folder or with none."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from pathlib import Path

import pytest
from support import command_line

from pathformer.experiments.records import Record, read_records
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import EPFO

run = partial(command_line.run, "tables", only_stdout=True)
refused = partial(command_line.refused, "tables")


@pytest.fixture
def graph(small_graph_triples: dict[str, list[tuple[str, str, str]]], tmp_path: Path) -> Path:
    parts = (small_graph_triples[split] for split in ("train", "valid", "test"))
    return KnowledgeGraph.from_triples(*parts, name="small").save(tmp_path / "graph")


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


def test_one_table_in_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = run(1)
    assert "FB15k-237  GQE" in text
    assert "ranked on: betae-protocol draw, in place of the released BetaE queries" in " ".join(text.split())
    assert "| FB15k-237 | GQE | paper | 35.0 | 7.2 |" in run(1, "--format", "markdown")
    entries = json.loads(run(1, "--format", "json"))
    assert json.loads(run(1, "--json")) == entries
    assert run(1, "--csv") == run(1, "--format", "csv")
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


def test_what_cannot_be_shown_is_said_in_a_sentence(graph: Path, tmp_path: Path) -> None:
    for wrong in ("0", "foo", "1.5"):
        assert f"no table {wrong}:" in refused(1, wrong)
    there = {record.variant for record in read_records()} - {""}
    assert there
    assert refused(5, "--variant", "nope") == (f"no result of variant 'nope'; there are: {', '.join(sorted(there))}")


def test_without_records_the_papers_figures_stand_alone_and_where_ours_lie_is_said(tmp_path: Path) -> None:
    out = run(1, 15, "--records", tmp_path)
    assert "FB15k-237  GQE         paper  35.0" in out
    assert "ours" not in out.partition("\n\n")[0]
    assert "records of runs are not part of the package" in " ".join(out.split())
    made = {"steps": 1, "seconds": 1.0, "queries": "", "trained_on": "", "mrr": {"last": dict.fromkeys(EPFO, 20.0)}}
    Record(run="fb15k-237-epfo-gqe", minutes=3.0, **made).write(tmp_path)  # type: ignore[arg-type]
    again = run(1, "--records", tmp_path)
    assert "ours 20.0 20.0" in " ".join(again.split())
    assert "not part of the package" not in " ".join(again.split())
