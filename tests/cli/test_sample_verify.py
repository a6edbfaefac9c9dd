"""`pathformer sample`, `verify` and `bench` as a user meets them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from support.command_line import refused, run
from support.saves import reseal
from typer.testing import CliRunner

from pathformer.cli._main import app
from pathformer.kg.knowledge import KnowledgeGraph


@pytest.fixture
def graph(small_graph_triples: dict[str, list[tuple[str, str, str]]], tmp_path: Path) -> Path:
    kg = KnowledgeGraph.from_triples(
        small_graph_triples["train"], small_graph_triples["valid"], small_graph_triples["test"], name="small"
    )
    return kg.save(tmp_path / "graph")


def test_sample_then_verify(graph: Path, tmp_path: Path) -> None:
    out = run("sample", graph, "--out", tmp_path / "q", "--count", 20, "--train-count", 30)
    assert "queries of small" in " ".join(out.split())
    told = run("verify", tmp_path / "q", "--graph", graph)
    assert "all agree" in told
    assert told.count("agrees") == 10 + 14 + 14


@pytest.mark.parametrize(
    ("name", "problem"), [("no_such", "no file or folder 'no_such', and no dataset"), ("world", "but 'world' has ")]
)
def test_queries_of_a_graph_that_has_a_place_and_not_only_a_name(
    name: str, problem: str, graph: Path, tmp_path: Path
) -> None:
    """The folder notes the name: it leads nowhere, or to another graph that is called so."""
    found = json.loads((graph / "graph.json").read_text("utf-8"))
    (graph / "graph.json").write_text(json.dumps({**found, "name": name}), "utf-8")
    reseal(graph)
    run("sample", graph, "--out", tmp_path / "q", "--split", "test", "-s", "2p", "--count", 5)
    told = refused("verify", tmp_path / "q")
    assert problem in told
    assert told.endswith("; name the graph that the queries were drawn from with --graph")
    assert "all agree" in run("verify", tmp_path / "q", "--graph", graph)


def test_chosen_structures_and_splits(graph: Path, tmp_path: Path) -> None:
    shape = "((e,(r,r)),(e,(r,n)),(e,(r,)))"
    run("sample", graph, "--out", tmp_path / "q", "--split", "test", "-s", "2p", "-s", shape, "--count", 5)
    told = run("verify", tmp_path / "q", "--graph", graph)
    assert "2p" in told
    assert shape in told
    assert "train" not in told


def test_brackets_in_a_folder_or_a_name_are_no_markup(graph: Path, tmp_path: Path) -> None:
    named = KnowledgeGraph.open(graph).save(tmp_path / "[bold]")
    out = run("sample", named, "--out", tmp_path / "q[/x]", "--split", "test", "-s", "2p", "--count", 5)
    assert "q[/x];" in "".join(out.split())
    found = json.loads((named / "graph.json").read_text("utf-8"))
    (named / "graph.json").write_text(json.dumps({**found, "name": "a[/b]"}), "utf-8")
    reseal(named)
    assert "graph a[/b]" in run("verify", tmp_path / "q[/x]", "--graph", named)


def test_verify_exits_1_where_an_answer_is_wrong(graph: Path, tmp_path: Path) -> None:
    run("sample", graph, "--out", tmp_path / "q", "--layout", "betae", "--split", "test", "--count", 5)
    file = tmp_path / "q" / "test-hard-answers.pkl"
    answers = pickle.loads(file.read_bytes())
    query = next(iter(answers))
    answers[query] = set()
    file.write_bytes(pickle.dumps(answers))
    reseal(file.parent)
    result = CliRunner().invoke(app, ["verify", str(tmp_path / "q"), "--graph", str(graph)])
    assert result.exit_code == 1
    assert "1 queries differ" in result.output
    assert f"{query}: its hard answers: the folder lacks" in " ".join(result.output.split())


def test_verify_says_what_it_could_not_check(graph: Path, tmp_path: Path) -> None:
    run("sample", graph, "--out", tmp_path / "q", "--layout", "betae", "-s", "2p", "--count", 5, "--train-count", 5)
    (tmp_path / "q" / "test-hard-answers.pkl").unlink()
    reseal(tmp_path / "q")
    told = run("verify", tmp_path / "q", "--graph", graph)
    assert "no file of hard answers, not checked: test 2p" in told
    assert "agrees (easy; no hard answers to check)" in told
    assert told.endswith("all that was checked agrees\n")
    (tmp_path / "q" / "train-answers.pkl").unlink()
    reseal(tmp_path / "q")
    nothing = CliRunner().invoke(app, ["verify", str(tmp_path / "q"), "--graph", str(graph), "--split", "train"])
    assert nothing.exit_code == 1
    assert "0 of 5 queries checked" in nothing.output
    assert "nothing was checked" in nothing.output
    assert "train, valid, test" in refused("verify", tmp_path / "q", "--split", "foo")


def test_bad_calls_are_sentences_and_leave_nothing(graph: Path, tmp_path: Path) -> None:
    assert "no structure '2q'" in refused("sample", graph, "--out", tmp_path / "q", "-s", "2q")
    whole = KnowledgeGraph.from_triples([("a", "r", "b")], name="whole").save(tmp_path / "whole")
    assert "`pathformer split`" in refused("sample", whole, "--out", tmp_path / "q", "--split", "test")
    assert "no layout 'csv'" in refused("sample", graph, "--out", tmp_path / "q", "--layout", "csv", "--count", 1)
    assert not (tmp_path / "q").exists()


def test_force_replaces_what_was_drawn_in_either_layout(graph: Path, tmp_path: Path) -> None:
    for layout in ("columns", "betae"):
        for _ in range(2):
            run("sample", graph, "--out", tmp_path / layout, "--layout", layout, "--force", "-s", "2p", "--count", 5)


def test_a_layout_that_is_not_written_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    assert "'q2b'" in refused("sample", tmp_path / "no graph", "--out", tmp_path / "q", "--layout", "q2b")


def test_a_graph_without_splits_gives_training_queries(tmp_path: Path) -> None:
    triples = [(f"e{i}", f"r{i % 3}", f"e{(i * 7 + 1) % 20}") for i in range(60)]
    graph = KnowledgeGraph.from_triples(triples, name="whole").save(tmp_path / "whole")
    out = run("sample", graph, "--out", tmp_path / "q", "-s", "2p", "--train-count", 10)
    assert "only training queries are drawn" in out
    assert "train  2p" in out
