"""`pathformer index`: backends, an engine's index, another one in its place."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from support import command_line
from support.engines import engine_over

from pathformer.engine.engine import load
from pathformer.errors import ConfigError, InputError, UnknownPluginError
from pathformer.fitting.reindex import reindex, sample_query_points
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build

run = partial(command_line.run, "index")


QUESTION = "?x : r0(e3, ?v) & r1(?v, ?x)"


@pytest.fixture
def folder(small_graph_triples: dict[str, list[tuple[str, str, str]]], tmp_path: Path) -> Path:
    """An engine over a random graph whose model was never trained."""
    kg = KnowledgeGraph.from_triples(small_graph_triples["train"], name="small")
    torch.manual_seed(0)
    names = kg.vocabulary
    settings = {"dim": 16, "layers": 1, "heads": 2}
    model = build("pathformer", settings, entities=names.entity_count, relations=names.relation_count)
    return engine_over(kg, model, about={"note": "toy"}).save(tmp_path / "engine")


def test_backends_are_listed_with_their_options() -> None:
    listed = run()
    assert re.findall(r"^(\w+) ", listed, re.MULTILINE) == ["exact", "hnsw", "lsh"]
    assert "recall=0.98, bits=0" in listed


def test_an_index_is_shown(folder: Path) -> None:
    shown = run(folder)
    assert shown.startswith("exact over 50 entities, by the L1 norm\n")


@pytest.mark.parametrize("backend", ["lsh", "hnsw", "exact"])
def test_an_index_takes_the_place_of_another(folder: Path, backend: str) -> None:
    before = load(folder).ask(QUESTION, top=5, why=False)
    built = run(folder, "--backend", backend)
    assert f"{backend} over 50 entities, by the L1 norm" in built
    engine = load(folder)
    assert engine.index.name == backend
    assert engine.about == {"note": "toy"}
    after = engine.ask(QUESTION, top=5, why=False)
    assert [answer.entity for answer in after] == [answer.entity for answer in before]
    assert run(folder).startswith(f"{backend} over 50")


def test_options_are_taken_and_kept(folder: Path) -> None:
    assert "bits = 128" in run(folder, "--backend", "lsh", "bits=128", "recall=0.9")
    config = load(folder).index.config
    assert (config.bits, config.recall) == (128, 0.9)
    assert "recall@10 on a sample = " in run(folder)


def test_tuned_on_questions_of_its_own_graph(folder: Path) -> None:
    engine = load(folder)
    points = sample_query_points(engine.kg, engine.encoder, count=8)
    assert points.shape == (48, 16)
    assert np.array_equal(points, sample_query_points(engine.kg, engine.encoder, count=8))
    assert reindex(engine, "lsh").kg is engine.kg


def test_what_is_wrong_is_said(folder: Path) -> None:
    for kind, message, arguments in (
        (UnknownPluginError, "no index 'lhs'; closest: 'lsh'", (folder, "--backend", "lhs")),
        (ConfigError, "no setting 'bit'; closest: 'bits'", (folder, "--backend", "lsh", "bit=64")),
        (ConfigError, "bits must be a multiple of 64, got 100", (folder, "--backend", "lsh", "bits=100")),
        (InputError, "'bits=64' .* --backend", (folder, "bits=64")),
        (InputError, f"`pathformer index {folder} --backend lsh bits=64`", (folder, "lsh", "bits=64")),
        (InputError, "`pathformer index 'my films' --backend exact`", ("my films", "exact")),
        (InputError, "'lsch' .* exact, hnsw, lsh with --backend", (folder, "lsch")),
        (InputError, "`pathformer index ENGINE --backend lsh`", ("--backend", "lsh")),
    ):
        with pytest.raises(kind, match=message):
            run(*arguments)
    assert load(folder).index.name == "exact"
