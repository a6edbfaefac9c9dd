"""The card of a release: it says what the header says, what the form costs, and what the model cannot do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch
from support.engines import engine_over

import pathformer as pf
from pathformer.engine.engine import Engine
from pathformer.engine.storage import EXTRAS
from pathformer.fitting.card import licence_of, notices_of
from pathformer.fitting.compare import measure_cost, sample_held_out
from pathformer.fitting.release import add_measured_loss, compress
from pathformer.kg.datasets import datasets, load
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build
from pathformer.query.structures import EFOL_TRAINED, EPFO_TRAINED


def card(engine: Engine, **about: object) -> str:
    """The card of its release in int8, with another header."""
    made = Engine(engine.kg, engine.encoder, engine.index, about=about)
    return compress(made, "int8").files["MODEL_CARD.md"].decode()


def test_a_card_says_how_the_model_was_made(split_engine: Engine) -> None:
    first = {"seed": 7, "steps": 12_345, "seconds": 95.0, "device": "NVIDIA H200", "version": "0.1"}
    page = card(split_engine, **first, commit="abc1234", date="2026-11-16", structures=["1p", "2p"])
    assert page.startswith("# small\n\nA pathformer that answers questions about the graph `small`:")
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == [
        "Training",
        "Released form",
        "What it cannot do",
        "How to ask it",
    ]
    for fact in ("structures trained: 1p, 2p", "seed: 7", "steps: 12,345", "time: 1:35 min", "machine: NVIDIA H200",
                 "version: 0.1", "commit: abc1234", "date: 2026-11-16"):  # fmt: skip
        assert f"- {fact}\n" in page, fact
    assert "- updated" not in page
    assert "pathformer ask FOLDER " in page


def test_what_the_header_does_not_say_is_left_out(split_engine: Engine) -> None:
    page = card(split_engine, commit="unknown")
    assert not any(f"- {name}" in page for name in ("seed", "steps", "time", "machine", "commit", "date", "updated"))


def test_a_card_says_what_the_model_cannot_do(split_engine: Engine) -> None:
    never = "It was not trained on negations"
    assert never in card(split_engine, structures=list(EPFO_TRAINED))
    assert never not in card(split_engine, structures=list(EFOL_TRAINED))
    assert "was not measured" in card(split_engine)
    names = split_engine.kg.vocabulary
    model = build("gqe", {"dim": 8}, entities=names.entity_count, relations=names.relation_count)
    assert "It refuses questions with a negation" in card(engine_over(split_engine.kg, model))


@pytest.mark.parametrize(
    ("settings", "searched"),
    [
        ({}, "bf16"),
        ({"space": "sphere"}, "bf16"),
        ({"space": "hermitian"}, "float32"),
        ({"space": "box"}, "float32"),
    ],
)
def test_a_release_says_what_its_index_searches_in(
    split_engine: Engine, settings: dict[str, str], searched: str
) -> None:
    names = split_engine.kg.vocabulary
    sizes = {"entities": names.entity_count, "relations": names.relation_count}
    model = build("pathformer", {"dim": 16, "layers": 1, "heads": 2, **settings}, **sizes)
    small = compress(engine_over(split_engine.kg, model), "int8")
    assert f"nearest entities are found in {searched}." in small.files["MODEL_CARD.md"].decode()


@pytest.fixture(scope="module")
def split_engine(small_graph_triples: dict[str, list[tuple[str, str, str]]]) -> Engine:
    parts = (small_graph_triples[part] for part in ("train", "valid", "test"))
    kg = KnowledgeGraph.from_triples(*parts, name="small")
    names = kg.vocabulary
    torch.manual_seed(0)
    settings = {"dim": 16, "layers": 1, "heads": 2}
    model = build("pathformer", settings, entities=names.entity_count, relations=names.relation_count)
    return engine_over(kg, model, about={"seed": 3})


def test_a_release_says_what_it_costs_in_card_report_and_file(split_engine: Engine, tmp_path: Path) -> None:
    full = Engine(
        split_engine.kg, split_engine.encoder, split_engine.index, about={"seed": 3}, files={"report.md": b"# x\n"}
    )
    small = compress(full, "int8")
    held = sample_held_out(full, 12, ["1p", "2p", "2in"])
    assert set(held) == {"1p", "2p", "2in"}
    assert len(held["2p"]) == 12
    cost = measure_cost(full, small, held)
    assert cost.shared > 90.0
    assert all(abs(cost.full[name] - cost.released[name]) < 2.0 for name in held)
    opened = pf.load(add_measured_loss(small, cost).save(tmp_path / "small"))
    page = opened.files["MODEL_CARD.md"].decode()
    assert cost.sentence() in page
    assert opened.files["report.md"].decode().startswith("# x\n\n## In released form\n")
    kept = json.loads(opened.files["release.json"])
    assert kept["cost"]["full"] == cost.full
    assert kept["bytes"]["int8"] < 0.5 * kept["bytes"]["full"]
    assert "was not measured" in small.files["MODEL_CARD.md"].decode()


def test_equal_engines_cost_nothing(split_engine: Engine) -> None:
    cost = measure_cost(split_engine, split_engine, sample_held_out(split_engine, 5, ["1p", "2p"]))
    assert cost.full == cost.released
    assert cost.shared == 100.0


def test_without_a_held_out_part_there_is_nothing_to_rank(engine: Engine) -> None:
    assert sample_held_out(engine, 5) == {}


def test_what_must_go_with_the_data_goes_with_them() -> None:
    [(name, words)] = notices_of(load("world")).items()
    assert (name in EXTRAS, b"data of GeoNames" in words, b"UNICODE LICENSE V3" in words) == (True, True, True)
    assert notices_of(KnowledgeGraph.from_triples([("a", "r", "b")], name="world")) == {}
    assert notices_of(KnowledgeGraph.from_triples([("a", "r", "b")], name="mine")) == {}


def test_a_licence_belongs_to_a_graph_and_not_to_its_name() -> None:
    assert licence_of(load("world")) == datasets()["world"].licence
    assert licence_of(KnowledgeGraph.from_triples([("a", "r", "b")], name="world")) == ""
    assert licence_of(KnowledgeGraph.from_triples([("a", "r", "b")], name="umls")) == ""
    assert licence_of(KnowledgeGraph.from_triples([("a", "r", "b")], name="mine")) == ""
