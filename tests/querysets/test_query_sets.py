"""Benchmarks drawn, saved and read back; the three layouts of query folders."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.saves import reseal

from pathformer import plugins
from pathformer.errors import BenchmarkError, DamagedError, InputError, UnsafePickleError
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import EFOL_TRAINED, STRUCTURES, structure
from pathformer.querysets.protocol import Protocol, protocol_for, sample_benchmark
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets, graph_pair, read_folder, read_query_sets
from pathformer.symbolic.answer import answer

Sets = QuerySets[Queries]


def assert_same(one: Sets, other: Sets, in_order: bool = True) -> None:
    assert {s: set(q) for s, q in one.splits.items()} == {s: set(q) for s, q in other.splits.items()}
    for split, queries_of in one.splits.items():
        for name, mine in queries_of.items():
            theirs = other[split][name]
            if not in_order:
                mine, theirs = (q.take(np.lexsort(q.ids.T[::-1])) for q in (mine, theirs))
            for part in ("ids", "easy", "hard"):
                a, b = getattr(mine, part), getattr(theirs, part)
                if part == "ids":
                    assert np.array_equal(a, b)
                else:
                    assert np.array_equal(a.ptr, b.ptr)
                    assert np.array_equal(a.values, b.values)


def test_the_layouts_are_these() -> None:
    assert plugins.names("layouts") == ("betae", "columns", "q2b")
    for name in plugins.names("layouts"):
        layout = plugins.load("layouts", name)
        assert callable(layout.detect)
        assert callable(layout.read)
        assert layout.SIGN


def test_a_drawn_benchmark_is_complete(small_benchmark: Sets) -> None:
    assert {split: tuple(queries) for split, queries in small_benchmark.splits.items()} == {
        "train": EFOL_TRAINED,
        "valid": tuple(STRUCTURES),
        "test": tuple(STRUCTURES),
    }
    assert all(len(q) == 80 for name, q in small_benchmark["train"].items() if name != "1p" and not q.structure.negated)
    assert all(len(q) == 8 for q in small_benchmark["train"].values() if q.structure.negated)
    assert all(len(q) == 30 for name, q in small_benchmark["test"].items() if name != "1p")


def test_counts_follow_the_graph(small_graph: KnowledgeGraph) -> None:
    protocol = protocol_for(small_graph)
    assert protocol.count("train", STRUCTURES["2p"], 107_982) == 107_982
    assert protocol.count("train", STRUCTURES["inp"], 107_982) == 10_798  # Table 10
    assert protocol.count("test", STRUCTURES["inp"], 17_034) == 5_000
    assert protocol.count("test", STRUCTURES["inp"], 70) == 70


def test_valid_and_test_stand_on_the_right_graphs(small_graph: KnowledgeGraph, small_benchmark: Sets) -> None:
    for split, smaller in (("valid", "train"), ("test", "valid")):
        queries = small_benchmark[split]["pi"]
        tree = queries.structure.tree(queries.ids[0].tolist())
        easy = answer(tree, small_graph.graph(smaller))
        assert queries.easy[0].tolist() == easy.tolist()
        assert queries.hard[0].tolist() == np.setdiff1d(answer(tree, small_graph.graph(split)), easy).tolist()


@pytest.mark.parametrize("layout", ["columns", "betae"])
def test_saved_and_read_back(layout: str, small_graph: KnowledgeGraph, small_benchmark: Sets, tmp_path: Path) -> None:
    small_benchmark.save(tmp_path / "queries", layout)
    assert read_folder(tmp_path / "queries").layout == layout
    assert_same(small_benchmark, read_query_sets(tmp_path / "queries", small_graph), in_order=layout == "columns")


def test_a_betae_export_is_what_other_code_expects(small_benchmark: Sets, tmp_path: Path) -> None:
    small_benchmark.save(tmp_path / "queries", "betae")
    with (tmp_path / "queries" / "test-queries.pkl").open("rb") as file:
        queries: dict[Any, set[Any]] = pickle.load(file)
    with (tmp_path / "queries" / "test-hard-answers.pkl").open("rb") as file:
        hard: dict[Any, set[int]] = pickle.load(file)
    shape = ((("e", ("r",)), ("e", ("r", "n"))), ("r",))
    assert set(queries) == {s.shape for s in STRUCTURES.values()}
    instance = next(iter(queries[shape]))
    assert instance[0][1][1][-1] == -2
    assert all(type(entity) is int for entity in hard[instance])
    assert set(hard) == set().union(*queries.values())
    assert sorted(p.name for p in (tmp_path / "queries").iterdir()) == [
        ".pathformer",
        "manifest.json",
        "test-easy-answers.pkl",
        "test-hard-answers.pkl",
        "test-queries.pkl",
        "train-answers.pkl",
        "train-queries.pkl",
        "valid-easy-answers.pkl",
        "valid-hard-answers.pkl",
        "valid-queries.pkl",
    ]


def test_a_betae_export_stands_alone(small_graph: KnowledgeGraph, small_benchmark: Sets, tmp_path: Path) -> None:
    folder = small_benchmark.save(tmp_path / "queries", "betae", kg=small_graph)
    again = KnowledgeGraph.read(folder)
    assert again.vocabulary.entity(7) == small_graph.vocabulary.entity(7)
    assert again.vocabulary.relation(3) == small_graph.vocabulary.relation(3)
    for split, triples in small_graph.splits.items():
        assert {tuple(t) for t in again.splits[split].tolist()} == {tuple(t) for t in triples.tolist()}
    assert_same(small_benchmark, read_query_sets(folder, again), in_order=False)
    assert (folder / "stats.txt").read_text() == "numentity: 50\nnumrelations: 8"
    assert (folder / "test.txt").read_text().count("\n") == 2 * len(small_graph.splits["test"])


def test_a_shape_of_the_users_own_is_saved_by_its_shape(small_graph: KnowledgeGraph, tmp_path: Path) -> None:
    kind = structure("((e,(r,r)),(e,(r,)),(e,(r,n)))")
    drawn = sample_benchmark(small_graph, Protocol(evaluated=5), splits=["test"], structures={"test": (kind,)})
    drawn.save(tmp_path / "queries")
    assert_same(drawn, read_query_sets(tmp_path / "queries", small_graph))


def test_missing_answers_are_found_by_traversal(
    small_graph: KnowledgeGraph, small_benchmark: Sets, tmp_path: Path
) -> None:
    small_benchmark.save(tmp_path / "queries", "betae")
    for name in ("train-answers", "valid-hard-answers", "test-easy-answers"):
        (tmp_path / "queries" / f"{name}.pkl").unlink()
    reseal(tmp_path / "queries")
    assert_same(small_benchmark, read_query_sets(tmp_path / "queries", small_graph), in_order=False)


def test_de_morgan_forms_are_left_out_with_a_notice(tmp_path: Path) -> None:
    shape = ((("e", ("r", "n")), ("e", ("r", "n"))), ("n",))
    queries = {shape: {(((0, (0, -2)), (1, (0, -2))), (-2,))}, ("e", ("r",)): {(0, (0,))}}
    (tmp_path / "test-queries.pkl").write_bytes(pickle.dumps(queries))
    folder = read_folder(tmp_path)
    assert list(folder["test"]) == ["1p"]
    assert folder.notices == ["test-queries.pkl: 1 De Morgan forms of 2u left out"]


def test_the_query2box_layout(small_graph: KnowledgeGraph, tmp_path: Path) -> None:
    (tmp_path / "test_triples_2c.pkl").write_bytes(pickle.dumps([((3, (0, 2), 0), "2-chain")]))
    (tmp_path / "test_ans_2c.pkl").write_bytes(pickle.dumps({((3, (0, 2)),): {4, 2, 9}}))
    (tmp_path / "test_ans_2c_hard.pkl").write_bytes(pickle.dumps({((3, (0, 2)),): {2}}))
    (tmp_path / "test_triples_ic.pkl").write_bytes(pickle.dumps([((1, (0,)), (2, (3,)), 5, 0, "inter-chain")]))
    folder = read_folder(tmp_path)
    chain, fork = folder["test"].values()
    assert (chain.structure.name, chain.ids.tolist()) == ("2p", [[3, 0, 2]])
    assert chain.hard is not None
    assert chain.everything is not None
    assert (chain.hard[0].tolist(), chain.everything[0].tolist()) == ([2], [2, 4, 9])
    assert (fork.structure.name, fork.ids.tolist(), fork.hard) == ("ip", [[1, 0, 2, 3, 5]], None)
    with pytest.raises(BenchmarkError, match="'q2b' layout can be read but not written"):
        QuerySets(splits={}, graph="g", fingerprint="f").save(tmp_path / "out", "q2b")


class Hostile:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, ("echo owned > owned.txt",)


def test_a_hostile_pickle_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test-queries.pkl").write_bytes(pickle.dumps({("e", ("r",)): Hostile()}))
    with pytest.raises(UnsafePickleError, match=r"test-queries\.pkl: .*system"):
        read_folder(tmp_path)
    assert not (tmp_path / "owned.txt").exists()


def test_bad_folders_are_one_sentence_each(small_graph: KnowledgeGraph, tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="no such folder"):
        read_folder(tmp_path / "nowhere")
    with pytest.raises(BenchmarkError, match="holds no queries of a known layout"):
        read_folder(tmp_path)

    def folder_with(queries: Any) -> Path:
        (tmp_path / "test-queries.pkl").write_bytes(pickle.dumps(queries))
        return tmp_path

    with pytest.raises(BenchmarkError, match="expected a dict, found list"):
        read_folder(folder_with([1]))
    with pytest.raises(BenchmarkError, match="is not a query structure"):
        read_folder(folder_with({("e", ("x",)): {(0, (0,))}}))
    with pytest.raises(BenchmarkError, match=r"\(0, \(0, 0\)\) is not an instance of \(e,\(r,\)\)"):
        read_folder(folder_with({("e", ("r",)): {(0, (0, 0))}}))
    with pytest.raises(BenchmarkError, match=r"has entity 5000, but the graph has 50 \(entity ids 0 to 49\)"):
        read_query_sets(folder_with({("e", ("r",)): {(5000, (0,))}}), small_graph)
    with pytest.raises(BenchmarkError, match=r"has relation 8, but the graph has 8 \(relation ids 0 to 7\)"):
        read_query_sets(folder_with({("e", ("r",)): {(5, (8,))}}), small_graph)


P1 = ("e", ("r",))
LINK = (0, (0,))


@pytest.mark.parametrize(
    ("instances", "answers", "problem"),
    [
        ({LINK, (0, 5)}, None, "its 1p queries are not all made of ids ('<' not supported"),
        ({("Fellini", (0,))}, None, "its 1p queries are not all made of ids ("),
        (None, None, "its 1p queries are not all made of ids ('NoneType' object is not iterable)"),
        ({(2**40, (0,))}, None, "its 1p queries are not all made of ids ("),
        ({LINK}, {LINK: None}, "its 1p queries' answers are not all made of ids ("),
        ({LINK}, {LINK: {"Fellini"}}, "its 1p queries' answers are not all made of ids ("),
        ({LINK}, {LINK: {2**40}}, "its 1p queries' answers are not all made of ids ("),
        ({LINK}, {}, "the 1p query (0, (0,)) has no entry in the answer file beside it"),
    ],
)
def test_what_are_no_ids_in_a_betae_folder(instances: Any, answers: Any, problem: str, tmp_path: Path) -> None:
    (tmp_path / "train-queries.pkl").write_bytes(pickle.dumps({P1: instances}))
    if answers is not None:
        (tmp_path / "train-answers.pkl").write_bytes(pickle.dumps(answers))
    with pytest.raises(BenchmarkError) as caught:
        read_folder(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/train-queries.pkl: {problem}")


@pytest.mark.parametrize(
    ("query", "answers", "problem"),
    [
        (("Fellini", (0,), 0), None, "train_triples_1c.pkl: its queries are not all made of ids ("),
        ((0, [0], 0), None, "train_triples_1c.pkl: its queries are not all made of ids ("),
        ((2**40, (0,), 0), None, "train_triples_1c.pkl: its queries are not all made of ids ("),
        ((0, (0,), 0), {"Fellini"}, "train_ans_1c.pkl: its answers are not all made of ids ("),
    ],
)
def test_what_are_no_ids_in_a_query2box_folder(query: Any, answers: Any, problem: str, tmp_path: Path) -> None:
    (tmp_path / "train_triples_1c.pkl").write_bytes(pickle.dumps([(query, "1-chain")]))
    (tmp_path / "train_ans_1c.pkl").write_bytes(pickle.dumps({((0, (0,)),): answers}))
    with pytest.raises(BenchmarkError) as caught:
        read_folder(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/{problem}")


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"files": 3}, "the page of contents is damaged: 'files' is not a list of objects"),
        ({"files": [3]}, "the page of contents is damaged: 'files' is not a list of objects"),
        ({"files": [{}]}, "the page of contents is damaged: 'file' is missing"),
        ({"files": [{"file": "x", "split": 1}]}, "the page of contents is damaged: 'split' is not text"),
        ({"origin": None}, "the page of contents is damaged: 'origin' is not an object"),
        ({"graph": 7}, "the page of contents is damaged: 'graph' is not text"),
    ],
)
def test_a_page_of_contents_that_others_have_changed(
    changed: dict[str, Any], problem: str, small_benchmark: Sets, tmp_path: Path
) -> None:
    page = small_benchmark.save(tmp_path / "queries") / "benchmark.json"
    page.write_text(json.dumps(json.loads(page.read_text()) | changed))
    reseal(page.parent)
    with pytest.raises(BenchmarkError) as caught:
        read_folder(tmp_path / "queries")
    assert str(caught.value) == f"{page}: {problem}"


def test_tables_that_do_not_fit_their_queries(
    small_graph: KnowledgeGraph, small_benchmark: Sets, tmp_path: Path
) -> None:
    folder = small_benchmark.save(tmp_path / "queries")
    file = folder / "test-2in.npz"
    with np.load(file) as whole:
        arrays = dict(whole)
    cases = [
        ({"easy_ptr": arrays["easy_ptr"][:-1]}, "the easy answers do not fit the 30 queries"),
        ({"hard": arrays["hard"][:-1]}, "the hard answers do not fit the 30 queries"),
        ({"hard_ptr": arrays["hard_ptr"][::-1]}, "the hard answers do not fit the 30 queries"),
        ({"ids": arrays["ids"][:, 1:]}, r"ids of shape \(30, 3\), int32, expected \(any, 4\), int32"),
        ({"ids": arrays["ids"].astype(np.float32)}, "float32, expected"),
        ({"ids": np.int32(3)}, r"ids of shape \(\), int32, expected \(any, 4\), int32"),
        ({"easy": np.int32(3)}, "the easy answers are not whole numbers in a row"),
        ({"hard": arrays["hard"] + 0.5}, "the hard answers are not whole numbers in a row"),
        ({"hard_ptr": arrays["hard_ptr"].astype(float)}, "the hard answers are not whole numbers in a row"),
        ({"easy": np.where(arrays["easy"] < 9, -1, arrays["easy"])}, "a 2in query is entity -1, but the graph has 50"),
    ]
    for changed, problem in cases:
        np.savez(file, **(arrays | changed))
        reseal(folder)
        with pytest.raises(BenchmarkError, match=problem):
            read_query_sets(folder, small_graph)


@pytest.mark.parametrize(("place", "value"), [(6, 255), (10, 97)])  # a version of zip, a way of packing
def test_a_table_packed_in_a_way_that_python_cannot_read(
    place: int, value: int, small_benchmark: Sets, tmp_path: Path
) -> None:
    file = small_benchmark.save(tmp_path / "queries") / "test-2in.npz"
    whole = bytearray(file.read_bytes())
    whole[whole.index(b"PK\1\2") + place] = value  # of the first file in the list at the end
    file.write_bytes(whole)
    reseal(file.parent)
    with pytest.raises(BenchmarkError, match=r"test-2in\.npz: cannot be read as a table of queries"):
        read_folder(tmp_path / "queries")


def test_a_shape_that_is_none_is_told_in_one_line(small_benchmark: Sets, tmp_path: Path) -> None:
    page = small_benchmark.save(tmp_path / "queries") / "benchmark.json"
    page.write_text(page.read_text().replace("(e,(r,))", "(e,(z,))"))
    reseal(page.parent)
    with pytest.raises(BenchmarkError, match=r"^[^\n]*\(a shape is made of tuples and the letters [^\n]*\)$"):
        read_folder(tmp_path / "queries")


def test_queries_of_another_graph_are_refused(
    small_graph: KnowledgeGraph, small_benchmark: Sets, tmp_path: Path
) -> None:
    small_benchmark.save(tmp_path / "queries")
    other = KnowledgeGraph.from_triples([("a", "r", "b")], name="other")
    with pytest.raises(BenchmarkError, match=f"{small_graph.fingerprint()}, but 'other' has {other.fingerprint()}"):
        read_query_sets(tmp_path / "queries", other)


def test_a_damaged_folder_is_refused(small_graph: KnowledgeGraph, small_benchmark: Sets, tmp_path: Path) -> None:
    folder = small_benchmark.save(tmp_path / "queries")
    (folder / "test-2in.npz").write_bytes((folder / "test-2in.npz").read_bytes()[:100])
    with pytest.raises(
        DamagedError, match=r"test-2in\.npz has 100 bytes, and [\d,]+ were saved: the queries are damaged"
    ):
        read_folder(folder)
    reseal(folder)
    with pytest.raises(BenchmarkError, match=r"test-2in\.npz: cannot be read as a table of queries"):
        read_folder(folder)
    header = json.loads((folder / "benchmark.json").read_text())
    (folder / "benchmark.json").write_text(json.dumps({**header, "version": 99}))
    reseal(folder)
    with pytest.raises(BenchmarkError, match="version 99 is not the 1 this release reads"):
        read_folder(folder)
    (folder / "benchmark.json").write_text("{")
    reseal(folder)
    with pytest.raises(BenchmarkError, match="not valid JSON"):
        read_folder(folder)


def test_an_existing_folder_is_kept_unless_forced(small_benchmark: Sets, tmp_path: Path) -> None:
    folder = small_benchmark.save(tmp_path / "queries")
    with pytest.raises(InputError, match="exists already: choose another folder, or replace it with --force"):
        small_benchmark.save(folder)
    (folder / "test-2in.npz").unlink()
    small_benchmark.save(folder, force=True)
    assert (folder / "test-2in.npz").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["queries"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("mine")
    with pytest.raises(InputError, match="was not made by this command"):
        small_benchmark.save(tmp_path / "mine", force=True)
    assert (tmp_path / "mine" / "diary.txt").exists()


def test_an_export_is_replaced_and_a_download_of_the_same_layout_never(small_benchmark: Sets, tmp_path: Path) -> None:
    folder = small_benchmark.save(tmp_path / "queries", "betae")
    some = QuerySets(splits={"test": small_benchmark["test"]}, graph="g", fingerprint="f")
    some.save(folder, "betae", force=True)  # other splits than before
    assert not (folder / "train-queries.pkl").exists()
    small_benchmark.save(folder, "betae", force=True)
    (folder / ".pathformer").unlink()  # as a released folder is
    with pytest.raises(InputError, match="was not made by this command"):
        some.save(folder, "betae", force=True)
    assert (folder / "train-queries.pkl").exists()


def test_a_graph_without_edges_holds_no_queries() -> None:
    drawn = sample_benchmark(KnowledgeGraph.from_triples([]), Protocol(train=10))
    assert all(len(queries) == 0 for queries in drawn["train"].values())


def test_a_graph_without_a_split_says_so(small_graph: KnowledgeGraph) -> None:
    whole = KnowledgeGraph.from_triples([("a", "r", "b")], name="whole")
    with pytest.raises(InputError, match="has no 'test' triples, only train"):
        graph_pair(whole, "test")
