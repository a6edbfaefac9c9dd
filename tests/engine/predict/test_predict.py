"""Lists of missing links as tables and files: as asked one by one, in every format, and after a kill."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from support.link_engines import link_engine, random_graph

import pathformer as pf
from pathformer.engine.predict.predict import to_table, write_file
from pathformer.engine.predict.wanted import Wanted, read_wanted
from pathformer.kg.schema import RelationSchema

FORMULAS = ("=1+1", "+x", "-y", "@z")


@pytest.fixture(scope="module")
def engine() -> pf.Engine:
    return link_engine()


def quiet(stage: str, done: int, total: int) -> None:
    """Shows nothing."""


def ask_for(engine: pf.Engine, *relations: str, **options: Any) -> Wanted:
    return read_wanted(list(relations), engine.kg, RelationSchema(engine.kg.graph()), **options)


def write(engine: pf.Engine, wanted: Wanted, out: Path, advance: Callable[[str, int, int], None] = quiet) -> int:
    return write_file(wanted, engine.links, engine.kg, out, "save 1", advance)


def test_the_list_as_asked_one_by_one(engine: pf.Engine) -> None:
    """Every link is the answer that `ask` gives, with its probability there, and none that is likelier is left out."""
    table = engine.predict("r1", top=40, why=False).to_pylist()
    assert [row["rank"] for row in table] == list(range(1, 41))
    probabilities = [row["probability"] for row in table]
    assert probabilities == sorted(probabilities, reverse=True)
    for row in table[:10]:
        answers = engine.ask(f"?x : r1({row['head']}, ?x)", known=False, top=150, why=False)
        there = {answer.entity: answer.probability for answer in answers}
        assert there[row["tail"]] == pytest.approx(row["probability_if_missing"])
    more = engine.predict("r1", min_probability=probabilities[-1], why=False).to_pylist()
    assert [(row["head"], row["tail"]) for row in more[:40]] == [(row["head"], row["tail"]) for row in table]
    assert all(row["probability"] >= probabilities[-1] for row in more)


def test_the_evidence_is_what_the_scorer_names(engine: pf.Engine) -> None:
    row, names = engine.predict("r1", top=1).to_pylist()[0], engine.kg.vocabulary
    link = names.entity_id(row["head"]), names.relation_id("r1"), names.entity_id(row["tail"])
    assert engine.links is not None
    pieces = engine.links.pieces(*link)
    assert pieces
    assert row["evidence"] == "; ".join(engine.links.say(piece, link, names) for piece in pieces[:3])


def test_several_relations_are_one_list(engine: pf.Engine) -> None:
    table = engine.predict(["r1", "r2"], top=30, why=False)
    alone = [engine.predict(name, top=30, why=False)["probability"].to_pylist() for name in ("r1", "r2")]
    assert table["probability"].to_pylist() == sorted(alone[0] + alone[1], reverse=True)[:30]


def test_an_inverse_lists_facts_as_the_graph_states_them(engine: pf.Engine) -> None:
    forward = engine.predict("r1", all_pairs=True, heads=["e1", "e2"], tails=["e5", "e6", "e7"]).to_pylist()
    back = engine.predict("r1_reverse", all_pairs=True, heads=["e5", "e6", "e7"], tails=["e1", "e2"]).to_pylist()
    ends = [{(row["head"], row["relation"], row["tail"], row["known"]) for row in rows} for rows in (forward, back)]
    assert ends[0] == ends[1]


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".tsv"])
def test_every_format_holds_the_table(tmp_path: Path, ending: str) -> None:
    """Parquet and TSV as it is; a CSV with an apostrophe before what a spreadsheet would run."""
    triples = [(f"e{i}", "likes", name) for i, name in enumerate(FORMULAS * 2)] + [("e0", "likes", 'a "b", c')]
    kg = pf.KnowledgeGraph.from_triples(triples, name="formulas").with_labels({"e0": "Anna,\tB."})
    engine = link_engine(kg)
    wanted, out = ask_for(engine, "likes", top=20), tmp_path / f"links{ending}"
    count = write(engine, wanted, out)
    table = to_table(wanted, engine.links, engine.kg)
    assert count == table.num_rows == 20
    assert set(FORMULAS) & set(table["tail"].to_pylist())
    assert not [*tmp_path.glob("*.parts")]
    if ending == ".parquet":
        assert pq.read_table(out).equals(table)
        return
    with out.open(encoding="utf-8", newline="") as opened:
        rows = [*csv.DictReader(opened, delimiter="," if ending == ".csv" else "\t")]
    for read, row in zip(rows, table.to_pylist(), strict=True):
        for name, cell in row.items():
            mark = "'" if ending == ".csv" and name != "evidence" and str(cell).startswith(tuple("=+-@")) else ""
            assert read[name] == mark + str(cell)


def test_pandas_and_polars_take_it(engine: pf.Engine) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for table in (engine.predict("r1", top=5), engine.predict("r1", all_pairs=True)):
        assert isinstance(table.to_pandas(), pandas.DataFrame)
        assert polars.from_arrow(table)["head"].cast(str).to_list() == table["head"].to_pylist()


@pytest.mark.parametrize("all_pairs", [False, True])
def test_a_stopped_command_goes_on(engine: pf.Engine, tmp_path: Path, all_pairs: bool) -> None:
    """Wherever it stops, no file stands under the name, finished parts are kept, and the result is the same."""
    wanted = ask_for(engine, "r0", "r1", "r2", **({"all_pairs": True} if all_pairs else {"min_probability": 0.01}))
    whole, out = to_table(wanted, engine.links, engine.kg), tmp_path / "links.parquet"
    steps: list[str] = []
    write(engine, wanted, tmp_path / "whole.parquet", lambda stage, done, total: steps.append(stage))
    assert len(steps) > 3
    for last in range(1, len(steps)):
        with pytest.raises(KeyboardInterrupt):
            write(engine, wanted, out, stop_after(last))
        assert not out.exists()
        kept = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "links.parquet.parts").glob("*.npz")}
        with pytest.raises(KeyboardInterrupt):
            write(engine, wanted, out, stop_after(last))
        again = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "links.parquet.parts").glob("*.npz")}
        assert kept.items() <= again.items()
    assert len(kept) >= 2
    write(engine, wanted, out)
    assert pq.read_table(out).to_pylist() == whole.to_pylist()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["links.parquet", "whole.parquet"]


def stop_after(steps: int) -> Callable[[str, int, int], None]:
    """Returns a display that stops the work at a step."""
    left: Iterator[int] = iter(range(steps))

    def advance(stage: str, done: int, total: int) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt

    return advance


def test_parts_of_other_work_are_not_gone_on_with(engine: pf.Engine, tmp_path: Path) -> None:
    out, wanted = tmp_path / "links.parquet", ask_for(engine, "r1", top=7, why=False)
    with pytest.raises(KeyboardInterrupt):
        write(engine, ask_for(engine, "r2", top=7, why=False), out, stop_after(1))
    write(engine, wanted, out)
    assert pq.read_table(out).equals(to_table(wanted, engine.links, engine.kg))


def test_a_damaged_part_is_made_again(engine: pf.Engine, tmp_path: Path) -> None:
    out, wanted = tmp_path / "links.parquet", ask_for(engine, "r1", "r2", top=7, why=False)
    with pytest.raises(KeyboardInterrupt):
        write(engine, wanted, out, stop_after(1))
    (part,) = (tmp_path / "links.parquet.parts").glob("*.npz")
    part.write_bytes(part.read_bytes()[:100])
    write(engine, wanted, out)
    assert pq.read_table(out).equals(to_table(wanted, engine.links, engine.kg))


def test_all_pairs_are_there_once(engine: pf.Engine) -> None:
    graph, names = engine.kg.graph(), engine.kg.vocabulary
    rows, relation = engine.predict("r2", all_pairs=True).to_pylist(), names.relation_id("r2")
    heads, tails = ({fact[end] for fact in graph.triples().tolist() if fact[1] == relation} for end in (0, 2))
    found = [(names.entity_id(row["head"]), names.entity_id(row["tail"])) for row in rows]
    assert sorted(found) == sorted((head, tail) for head in heads for tail in tails)
    for row, (head, tail) in zip(rows, found, strict=True):
        assert row["known"] == graph.has(head, relation, tail) == (row["score"] is None) == (row["probability"] == 1)
    assert np.isfinite([row["score"] for row in rows if not row["known"]]).all()


def test_a_saved_engine_lists_the_same(engine: pf.Engine, tmp_path: Path) -> None:
    saved = pf.load(engine.save(tmp_path / "engine"))
    assert saved.predict("r1", top=9).equals(engine.predict("r1", top=9))


def test_an_engine_without_evidence_says_so() -> None:
    with pytest.raises(pf.errors.EngineError, match="no evidence for single links"):
        pf.Engine(random_graph()).predict("r1")
