"""FB15k-237 in the BetaE edition (Toutanova and Chen 2015; Ren and Leskovec 2020): the first graph of the paper."""

from __future__ import annotations

from pathformer.kg.datasets._registry import Dataset

__all__ = ["DATASET"]

DATASET = Dataset(
    title="Freebase facts, BetaE edition",
    home="snap.stanford.edu/betae/KG_data.zip (see github.com/snap-stanford/KGReasoning)",
    licence="Freebase, CC BY; the edition states none of its own; names are Wikidata's, CC0",
    entities=14_505,
    relations=237,
    triples=(272_115, 17_526, 20_438),
    places=("fb15k-237", "FB15k-237-betae"),
    names="entity_names.tsv",
)
