"""NELL995 in the BetaE edition (Xiong et al. 2017; Ren and Leskovec 2020): the second graph of the paper."""

from __future__ import annotations

from pathformer.kg.datasets._registry import Dataset

__all__ = ["DATASET"]

DATASET = Dataset(
    title="facts read from the web by NELL, BetaE edition",
    home="snap.stanford.edu/betae/KG_data.zip (see github.com/snap-stanford/KGReasoning)",
    licence="none is stated by the edition",
    entities=63_361,
    relations=200,
    triples=(114_213, 14_324, 14_267),
    places=("nell995", "NELL-betae"),
)
