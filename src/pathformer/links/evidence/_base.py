"""One source of evidence for single links: how strongly it speaks for each tail of a head and a relation.

N entities, R directed relations (2k a relation, 2k + 1 its inverse), B heads, n tails.

A source is one file of this folder, called like its name, with a constant `EVIDENCE` that names its class. What it
reads was learned in `fitting` or follows from the graph; nothing here needs torch. Scores of one source are compared
with each other only: `links/mixing` makes one score of all sources.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from pathformer import plugins
from pathformer.kg.graph import Graph
from pathformer.kg.vocabulary import Vocabulary
from pathformer.plan.encoder import Encoder
from pathformer.query.ast import Constant
from pathformer.query.print import text_of

__all__ = ["Evidence", "Fact", "Ids", "Piece", "Scores", "find", "spell_fact"]

Ids = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float32]
Fact = tuple[int, int, int]  # head, directed relation, tail


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of evidence for a link: the facts of the graph it rests on, and how much of the score is theirs."""

    source: str  # the name of the source of evidence
    facts: tuple[Fact, ...]  # facts of the graph; taking them away takes this piece away
    part: float  # of the source's score for the link; negative where it speaks against the link
    detail: Sequence[float | int] = ()  # what else the source has to say of it, as the source's `say` reads it


class Evidence(ABC):
    """A source of evidence on one graph."""

    name: ClassVar[str]  # of its file
    sharpness: ClassVar[float] = 1.0  # what scores are multiplied by before they become shares, exp(score) / sum

    @abstractmethod
    def rows(self, heads: Ids, relation: int) -> Scores:
        """Returns the score of every entity as the tail of each head, (B, N): larger speaks more for the link."""

    def scores(self, head: int, relation: int, tails: Ids) -> Scores:
        """Returns the scores of some tails, (n,)."""
        row: Scores = self.rows(np.array([head]), relation)[0]
        return row[tails]

    def say(self, piece: Piece, link: Fact, vocabulary: Vocabulary) -> str:
        """Returns a piece of evidence for a link as a sentence for people."""
        return " & ".join(spell_fact(fact, vocabulary) for fact in piece.facts)

    def pieces(self, head: int, relation: int, tail: int, most: int = 3) -> tuple[Piece, ...]:
        """Returns the pieces that the score of a link rests on, the strongest first; none if they cannot be named."""
        return ()

    @abstractmethod
    def on(self, graph: Graph) -> Self:
        """Returns the source on another graph of the same ids, with facts added or taken away; nothing is trained.

        New entities and relations have ids behind the old ones.
        """

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Writes what was learned into an existing folder."""

    @classmethod
    @abstractmethod
    def open(cls, folder: Path, graph: Graph, encoder: Encoder | None) -> Self:
        """Opens what `save` wrote; graph: all facts of the engine; encoder: of the engine, if it has one."""


def spell_fact(fact: Fact, vocabulary: Vocabulary, without: int | None = None) -> str:
    """Returns a fact as an atom of labels, read in the direction of its relation.

    without: an entity of it in whose place dots stand.
    """
    head, relation, tail = fact if fact[1] % 2 == 0 else (fact[2], fact[1] ^ 1, fact[0])
    name = vocabulary.short_relation_label(relation)
    ends = [
        "…" if entity == without else text_of(Constant(vocabulary.distinct_label(entity))) for entity in (head, tail)
    ]
    return f"{name}({', '.join(ends)})"


def find(name: str) -> type[Evidence]:
    """Returns the class of a source of evidence by its name."""
    source: type[Evidence] = plugins.load("evidence", name).EVIDENCE
    return source
