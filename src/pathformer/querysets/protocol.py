"""How many queries of which structure make a benchmark, and under which limits.

The paper prints counts (Table 10) and mean answers (Table 11) and is silent on limits. The limit of NELL995 was
measured on released files (80), that of FB15k-237 inferred from Table 11 (about 120); training queries have none. For
any other graph the counts follow from its size in the way those two did: of every trained structure as many queries
as there are 1p queries, a tenth of that with negation; to be evaluated, as many as 1p queries, up to 5,000.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import EFOL_TRAINED, STRUCTURES, Structure

__all__ = ["Protocol", "protocol_for", "structures_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """The settings of a benchmark; what is None follows from the graph."""

    seed: int = 0
    train: int | None = None  # queries of a trained structure without negation; None: as many as 1p queries
    train_negated: int | None = None  # with negation; None: a tenth of that
    evaluated: int | None = None  # valid and test queries of a structure, 1p apart; None: as 1p queries, up to 5,000
    limit: int | None = 120  # most hard (or vanished) answers of a valid or test query
    train_limit: int | None = None  # most answers of a training query
    link_limit: int | None = None  # most tails of a 1p query; the paper's counts are those without a limit
    backward: bool = False  # walk training chains backwards, like all else; released ones were walked forwards

    def count(self, split: str, structure: Structure, links: int) -> int:
        """How many queries of a structure; `links` is the number of 1p queries of the split."""
        if split != "train":
            return min(links, 5000) if self.evaluated is None else self.evaluated
        whole = links if self.train is None else self.train
        if not structure.negated:
            return whole
        return whole // 10 if self.train_negated is None else self.train_negated

    def as_dict(self) -> dict[str, Any]:
        """The settings as plain values."""
        return asdict(self)


_KNOWN = {
    "fb15k-237": Protocol(limit=120, evaluated=5000),
    "nell995": Protocol(limit=80, evaluated=4000),
}


def protocol_for(kg: KnowledgeGraph) -> Protocol:
    """The protocol of a known benchmark by its name, the general one for any other graph."""
    return _KNOWN.get(kg.name, Protocol())


def structures_of(split: str, chosen: tuple[Structure, ...] | None) -> tuple[Structure, ...]:
    """The structures of a split: those chosen, else the trained ones for train and all fourteen for the others."""
    if chosen is not None:
        return chosen
    return tuple(STRUCTURES[name] for name in EFOL_TRAINED) if split == "train" else tuple(STRUCTURES.values())
