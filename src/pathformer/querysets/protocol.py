"""The protocol of a benchmark: how many queries of which structure, under which limits, and drawing them.

The paper prints counts (Table 10) and mean answers (Table 11) and is silent on limits. The limit of NELL995 was
measured on released files (80), that of FB15k-237 inferred from Table 11 (about 120); training queries have none. For
any other graph the counts follow from its size in the way those two did: of every trained structure as many queries
as there are 1p queries, a tenth of that with negation; to be evaluated, as many as 1p queries, up to 5,000.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import EFOL_TRAINED, STRUCTURES, Structure
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets, graph_pair
from pathformer.querysets.sampler import Rules, list_links, sample
from pathformer.querysets.spool import keep_on_disk

__all__ = ["Protocol", "protocol_for", "sample_benchmark"]

Progress = Callable[[str, Structure, int, int], None]  # split, structure, drawn, wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """The settings of a benchmark; what is None follows from the graph."""

    seed: int = 0
    train: int | None = None  # queries of a trained structure without negation; None: as many as 1p queries
    train_negated: int | None = None  # with negation; None: a tenth of that
    evaluated: int | None = None  # valid and test queries of a structure except 1p; None: as 1p queries, up to 5,000
    limit: int | None = 120  # most hard (or vanished) answers of a valid or test query
    train_limit: int | None = None  # most answers of a training query
    link_limit: int | None = None  # most tails of a 1p query; the paper's counts are those without a limit
    backward: bool = False  # walk training chains backwards, like all else; released ones were walked forwards

    def count(self, split: str, structure: Structure, links: int) -> int:
        """Returns how many queries of a structure to draw; `links` is the number of 1p queries of the split."""
        if split != "train":
            return min(links, 5000) if self.evaluated is None else self.evaluated
        whole = links if self.train is None else self.train
        if not structure.negated:
            return whole
        return whole // 10 if self.train_negated is None else self.train_negated

    def rules(self, split: str) -> Rules:
        """Returns what a query of this split must satisfy."""
        if split == "train":
            return Rules(limit=self.train_limit, link_limit=self.train_limit, forward=not self.backward)
        return Rules(limit=self.limit, link_limit=self.link_limit)

    def as_dict(self) -> dict[str, Any]:
        """Returns the settings as plain values."""
        return asdict(self)


_KNOWN = {
    "fb15k-237": Protocol(limit=120, evaluated=5000),
    "nell995": Protocol(limit=80, evaluated=4000),
}


def protocol_for(kg: KnowledgeGraph) -> Protocol:
    """Returns the protocol of a known benchmark by its name, the general one for any other graph."""
    return _KNOWN.get(kg.name, Protocol())


def sample_benchmark(
    kg: KnowledgeGraph,
    protocol: Protocol | None = None,
    *,
    splits: Sequence[str] | None = None,
    structures: Mapping[str, tuple[Structure, ...]] | None = None,
    progress: Progress | None = None,
    spool: Path | None = None,
) -> QuerySets[Queries]:
    """Draws a benchmark by the protocol: each split's structures with all easy and hard answers.

    structures: by split, where they differ from the protocol's; progress: called with split, structure, drawn, wanted.
    spool: a folder where answers wait that take much memory, as long as the queries are needed.
    """
    protocol = protocol or protocol_for(kg)
    drawn: dict[str, dict[str, Queries]] = {}
    for split in splits or tuple(kg.splits):
        graphs = graph_pair(kg, split)
        drawn[split], one_hop = {}, len(list_links(graphs))
        for structure in (structures or {}).get(split, _structures_of(split)):
            wanted = protocol.count(split, structure, one_hop)
            queries = sample(
                structure,
                graphs,
                wanted,
                seed=protocol.seed,
                stream=split,
                rules=protocol.rules(split),
                progress=None if progress is None else partial(_report, progress, split, structure, wanted),
            )
            drawn[split][structure.name] = queries if spool is None else keep_on_disk(queries, spool)
    origin = {"drawn": protocol.as_dict()}
    return QuerySets(splits=drawn, graph=kg.name, fingerprint=kg.fingerprint(), origin=origin)


def _structures_of(split: str) -> tuple[Structure, ...]:
    """Returns the trained structures for train, all fourteen for other splits."""
    return tuple(STRUCTURES[name] for name in EFOL_TRAINED) if split == "train" else tuple(STRUCTURES.values())


def _report(progress: Progress, split: str, structure: Structure, wanted: int, drawn: int) -> None:
    progress(split, structure, drawn, wanted)
