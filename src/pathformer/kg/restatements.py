"""Relations that restate another: `won_by` states what `won` states, and hiding a link of one hides nothing.

n triples, N entities, R directed relations (2k a relation, 2k + 1 its inverse). A directed relation is the set of its
(head, tail) pairs, so `s` restates `r` the other way round where it overlaps the inverse of `r`.

A relation restates another where at least 70 % of its facts are facts of the other: two relations that say the same
overlap as much in a graph that lacks three facts in ten. (Akrami et al. (2020), who measured what restated relations do
to benchmarks, take 80 %, of graphs that lack nothing.) Below it a relation is a reason for the other, to be learned.
The overlap must also be more than chance: more than frequent heads and tails give, or few facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log

import numpy as np
import numpy.typing as npt

from pathformer.kg.keys import first_of_run, merge
from pathformer.kg.vocabulary import Vocabulary
from pathformer.text import counted

__all__ = [
    "Restatement",
    "count_overlaps",
    "describe",
    "find_restatements",
    "find_statements",
    "restate",
    "share_by_chance",
]

Triples = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]

_LEAST = 0.7  # share of a relation's facts that the other has
_BEYOND_CHANCE = 0.5  # least part of the facts that chance would leave to one relation and that both have
_ENOUGH = 2000  # facts of a relation that tell what chance gives
_EXAMPLES = 3  # restatements that a sentence about all of them names
_RISK = 1e-3  # chance that a graph of unrelated relations yields a restatement


@dataclass(frozen=True, slots=True)
class Restatement:
    """A relation whose facts are facts of another relation as well, or its own in the other direction."""

    relation: int  # forward
    restated_by: int  # directed: odd where it says so the other way round
    kind: str  # duplicate, inverse, symmetric, contained
    share: float  # of the facts of `restated_by`
    facts: int  # so many

    @property
    def overlap(self) -> tuple[int, int]:
        """The two relations as `count_overlaps` names them: the first one forward."""
        one, other = sorted((self.relation, self.restated_by))
        return one & ~1, other ^ (one & 1)

    def states(self, names: Vocabulary) -> str:
        """Returns what `restated_by` states, in words."""
        relation = f"`{names.relation(self.relation)}`"
        match self.kind:
            case "symmetric":
                return "its own inverse"
            case "contained":
                return f"a part of {'the inverse of ' if self.restated_by & 1 else ''}{relation}"
            case "inverse":
                return f"the inverse of {relation}"
            case _:
                return f"the same as {relation}"

    def sentence(self, names: Vocabulary) -> str:
        """Says for people what restates what, without a full stop."""
        share = int(100 * self.share)  # rounded down: 100 % are all
        return f"`{names.relation(self.restated_by)}` states {self.states(names)} in {share} % of its facts"


def describe(restatements: Sequence[Restatement], names: Vocabulary) -> str:
    """Says for people how many relations repeat what is stated already, with the first ones as examples."""
    relations = counted(len({one.restated_by >> 1 for one in restatements}), "relation repeats", "relations repeat")
    shown = [one.sentence(names) for one in restatements[:_EXAMPLES]]
    return f"{relations} other facts ({'; '.join([*shown, *['...'] * (len(restatements) > _EXAMPLES)])})"


def find_restatements(triples: Triples, entities: int, relations: int) -> tuple[Restatement, ...]:
    """Returns the relations that restate another, those with the most facts first.

    triples (n, 3): distinct triples of head, even relation, tail.
    """
    overlaps = count_overlaps(triples, entities, relations)
    sizes = np.bincount(triples[:, 1], minlength=relations)
    loops = np.bincount(triples[triples[:, 0] == triples[:, 2], 1], minlength=relations)
    pairs = _Pairs(triples, relations)
    surprise = log(relations * relations / 2 / _RISK)  # a bound for all pairs of a forward and a directed relation
    found = []
    for (one, other), both in overlaps.items():
        symmetric = one == other ^ 1
        large, small = (one, other) if sizes[one] >= sizes[other & ~1] else (other, one)
        large, small = large & ~1, small ^ (large & 1)  # the same overlap, seen from the large one's direction
        of_large, of_small = (int(sizes[relation & ~1]) for relation in (large, small))
        if symmetric:
            of_small -= int(loops[large])
        if both < _LEAST * of_small:
            continue
        trials = of_small / 2 if symmetric else of_small  # a fact and its mirror image are one chance, not two
        some = pairs.of(small)
        expected = share_by_chance(some[:: 1 + len(some) // _ENOUGH], pairs.of(large))
        if _is_beyond_chance(both / of_small, expected, trials, surprise):
            kind = "symmetric" if symmetric else _kind(small, both >= _LEAST * of_large)
            found.append(Restatement(large, small, kind, both / of_small, both))
    return tuple(sorted(found, key=lambda one: (-one.facts, one.relation, one.restated_by)))


def find_statements(
    triples: Triples, restatements: Sequence[Restatement], entities: int, relations: int
) -> npt.NDArray[np.int64]:
    """Returns for each triple the position of the first triple that states the same, (n,).

    Relations that restate one another, directly or through others, form a family; two of its triples state the same if
    they join the same entities, from the family's point of view in the same direction.
    """
    statements = np.arange(len(triples))
    family, turned, mirrored = _families(restatements, relations // 2)
    own = family[triples[:, 1] >> 1]
    members = np.flatnonzero(own >= 0)
    if not len(members):
        return statements
    own, ends = own[members], triples[members][:, [0, 2]].astype(np.int64)
    backwards = turned[triples[members, 1] >> 1]
    backwards = np.where(mirrored[own], ends[:, 0] > ends[:, 1], backwards)
    ends[backwards] = ends[backwards, ::-1]
    keys = (ends[:, 0] * relations + own) * entities + ends[:, 1]
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(first_of_run(keys[order]))
    statements[members[order]] = np.repeat(members[order[starts]], np.diff(starts, append=len(order)))
    return statements


def restate(triples: Triples, restatements: Sequence[Restatement], relations: int) -> Triples:
    """Returns what triples state with other relations: with the one that theirs restates, and with its equals."""
    pairs, found = _Pairs(triples, relations), [triples[:0]]
    for one in restatements:
        forward, turned = one.restated_by & ~1, one.restated_by & 1
        found.append(np.insert(pairs.of(one.restated_by), 1, one.relation, axis=1))
        if one.kind != "contained":
            found.append(np.insert(pairs.of(one.relation ^ turned), 1, forward, axis=1))
    return np.concatenate(found)


def count_overlaps(triples: Triples, entities: int, relations: int) -> dict[tuple[int, int], int]:
    """Returns how many facts two relations share: {(forward relation, directed relation not before it): facts}.

    Of a relation and its own inverse it is the number of its triples that are stated in both directions.
    """
    pairs, relation = _by_pair(triples, entities, relations)
    counts: dict[tuple[int, int], int] = {}
    first, distance = np.arange(len(pairs)), 1
    while len(first := _with_same_pair(first, distance, pairs)):  # neighbours, then the next but one, ...
        one, other = relation[first], relation[first + distance]
        loop = pairs[first] % (entities + 1) == 0  # from an entity to itself: shared in both directions
        ones, others = np.append(one, one[loop]), np.append(other, other[loop] ^ 1)
        keys, shared = np.unique((ones & ~1) * relations + (others ^ (ones & 1)), return_counts=True)
        for key, facts in zip(keys.tolist(), shared.tolist(), strict=True):
            forward, directed = divmod(key, relations)
            times = 2 if directed == forward + 1 else 1
            counts[forward, directed] = counts.get((forward, directed), 0) + times * facts
        distance += 1
    return counts


def _with_same_pair(first: Integers, distance: int, pairs: Integers) -> Integers:
    """Keeps the positions whose successor at a distance has the same pair of entities; `pairs` ascend."""
    first = first[: np.searchsorted(first, len(pairs) - distance)]
    kept: Integers = first[pairs[first] == pairs[first + distance]]
    return kept


def _by_pair(triples: Triples, entities: int, relations: int) -> tuple[Integers, Integers]:
    """Returns the distinct triples in order of their two entities: the pair as a number, and the directed relation.

    The smaller entity is the head of each.
    """
    head, tail = triples[:, 0].astype(np.int64), triples[:, 2]
    swap = head > tail
    keys = np.where(swap, tail * np.int64(entities) + head, head * entities + tail) * relations
    keys += triples[:, 1] ^ swap
    keys = merge(keys)
    pairs = keys // relations
    return pairs, keys - pairs * relations


def share_by_chance(pairs: Triples, others: Triples) -> float:
    """Returns the expected share of the pairs of one relation that another has, had that one drawn its pairs by chance.

        1 / |pairs|  sum over (h, t) in pairs of  min(1, out(h) in(t) / |others|)

    pairs, others (n, 2): head and tail; out(h), in(t): how many of the others leave h and enter t. So frequent ends
    explain what they can explain.
    """
    out, into = (_times(pairs[:, end], others[:, end]) for end in (0, 1))
    return float(np.minimum(1.0, out * into / len(others)).mean())


class _Pairs:
    """The heads and tails of each directed relation."""

    def __init__(self, triples: Triples, relations: int) -> None:
        order = np.argsort(triples[:, 1], kind="stable")
        self._ends = triples[order][:, [0, 2]]
        self._ptr = np.searchsorted(triples[order, 1], np.arange(relations + 1))

    def of(self, relation: int) -> Triples:
        forward = relation & ~1
        pairs = self._ends[self._ptr[forward] : self._ptr[forward + 1]]
        return pairs[:, ::-1] if relation & 1 else pairs


def _times(values: npt.NDArray[np.int32], among: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Returns how often each value occurs among others."""
    distinct, place = np.unique(values, return_inverse=True)
    found = np.minimum(np.searchsorted(distinct, among), len(distinct) - 1)
    times: npt.NDArray[np.int64] = np.bincount(found[distinct[found] == among], minlength=len(distinct))[place]
    return times


