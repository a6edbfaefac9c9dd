"""How well held-out links are found: by all evidence together, and by each source of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from pathformer.evaluation.link_ranks import MIXED
from pathformer.evaluation.metrics import Scores
from pathformer.text import counted, percent

__all__ = ["LinkScores"]

_NAMES = {
    "embedding": "the embedding",
    "linear": "the linear recommender",
    "rules": "the rules",
    "counts": "counting",
}


@dataclass(frozen=True, slots=True)
class LinkScores:
    """Filtered MRR and Hits@k over held-out links, both directions."""

    links: int
    mrr: float
    hits: Mapping[int, float]
    by_source: Mapping[str, float]  # MRR of each source alone

    @classmethod
    def of(cls, scores: Mapping[str, Scores]) -> Self:
        """Makes them of the figures of all evidence and of each source."""
        mixed = scores[MIXED]
        alone = {name: one.mrr for name, one in scores.items() if name != MIXED}
        return cls(mixed.answers, mixed.mrr, mixed.hits, alone)

    def sentence(self) -> str:
        """Returns the figures in a sentence for people, in percent."""
        alone = ", ".join(f"{_NAMES.get(name, name)} {percent(mrr)}" for name, mrr in self.by_source.items())
        return (
            f"Single links, {counted(self.links, 'held-out link')}: MRR {percent(self.mrr)}, Hits@10 "
            f"{percent(self.hits[10])}; each source of evidence alone: {alone}."
        )

    @classmethod
    def from_plain(cls, table: Mapping[str, Any]) -> Self:
        """Reads what `dataclasses.asdict` and JSON made of it."""
        return cls(**{**table, "hits": {int(k): share for k, share in table["hits"].items()}})
