"""Nations (Rummel 1992; Kok and Domingos 2007): what countries did to each other from 1950 to 1965."""

from __future__ import annotations

from pathformer.kg.datasets._registry import Dataset

__all__ = ["DATASET"]

DATASET = Dataset(
    title="relations between fourteen countries, 1950 to 1965",
    home="the datasets of PyKEEN (github.com/pykeen/pykeen)",
    licence="MIT (the copy of PyKEEN)",
    entities=14,
    relations=55,
    triples=(1_592, 199, 201),
    places=("small/nations", "nations"),
)
