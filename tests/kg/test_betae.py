"""BetaE folders: ids kept, both directions folded, names without their signs; and what is wrong with one, by line."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from pathformer.errors import GraphFileError, UnsafePickleError
from pathformer.kg.formats.betae import base_name
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.splits import Report

ENTITIES = {0: "/m/a", 1: "/m/b", 2: "/m/c"}
SIGNS = {0: "+r", 1: "-r", 2: "+s", 3: "-s"}
ENDINGS = {0: "concept:r", 1: "concept:r_reverse", 2: "s", 3: "s_reverse"}


def folder(tmp_path: Path, relations: Any = SIGNS, entities: Any = ENTITIES, **splits: str | bytes) -> Path:
    (tmp_path / "id2ent.pkl").write_bytes(pickle.dumps(entities))
    (tmp_path / "id2rel.pkl").write_bytes(pickle.dumps(relations))
    for split, content in {"train": "0\t0\t1\n1\t1\t0\n1\t2\t2\n2\t3\t1\n", **splits}.items():
        (tmp_path / f"{split}.txt").write_bytes(content.encode() if isinstance(content, str) else content)
    return tmp_path


@pytest.mark.parametrize(("relations", "names"), [(SIGNS, ["r", "s"]), (ENDINGS, ["concept:r", "s"])])
def test_a_folder(relations: dict[int, str], names: list[str], tmp_path: Path) -> None:
    path = folder(tmp_path, relations, valid="0\t0\t2\n2\t1\t0\n", test="2\t2\t0\n0\t3\t2\n")
    graph = KnowledgeGraph.read(path)
    assert graph.name == tmp_path.name
    assert list(graph.vocabulary.entities) == list(ENTITIES.values())
    assert list(graph.vocabulary.relations) == names
    assert {split: part.tolist() for split, part in graph.splits.items()} == {
        "train": [[0, 0, 1], [1, 2, 2]],
        "valid": [[0, 0, 2]],
        "test": [[2, 2, 0]],
    }
    assert graph.report == Report(lines=8)
    assert [graph.vocabulary.relation_id(relations[place]) for place in range(4)] == [0, 1, 2, 3]


def test_one_direction_is_enough_and_repeated_lines_are_merged(tmp_path: Path) -> None:
    graph = KnowledgeGraph.read(folder(tmp_path, train="0\t0\t1\n2\t3\t1\n2\t3\t1\n"))
    assert graph.splits["train"].tolist() == [[0, 0, 1], [1, 2, 2]]
    assert graph.report == Report(lines=3, duplicates=1)


def test_what_train_lacks_is_dropped_and_ids_stay(tmp_path: Path) -> None:
    graph = KnowledgeGraph.read(folder(tmp_path, train="0\t0\t1\n", valid="0\t0\t2\n1\t0\t0\n0\t0\t1\n"))
    assert graph.vocabulary.entity_count == 3
    assert graph.splits["valid"].tolist() == [[1, 0, 0]]
    assert graph.report == Report(lines=4, unseen=1, repeated=1)


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ({"train": "0\t0\t1\n0\t0\t3\n"}, "train.txt:2: no entity has the id '3': there are 3 entities, 0 to 2"),
        ({"valid": "0\t0\t1\n\n0\t4\t1\n"}, "valid.txt:3: no relation has the id '4': there are 4 relations, 0 to 3"),
        ({"test": "0\t0\t-1\n"}, "test.txt:1: no entity has the id '-1': there are 3 entities, 0 to 2"),
        ({"train": "0\t0\t1\nx\t0\t1\n"}, "train.txt:2: no entity has the id 'x': there are 3 entities, 0 to 2"),
        ({"train": "0\t0\t99999999999\n"}, "train.txt:1: no entity has the id '99999999999': there are 3"),
        ({"train": "0\t0\t1\n0\t0\n"}, "train.txt:2: found 2 columns, expected 3 separated by '\\t'"),
        ({"train": b"0\t0\t1\n0\t0\t\xff\n"}, "train.txt:2: the tail is not text in this encoding (byte 0xff)"),
        ({"train": ""}, "train.txt: the file holds no triples"),
    ],
)
def test_bad_lines(splits: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(GraphFileError) as caught:
        KnowledgeGraph.read(folder(tmp_path, **splits))
    assert str(caught.value).startswith(f"{tmp_path}/{message}")


def test_bad_lines_can_be_skipped(tmp_path: Path) -> None:
    path = folder(tmp_path, train="0\t0\t1\n0\t0\t3\nx\t0\t1\n0\t0\n1\t2\t2\n")
    graph = KnowledgeGraph.read(path, skip_bad=True)
    assert graph.splits["train"].tolist() == [[0, 0, 1], [1, 2, 2]]
    assert graph.report.skipped == 3
    assert set(graph.report.notes) == {
        f"{path}/train.txt:2: no entity has the id '3': there are 3 entities, 0 to 2",
        f"{path}/train.txt:4: found 2 columns, expected 3 separated by '\\t'",
    }


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        ({"entities": ["a"]}, "id2ent.pkl: expected a dict of ids and names"),
        ({"entities": {0: "a", 1: 2}}, "id2ent.pkl: expected a dict of ids and names"),
        ({"entities": {0: "a", 2: "b"}}, "id2ent.pkl: the ids of 2 names are not 0 to 1"),
        ({"relations": {0: "+r"}}, "id2rel.pkl: 1 relations: expected each with its inverse, an even number"),
        ({"relations": {0: "+r", 1: "-s"}}, "id2rel.pkl: relations 0 and 1, '+r' and '-s', are not a relation and its"),
    ],
)
def test_bad_maps(maps: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(GraphFileError) as caught:
        KnowledgeGraph.read(folder(tmp_path, **maps))
    assert str(caught.value).startswith(f"{tmp_path}/{message}")


def test_a_hostile_map_is_refused(tmp_path: Path) -> None:
    folder(tmp_path)
    (tmp_path / "id2ent.pkl").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(UnsafePickleError, match=r"refused: this pickle asks for os\.system"):
        KnowledgeGraph.read(tmp_path)


def test_names_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphFileError, match=r"id2ent\.pkl: the name 'a' stands twice, as 0 and 2"):
        KnowledgeGraph.read(folder(tmp_path, entities={0: "a", 1: "b", 2: "a"}))


@pytest.mark.parametrize(
    ("forward", "inverse", "base"),
    [("+a", "-a", "a"), ("a", "a_reverse", "a"), ("+a", "-b", None), ("a", "-a", None), ("+a", "+a_reverse", "+a")],
)
def test_base_names(forward: str, inverse: str, base: str | None) -> None:
    assert base_name(forward, inverse) == base
