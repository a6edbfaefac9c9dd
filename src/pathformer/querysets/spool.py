"""Drawn queries that wait on the disk, not in memory, until all structures are drawn and a layout writes them.

The answers of one structure of training queries may fill gigabytes, and a layout needs all structures of a split.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from pathformer.files.arrays import map_array
from pathformer.kg.ragged import Ragged
from pathformer.querysets.queries import Queries

__all__ = ["keep_on_disk"]

_LARGE = 32 << 20  # bytes of answers that move to the disk


def keep_on_disk(queries: Queries, folder: Path) -> Queries:
    """Returns the same queries; answers that take much memory are mapped from a file in the folder."""
    return replace(queries, easy=_kept(queries.easy, folder), hard=_kept(queries.hard, folder))


def _kept(answers: Ragged, folder: Path) -> Ragged:
    if answers.values.nbytes < _LARGE:
        return answers
    file = folder / f"{sum(1 for _ in folder.iterdir())}.npy"
    np.save(file, answers.values)
    return Ragged(answers.ptr, map_array(file))
