"""Tiny graphs and engines, made through the public functions alone: the same figures in every run."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import pathformer as pf

if TYPE_CHECKING:
    from pathformer.models._base import Model

Triples = list[tuple[str, str, str]]

FILMS: Triples = [
    ("Fellini", "directed", "La_Strada"),
    ("Fellini", "directed", "8½"),
    ("Fellini", "directed", "Amarcord"),
    ("Fellini", "directed", "Ginger"),
    ("Visconti", "directed", "Leopard"),
    ("Leone", "directed", "West"),
    ("La_Strada", "won", "Oscar"),
    ("8½", "won", "Oscar"),
    ("Leopard", "won", "Palme"),
    ("La_Strada", "stars", "Masina"),
    ("La_Strada", "stars", "Quinn"),
    ("8½", "stars", "Mastroianni"),
    ("8½", "stars", "Cardinale"),
    ("Ginger", "stars", "Masina"),
    ("Ginger", "stars", "Mastroianni"),
    ("Amarcord", "stars", "Noël"),
    ("Leopard", "stars", "Cardinale"),
    ("Leopard", "stars", "Lancaster"),
    ("West", "stars", "Cardinale"),
    ("Masina", "born_in", "San Giorgio"),
]


def engine_over(kg: pf.KnowledgeGraph, model: Model, *more: Any, index: str = "exact", **options: Any) -> pf.Engine:
    """An engine that answers with a model, over a new index."""
    from pathformer.index._base import build_for
    from pathformer.models._encoder import TorchEncoder

    encoder = TorchEncoder(model)
    return pf.Engine(kg, encoder, build_for(encoder, index), *more, **options)


def load_with_torch(folder: Path) -> pf.Engine:
    """Opens an engine as what trains does, where `pathformer.load` would do without torch."""
    from pathformer.engine.storage import open_parts
    from pathformer.models._encoder import TorchEncoder

    return pf.Engine.of(open_parts(folder, opened_by=TorchEncoder))


def random_triples(entities: int = 40, relations: int = 4, drawn: int = 300, seed: int = 3) -> Triples:
    """Random links over a ring, which gives every entity one."""
    rng = np.random.default_rng(seed)
    columns = (rng.integers(0, bound, drawn).tolist() for bound in (entities, relations, entities))
    ring = [(f"e{i}", "r0", f"e{(i + 1) % entities}") for i in range(entities)]
    return list(dict.fromkeys(ring + [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in zip(*columns, strict=True)]))


def tiny_settings(kg: pf.KnowledgeGraph, steps: int) -> Any:
    """Settings of a fit for so many steps of everything, small: all stages happen, next to nothing is learned."""
    usual = sys.modules[pf.fit.__module__].settings_for(
        entities=kg.vocabulary.entity_count, triples=kg.triple_count, minutes=1.0
    )
    few, usual = {"batch": 32, "validations": 1}, usual.with_steps(steps)
    links = replace(usual.links, model={**usual.links.model, "rank": 8}, training=replace(usual.links.training, **few))
    model = {**usual.model, "dim": 16, "heads": 2}
    return replace(
        usual,
        training=replace(usual.training, **few),
        links=links,
        trained_per_structure=50,
        held_out_per_structure=10,
        model=model,
    )


def tiny_engine(triples: Triples, name: str, steps: int = 6, **options: Any) -> pf.Engine:
    """A fit of a few steps: the same engine in every run."""
    kg = pf.KnowledgeGraph.from_triples(triples, name=name)
    return pf.fit(kg, settings=tiny_settings(kg, steps), progress=False, device="cpu", **options)
