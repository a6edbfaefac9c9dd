"""WN18RR-QA (Huang, Chiang and Lee 2022): WordNet with queries of all fourteen structures in the BetaE layout."""

from __future__ import annotations

from pathformer.kg.datasets._registry import Dataset

__all__ = ["DATASET"]

DATASET = Dataset(
    title="WordNet relations between synsets, with benchmark queries",
    home="github.com/nelsonhuangzijian/WN18RR-QA",
    licence="none is stated by the edition",
    entities=40_559,
    relations=11,
    triples=(86_835, 2_824, 2_924),
    places=("wn18rr-qa", "wn18rr-qa.tar.xz", "WN18RR-QA"),
    names="names/entity2text.txt",
    relation_names="names/relation2text.txt",
)
