"""What the program computes, kept: a question, a fit, some updates, a benchmark, and every stage of fourteen queries.

Made through command lines and public names alone, so that rooms may move under it. Numbers are compared within a
tolerance, so that another processor may compute them; `make golden` rewrites what differs.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from support import golden
from support.engines import random_triples

import pathformer as pf

STRUCTURES = {
    "1p": "r0(e1, ?x)",
    "2p": "r0(e1, ?v) & r1(?v, ?x)",
    "3p": "r0(e1, ?v) & r1(?v, ?w) & r2(?w, ?x)",
    "2i": "r0(e1, ?x) & r1(e2, ?x)",
    "3i": "r0(e1, ?x) & r1(e2, ?x) & r2(e3, ?x)",
    "ip": "r0(e1, ?v) & r1(e2, ?v) & r2(?v, ?x)",
    "pi": "r0(e1, ?v) & r1(?v, ?x) & r2(e3, ?x)",
    "2u": "r0(e1, ?x) | r1(e2, ?x)",
    "up": "(r0(e1, ?v) | r1(e2, ?v)) & r2(?v, ?x)",
    "2in": "r0(e1, ?x) & !r1(e2, ?x)",
    "3in": "r0(e1, ?x) & r1(e2, ?x) & !r2(e3, ?x)",
    "inp": "r0(e1, ?v) & !r1(e2, ?v) & r2(?v, ?x)",
    "pin": "r0(e1, ?v) & r1(?v, ?x) & !r2(e3, ?x)",
    "pni": "r2(e3, ?x) & !(r0(e1, ?v) & r1(?v, ?x))",
}
METHODS = {
    "pathformer": ["model.dim=16", "model.layers=1", "model.heads=2"],
    "q2b": ["model.dim=16"],
    "betae": ["model.dim=16", "trained=efol", "training.update.objective=softmax"],
    "complex": ["model.rank=8", "trained=links", "training.update.objective=softmax"],
}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small saved graph in three parts, `g`."""
    folder = tmp_path_factory.mktemp("snapshots")
    lines = "".join("\t".join(triple) + "\n" for triple in random_triples())
    script = f"file small.tsv {lines!r}\n$ pathformer import small.tsv --out whole\n$ pathformer split whole --out g\n"
    assert "train          266" in golden.play(script, folder)
    return folder


def answer(one: Any) -> dict[str, Any]:
    """What a user sees of an answer, in names of this test."""
    seen = {"entity": one.entity, "known": one.known, "probability": one.probability, "reason": str(one.reason)}
    return seen | {"rank": one.rank, "score": one.score}


@pytest.mark.parametrize("name", STRUCTURES)
def test_answers(name: str, small_engine: Path) -> None:
    found = pf.load(small_engine).ask(f"?x : {STRUCTURES[name]}", top=5)
    golden.check_values(f"answers/{name}.json", [answer(one) for one in found], relative=2e-3)


def test_the_report_of_a_fit(small_engine: Path) -> None:
    report = json.loads(pf.load(small_engine).files["report.json"])
    parts = ("entities", "relations", "triples", "parameters", "steps", "by_relation", "calibration", "everyday")
    kept = {part: report[part] for part in (*parts, "reasons", "notes", "scores", "frequency")}
    golden.check_values("fit.json", kept, relative=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_the_first_updates(method: str, work: Path) -> None:
    """The losses of the first update, and the weights and the validation after eight."""
    settings = [f"method={method}", *METHODS[method], "training.steps=8", "training.batch=16"]
    run = [*settings, "training.validations=1", "training.update.rate=0.02", "valid_queries=10"]
    (work / "run.toml").write_text('dataset = "g"\nqueries = "drawn"\n', encoding="utf-8")
    shown = golden.play(f"$ pathformer train run.toml {' '.join(run)} --out {method} --device cpu --no-test\n", work)
    assert "8 steps in " in shown, shown
    rows = [json.loads(line) for line in (work / method / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    first = {name: value for name, value in rows[0].items() if name.startswith("loss")}  # later rows are means by time
    weights = load_file(work / method / "last.safetensors")
    norms = {n: float(np.linalg.norm(part)) for n, part in sorted(weights.items()) if n.startswith("model.")}
    valid = [{k: v for k, v in row.items() if k.startswith("valid")} for row in rows if "valid/mrr" in row]
    golden.check_values(f"updates/{method}.json", {"first": first, "norms": norms, "valid": valid}, relative=3e-3)


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_stage_of_a_query(name: str, tmp_path: Path) -> None:
    """As text and as a picture; nothing is left of it to chance."""
    text = golden.play(f"$ pathformer explain '?x : {STRUCTURES[name]}' --svg query.svg\n", tmp_path)
    golden.check_text(f"explain/{name}.txt", text)
    golden.check_text(f"explain/{name}.svg", (tmp_path / "query.svg").read_text(encoding="utf-8"))


def test_a_benchmark_that_is_drawn_and_recomputed(work: Path) -> None:
    """The same seed draws the same queries, bit by bit, and each of their answers is recomputed."""
    script = "$ pathformer sample g --out queries --count 10 --train-count 10\n$ pathformer verify queries --graph g\n"
    golden.check_text("benchmark.txt", golden.play(script, work))
    drawn = {}
    for file in sorted((work / "queries").glob("*.npz")):
        with np.load(file) as arrays:
            bits = b"".join(np.ascontiguousarray(arrays[name]).tobytes() for name in sorted(arrays.files))
        drawn[file.stem] = hashlib.sha256(bits).hexdigest()[:16]
    golden.check_values("benchmark.json", drawn)
