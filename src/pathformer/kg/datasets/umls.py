"""UMLS (McCray 2003; Kok and Domingos 2007): types of the medical semantic network."""

from __future__ import annotations

from pathformer.kg.datasets._registry import Dataset

__all__ = ["DATASET"]

DATASET = Dataset(
    title="types of medical concepts",
    home="the datasets of PyKEEN (github.com/pykeen/pykeen)",
    licence="MIT (the copy of PyKEEN)",
    entities=135,
    relations=46,
    triples=(5_216, 652, 661),
    places=("small/umls", "umls"),
    names="entity2text.txt",
)
