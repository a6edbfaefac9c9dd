"""Sizes that fit a graph and a machine: each bound binds, and what fits nowhere is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pathformer.fitting.fit import fit
from pathformer.fitting.settings import Size, memory_of, settings_for, size_for
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build
from pathformer.training.recipes.fast import fast

GIB = 1 << 30
TABLES, READ = 24, 8  # bytes, as in the module


@pytest.mark.parametrize(
    ("entities", "minutes", "memory", "size"),
    [
        (14_505, 5.0, 80, Size(1000, 2560)),  # FB15k-237: the recipe's own
        (63_361, 5.0, 80, Size(1000, 2560)),  # NELL995
        (63_361, 5.0, 16, Size(1000, 2560)),
        (63_361, 1.0, 80, Size(400, 2560)),  # in a minute a narrower one is learned
        (63_361, 5.0, 4, Size(400, 1280)),  # on a small card both are smaller
        (135, 5.0, 80, Size(64, 2560)),  # UMLS has few entities
        (2_034, 5.0, 80, Size(400, 2560)),  # CoDEx-S
        (1_000_000, 5.0, 139, Size(128, 2560)),
        (1_000_000, 5.0, 24, Size(128, 640)),
        (1_000_000, 5.0, 8, None),  # what hops read does not fit
        (1_000_000, 1.0, 139, None),  # not to be learned in the time
        (1_000_001, 5.0, 139, None),
    ],
)
def test_on_a_card(entities: int, minutes: float, memory: int, size: Size | None) -> None:
    assert size_for(entities=entities, minutes=minutes, cuda=True, memory=memory * GIB) == size


@pytest.mark.parametrize(
    ("entities", "minutes", "size"),
    [
        (2_034, 2.0, Size(128, 512)),  # CoDEx-S
        (2_034, 1.0, Size(64, 512)),
        (135, 5.0, Size(64, 512)),  # UMLS
        (20_000, 5.0, Size(64, 512)),
        (20_000, 0.1, Size(64, 512)),
        (20_000, 20.0, Size(128, 512)),
        (20_001, 60.0, None),
    ],
)
def test_on_a_processor(entities: int, minutes: float, size: Size | None) -> None:
    assert size_for(entities=entities, minutes=minutes, cuda=False) == size


def test_where_nobody_says_how_large_a_card_is() -> None:
    for entities in (20_001, 500_000):
        unsaid, said = (size_for(entities=entities, minutes=5.0, cuda=True, memory=m) for m in (None, 16 * GIB))
        assert unsaid == said is not None
    assert memory_of(torch.device("cpu")) is None


@given(entities=st.integers(1, 1_200_000), minutes=st.floats(0.1, 60.0), memory=st.integers(1, 200))
def test_what_is_chosen_fits_and_more_of_anything_is_no_less(entities: int, minutes: float, memory: int) -> None:
    def chosen(minutes: float, memory: int) -> Size | None:
        return size_for(entities=entities, minutes=minutes, cuda=True, memory=memory * GIB)

    size = chosen(minutes, memory)
    if size is None:
        return
    assert TABLES * 2 * size.rank * entities + READ * size.batch * entities <= 0.75 * memory * GIB
    for more in (chosen(2 * minutes, memory), chosen(minutes, 2 * memory)):
        assert more is not None
        assert more.rank >= size.rank
        assert more.batch >= size.batch


def test_a_card_has_the_recipe_itself() -> None:
    recipe = fast(negation=True)
    card = settings_for(entities=14_505, triples=310_116, cuda=True, memory=80 * GIB)
    assert card.model == {**recipe.model, "deny_in": "path", "dim": 2000}
    assert card.training.update == recipe.training.update
    assert card.training.batch == 10 * recipe.training.batch  # ten structures in one update
    assert len({part for name, part in card.training.mix.items() if name != "1p"}) == 1
    assert card.links is not None
    assert 2 * card.links.model["rank"] == card.model["dim"]
    smaller = settings_for(entities=14_505, triples=310_116, minutes=5.0)
    different = {name for name, value in smaller.model.items() if recipe.model.get(name) != value}
    assert different == {"dim", "hidden", "deny_in"}
    assert smaller.training.update.softmax == recipe.training.update.softmax
    assert (smaller.training.update.answer_count_exponent, smaller.training.update.table_rate) == (0.25, 0.0)
    assert smaller.training.update.rate * smaller.training.update.domain_rate == pytest.approx(2e-2)  # of the domains


@pytest.mark.parametrize(("entities", "many"), [(14_505, False), (30_000, False), (30_001, True), (63_361, True)])
def test_many_entities_have_the_recipes_form_for_them_on_a_card(entities: int, many: bool) -> None:
    recipe = fast(negation=True, many_entities=many)
    scale = settings_for(entities=entities, triples=10 * entities, minutes=5.0, cuda=True, memory=80 * GIB)
    assert scale.model == {**recipe.model, "deny_in": "path", "dim": 2000}
    assert not scale.training.walk_from_answer
    assert scale.links is not None
    assert scale.links.model["relation"] == (0.0 if many else 1.0)
    assert scale.training.update == recipe.training.update


@pytest.mark.parametrize(("entities", "cuda"), [(50, False), (20_000, False), (50, True), (70_000, True)])
def test_settings_make_a_model(entities: int, cuda: bool) -> None:
    scale = settings_for(entities=entities, triples=10 * entities, minutes=1.0, cuda=cuda)
    assert scale.links is not None
    with torch.device("meta"):
        model = build(scale.method, scale.model, entities=entities, relations=4)
        source = build("complex", scale.links.model, entities=entities, relations=4)
    assert model.entities.weight.shape == source.entities.weight.shape
    sizes = scale.training.composition(tuple(scale.training.mix))
    assert (sizes["1p"], sum(sizes.values())) == (1, scale.training.batch)


def test_what_a_card_would_be_told_trains_on_a_processor(graph: KnowledgeGraph) -> None:
    card = settings_for(entities=50, triples=460, minutes=1.0, cuda=True).with_steps(3)
    assert card.links is not None
    links = replace(card.links, training=replace(card.links.training, batch=50))
    training = replace(card.training, batch=60)
    engine = fit(
        graph,
        settings=replace(card, training=training, links=links, trained_per_structure=50, held_out_per_structure=10),
        device="cpu",
        progress=False,
    )
    assert engine.encoder.model.config.dim == 2 * card.links.model["rank"]
    assert engine.about["steps"] == 3


def test_a_model_with_hops_is_kept_where_a_fit_would_choose_none() -> None:
    """It was fitted on a card, and is updated on a processor."""
    plain = settings_for(entities=200_000, triples=10**6, minutes=1.0)
    kept = settings_for(entities=200_000, triples=10**6, minutes=1.0, hops=True)
    assert (plain.links, plain.model["space"]) == (None, "sphere")
    assert kept.method == "composed"
    assert (kept.training.update.softmax.entities, kept.training.update.softmax.removed) == ("drawn", 0)
