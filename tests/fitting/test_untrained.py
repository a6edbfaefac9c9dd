"""Facts come and go without training: all but the embeddings follows the graph, and the next update learns it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from support.engines import random_triples, tiny_engine

import pathformer as pf
from pathformer.engine.storage import UNTRAINED
from pathformer.errors import InputError
from pathformer.fitting.report import FitReport
from pathformer.links.evidence.counts import Counts
from pathformer.links.evidence.embedding import Embedding
from pathformer.links.evidence.linear import Linear

TRIPLES = random_triples()
NEW = [("fresh", "r0", "e1"), ("fresh", "r1", "e2"), ("e3", "r2", "fresh"), ("e4", "x", "e5"), ("e1", "r3", "e1")]
GONE = TRIPLES[50:90]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "engine"
    tiny_engine(TRIPLES, "toy", out=out)
    return out


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """An engine of one's own to change."""
    shutil.copytree(made, tmp_path / "engine")
    return tmp_path / "engine"


def graph_of(triples: list[tuple[str, str, str]]) -> pf.KnowledgeGraph:
    return pf.KnowledgeGraph.from_triples(triples)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def known(engine: pf.Engine, question: str) -> set[str]:
    return {answer.entity for answer in engine.ask(question, top=0, known=True)}


def check_follows(engine: pf.Engine, facts: set[tuple[str, str, str]]) -> None:
    """Compares an engine with one of the same facts, made anew: known answers, and evidence that needs no training."""
    anew = pf.Engine(graph_of(sorted(facts)))
    names = list(anew.kg.vocabulary.entities)
    relations = list(anew.kg.vocabulary.relations)
    for entity, relation in product(names[::5], relations):
        for question in (f"?x : {relation}({entity}, ?x)", f"?x : {relation}(?y, {entity}) & r1(?y, ?x)"):
            assert known(engine, question) == known(anew, question)
    assert engine.links is not None
    graph, heads = engine.kg.graph(), np.arange(engine.kg.vocabulary.entity_count)
    assert graph.entities == engine.links.graph.entities
    own = {type(source): source for source in engine.links.sources}
    for kind, fresh in ((Linear, Linear.of(graph)), (Counts, Counts(graph))):
        for relation in range(graph.relations):
            assert np.allclose(own[kind].rows(heads, relation), fresh.rows(heads, relation), atol=1e-6)


