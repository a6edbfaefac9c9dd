"""A small film graph and an engine over it whose model was never trained: answers are arbitrary, rules are not.

And a larger graph of random triples, to train on.
"""

from __future__ import annotations

import pytest
import torch

from pathformer.engine.engine import Engine
from pathformer.index import build as build_index
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models import build

FILMS = [
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


@pytest.fixture(scope="session")
def films() -> KnowledgeGraph:
    return KnowledgeGraph.from_triples(FILMS, name="films")


@pytest.fixture(scope="session")
def engine(films: KnowledgeGraph) -> Engine:
    torch.manual_seed(0)
    vocabulary = films.vocabulary
    settings = {"dim": 16, "layers": 1, "heads": 2}
    model = build("pathformer", settings, entities=vocabulary.entity_count, relations=vocabulary.relation_count)
    return Engine(
        films, model, build_index("exact", model.entities.weight.detach(), model.space), about={"note": "toy"}
    )


@pytest.fixture(scope="session")
def graph(small_graph_triples: dict[str, list[tuple[str, str, str]]]) -> KnowledgeGraph:
    return KnowledgeGraph.from_triples([t for part in small_graph_triples.values() for t in part], name="small")
