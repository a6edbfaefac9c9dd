"""What the package saves, and the commands that write it: a new kind of save or a new command is one row here.

A row makes two saves that differ (seed 0 and 1), and asks one in such a way that everything in it counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from support import training_toy as toy
from support.engines import random_triples, tiny_settings

import pathformer as pf

__all__ = ["COMMANDS", "READS_ONLY", "ROWS", "Command", "Row"]

QUESTIONS = ("?x : r1(e3, ?y) & r2(?y, ?x)", "?x : r0(e1, ?x) & !r2(e5, ?x)", "?x : r2(e4, ?x)", "?x : r3(?x, e7)")


@dataclass(frozen=True)
class Row:
    """A kind of save."""

    kind: str  # of its manifest
    make: Callable[[Path, int], Path]  # a folder that is free, a seed
    ask: Callable[[Path], Any]  # plain values that depend on everything in it


@dataclass(frozen=True)
class Command:
    """A command that writes."""

    arguments: tuple[str, ...]  # {graph} {engine} {run} {facts} are there, {out} is the folder that it writes
    kind: str  # of save that it leaves in {out}, or that it needs
    changes: str = ""  # the name above that {out} starts as a copy of


def _graph_of(seed: int) -> pf.KnowledgeGraph:
    kg = pf.KnowledgeGraph.from_triples(random_triples(seed=seed), name="small").split(0.1, 0.1, seed=seed)
    return kg.with_labels([f"label {place}" for place in range(kg.vocabulary.entity_count)])


def _make_graph(folder: Path, seed: int) -> Path:
    return _graph_of(seed).save(folder)


def _ask_graph(folder: Path) -> Any:
    kg = pf.KnowledgeGraph.open(folder)
    names = kg.vocabulary
    ids = [names.entity_id(name) for name in names.entities]
    indexes = [
        [getattr(kg.graph(split), part).tolist() for part in ("head_ptr", "pair_relation", "pair_ptr", "tails")]
        for split in kg.splits
    ]
    return [kg.to_table().to_pylist(), [names.label(e) for e in ids], ids, indexes, kg.fingerprint(), str(kg.report)]


@cache
def _learned(seed: int) -> pf.Engine:
    kg = _graph_of(0)  # the same graph: what differs is what was learned
    return pf.fit(kg, settings=tiny_settings(kg, 4), progress=False, device="cpu", seed=seed)


def _make_engine(folder: Path, seed: int) -> Path:
    return _learned(seed).save(folder)


def _make_with(backend: str, *options: str) -> Callable[[Path, int], Path]:
    def make(folder: Path, seed: int) -> Path:
        from pathformer.fitting.reindex import reindex

        return reindex(_learned(seed), backend, options).save(folder)

    return make


def _make_release(folder: Path, seed: int) -> Path:
    from pathformer.fitting.release import compress

    return compress(_learned(seed), "int8").save(folder)


def _ask_engine(folder: Path) -> Any:
    engine = pf.load(folder)
    told = [engine.ask(question, top=5).to_json() for question in QUESTIONS]
    files = {name: hashlib.sha256(content).hexdigest() for name, content in engine.files.items()}
    return [told, files, engine.about, engine.calibration.to_json(), repr(engine)]


def _make_queries(layout: str) -> Callable[[Path, int], Path]:
    def make(folder: Path, seed: int) -> Path:
        from pathformer.querysets.protocol import Protocol, sample_benchmark

        kg = _graph_of(seed)
        return sample_benchmark(kg, Protocol(evaluated=5, train=20, seed=seed)).save(folder, layout, kg=kg)

    return make


def _ask_queries(folder: Path) -> Any:
    from pathformer.querysets.query_sets import read_folder

    found = read_folder(folder)
    parts: dict[str, Any] = {}
    for split, queries in found.splits.items():
        for name, part in queries.items():
            answers = [(a.ptr.tolist(), a.values.tolist()) for a in (part.easy, part.hard) if a is not None]
            parts[f"{split} {name}"] = [part.ids.tolist(), answers]
    return [parts, found.graph, found.fingerprint, dict(found.origin)]


def _make_run(folder: Path, seed: int) -> Path:
    from pathformer.experiments.run import train_run
    from pathformer.experiments.settings import read_run

    graph = folder.with_name(f"{folder.name}-graph")
    toy.save_graph(graph)
    few = ["training.steps=4", "training.validations=2", f"training.seed={seed}", "model.dim=8", "model.layers=1"]
    run = read_run(None, [f"dataset={graph}", "queries=drawn", "model.heads=2", *few])
    train_run(run, folder, device="cpu", display=toy.quiet())
    return folder


def _digest_of(file: Path) -> Any:
    from pathformer.training import checkpoint

    saved = checkpoint.read(file)
    tensors = {name: hashlib.sha256(t.numpy().tobytes()).hexdigest() for name, t in saved.tensors.items()}
    return [tensors, json.loads(json.dumps(saved.facts))]


def _ask_run(folder: Path) -> Any:
    from pathformer.experiments.evaluate_run import find_checkpoint

    return [find_checkpoint(folder).name, *(_digest_of(folder / f"{name}.safetensors") for name in ("best", "last"))]


class _StoppedError(Exception):
    pass


def _make_fit(folder: Path, seed: int) -> Path:
    """An unfinished fit: all that a fit leaves that was stopped while it measured."""
    with suppress(_StoppedError):
        _fit_again(folder, seed, stop=True)
    return folder.parent / f".{folder.name}.fit"


def _ask_fit(folder: Path) -> Any:
    target = folder.parent / folder.name.removeprefix(".").removesuffix(".fit")
    try:
        return _fit_again(target, 0, stop=True)
    except _StoppedError as stop:
        return stop.args[0]


def _fit_again(target: Path, seed: int, *, stop: bool) -> Any:
    from pathformer.fitting.evidence import learn_sources
    from pathformer.fitting.heldout import draw_questions, load_or_draw
    from pathformer.fitting.learn import learn, new_model, time_for_training
    from pathformer.fitting.workspace import open_workspace
    from pathformer.nn.device import choose_device
    from pathformer.training.budget import TimeBudget

    kg = _graph_of(0)
    settings = tiny_settings(kg, 4)
    if seed:  # another fit's files: of the same shape, with other content
        settings = replace(settings, held_out_per_structure=9, trained_per_structure=49)
    with open_workspace(target, kg, settings) as folder:
        questions = load_or_draw(folder, kg, lambda: draw_questions(kg, settings))
        timed = time_for_training(settings, TimeBudget(), folder)
        device, quiet = choose_device("cpu"), toy.quiet()
        start = learn_sources(folder, kg, questions, timed, device, quiet).start
        result = learn(folder, new_model(kg, settings, device), kg, questions, timed, quiet, start=start)
        rows = {f"{s} {n}": q.ids.tolist() for s, part in questions.splits.items() for n, q in part.items()}
        told = [rows, _digest_of(result.best or result.last), _digest_of(result.last)]
        if stop:
            raise _StoppedError(told)
    return told


ROWS = {
    "graph": Row("graph", _make_graph, _ask_graph),
    "engine": Row("engine", _make_engine, _ask_engine),
    "engine with lsh": Row("engine", _make_with("lsh"), _ask_engine),
    "engine with hnsw": Row("engine", _make_with("hnsw"), _ask_engine),
    "release": Row("engine", _make_release, _ask_engine),
    "index": Row("index", lambda folder, seed: _make_index(folder, seed), lambda folder: _ask_index(folder)),
    "queries": Row("queries", _make_queries("columns"), _ask_queries),
    "queries for others": Row("queries", _make_queries("betae"), _ask_queries),
    "run": Row("run", _make_run, _ask_run),
    "unfinished fit": Row("fit", _make_fit, _ask_fit),
}


def _make_index(folder: Path, seed: int) -> Path:
    import numpy as np

    from pathformer.index._base import build

    return build("exact", np.random.default_rng(seed).random((300, 16), np.float32), "cosine").save(folder)


def _ask_index(folder: Path) -> Any:
    import numpy as np

    from pathformer.index._base import load

    index = load(folder)
    found = index.nearest(np.random.default_rng(7).random((40, 16), np.float32), 300)
    return [found.ids.tolist(), found.distances.tolist(), len(index), str(index.about)]


COMMANDS = {
    "import": Command(("import", "{facts}", "--out", "{out}", "--force"), "graph"),
    "split": Command(("split", "{graph}", "--out", "{out}", "--force"), "graph"),
    "sample": Command(
        ("sample", "{graph}", "--out", "{out}", "--count", "5", "--train-count", "20", "--force"), "queries"
    ),
    "fit": Command(("fit", "{facts}", "--out", "{out}", "--minutes", "0.05", "--device", "cpu", "--force"), "engine"),
    "index": Command(("index", "{out}", "--backend", "lsh"), "engine", changes="engine"),
    "release": Command(("release", "{engine}", "{out}", "--no-measure", "--force"), "engine"),
    "check": Command(("check", "{out}", "--repair"), "engine", changes="damaged"),
    "predict": Command(("predict", "{engine}", "r1", "--out", "{out}.csv", "--force"), "engine"),
    "train": Command(("train", "{toml}", "--out", "{out}", "--device", "cpu"), "run"),
}
# These write no save: what they print, or a single file that is named (explain --svg), can be made again at once.
READS_ONLY = frozenset({"ask", "bench", "datasets", "demo", "evaluate", "explain", "models", "tables", "verify"})
