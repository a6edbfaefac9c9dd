"""Which queries a run gets, and what it says of them."""

from __future__ import annotations

import json
import lzma
import pickle
from pathlib import Path

import numpy as np
import pytest

from pathformer.errors import BenchmarkError, DatasetError
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import EFOL_TRAINED, EPFO, EPFO_TRAINED, NEGATION_STRUCTURES
from pathformer.querysets.sources import collect_queries

EVALUATED = (*EPFO, *NEGATION_STRUCTURES)


def graph(name: str = "fb15k-237", size: int = 30) -> KnowledgeGraph:
    rng = np.random.default_rng(0)
    rows = {(int(h), int(r), int((h + r + s) % size)) for h, r, s in rng.integers(0, [size, 3, 5], (260, 3))}
    triples = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in sorted(rows)]
    order = rng.permutation(len(triples))
    parts = [[triples[i] for i in order[a:b]] for a, b in ((0, -40), (-40, -20), (-20, None))]
    return KnowledgeGraph.from_triples(*parts, name=name)


def test_any_graph_has_drawn_queries() -> None:
    sets = collect_queries(graph("mine"), "drawn", trained=EFOL_TRAINED, evaluated=EVALUATED)
    assert list(sets["train"]) == list(EFOL_TRAINED)
    assert list(sets["valid"]) == list(sets["test"]) == list(EVALUATED)
    assert sets.describe_sources("train") == "drawn by the protocol, seed 0"
    assert all((queries.hard.counts > 0).all() for queries in sets["test"].values())


def test_only_what_is_asked_for_is_made() -> None:
    sets = collect_queries(graph(), "drawn", trained=EPFO_TRAINED, evaluated=("2p",), splits=("test",))
    assert {split: list(names) for split, names in sets.splits.items()} == {"test": ["2p"]}


def data_folder(tmp_path: Path, kg: KnowledgeGraph) -> Path:
    """Query2box training queries of some structures, and a protocol file of the test split."""
    q2b = tmp_path / "fb15k-237-q2b"
    q2b.mkdir()
    h, r, _ = kg.splits["train"][0].tolist()
    chains = {"1c": ((h, (r,), 0), "1-chain"), "2c": ((h, (r, 1), 0), "2-chain")}
    for name, query in chains.items():
        (q2b / f"train_triples_{name}.pkl").write_bytes(pickle.dumps([query]))
    protocol = tmp_path / "betae-protocol"
    protocol.mkdir()
    lines = [["1p", [h, [r]]], ["2in", [[h, [r]], [h, [0, -2]]]], ["2u", [[h, [r]], [h, [0]], [-1]]]]
    with lzma.open(protocol / "fb15k-237-test-queries.jsonl.xz", "wt") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return tmp_path


def test_released_queries_come_first_and_the_rest_is_drawn_and_named(tmp_path: Path) -> None:
    kg = graph()
    sets = collect_queries(
        kg, "betae", trained=EPFO_TRAINED, evaluated=("1p", "2u", "2in", "2i"), data=data_folder(tmp_path, kg)
    )
    assert sets.describe_sources("train") == (
        "1p 2p: released (Query2box, the same as BetaE's); 3p 2i 3i: drawn by the protocol, seed 0"
    )
    assert len(sets["train"]["1p"]) == len(sets["train"]["2p"]) == 1
    assert len(sets["train"]["2i"]) > 1
    h, r, _ = kg.splits["train"][0].tolist()
    assert sets["train"]["1p"].easy[0].tolist() == kg.graph("train").tails_of(h, r).tolist()
    assert sets.sources["test 2in"] == "betae-protocol draw, not the released queries"
    assert sets.sources["test 2i"] == "drawn by the protocol, seed 0"
    assert sets["test"]["2in"].ids.tolist() == [[h, r, h, 0]]
    assert sets["test"]["2u"].ids.tolist() == [[h, r, h, 0]]


