"""A saved graph: the same after opening, mapped, whole or not there at all, and refused when it is damaged."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.saves import reseal

from pathformer.errors import DamagedError, GraphFileError, InputError
from pathformer.files import atomic
from pathformer.kg import storage
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.names import Names


def graph(name: str = "films") -> KnowledgeGraph:
    made = KnowledgeGraph.from_triples(
        [("Fellini", "directed", "La Strada"), ("La Strada", "won", "Oscar"), ("Fellini", "won", "Oscar")],
        valid=[("Oscar", "won", "Fellini")],
        name=name,
    )
    return made.with_labels(Names.of(["Federico Fellini", "", "Academy Award"]))


def test_what_is_opened_is_what_was_saved(tmp_path: Path) -> None:
    saved = graph()
    assert saved.save(tmp_path / "films") == tmp_path / "films"
    opened = KnowledgeGraph.open(tmp_path / "films")
    assert opened.name == "films"
    assert opened.vocabulary.label(0) == "Federico Fellini"
    assert opened.vocabulary.label(1) == "La Strada"
    assert opened.vocabulary.relation_labels is None
    assert opened.vocabulary.entity_id("academy award") == 2
    for split in ("train", "valid"):
        assert np.array_equal(opened.splits[split], saved.splits[split])
        for array in ("head_ptr", "pair_relation", "pair_ptr", "tails"):
            assert np.array_equal(getattr(opened.graph(split), array), getattr(saved.graph(split), array))
    assert opened.fingerprint() == saved.fingerprint()
    again = KnowledgeGraph.open(opened.save(tmp_path / "again"))
    assert again.fingerprint() == saved.fingerprint()


def test_a_graph_is_not_mixed_with_another_that_took_its_place(tmp_path: Path) -> None:
    films = graph().save(tmp_path / "films")
    begun, unread, held = KnowledgeGraph.open(films), KnowledgeGraph.open(films), KnowledgeGraph.open(films).keep_open()
    assert begun.vocabulary.entity(0) == "Fellini"
    KnowledgeGraph.from_triples([("x", "r", "y"), ("y", "r", "z"), ("x", "s", "z")]).save(films, force=True)
    replaced = "films: another graph took its place after it was opened: open it anew"
    for part in (unread.graph, lambda: unread.vocabulary.entity(0), lambda: begun.vocabulary.entity_id("Fellini")):
        with pytest.raises(GraphFileError, match=replaced):
            part()
    assert begun.vocabulary.entity(1) == "La Strada"  # read before
    assert held.vocabulary.entity_id("Academy Award") == 2
    assert held.vocabulary.relation(0) == "directed"
    assert [held.graph(split).has(2, 2, 0) for split in held.splits] == [False, True]


def test_arrays_are_mapped_and_cannot_be_written(tmp_path: Path) -> None:
    opened = KnowledgeGraph.open(graph().save(tmp_path / "films"))
    assert isinstance(opened.splits["train"], np.memmap)
    assert isinstance(opened.graph().tails, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        opened.splits["train"][0, 0] = 1


def test_opening_reads_neither_names_nor_pyarrow_nor_pandas(tmp_path: Path) -> None:
    graph().save(tmp_path / "films")
    program = (
        "import sys; from pathformer.kg.knowledge import KnowledgeGraph\n"
        "graph = KnowledgeGraph.open(sys.argv[1]); graph.graph(); graph.vocabulary.entity_count\n"
        "assert 'pyarrow' not in sys.modules\n"
        "assert graph.vocabulary.entity(0) == 'Fellini' and graph.vocabulary.entity_id('Oscar') == 2\n"
        "assert 'pyarrow' in sys.modules and 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path / "films"], check=True)


def test_an_existing_graph_is_refused_or_replaced(tmp_path: Path) -> None:
    graph("old").save(tmp_path / "films")
    with pytest.raises(InputError, match="films exists already: choose another folder, or replace it with --force"):
        graph("new").save(tmp_path / "films")
    assert KnowledgeGraph.open(tmp_path / "films").name == "old"
    graph("new").save(tmp_path / "films", force=True)
    assert KnowledgeGraph.open(tmp_path / "films").name == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["films"]


def test_a_graph_that_is_open_may_be_replaced_by_itself(tmp_path: Path) -> None:
    graph().save(tmp_path / "films")
    opened = KnowledgeGraph.open(tmp_path / "films")
    opened.split(0.3, 0).save(tmp_path / "films", force=True)
    assert opened.vocabulary.entity(0) == "Fellini"
    assert KnowledgeGraph.open(tmp_path / "films").vocabulary.entity(0) == "Fellini"


def test_an_empty_folder_is_taken_and_a_strangers_never(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    graph().save(tmp_path / "empty")
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "thesis.tex").write_text("years of work")
    (tmp_path / "file").write_text("x")
    for place in ("strange", "file"):
        with pytest.raises(InputError, match=f"{place} exists and was not made by this command: choose another folder"):
            graph().save(tmp_path / place, force=True)
    assert (tmp_path / "strange" / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("exchange", [True, False])
def test_a_failure_leaves_what_was_there(exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not exchange:
        monkeypatch.setattr(atomic, "_exchange", lambda first, second: False)
    graph("old").save(tmp_path / "films")

    def fail(graph: KnowledgeGraph) -> None:
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(storage, "_header", fail)
        for place in ("films", "other"):
            with pytest.raises(RuntimeError, match="the disk is full"):
                graph("new").save(tmp_path / place, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["films"]
    assert KnowledgeGraph.open(tmp_path / "films").name == "old"
    graph("new").save(tmp_path / "films", force=True)
    assert KnowledgeGraph.open(tmp_path / "films").name == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["films"]


def test_without_an_exchange_a_failed_move_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "_exchange", lambda first, second: False)
    graph("old").save(tmp_path / "films")
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if self.suffix == ".part" and target.name == "films":
            raise OSError("no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(InputError, match=r"films: cannot be written \(no\)"):
        graph("new").save(tmp_path / "films", force=True)
    assert KnowledgeGraph.open(tmp_path / "films").name == "old"


@pytest.mark.parametrize("exchange", [True, False])
def test_a_link_stays_and_the_folder_behind_it_is_replaced(
    exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exchange:
        monkeypatch.setattr(atomic, "_exchange", lambda first, second: False)
    (tmp_path / "disk").mkdir()
    (tmp_path / "films").symlink_to(tmp_path / "disk" / "films")
    for name in ("first", "second"):
        graph(name).save(tmp_path / "films", force=True)
        assert KnowledgeGraph.open(tmp_path / "disk" / "films").name == name
        assert (tmp_path / "films").is_symlink()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "films"]
        assert [path.name for path in (tmp_path / "disk").iterdir()] == ["films"]


def test_a_ring_of_links_is_no_place(tmp_path: Path) -> None:
    (tmp_path / "films").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "films")
    with pytest.raises(InputError, match=r"films: cannot be written \("):
        graph("new").save(tmp_path / "films", force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["films", "other"]


def test_a_folder_has_the_rights_that_the_user_gives_new_ones(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        graph().save(tmp_path / "films")
    finally:
        os.umask(before)
    assert (tmp_path / "films").stat().st_mode & 0o777 == 0o750


def test_the_folder_one_is_in_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for force in (False, True):
        with pytest.raises(InputError, match=r"^\. is this folder or one above it"):
            graph().save(".", force=force)
    assert list(tmp_path.iterdir()) == []


def test_parents_are_made_and_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    graph().save(tmp_path / "a" / "b" / "films")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be written"):
        graph().save(tmp_path / "file" / "films")


def test_what_is_no_saved_graph(tmp_path: Path) -> None:
    with pytest.raises(GraphFileError, match=r"not a saved graph: graph\.json cannot be read \(No such file"):
        KnowledgeGraph.open(tmp_path)
    header = tmp_path / "graph.json"
    for content in ("{", "[]", '{"format": "other"}'):
        header.write_text(content)
        with pytest.raises(GraphFileError, match=r"graph\.json: not the header of a saved graph"):
            KnowledgeGraph.open(tmp_path)


def test_another_version_is_refused(tmp_path: Path) -> None:
    path = graph().save(tmp_path / "films") / "graph.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 99}))
    reseal(path.parent)
    with pytest.raises(GraphFileError, match="version 99, expected 1: import the graph again with this version"):
        KnowledgeGraph.open(tmp_path / "films")


@pytest.mark.parametrize(
    ("file", "content"),
    [("triples/train.npy", b""), ("triples/train.npy", b"\x93NUMPY"), ("triples/train.npy", None)],
)
@pytest.mark.parametrize("resealed", [False, True])
def test_damaged_triples(file: str, content: bytes | None, resealed: bool, tmp_path: Path) -> None:
    path = graph().save(tmp_path / "films") / file
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    if resealed:
        reseal(tmp_path / "films")
    with pytest.raises(DamagedError, match=r"train\.npy .*: the saved graph is damaged: import it again"):
        KnowledgeGraph.open(tmp_path / "films")


def test_triples_of_the_wrong_shape(tmp_path: Path) -> None:
    np.save(graph().save(tmp_path / "films") / "triples" / "train.npy", np.zeros((2, 3), np.int32))
    reseal(tmp_path / "films")
    with pytest.raises(DamagedError, match=r"has the shape \(2, 3\), expected \(3, 3\)"):
        KnowledgeGraph.open(tmp_path / "films")


def test_damaged_names_and_index(tmp_path: Path) -> None:
    folder = graph().save(tmp_path / "films")
    (folder / "entities.arrow").write_bytes(b"ARROW1")
    (folder / "index" / "train" / "tails.npy").unlink()
    with pytest.raises(DamagedError, match=r"entities\.arrow has 6 bytes, and [\d,]+ were saved: the saved graph is"):
        KnowledgeGraph.open(folder)
    reseal(folder)
    opened = KnowledgeGraph.open(folder)
    with pytest.raises(DamagedError, match=r"entities\.arrow cannot be read"):
        opened.vocabulary.entity(0)
    with pytest.raises(DamagedError, match=r"tails\.npy was not saved with the rest"):
        opened.graph("train")
    assert opened.graph("valid").edges == 8


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"name": None}, "'name' is not text"),
        ({"entities": -1}, "'entities' is not a count"),
        ({"relations": True}, "'relations' is not a count"),
        ({"labels": "yes"}, "'labels' is not true or false"),
        ({"splits": []}, "'splits' is not an object of counts"),
        ({"splits": {"train": "3"}}, "'splits' is not an object of counts"),
        ({"splits": {}}, "'train' is missing"),
        ({"fingerprint": ...}, "'fingerprint' is missing"),
        ({"report": None}, "'report' is not an object"),
    ],
)
def test_a_header_that_others_have_changed(changed: dict[str, object], problem: str, tmp_path: Path) -> None:
    path = graph().save(tmp_path / "films") / "graph.json"
    header = {**json.loads(path.read_text()), **changed}
    path.write_text(json.dumps({name: value for name, value in header.items() if value is not ...}))
    reseal(path.parent)
    with pytest.raises(GraphFileError, match=rf"graph\.json: the header of the saved graph is damaged: {problem}$"):
        KnowledgeGraph.open(tmp_path / "films")


@pytest.mark.parametrize("report", [{}, {"notes": -1}, {"lines": "x", "notes": [3], "later": 1}])
def test_what_is_told_of_the_reading_is_not_needed(report: dict[str, object], tmp_path: Path) -> None:
    path = graph().save(tmp_path / "films") / "graph.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "report": report}))
    reseal(path.parent)
    assert KnowledgeGraph.open(tmp_path / "films").report.lines == 0


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(InputError, match=r"films: cannot be written \(No space left on device\)$"):
        graph().save(tmp_path / "films")
    assert not list(tmp_path.iterdir())
