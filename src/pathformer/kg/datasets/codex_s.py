"""CoDEx-S (Safavi and Koutra 2020): people and places of Wikidata, with labels."""

from __future__ import annotations

from pathformer.kg.datasets._registry import Dataset

__all__ = ["DATASET"]

DATASET = Dataset(
    title="people and places of Wikidata",
    home="the data of CoDEx (github.com/tsafavi/codex)",
    licence="MIT (CoDEx); the facts and names are Wikidata's, CC0",
    entities=2_034,
    relations=42,
    triples=(32_888, 1_827, 1_828),
    places=("small/codex-s", "codex-s"),
    names="entity2name.txt",
    relation_names="relations_en.json",
)
