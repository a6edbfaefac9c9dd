"""Goes through the heads of a list, block by block: ranks their missing links, names the evidence, scores pairs.

N entities, B heads, T tails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from pathformer.engine.predict.parts import Arrays, Parts
from pathformer.engine.predict.wanted import Ends, Wanted
from pathformer.errors import InputError
from pathformer.kg.names import Names
from pathformer.kg.vocabulary import Vocabulary
from pathformer.links.evidence._base import Ids
from pathformer.links.missing import MissingLinks, Pairs, find_missing, score_pairs
from pathformer.links.scorer import LinkScorer

__all__ = ["Advance", "blocks", "find_evidence", "find_pairs", "rank_links"]

Advance = Callable[[str, int, int], None]  # a stage, how many of its steps are done, and of how many

_HEADS = 512  # of a part
_PAIRS = 1 << 20  # of a part
_NUMBERS = 1 << 20  # of the rows that are scored at once, for each source
_EVIDENCE = 3  # pieces that are told of a link
_MOST = 20_000_000  # links of a list: a gigabyte


def blocks(wanted: Wanted) -> list[tuple[Ends, Ids]]:
    """Returns the heads of each relation in blocks, each of which becomes a part."""
    cut = []
    for ends in wanted.ends:
        size = max(1, min(_HEADS, _PAIRS // max(1, len(ends.tails)))) if wanted.all_pairs else _HEADS
        cut += [(ends, ends.heads[first : first + size]) for first in range(0, len(ends.heads), size)]
    return cut


def rank_links(wanted: Wanted, links: LinkScorer, parts: Parts, advance: Advance) -> MissingLinks:
    """Returns the missing links that are wanted, the likeliest first."""
    found, count, least = [MissingLinks.none()], 0, wanted.min_probability
    work = blocks(wanted)
    for number, (ends, heads) in enumerate(work):
        advance("ranking", number, len(work))

        def make(ends: Ends = ends, heads: Ids = heads, least: float = least) -> Arrays:
            return _part(ends, heads, wanted.top, least, links).arrays()

        found.append(MissingLinks(**parts.keep(f"links-{number}", make)))
        count += len(found[-1])
        if wanted.top is not None and count >= wanted.top:
            found = [MissingLinks.join(found).ranked(wanted.top)]
            count, least = wanted.top, float(found[0].probability[-1])
        _check_count(count)
    advance("ranking", len(work), len(work))
    return MissingLinks.join(found).ranked(wanted.top)


def find_evidence(number: int, ranked: MissingLinks, links: LinkScorer, vocabulary: Vocabulary, parts: Parts) -> Names:
    """Returns the strongest evidence of each link of a block, as text; number: of the block."""

    def make() -> Arrays:
        told = []
        for link in zip(ranked.head.tolist(), ranked.relation.tolist(), ranked.tail.tolist(), strict=True):
            pieces = links.pieces(*link)[:_EVIDENCE]
            told.append("; ".join(links.say(piece, link, vocabulary) for piece in pieces))
        offsets, data = Names.of(told).buffers
        return {"offsets": offsets, "data": data}

    part = parts.keep(f"evidence-{number}", make)
    return Names(len(ranked), lambda: (part["offsets"], part["data"]))


def find_pairs(wanted: Wanted, links: LinkScorer, parts: Parts, advance: Advance) -> Iterator[tuple[Ends, Ids, Pairs]]:
    """Yields the scores of all pairs of a block of heads and all tails, block by block."""
    work = blocks(wanted)
    done, total = 0, sum(ends.pairs for ends in wanted.ends)
    for number, (ends, heads) in enumerate(work):
        advance("scoring pairs", done, total)

        def make(ends: Ends = ends, heads: Ids = heads) -> Arrays:
            found = [score_pairs(links, ends.relation, some, ends.tails) for some in _groups(heads, links)]
            names = ("score", "probability", "known")
            return {name: np.concatenate([getattr(each, name) for each in found]) for name in names}

        yield ends, heads, Pairs(**parts.keep(f"pairs-{number}", make))
        done += len(heads) * len(ends.tails)
    advance("scoring pairs", total, total)


def _part(ends: Ends, heads: Ids, top: int | None, least: float, links: LinkScorer) -> MissingLinks:
    """Returns the missing links of a block of heads that may be wanted."""
    tails = np.zeros(links.graph.entities, np.bool_)
    tails[ends.tails] = True
    found = MissingLinks.none()
    for some in _groups(heads, links):
        more = find_missing(links, ends.relation, some, tails, least=least, top=top, itself=ends.itself)
        found = MissingLinks.join([found, more])
        if top is not None and len(found) >= top:
            found = found.ranked(top)
            least = max(least, float(found.probability[-1]))
        _check_count(len(found))
    return found


def _groups(heads: Ids, links: LinkScorer) -> Iterator[Ids]:
    """Yields the heads whose rows are made at once."""
    size = max(1, _NUMBERS // links.graph.entities)
    return (heads[first : first + size] for first in range(0, len(heads), size))


def _check_count(count: int) -> None:
    if count > _MOST:
        raise InputError(
            f"more than {_MOST:,} links are as likely as that: ask for fewer with --top or a larger "
            "--min-probability, or for the scores of all pairs with --all-pairs"
        )
