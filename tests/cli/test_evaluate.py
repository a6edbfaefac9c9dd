"""`pathformer evaluate` of an engine, as people meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.engines import random_triples
from typer.testing import CliRunner, Result

from pathformer.cli import _main as cli
from pathformer.engine.engine import Engine
from pathformer.errors import BenchmarkError, EngineError, InputError
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.links.evidence.counts import Counts
from pathformer.links.evidence.linear import Linear
from pathformer.links.mixing import Mixing
from pathformer.links.scorer import LinkScorer

KEPT_BACK = 20


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the engine `part`, one without evidence, and a file of facts that neither knows."""
    folder = tmp_path_factory.mktemp("engines")
    facts = random_triples(entities=25, relations=3, drawn=250)
    kg = KnowledgeGraph.from_triples(facts[:-KEPT_BACK], name="part")
    graph = kg.graph()
    scorer = LinkScorer(graph, [Counts(graph), Linear.of(graph)], Mixing.even(["counts", "linear"]))
    Engine(kg, links=scorer).save(folder / "part")
    Engine(kg).save(folder / "bare")
    for name, rows in (("new.tsv", facts[-KEPT_BACK:]), ("old.tsv", facts[:5])):
        (folder / name).write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    return folder


def evaluate(*arguments: str | Path, error: type[Exception] | None = None) -> Result:
    result = CliRunner().invoke(cli.app, ["evaluate", *map(str, arguments)])
    if error is None:
        assert result.exit_code == 0, result.exception
    else:
        assert isinstance(result.exception, error), result.output
    return result


def test_each_form_has_the_same_figures(engines: Path) -> None:
    asked = (engines / "part", "--facts", engines / "new.tsv")
    figures = json.loads(evaluate(*asked, "--format", "json").stdout)
    ranks = figures["ranks"]["links"]
    assert list(ranks) == [
        "this engine",
        "asked for the tail",
        "asked for the head",
        "linear recommender",
        "counting",
    ]
    assert ranks["this engine"]["answers"] == 2 * KEPT_BACK
    for form in ("markdown", "table"):
        assert f"{100 * ranks['this engine']['mrr']:.1f}" in evaluate(*asked, "--format", form).stdout


@pytest.mark.parametrize(
    ("engine", "options", "error", "named"),
    [
        ("part", (), InputError, "--facts FILE"),
        ("part", ("--facts", "new.tsv", "--queries", "drawn"), InputError, "--queries DIR"),
        ("part", ("--facts", "new.tsv", "--structure", "2p"), InputError, "--structure"),
        ("part", ("--facts", "new.tsv", "--strict"), InputError, "--strict"),
        ("part", ("--facts", "new.tsv", "--split", "valid"), InputError, "no valid part"),
        ("part", ("--facts", "old.tsv"), InputError, "5 which it knows"),
        ("bare", ("--facts", "new.tsv"), EngineError, "learned nothing"),
        ("new.tsv", ("--facts", "new.tsv"), InputError, "pathformer fit"),
        ("part", ("--queries", "nowhere"), BenchmarkError, "nowhere"),
    ],
)
def test_what_cannot_be_scored_is_one_sentence(
    engines: Path,
    monkeypatch: pytest.MonkeyPatch,
    engine: str,
    options: tuple[str, ...],
    error: type[Exception],
    named: str,
) -> None:
    monkeypatch.chdir(engines)
    assert named in str(evaluate(engine, *options, error=error).exception)
