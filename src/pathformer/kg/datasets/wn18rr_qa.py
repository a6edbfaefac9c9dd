"""WN18RR-QA (Huang et al. 2022, LinE): WordNet with queries of all fourteen structures in the BetaE layout."""

from __future__ import annotations

from pathformer.kg.datasets._dataset import Dataset

__all__ = ["DATASET"]

DATASET = Dataset(
    title="WordNet relations between synsets, with benchmark queries",
    home="the data of the LinE code (github.com/zwhuang0509/LinE)",
    entities=40_559,
    relations=11,
    triples=(86_835, 2_824, 2_924),
    places=("wn18rr-qa", "wn18rr-qa.tar.xz", "WN18RR-QA"),
    names="names/entity2text.txt",
    relation_names="names/relation2text.txt",
)
