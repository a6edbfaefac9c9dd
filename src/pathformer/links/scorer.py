"""The link scorer: how likely each entity is the tail of a head and a relation, by all sources of evidence together.

N entities, B heads. `shares` are whole rows, for tables of links and for ranking; `predict` gives the best tails that
the graph does not state, with probabilities.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pathformer.errors import EngineError
from pathformer.kg.graph import Graph
from pathformer.kg.vocabulary import Vocabulary
from pathformer.links.calibration import LinkCalibration, Predictions
from pathformer.links.evidence._base import Evidence, Fact, Ids, Piece, Scores, find
from pathformer.links.mixing import Features, Mixing, features
from pathformer.links.restated import Restated
from pathformer.plan.encoder import Encoder

__all__ = ["FILE", "FOLDER", "LinkScorer", "PredictedTails"]

FOLDER = "links"  # of an engine
FILE = "links.json"
_MISSING, _MORE = 1.0, 0.3  # tails that a head may miss: so many, and so many for each known one
_LIKELIEST = np.float32(0.95)  # a predicted link is never as certain as a fact


@dataclass(frozen=True, eq=False, slots=True)
class PredictedTails:
    """The best tails of one head and relation that the graph does not state, best first."""

    tails: Ids  # (n,)
    log_shares: Scores  # (n,) log of the share of what all candidates together are given
    probabilities: npt.NDArray[np.float64]  # (n,) how often such a prediction is right if a tail is missing


class LinkScorer:
    """Scores links on one graph."""

    def __init__(
        self,
        graph: Graph,
        sources: Sequence[Evidence],
        mixing: Mixing,
        calibration: LinkCalibration | None = None,
        listing: LinkCalibration | None = None,
    ) -> None:
        """calibration: of questions that have a missing answer; listing: of all heads, most of which miss nothing."""
        self.graph, self.sources, self.mixing = graph, tuple(sources), mixing
        self.calibration = calibration or LinkCalibration.none()
        self.listing = listing or LinkCalibration.none()

    def shares(self, heads: Ids, relation: int, barred: Sequence[Ids] | None = None) -> Scores:
        """Returns the log of each entity's share as the tail of each head, (B, N); -inf for barred entities.

        barred: of each head, the entities that are no candidates; by default the tails that the graph states.
        """
        if barred is None:
            barred = [self.graph.tails_of(int(head), relation).astype(np.int64) for head in heads]
        return self.mix(features(self.sources, heads, relation, barred), heads, relation)

    def mix(self, given: Sequence[Features], heads: Ids, relation: int) -> Scores:
        """Returns `shares` of what the sources say, (B, N); a tail that is stated otherwise has that one's share."""
        rows = np.stack([self.mixing.scores(one, relation) for one in given])
        for row, head in zip(rows, heads.tolist(), strict=True):
            for tails, share in self.restated.tails(head, relation):
                row[tails] = np.where(np.isfinite(row[tails]), np.maximum(row[tails], np.log(share)), row[tails])
        return rows

    @cached_property
    def restated(self) -> Restated:
        """The relations of the graph that repeat each other."""
        return Restated(self.graph)

    def rows(self, heads: npt.NDArray[np.integer], relation: int) -> Scores:
        """Returns how likely each link that the graph does not state holds, (B, N), for tables of links.

        The mean of two: the share of a tail times the tails that a head may miss, 1 and another for about every three
        that it has; and, where the sources have a recommender, its score as it is. Together they follow longer
        questions better than either: shares tell which tail it is, the recommender whether there is one at all.
        """
        graph = self.graph
        known = [graph.tails_of(int(head), relation).astype(np.int64) for head in heads]
        given = features(self.sources, heads.astype(np.int64), relation, known)
        shares = np.exp(self.mix(given, heads.astype(np.int64), relation)).astype(np.float32)
        missing = np.array([_MISSING + _MORE * len(own) for own in known], np.float32)
        found: Scores = np.minimum(shares * missing[:, None], _LIKELIEST)
        recommender = next((source for source in self.sources if source.name == "linear"), None)
        if recommender is not None:
            alone = np.clip(recommender.rows(heads.astype(np.int64), relation) / 2, 0.0, _LIKELIEST)
            found = ((found + alone) / 2).astype(np.float32)
        return found

    def predict(self, head: int, relation: int, top: int, known: Ids | None = None) -> PredictedTails:
        """Returns the best tails besides the known ones, by default those that the graph states."""
        none = self.graph.tails_of(head, relation).astype(np.int64) if known is None else known
        row = self.shares(np.array([head]), relation, [none])[0]
        return self.best(row, relation, len(none), top)

    def best(self, row: Scores, relation: int, known: int, top: int) -> PredictedTails:
        """Returns the best entities of one row of `shares`, with their probabilities."""
        count = min(top, int(np.isfinite(row).sum()))
        chosen = np.argpartition(-row, count - 1)[:count] if count else np.zeros(0, np.int64)
        chosen = chosen[np.lexsort((chosen, -row[chosen]))]
        given = Predictions.of(relation, row[chosen], known)
        return PredictedTails(chosen, row[chosen], self.calibration.probabilities(given))

    def pieces(self, head: int, relation: int, tail: int, most: int = 3) -> tuple[Piece, ...]:
        """Returns the strongest pieces of evidence for a link, of each source that can name its own."""
        named = self.restated.pieces(head, relation, tail)
        return named + tuple(piece for source in self.sources for piece in source.pieces(head, relation, tail, most))

    def say(self, piece: Piece, link: Fact, vocabulary: Vocabulary) -> str:
        """Returns a piece of evidence for a link as a sentence for people."""
        if piece.source == self.restated.name:
            return self.restated.say(piece, link, vocabulary)
        return next(source for source in self.sources if source.name == piece.source).say(piece, link, vocabulary)

    def on(self, graph: Graph) -> LinkScorer:
        """Returns the scorer on another graph of the same ids, with facts added or taken away; nothing is trained."""
        sources = [source.on(graph) for source in self.sources]
        return LinkScorer(graph, sources, self.mixing, self.calibration, self.listing)

    def save(self, folder: Path) -> None:
        """Writes the scorer into a new folder."""
        folder.mkdir()
        for source in self.sources:
            own = folder / source.name
            own.mkdir()
            source.save(own)
        table = {name: getattr(self, name).to_json() for name in ("mixing", "calibration", "listing")}
        (folder / FILE).write_text(json.dumps(table, indent=2) + "\n", "utf-8")

    @classmethod
    def open(cls, folder: Path, graph: Graph, encoder: Encoder | None = None) -> LinkScorer:
        """Opens what `save` wrote."""
        file = folder / FILE
        try:
            table = json.loads(file.read_text("utf-8"))
            mixing = Mixing.from_json(table["mixing"])
            calibration, listing = (LinkCalibration.from_json(table[name]) for name in ("calibration", "listing"))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise EngineError(f"{file} cannot be read ({error}): the engine is damaged, fit it again") from error
        try:
            sources = [find(name).open(folder / name, graph, encoder) for name in mixing.sources]
        except (OSError, ValueError) as error:
            raise EngineError(f"{folder}: {error}: the engine is damaged, fit it again") from error
        return cls(graph, sources, mixing, calibration, listing)
