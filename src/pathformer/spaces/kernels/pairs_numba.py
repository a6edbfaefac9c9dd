"""Distances to all entities on the processor, in boxes and cones: the terms of `pairs`, without a (R, N, D) tensor.

R queries, N entities, D dimensions.

Entities lie as for the L1 norm (`rank_numba`): transposed in blocks that stay in the cache while a query passes over
them, so every loop is over entities and vectorised. A cone needs no sine in its loop: that of (t_e - t) / 2 follows
from the sines and cosines of the two halves. At N = 14,505, d = 400 and 800, a query takes 2.5 and 26 ms of one core,
the preparation of the tables for 16 queries included; lines of torch take 136 and 592.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from pathformer.compiled import compiled, share
from pathformer.spaces.kernels.rank_numba import lay_out

__all__ = ["box_distances", "cone_distances"]


def box_distances(queries: Tensor, table: Tensor) -> Tensor:
    """Distances to boxes: centres and offsets (R, 2D), points (N, D) -> (R, N) float32."""
    rows, blocks = queries.detach().float().contiguous().numpy(), lay_out(table.detach()).numpy()
    out = np.empty((len(rows), len(table)), np.float32)
    share(lambda _, first, last: _box_rows(rows, blocks, out, first, last), len(rows), torch.get_num_threads())
    return torch.from_numpy(out)


def cone_distances(queries: Tensor, angles: Tensor) -> Tensor:
    """Distances to cones, before the scale: axes and half apertures (R, 2D), angles (N, D) -> (R, N) float32."""
    axes, halves = (queries.detach().float() / 2).chunk(2, dim=-1)
    query = [part.contiguous().numpy() for part in (axes.sin(), axes.cos(), halves.sin().abs(), halves.cos().abs())]
    half = angles.detach().float() / 2
    entity = [lay_out(half.sin()).numpy(), lay_out(half.cos()).numpy()]
    out = np.empty((len(axes), len(angles)), np.float32)

    def work(_: int, first: int, last: int) -> None:
        _cone_rows(query[0], query[1], query[2], query[3], entity[0], entity[1], out, first, last)

    share(work, len(axes), torch.get_num_threads())
    return torch.from_numpy(out)


@compiled
def _box_rows(queries, blocks, out, first, last):
    count = out.shape[1]
    width, size = blocks.shape[1], blocks.shape[2]
    inside, sums = np.float32(0.02), np.empty(size, np.float32)
    for block in range(len(blocks)):
        start = block * size
        used = min(size, count - start)
        for row in range(first, last):
            sums[:] = 0
            for k in range(width):
                centre, offset = queries[row, k], queries[row, width + k]
                entities = blocks[block, k]
                for n in range(size):
                    away = abs(entities[n] - centre)
                    least = away if away < offset else offset
                    sums[n] += (away - least) + inside * abs(least)  # relu(D - o) = D - min(D, o)
            out[row, start : start + used] = sums[:used]


@compiled
def _cone_rows(sines, cosines, rims, gaps, entity_sines, entity_cosines, out, first, last):
    count = out.shape[1]
    width, size = entity_sines.shape[1], entity_sines.shape[2]
    zero, inside, sums = np.float32(0), np.float32(0.02), np.empty(size, np.float32)
    for block in range(len(entity_sines)):
        start = block * size
        used = min(size, count - start)
        for row in range(first, last):
            sums[:] = 0
            for k in range(width):
                sine, cosine, rim, gap = sines[row, k], cosines[row, k], rims[row, k], gaps[row, k]
                sine_e, cosine_e = entity_sines[block, k], entity_cosines[block, k]
                for n in range(size):
                    near = abs(sine_e[n] * cosine - cosine_e[n] * sine)  # |sin((t_e - t) / 2)|
                    across = abs(cosine_e[n] * cosine + sine_e[n] * sine)
                    edge = abs(near * gap - across * rim)  # the smaller of |sin((t_e - t +- s) / 2)|
                    sums[n] += (zero if near < rim else edge) + inside * (near if near < rim else rim)
            out[row, start : start + used] = sums[:used]
