"""Lists of links as Arrow tables, a block of rows at a time.

n rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.engine.predict.find import Advance, find_evidence, find_pairs, rank_links
from pathformer.engine.predict.parts import Parts
from pathformer.engine.predict.wanted import Ends, Wanted
from pathformer.kg.names import Names
from pathformer.kg.vocabulary import Vocabulary
from pathformer.links.evidence._base import Ids
from pathformer.links.missing import MissingLinks, Pairs
from pathformer.links.scorer import LinkScorer

__all__ = ["make_tables"]

_ROWS = 1000  # of a table with evidence: those of a part
_ROWS_WITHOUT = 100_000


def make_tables(
    wanted: Wanted, links: LinkScorer, vocabulary: Vocabulary, parts: Parts, advance: Advance
) -> Iterator[Any]:
    """Yields the rows that are wanted as Arrow tables of one schema; at least one table."""
    if wanted.all_pairs:
        for ends, heads, pairs in find_pairs(wanted, links, parts, advance):
            yield _pairs_table(ends, heads, pairs, vocabulary)
        return
    ranked = rank_links(wanted, links, parts, advance)
    step = _ROWS if wanted.why else _ROWS_WITHOUT
    for number, first in enumerate(range(0, max(len(ranked), 1), step)):
        if wanted.why:
            advance("naming the evidence", first, len(ranked))
        some = ranked.take(slice(first, first + step))
        told = find_evidence(number, some, links, vocabulary, parts) if wanted.why else None
        yield _links_table(first, some, told, vocabulary)


def _links_table(first: int, links: MissingLinks, evidence: Names | None, vocabulary: Vocabulary) -> Any:
    import pyarrow as pa

    from pathformer.kg.arrow import array_of, strings

    inverse = links.relation % 2 == 1  # a row is a fact as the graph would state it
    head, tail = np.where(inverse, links.tail, links.head), np.where(inverse, links.head, links.tail)
    columns = {
        "rank": _numbers(np.arange(first + 1, first + 1 + len(links))),
        "head": strings(map(vocabulary.entity, head.tolist())),
        "head_label": strings(map(vocabulary.label, head.tolist())),
        "relation": strings(map(vocabulary.relation, links.relation.tolist())),
        "tail": strings(map(vocabulary.entity, tail.tolist())),
        "tail_label": strings(map(vocabulary.label, tail.tolist())),
        "probability": _numbers(links.probability),
        "probability_if_missing": _numbers(links.if_missing),
    }
    if evidence is not None:
        columns["evidence"] = array_of(evidence)
    return pa.table(columns)


def _pairs_table(ends: Ends, heads: Ids, pairs: Pairs, vocabulary: Vocabulary) -> Any:
    import pyarrow as pa

    rows, width = pairs.score.shape
    head, tail = np.repeat(np.arange(rows), width), np.tile(np.arange(width), rows)
    sides = [(heads, head), (ends.tails, tail)]
    (first, at_first), (second, at_second) = sides[::-1] if ends.relation % 2 else sides
    columns = {
        "head": _coded([*map(vocabulary.entity, first.tolist())], at_first),
        "head_label": _coded([*map(vocabulary.label, first.tolist())], at_first),
        "relation": _coded([vocabulary.relation(ends.relation)], np.zeros(rows * width, np.int64)),
        "tail": _coded([*map(vocabulary.entity, second.tolist())], at_second),
        "tail_label": _coded([*map(vocabulary.label, second.tolist())], at_second),
        "score": _numbers(pairs.score.ravel(), missing=pairs.known.ravel()),
        "probability": _numbers(pairs.probability.ravel()),
        "known": _flags(pairs.known.ravel()),
    }
    return pa.table(columns)


def _coded(texts: Sequence[str], position: npt.NDArray[np.integer]) -> Any:
    """Returns a column of texts by their position, each text once; several may be equal."""
    import pyarrow as pa

    from pathformer.kg.arrow import integers, strings

    codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    of = np.array([codes[text] for text in texts], np.int32)
    return pa.DictionaryArray.from_arrays(integers(of[position]), strings(codes))


def _numbers(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None = None) -> Any:
    """Returns a column of numbers; missing (n,): where there is none. `pa.array` would import pandas."""
    import pyarrow as pa

    there = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [there, data])


def _flags(values: npt.NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(np.packbits(values, bitorder="little"))])