def test_the_released_betae_queries_stand_before_all_others(tmp_path: Path) -> None:
    """Their pickles lie in the dataset's own folder; figures on them are the paper's own, and so they are named."""
    kg = graph()
    data, own = data_folder(tmp_path, kg), tmp_path / "fb15k-237"
    own.mkdir()
    (h, r, _), (g, q, _) = kg.splits["train"][[0, -1]].tolist()
    instances = {"train": {(g, (q,))}, "test": {(h, (r,)), (g, (q,))}}
    for split, asked in instances.items():
        (own / f"{split}-queries.pkl").write_bytes(pickle.dumps({("e", ("r",)): asked}))
    easy, hard = {one: {0} for one in instances["test"]}, {one: {1, 2} for one in instances["test"]}
    for name, answers in (("easy", easy), ("hard", hard)):
        (own / f"test-{name}-answers.pkl").write_bytes(pickle.dumps(answers))
    sets = collect_queries(kg, "betae", trained=("1p", "2p"), evaluated=("1p", "2in"), data=data)
    assert sets.sources == {
        "train 1p": "released BetaE queries",
        "train 2p": "drawn by the protocol, seed 0",
        "valid 1p": "drawn by the protocol, seed 0",
        "valid 2in": "drawn by the protocol, seed 0",
        "test 1p": "released BetaE queries",
        "test 2in": "drawn by the protocol, seed 0",
    }
    assert sets["train"]["1p"].ids.tolist() == [[g, q]]
    assert sets["train"]["1p"].easy[0].tolist() == kg.graph("train").tails_of(g, q).tolist()  # no file has them
    assert sorted(sets["test"]["1p"].ids.tolist()) == sorted([[h, r], [g, q]])
    assert [row.tolist() for row in sets["test"]["1p"].hard] == [[1, 2], [1, 2]]  # as the file has them


def test_the_query2box_set_is_asked_for_by_name(tmp_path: Path) -> None:
    kg = graph()
    sets = collect_queries(
        kg, "q2b", trained=("1p",), evaluated=("1p",), data=data_folder(tmp_path, kg), splits=("train",)
    )
    assert sets.describe_sources("train") == "released Query2box queries"
    with pytest.raises(DatasetError, match="no Query2box queries of 'mine' under"):
        collect_queries(graph("mine"), "q2b", trained=("1p",), evaluated=("1p",), data=tmp_path)


def test_a_folder_of_queries(tmp_path: Path) -> None:
    kg = graph()
    folder = data_folder(tmp_path, kg) / "fb15k-237-q2b"
    sets = collect_queries(kg, str(folder), trained=("1p",), evaluated=("1p",))
    assert sets.sources == {
        "train 1p": f"from {folder}",
        "valid 1p": "drawn by the protocol, seed 0",
        "test 1p": "drawn by the protocol, seed 0",
    }
    with pytest.raises(BenchmarkError, match="no such folder"):
        collect_queries(kg, str(tmp_path / "gone"), trained=("1p",), evaluated=("1p",))


def test_a_broken_protocol_file_is_told_with_its_line(tmp_path: Path) -> None:
    kg = graph()
    file = data_folder(tmp_path, kg) / "betae-protocol/fb15k-237-test-queries.jsonl.xz"
    with lzma.open(file, "wt") as lines:
        lines.write('["1p", [0, [0]]]\n["1p"\n')
    with pytest.raises(BenchmarkError, match=r"jsonl\.xz:2: expected \[structure, instance\]"):
        collect_queries(kg, "betae", trained=("1p",), evaluated=("1p",), data=tmp_path, splits=("test",))


def test_a_graph_too_small_to_draw_from_is_told() -> None:
    tiny = KnowledgeGraph.from_triples([("a", "r", "b")], name="tiny")
    with pytest.raises(BenchmarkError, match="no train query of 3i could be drawn from 'tiny'"):
        collect_queries(tiny, "drawn", trained=("3i",), evaluated=())


@pytest.mark.data
def test_the_papers_sets_are_put_together(data_dir: Path) -> None:
    from pathformer.kg.datasets import load

    kg = load("nell995", data_dir)
    sets = collect_queries(kg, "betae", trained=("1p", "3i"), evaluated=("1p", "pni"), data=data_dir)
    assert sets.describe_sources("train") == "released (Query2box, the same as BetaE's)"
    assert [len(q) for q in sets["train"].values()] == [107_982, 107_982]  # Table 10
    assert sets.describe_sources("valid") == "betae-protocol draw, not the released queries"
    assert sets.describe_sources("test") == "drawn by the protocol, seed 0"
    assert [len(q) for q in sets["test"].values()] == [17_034, 4_000]  # Table 10


@pytest.mark.data
def test_what_query2box_lacks_of_the_training_queries_is_drawn(data_dir: Path) -> None:
    from pathformer.kg.datasets import load

    kg = load("fb15k-237", data_dir)
    names = ("2i", "3i", "2in")
    sets = collect_queries(kg, "betae", trained=names, evaluated=(), data=data_dir, splits=("train",))
    assert sets.describe_sources("train") == (
        "2i: released (Query2box, the same as BetaE's); 3i 2in: drawn by the protocol, seed 0"
    )
    assert [len(sets["train"][name]) for name in names] == [149_689, 149_689, 14_968]  # Table 10
    assert all((queries.easy.counts > 0).all() for queries in sets["train"].values())