def _is_beyond_chance(share: float, expected: float, trials: float, surprise: float) -> bool:
    """Whether a share of so many trials is more than chance gives.

    Chernoff's bound: of n trials that succeed with probability p on average, a share q > p or more succeeds with a
    probability of at most exp(-n KL(q || p)). `surprise` is the least n KL(q || p).
    """
    if share - expected < _BEYOND_CHANCE * (1.0 - expected) or expected >= 1.0:
        return False
    lacking = (1.0 - share) * log((1.0 - share) / (1.0 - expected)) if share < 1.0 else 0.0
    divergence = share * log(share / expected) + lacking if expected > 0.0 else inf
    return trials * divergence >= surprise


def _kind(restated_by: int, mutual: bool) -> str:
    if not mutual:
        return "contained"
    return "inverse" if restated_by & 1 else "duplicate"


def _families(
    restatements: Sequence[Restatement], relations: int
) -> tuple[Integers, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Returns for each base relation its family, or -1, and whether it is turned against it; and for each family
    whether direction means nothing in it, since a relation stands in it in both."""
    beside: dict[int, list[tuple[int, bool]]] = {}
    for one in restatements:
        relation, by, turn = one.relation >> 1, one.restated_by >> 1, bool(one.restated_by & 1)
        beside.setdefault(relation, []).append((by, turn))
        beside.setdefault(by, []).append((relation, turn))
    family, turned = np.full(relations, -1, np.int64), np.zeros(relations, np.bool_)
    mirrored: list[bool] = []
    for start in beside:
        if family[start] >= 0:
            continue
        waiting, both_ways = [start], False
        family[start] = len(mirrored)
        while waiting:
            relation = waiting.pop()
            for other, turn in beside[relation]:
                if family[other] < 0:
                    family[other], turned[other] = len(mirrored), turned[relation] ^ turn
                    waiting.append(other)
                both_ways |= bool(turned[other] != (turned[relation] ^ turn))
        mirrored.append(both_ways)
    return family, turned, np.array(mirrored, np.bool_)
