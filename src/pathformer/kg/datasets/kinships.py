"""Kinships (Denham 1973; Kok and Domingos 2007): terms of kinship among the Alyawarra of Central Australia."""

from __future__ import annotations

from pathformer.kg.datasets._registry import Dataset

__all__ = ["DATASET"]

DATASET = Dataset(
    title="terms of kinship among the Alyawarra",
    home="the datasets of PyKEEN (github.com/pykeen/pykeen)",
    licence="MIT (the copy of PyKEEN)",
    entities=104,
    relations=25,
    triples=(8_544, 1_068, 1_074),
    places=("small/kinships", "kinships"),
)