def test_everything_but_embeddings_follows_the_graph(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, facts = pf.load(folder), set(TRIPLES)
    report = FitReport.from_json(old.files["report.json"].decode())
    pf.update(folder, graph_of(NEW), train=False)
    facts |= set(NEW)
    assert "Added 5 new triples with 1 new entity and 1 new relation in " in capsys.readouterr().err
    check_follows(pf.load(folder), facts)
    pf.update(folder, remove=graph_of([*GONE, ("e1", "r0", "nobody")]), train=False)
    facts -= set(GONE)
    told = capsys.readouterr().err
    assert "The engine has 40 of the 41 triples to take away." in told
    assert "Took away 40 triples in " in told
    pf.update(folder, graph_of(GONE[:3]), remove=graph_of(NEW[:1]), train=False, progress=False)
    facts = (facts | set(GONE[:3])) - set(NEW[:1])
    engine = pf.load(folder)
    check_follows(engine, facts)
    [answer] = engine.ask("?x : x(e4, ?x)", top=0)
    assert answer.status == "known"
    before, after = embedding(old), embedding(engine)
    assert np.array_equal(after.entities[:-1], before.entities)
    assert not np.allclose(after.entities[-1], before.entities.mean(axis=0))  # its links say where it starts
    assert not after.relations[-2:].any()  # of a new relation the embedding says nothing
    assert old.links is not None
    assert engine.links is not None
    assert engine.links.mixing.to_json() == old.links.mixing.to_json()
    renewed = FitReport.from_json(engine.files["report.json"].decode())
    assert (renewed.scores, renewed.links, renewed.steps) == (report.scores, report.links, report.steps)
    assert sum(renewed.triples.values()) == len(facts)
    assert renewed.notes[-1].startswith("Since these figures were measured, 8 triples were added and 41 taken away")
    assert [note for note in renewed.notes if note.startswith("Since these")] == [renewed.notes[-1]]


def embedding(engine: pf.Engine) -> Embedding:
    assert engine.links is not None
    return next(source for source in engine.links.sources if isinstance(source, Embedding))


def test_the_next_training_learns_what_was_changed_without(folder: Path) -> None:
    pf.update(folder, graph_of(NEW), remove=graph_of(GONE[:5]), train=False, progress=False)
    waiting = pf.load(folder)
    pf.update(folder, minutes=0.03, progress=False)
    engine = pf.load(folder)
    change = engine.about["updates"][-1]
    assert (change["trained"], change["triples"], change["entities"], change["relations"]) == (True, 5, 1, 1)
    assert UNTRAINED in waiting.files
    assert UNTRAINED not in engine.files
    before, after = embedding(waiting), embedding(engine)
    moved = {int(row) for row in np.flatnonzero((before.entities != after.entities).any(axis=1))}
    find = engine.kg.vocabulary.entities.find
    named = {find(name)[0] for head, _, tail in [*NEW, *GONE[:5]] for name in (head, tail)}
    assert find("fresh")[0] in moved
    assert moved <= named
    report = FitReport.from_json(engine.files["report.json"].decode())
    assert report.links is not None
    assert set(report.links.by_source) == {"embedding", "linear", "counts"}
    assert not [note for note in report.notes if note.startswith("Since these")]
    check_follows(engine, (set(TRIPLES) | set(NEW)) - set(GONE[:5]))
    assert pf.update(folder, progress=False).about["updates"] == engine.about["updates"]  # nothing is left to learn


def test_what_is_not_there_cannot_be_taken_away(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = content(folder)
    for train in (True, False):
        pf.update(folder, remove=graph_of([("no", "r0", "body"), ("no", "such", "e1")]), train=train)
        assert "The engine has none of the 2 triples to take away.\n" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"these are all \d+ triples of toy"):
        pf.update(folder, remove=pf.load(folder).kg, train=False, progress=False)
    assert content(folder) == before


def test_labels_come_without_training(folder: Path) -> None:
    pf.update(folder, graph_of(NEW).with_labels({"fresh": "the new one", "e1": "one"}), train=False, progress=False)
    assert known(pf.load(folder), "?x : r1('the new one', ?x)") == {"e2"}


def test_an_engine_of_links_alone_changes_without_training(folder: Path) -> None:
    engine = pf.load(folder)
    pf.Engine(engine.kg, links=engine.links, about=engine.about).save(folder, force=True)
    with pytest.raises(InputError, match=r"predicts single links alone.* --no-train, or fit the changed graph"):
        pf.update(folder, graph_of(NEW), progress=False)
    pf.update(folder, graph_of(NEW), remove=graph_of(GONE), train=False, progress=False)
    check_follows(pf.load(folder), (set(TRIPLES) | set(NEW)) - set(GONE))


KILLED = """
import os, signal, sys
import pathformer as pf
from pathformer.links.scorer import LinkScorer

def save(self, folder):
    folder.mkdir()
    (folder / "half").write_bytes(b"written")
    os.kill(os.getpid(), signal.SIGKILL)

LinkScorer.save = save
pf.update(sys.argv[1], pf.KnowledgeGraph.from_triples([("new", "r0", "e1")]), train=False, progress=False)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that cannot be caught")
def test_a_kill_while_it_is_written_leaves_the_old_engine_whole(folder: Path) -> None:
    before = content(folder)
    source = str(Path(pf.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], env=os.environ | {"PYTHONPATH": source})
    assert done.returncode == -signal.SIGKILL
    assert content(folder) == before
    assert json.loads(before["engine.json"])["entities"] == pf.load(folder).kg.vocabulary.entity_count
    pf.update(folder, graph_of(NEW), train=False, progress=False)
    check_follows(pf.load(folder), set(TRIPLES) | set(NEW))
