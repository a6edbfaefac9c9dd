"""A model card: every part is there, every figure is a given one, and what nobody said is told as not known."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import pathformer as pf
from pathformer.engine.card import Card, Kept, with_averages
from pathformer.engine.card_facts import card_of, licence_of, notices_of
from pathformer.engine.compare import cost_of, held_out_queries
from pathformer.engine.cost import Cost
from pathformer.engine.engine import Engine
from pathformer.engine.release import priced, released
from pathformer.engine.storage import EXTRAS
from pathformer.index import build as build_index
from pathformer.kg.datasets import datasets, load
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models import build
from pathformer.query.structures import EPFO, EPFO_TRAINED
from pathformer.toml import NONE

PARTS = ["Data", "Training", "Figures", "Released form", "What it cannot do", "How to use it", "Settings"]
COST = Cost(
    form="int8",
    queries={"1p": 20, "2p": 30},
    full={"1p": 40.0, "2p": 10.0},
    released={"1p": 39.5, "2p": 10.004},
    shared=97.25,
)
CARD = Card(
    name="films, 5 min",
    graph="films",
    entities=1_800,
    relations=4,
    triples={"train": 20_000, "test": 10},
    licence="CC0",
    method="pathformer",
    tables=500,
    network=7_000,
    settings={"model.dim": 16, "model.space": "sphere", "training.minutes": None},
    trained=EPFO_TRAINED,
    trained_on="drawn by hand",
    judged_on="released queries",
    weights="best, step 9",
    figures={name: 10.0 + place for place, name in enumerate(EPFO)},
    beside={"paper": {"1p": 9.0, "2p": 12.5, "avg": 15.25}},
    seed=7,
    steps=12_345,
    seconds=95.0,
    memory_gb=2.25,
    machine="NVIDIA H200",
    commit="abc1234",
    version="0.1",
    date="2026-11-16",
    probabilities="Its probabilities hold.",
    remark="Interrupted once.",
    notes=["Rare relations are hardly learned."],
    kept=Kept(form="int8", bytes_before=4_000_000, bytes_after=1_100_000, cost=COST),
    commands=["pathformer ask FOLDER '?x : a(b, ?x)'"],
)


def titles(page: str) -> list[str]:
    return re.findall(r"^## (.+)$", page, re.MULTILINE)


def test_every_part_is_there_and_every_fact() -> None:
    page = CARD.markdown()
    assert page.startswith("# films, 5 min\n")
    assert titles(page) == PARTS
    for fact in (
        "1,800 entities, 4 relations; triples: train 20,000, test 10", "licence of the data: CC0",
        "trained on: drawn by hand", "judged on: released queries", "structures trained: 1p, 2p, 3p, 2i, 3i",
        "method: pathformer, 7,000 numbers in the network, 500 in the tables", "weights: best, step 9",
        "seed: 7", "steps: 12,345",
        "time: 1:35 min", "most memory: 2.2 GB on the card", "machine: NVIDIA H200", "commit: abc1234",
        "version: 0.1", "date: 2026-11-16", "- remark: Interrupted once.", "- Rare relations are hardly learned.",
        "- Its probabilities hold.",
        "pathformer ask FOLDER", 'model.space = "sphere"\n', "training.minutes = \"none\"\n",
    ):  # fmt: skip
        assert fact in page, fact


def test_settings_are_toml_that_reads_back() -> None:
    [written] = re.findall(r"^```toml\n(.*?)^```", CARD.markdown(), re.MULTILINE | re.DOTALL)
    assert tomllib.loads(written)["training"] == {"minutes": NONE}


def test_figures_stand_beside_the_papers() -> None:
    page = CARD.markdown()
    assert "| structure | trained | MRR | paper | difference |" in page
    assert "| 1p | yes | 10.0 | 9.0 | +1.0 |" in page
    assert "| 2p | yes | 11.0 | 12.5 | -1.5 |" in page
    assert "| ip | no | 15.0 |  |  |" in page
    assert "| avg |  | 14.0 | 15.2 | -1.2 |" in page
    assert "a triple it was not shown; avg is the mean without negation." in page
    assert "not shown." in replace(CARD, figures={"1p": 10.0}, beside={}).markdown()
    assert "- Below the paper on 2p." in page


def test_what_a_form_costs_is_said_with_the_sizes() -> None:
    page = CARD.markdown()
    assert "Weights in int8: 1.1 MB in place of 4.0 MB (28 %)." in page
    assert "nearest entities are searched in bf16." in page
    assert "is 24.75 in place of 25.00 %, and 97.2 % of the 10 best predictions are the same." in page
    assert "| 1p | 20 | 40.00 | 39.50 | -0.50 |" in page
    assert "| 2p | 30 | 10.00 | 10.00 | +0.00 |" in page
    assert "| mean | 50 | 25.00 | 24.75 | -0.25 |" in page
    assert CARD.kept is not None
    untold = replace(CARD, kept=replace(CARD.kept, cost=None)).markdown()
    assert "What that costs in MRR was not measured." in untold
    assert titles(replace(CARD, kept=None).markdown()) == [part for part in PARTS if part != "Released form"]


def test_what_nobody_said_is_not_known() -> None:
    page = Card(name="bare", graph="bare").markdown()
    for line in (
        "- licence of the data: not known to the program", "- trained on: not known", "- judged on: nothing",
        "- seed: not known", "- time: not known", "- most memory: not known", "- machine: not known",
        "- method: not known\n", "- commit: not known", "Nothing was measured.", "an unknown number of entities",
        "- How good its predictions are is not known", "- Whether its probabilities hold was not measured.",
    ):  # fmt: skip
        assert line in page, line
    assert not re.search(r"\bNone\b", page)
    held = replace(CARD, figures={}, kept=None).markdown()  # of a run that was not tested, though it could be
    assert "- How good its predictions are is not known: no test queries were ranked.\n" in held
    late = replace(CARD, before=61.0, together=5).markdown()
    first = "after 1:01 min of the run that its tables start from"
    assert f"- time: 1:35 min, on a device shared by up to 5 runs, {first}\n" in late


def test_what_it_cannot_do_follows_from_what_it_was_trained_on() -> None:
    page = CARD.markdown()
    assert "- It never saw a negation while it was trained" in page
    assert "- It never saw these kinds of question while it was trained: ip, pi, 2u, up." in page
    seen = replace(CARD, trained=(*EPFO, "2in")).markdown()
    assert "It never saw" not in seen
    assert "It cannot take a negation" in replace(CARD, negation=False).markdown()


def test_a_release_learns_nothing_more_and_other_cards_promise_nothing() -> None:
    more = "- It learns nothing more: its weights were rounded, and `pathformer fit --update` takes"
    assert more in CARD.markdown()
    assert "--update" not in replace(CARD, kept=None).markdown()  # of a run, which is no engine


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
    index = build_index("exact", model.entities.weight.detach(), model.space)
    small = released(Engine(split_engine.kg, model, index).parts, "int8")
    assert f"nearest entities are searched in {searched}." in small.files["MODEL_CARD.md"].decode()


def test_what_the_release_measured_is_not_called_unknown() -> None:
    page = replace(CARD, figures={}).markdown()
    assert "The test queries were not ranked." in page
    assert "Nothing was measured" not in page
    assert "How good its predictions are" not in page


def test_averages_are_of_whole_groups() -> None:
    assert with_averages({"1p": 1.0, "avg": 9.9}) == {"1p": 1.0}
    assert with_averages(dict.fromkeys(EPFO, 2.0))["avg"] == 2.0


def test_a_section_of_a_page_has_deeper_titles() -> None:
    assert CARD.markdown(level=2).startswith("## films, 5 min\n")
    assert "\n### Data\n" in CARD.markdown(level=2)


@pytest.fixture(scope="module")
def split_engine(small_graph_triples: dict[str, list[tuple[str, str, str]]]) -> Engine:
    parts = (small_graph_triples[part] for part in ("train", "valid", "test"))
    kg = KnowledgeGraph.from_triples(*parts, name="small")
    names = kg.vocabulary
    torch.manual_seed(0)
    settings = {"dim": 16, "layers": 1, "heads": 2}
    model = build("pathformer", settings, entities=names.entity_count, relations=names.relation_count)
    return Engine(kg, model, build_index("exact", model.entities.weight.detach(), model.space), about={"seed": 3})


def test_a_release_says_what_it_costs_in_card_report_and_file(split_engine: Engine, tmp_path: Path) -> None:
    full = Engine(
        split_engine.kg, split_engine.model, split_engine.index, about={"seed": 3}, files={"report.md": b"# x\n"}
    )
    small = released(full.parts, "int8")
    held = held_out_queries(full, 12, ["1p", "2p", "2in"])
    assert set(held) == {"1p", "2p", "2in"}
    assert len(held["2p"]) == 12
    cost = cost_of(full, Engine.of(small), held)
    assert cost.shared > 90.0
    assert all(abs(cost.full[name] - cost.released[name]) < 2.0 for name in held)
    opened = pf.load(Engine.of(priced(small, cost)).save(tmp_path / "small"))
    page = opened.files["MODEL_CARD.md"].decode()
    assert cost.sentence() in page
    assert opened.files["report.md"].decode().startswith("# x\n\n## In released form\n")
    kept = json.loads(opened.files["release.json"])
    assert kept["cost"]["full"] == cost.full
    assert kept["bytes"]["int8"] < 0.5 * kept["bytes"]["full"]
    assert "was not measured" in small.files["MODEL_CARD.md"].decode()


def test_a_fitted_engine_says_how_to_fit_it_again(split_engine: Engine) -> None:
    def commands(kg: KnowledgeGraph, **about: object) -> list[str]:
        names = kg.vocabulary
        sizes = {"entities": names.entity_count, "relations": names.relation_count}
        model = build("pathformer", {"dim": 8, "layers": 1, "heads": 2}, **sizes)
        made = Engine(kg, model, build_index("exact", model.entities.weight.detach(), model.space), about=about)
        return [line for line in card_of(made.parts).markdown().splitlines() if line.startswith("pathformer fit")]

    small, passed = split_engine.kg, {"triples": 5, "steps": 3, "seconds": 1.0, "date": "2026-11-16"}
    assert commands(small, minutes=2.5, seed=7) == ["pathformer fit TRIPLES --minutes 2.5 --seed 7 --out FOLDER"]
    assert commands(small, minutes=0.5, seed=0, updates=[{**passed, "triples": 1234}, passed])[1:] == [
        "pathformer fit --update FOLDER NEW  # 1,234 triples",
        "pathformer fit --update FOLDER NEW  # 5 triples",
    ]
    assert commands(load("world"), minutes=1.0, seed=0) == ["pathformer fit world --minutes 1 --seed 0 --out FOLDER"]
    assert commands(small, seed=0) == commands(small, minutes=None, seed=0) == []  # by settings of somebody's own
    lsh = build_index("lsh", split_engine.model.entities.weight.detach(), split_engine.model.space)
    indexed = Engine(small, split_engine.model, lsh, about={"minutes": 1.0, "seed": 0})
    assert "pathformer fit TRIPLES --index lsh --minutes 1 " in card_of(indexed.parts).markdown()


@pytest.mark.parametrize(
    ("about", "line"),
    [
        ({"commit": "abc1234+"}, "- commit: abc1234+\n"),
        ({"commit": "unknown", "version": "0.3"}, "- commit: none: not made from a checkout\n- version: 0.3\n"),
        ({}, "- commit: not known\n"),
    ],
)
def test_a_fitted_engine_says_what_program_made_it(split_engine: Engine, about: dict[str, str], line: str) -> None:
    made = Engine(split_engine.kg, split_engine.model, split_engine.index, about=about)
    assert line in card_of(made.parts).markdown()


def test_equal_engines_cost_nothing(split_engine: Engine) -> None:
    cost = cost_of(split_engine, split_engine, held_out_queries(split_engine, 5, ["1p", "2p"]))
    assert cost.full == cost.released
    assert cost.shared == 100.0


def test_without_a_held_out_part_there_is_nothing_to_rank(engine: Engine) -> None:
    assert held_out_queries(engine, 5) == {}


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
