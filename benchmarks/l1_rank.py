"""Exact filtered ranking at NELL995's size on a CUDA device: `PYTHONPATH=src python benchmarks/l1_rank.py`.

Synthetic tables (63,361 entities, d = 800), as many queries and answers a structure as the paper's Tables 10 and 11
say. Prints tile sizes of the distance kernel against its floor, the counting kernel, `torch.cdist` beside them, and
the whole ranking; checks that a sample has the same bits and the same ranks by the plain path.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np
import torch
from _record import record

from pathformer.evaluation.ranks import rank_block, rank_points
from pathformer.nn.kernels import rank_triton
from pathformer.nn.kernels.l1_rank import L1Table, l1_distances_plain
from pathformer.symbolic.queries import Ragged

ENTITIES, WIDTH, CHUNK = 63_361, 800, 8_192
MEAN_HARD = {
    "1p": 1.6, "2p": 14.9, "3p": 17.5, "2i": 5.7, "3i": 6.0, "ip": 17.4, "pi": 11.9, "2u": 14.9, "up": 19.0,
    "2in": 12.9, "3in": 11.1, "inp": 12.9, "pin": 16.0, "pni": 13.0,
}  # fmt: skip
EASY_A_HARD = 5  # filtered easy answers for each hard one


def milliseconds(work: Callable[[], object], repeat: int = 5) -> float:
    """The median time of `work` on the device, after one warm-up."""
    work()
    times = []
    for _ in range(repeat):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times)


def floor(rows: int) -> float:
    """Milliseconds of 2 rows N d float32 additions at one a lane and clock, at the card's highest clock."""
    card = torch.cuda.get_device_properties(0)
    clock = getattr(card, "clock_rate", 1_980_000) * 1e3
    return 2e3 * rows * ENTITIES * WIDTH / (card.multi_processor_count * 128 * clock)


def tiles(points: torch.Tensor, table: torch.Tensor) -> dict[str, float]:
    """Milliseconds of the distance kernel for each tile."""
    figures = {}
    queries, entities = rank_triton.transposed(points), rank_triton.transposed(table)
    out = torch.empty(queries.shape[1], entities.shape[1], device="cuda")
    expected = l1_distances_plain(points[:64], table[:2048])
    for side, lanes, unroll, warps, registers in [
        (8, 16, 2, 8, 128), (8, 16, 4, 8, 128), (8, 16, 8, 8, 128), (8, 16, 8, 8, 255), (8, 16, 16, 8, 255),
        (8, 8, 8, 2, 128), (4, 16, 8, 8, 64), (4, 32, 8, 16, 64),
    ]:  # fmt: skip
        tile = side * lanes
        grid = (queries.shape[1] // tile, entities.shape[1] // tile)
        out.fill_(torch.nan)

        sizes = queries.shape[0], queries.shape[1], entities.shape[1], side, lanes, unroll
        launch = partial(rank_triton._l1_tile[grid], queries, entities, out, *sizes, num_warps=warps, maxnreg=registers)
        name = f"tile {tile}, {side} x {side} a thread, {unroll} a turn, {warps} warps, {registers} registers"
        figures[name] = milliseconds(launch)
        assert torch.equal(out[:64, :2048], expected), name
        print(f"{name:66s} {figures[name]:8.2f} ms  {floor(len(points)) / figures[name]:6.1%} of the floor's rate")
    return figures


def answers(count: int, mean: float, rng: np.random.Generator) -> tuple[Ragged, Ragged]:
    """Hard answers with a long tail (1 at the least), and filters: those and more."""
    sizes = np.minimum(rng.geometric(1 / mean, count), 2000)
    rows = [rng.choice(ENTITIES, (1 + EASY_A_HARD) * size, replace=False) for size in sizes]
    return Ragged.of(row[:size] for row, size in zip(rows, sizes, strict=True)), Ragged.of(rows)


def main() -> None:
    """Measure and print."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    print(torch.cuda.get_device_name(), torch.__version__, torch.cuda.get_device_properties(0))
    print({name: find_spec(name) is not None for name in ("numba", "rich", "typer", "lark", "pyarrow", "tensorboard")})
    table = torch.randn(ENTITIES, WIDTH, device="cuda")
    table[1::1000] = table[::1000][: len(table[1::1000])]  # exact ties
    points = torch.randn(CHUNK, WIDTH, device="cuda")
    figures: dict[str, object] = {"floor_ms": floor(CHUNK), "tiles_ms": tiles(points, table)}
    figures["cdist_512_ms"] = milliseconds(lambda: torch.cdist(points[:512], table, p=1.0), 2)
    print(f"torch.cdist(p=1), 512 rows: {figures['cdist_512_ms']:.1f} ms; floor {floor(512):.2f} ms")

    structures = {name: 17_034 if name == "1p" else 4_000 for name in MEAN_HARD}
    work = {name: answers(count, MEAN_HARD[name], rng) for name, count in structures.items()}
    rows = {name: np.full(count, 2 if "u" in name else 1) for name, count in structures.items()}
    embedded = {name: torch.randn(int(rows[name].sum()), WIDTH, device="cuda") for name in structures}

    def whole() -> dict[str, object]:
        prepared = L1Table.of(table)
        return {
            name: rank_points(embedded[name], rows[name], *work[name], prepared.distances, ENTITIES) for name in work
        }

    whole()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    ranks = whole()
    figures["whole_s"] = time.perf_counter() - start
    figures["peak_gb"] = torch.cuda.max_memory_allocated() / 1e9
    total = sum(int(r.sum()) for r in rows.values())
    hard = sum(len(r.closer) for r in ranks.values())
    print(
        f"whole ranking: {figures['whole_s']:.3f} s for {sum(structures.values()):,} queries, {total:,} rows, "
        f"{hard:,} answers; floor of the distances {floor(total) / 1e3:.3f} s; peak {figures['peak_gb']:.1f} GB"
    )

    block = torch.randn(4_000, ENTITIES, device="cuda")
    hard_, filters = work["2p"]
    start = time.perf_counter()
    for _ in range(5):
        rank_block(block, hard_, filters)
    figures["count_4000_ms"] = 200 * (time.perf_counter() - start)
    print(f"filter and count alone, 4,000 queries of 2p: {figures['count_4000_ms']:.1f} ms")

    for name in ("1p", "2u", "pni"):
        check(name, embedded[name], rows[name], work[name], table, ranks[name])
    print("a sample of ranks equals the plain path's")
    print("written to", record("l1_rank", figures))


def check(name, points, disjuncts, work, table, ranks) -> None:
    """32 queries by the plain path: distances by a loop over dimensions, counts by comparing with every entity."""
    ends = np.cumsum(disjuncts)
    for query in range(0, len(disjuncts), len(disjuncts) // 32):
        own = points[ends[query] - disjuncts[query] : ends[query]]
        distance = l1_distances_plain(own, table).amin(0)
        free = torch.ones(ENTITIES, dtype=torch.bool, device="cuda")
        free[torch.from_numpy(work[1][query]).cuda().long()] = False
        for place, answer in enumerate(work[0][query]):
            at = ranks.ptr[query] + place
            mine = distance[int(answer)]
            found = int(((distance < mine) & free).sum()), int(((distance == mine) & free).sum())
            assert found == (ranks.closer[at], ranks.tied[at]), (name, query, found)


if __name__ == "__main__":
    main()
