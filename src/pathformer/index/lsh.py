"""Compares codes of bits whose differences follow the distance, then measures the best: locality-sensitive hashing.

b points, N entities, f numbers of a row, C candidates.

**L1** (Indyk and Motwani 1998). A bit asks whether one coordinate lies above one threshold. With
thresholds drawn uniformly from the whole range of the coordinates, two rows differ in a bit with a probability
proportional to |x - y|_1, so the number of differing bits estimates the distance. Thresholds lie at equal steps from a
random start, and each dimension has a share of them by its range: every threshold stays equally likely, and the
estimate scatters less. Ranges leave out a hundredth of the values at either end. A point outside a range loses a part
that is the same for all entities inside it.

**Cosine** (Charikar 2002). A bit asks on which side of a random plane a row lies; two rows differ in a bit with the
probability angle / pi. As many planes as there are dimensions are drawn at right angles to each other (Ji et al. 2012),
so fewer candidates are needed.

**Inner product** (Bachrach et al. 2014; Neyshabur and Srebro 2015). Entities are completed to one length by one more
number, points by 0: the angle then follows the inner product. An added entity that is longer than all before makes all
angles smaller, so the index is tuned anew.

Building chooses the code's length and the number of candidates so that recall@10 reaches its target at the least cost
(`_tuning`): the rank of each truly near entity by its code tells how many candidates are needed.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from pathformer.index._base import Keep, RowIndex
from pathformer.index._files import Arrays, Folder
from pathformer.index._hashes import Hashes, Lifted, Planes, Thresholds, Words
from pathformer.index._rows import Floats, Ids, Rows, Stored, lengths
from pathformer.index._scan import BLOCK, lay_out
from pathformer.index._tuning import WANTED, Trial, aim, check_recall
from pathformer.index.kernels.hamming import candidates, differences
from pathformer.plan.measure import Measure

__all__ = ["INDEX", "LSH", "Config"]

_LENGTHS = (512, 768, 1024, 1536, 2048, 3072, 4096)  # bits of a code that are tried, in this order
_LONGEST = 1 << 16  # bits of a code that may be asked for: those of 2,048 numbers
_STEEPEST = 10.0  # growth: a hundred answers then take more candidates than a graph has entities
_PAIRS = 1 << 22  # points times candidates at once, 12 bytes each
_SCATTERED = 5  # what a byte of a row read here and there costs, against a byte of codes read one after the other


@dataclass(frozen=True, kw_only=True)
class Config:
    """Options of `lsh`; what is 0 is chosen when the index is built, and kept."""

    recall: float = 0.98  # recall@10 to be reached; 0.95 costs hardly less, and some kinds of question get 0.93
    bits: int = 0  # of a code, a multiple of 64
    rerank: int = 0  # entities whose true distance is computed where ten are wanted
    growth: float = 0.0  # for k they are rerank (k / 10)^growth
    seed: int = 0

    def __post_init__(self) -> None:
        check_recall(self.recall)
        if self.bits < 0 or self.bits % 64:
            raise ValueError(f"bits must be a multiple of 64, got {self.bits}")
        if self.bits > _LONGEST:
            raise ValueError(f"bits must be at most {_LONGEST:,}, got {self.bits}: the rows themselves are shorter")
        if self.rerank < 0 or not 0.0 <= self.growth <= _STEEPEST:
            got = f"got {self.rerank} and {self.growth}"
            raise ValueError(f"rerank must be at least 0 and growth from 0 to {_STEEPEST:g}, {got}")
        if not 0 <= self.seed < 1 << 64:
            raise ValueError(f"seed must be from 0 and below 2^64, got {self.seed}")


class LSH(RowIndex):
    """Codes beside the rows themselves."""

    name: ClassVar[str] = "lsh"
    config_type: ClassVar[type[Config]] = Config
    chosen: ClassVar[tuple[str, ...]] = ("bits", "rerank", "growth")

    def __init__(self, measure: Measure, config: Config, hashes: Hashes, codes: Words, rows: Rows, alive: Keep) -> None:
        super().__init__(measure, config, rows.width, alive)
        self._hashes, self._codes, self._rows = hashes, codes, rows  # codes in blocks (ceil(N / 128), W, 128)

    @classmethod
    def _build(cls, rows: Stored, measure: Measure, config: Config, sample: Floats | None) -> Self:
        kept, trial = Rows.of(rows, measure), Trial.of(rows, measure, sample, config.seed)
        lengths = (config.bits,) if config.bits else _LENGTHS
        best = _Choice.of(rows, measure, trial, lengths[0], config, kept.row_bytes)
        for bits in lengths[1:]:
            other = _Choice.of(rows, measure, trial, bits, config, kept.row_bytes)
            if other.cost > best.cost:
                break  # longer codes cost more than the candidates that they spare
            best = other
        index = cls(measure, config, best.hashes, best.codes, kept, np.ones(len(rows), np.bool_))
        index._take(best)
        return index

    def _take(self, choice: _Choice) -> None:
        self._hashes, self._codes = choice.hashes, choice.codes
        chosen = {"bits": choice.bits, "rerank": choice.rerank, "growth": choice.growth}
        self.config = dataclasses.replace(self.config, **chosen)
        self.about = {"recall@10 on a sample": choice.recall}

    def _tune_anew(self) -> None:
        """Draws hashes for the entities of now, and takes as many candidates as they need; codes stay as long."""
        asked = {"rerank": self.given.rerank, "growth": self.given.growth}
        rows, free = self._rows.stored, dataclasses.replace(self.config, **asked)
        trial = Trial.of(rows, self.measure, self._tuned_by, free.seed)
        self._take(_Choice.of(rows, self.measure, trial, free.bits, free, self._rows.row_bytes))

    def nearest_prepared(self, points: Floats, k: int, keep: Keep) -> tuple[Ids, Floats]:
        """Finds the nearest of points that `prepare` gave."""
        more = max(1.0, k / WANTED) ** self.config.growth
        count, kept = max(k, math.ceil(self.config.rerank * more)), int(keep.sum())
        at_once = max(1, min(256, _PAIRS // count))
        return self._rows.nearest(points, k, lambda part: self._candidates(part, keep, count, kept), at_once)

    def _candidates(self, points: Floats, keep: Keep, count: int, kept: int) -> Ids:
        """Returns the ids (b, C) whose codes differ least, or all that may be found where they are not more."""
        if kept <= count:
            return np.broadcast_to(np.flatnonzero(keep), (len(points), kept))
        return candidates(self._hashes.codes_of_points(points), self._codes, keep, count)

    def _add(self, rows: Stored) -> None:
        full = self.rows // BLOCK
        rest = self._codes[full:].transpose(0, 2, 1).reshape(-1, self._codes.shape[1])[: self.rows - full * BLOCK]
        new = lay_out(np.concatenate([rest, self._hashes.codes(rows)]))
        self._codes = np.concatenate([self._codes[:full], new])
        self._rows.append(rows)
        if isinstance(self._hashes, Lifted) and float(lengths(rows).max()) > self._hashes.length:
            self._tune_anew()

    def _arrays(self) -> Arrays:
        return {"codes": self._codes, **self._rows.arrays(), **self._hashes.arrays()}

    @classmethod
    def _open(cls, arrays: Folder, measure: Measure, config: Config) -> Self:
        hashes, rows = _family(measure).open(arrays), Rows.open(arrays, measure)
        return cls(measure, config, hashes, arrays["codes"], rows, np.array(arrays["alive"]))


@dataclass(frozen=True, eq=False)
class _Choice:
    """Codes of one length, and what they would cost."""

    bits: int
    hashes: Hashes
    codes: Words  # in blocks
    rerank: int
    growth: float
    recall: float  # of ten, on the sample
    cost: float  # of a search for 10 or 100, in bytes read one after the other

    @classmethod
    def of(cls, rows: Stored, measure: Measure, trial: Trial, bits: int, config: Config, row_bytes: int) -> Self:
        """Hashes everything and looks where the truly near entities of the sample stand."""
        hashes = _family(measure).draw(rows, bits, config.seed)
        codes = lay_out(hashes.codes(rows))
        ranks = _ranks(hashes.codes_of_points(trial.points), codes, len(rows), trial.nearest)
        target, ten = aim(config.recall), ranks[:, :WANTED]
        few, many = (max(WANTED, int(np.quantile(part, target, method="higher"))) for part in (ten, ranks))
        times = trial.nearest.shape[1] / WANTED  # as many more are `many` for: 10, less where the graph is small
        growth = config.growth or (round(math.log(many / few, times), 3) if times > 1 else 1.0)
        rerank = config.rerank or few
        recall = round(float((ten <= rerank).mean()), 4)
        cost = len(rows) * bits / 8 + _SCATTERED * row_bytes * (few + many) / 2
        return cls(bits, hashes, codes, rerank, growth, recall, cost)


def _family(measure: Measure) -> type[Thresholds] | type[Planes] | type[Lifted]:
    match measure.kind:
        case "l1":
            return Thresholds
        case "cosine":
            return Planes
        case _:
            return Lifted


def _ranks(codes: Words, blocks: Words, count: int, nearest: Ids) -> Ids:
    """Returns the rank of each truly near entity by differing bits, ties behind it counted: (S, 100)."""
    ranks = np.empty(nearest.shape, np.int64)
    for start in range(0, len(codes), 16):
        rows = differences(codes[start : start + 16], blocks, count)
        for row, differing in enumerate(rows, start):
            behind = np.cumsum(np.bincount(differing, minlength=64 * codes.shape[1] + 1))
            ranks[row] = behind[differing[nearest[row]]]
    return ranks


INDEX = LSH
