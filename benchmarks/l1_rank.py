"""Exact filtered ranking at NELL995's size on a CUDA device.

    pathformer bench l1_rank

A Pathformer of the paper's size over synthetic ids (63,361 entities, 400 relations, d = 800, 6 layers), as many queries
and answers a structure as the paper's Tables 10 and 11 say. Prints the time of the whole ranking from ids to ranks and
of its parts; checks that a sample of ranks has the counts of the plain path.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from _made_up import timed
from _record import record

from pathformer.evaluation.evaluate import ModelRanker, reference_filter
from pathformer.evaluation.ranks import Ranks, block_rows, even_blocks
from pathformer.kg.ragged import Ragged
from pathformer.models._base import build
from pathformer.plan.build import decompose
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.queries import Queries
from pathformer.spaces.kernels.l1_rank import l1_distances_plain

ENTITIES, RELATIONS, WIDTH, CHUNK = 63_361, 400, 800, 8_192
MEAN_HARD = {
    "1p": 1.6, "2p": 14.9, "3p": 17.5, "2i": 5.7, "3i": 6.0, "ip": 17.4, "pi": 11.9, "2u": 14.9, "up": 19.0,
    "2in": 12.9, "3in": 11.1, "inp": 12.9, "pin": 16.0, "pni": 13.0,
}  # fmt: skip
CUDA = torch.device("cuda")
EASY_A_HARD = 5  # filtered easy answers for each hard one


def queries_of(name: str, count: int, rng: np.random.Generator) -> Queries:
    """Makes random queries; hard answers have a long tail (at least 1), easy answers are a multiple of them."""
    structure = STRUCTURES[name]
    sizes = [ENTITIES if column == "e" else RELATIONS for column in structure.columns]
    ids = rng.integers(0, sizes, (count, len(sizes))).astype(np.int32)
    hard = np.minimum(rng.geometric(1 / MEAN_HARD[name], count), 2000)
    rows = [rng.choice(ENTITIES, (1 + EASY_A_HARD) * size, replace=False) for size in hard]
    parts = zip(rows, hard, strict=True)
    easy_hard = [(row[size:], row[:size]) for row, size in parts]
    return Queries(structure, ids, Ragged.of(e for e, _ in easy_hard), Ragged.of(h for _, h in easy_hard))


def whole() -> dict[str, float]:
    """Measures seconds of the whole test ranking and of its parts."""
    rng = np.random.default_rng(0)
    model = build("pathformer", {}, entities=ENTITIES, relations=RELATIONS).cuda().eval()
    with torch.no_grad():
        model.entities.weight[1::1000] = model.entities.weight[0::1000]  # exact ties
    sets = {name: queries_of(name, 17_034 if name == "1p" else 4_000, rng) for name in MEAN_HARD}
    ranker = ModelRanker(model)

    def rank() -> dict[str, Ranks]:
        return {name: ranker.rank(asked, asked.hard, reference_filter(asked)) for name, asked in sets.items()}

    def blocks(asked: Queries) -> Iterator[Queries]:  # as `rank` cuts them: products of other shapes round otherwise
        size = block_rows(ENTITIES, ranker.device) // len(decompose(asked.structure, ranker.union))
        return (asked.take(np.arange(*bounds)) for bounds in even_blocks(len(asked), size))

    def encode() -> dict[str, torch.Tensor]:
        with torch.inference_mode():
            return {name: torch.cat([ranker.points(some)[0] for some in blocks(asked)]) for name, asked in sets.items()}

    ranks, points = rank(), encode()
    torch.cuda.reset_peak_memory_stats()
    figures = {
        "whole_s": min(timed(CUDA, rank) for _ in range(3)),
        "peak_gb": torch.cuda.max_memory_allocated() / 1e9,
        "encode_s": timed(CUDA, encode),
    }
    rows = sum(len(part) for part in points.values())
    answers = sum(len(part.closer) for part in ranks.values())
    print(f"{sum(map(len, sets.values())):,} queries, {rows:,} rows, {answers:,} answers")
    for name, value in figures.items():
        print(f"{name:20s} {value:8.3f}")
    for name in ("1p", "2u", "ip", "pni"):
        check(points[name], sets[name], model.entities.weight, ranks[name])
    print("a sample of ranks equals the plain path's")
    return figures


def check(points: torch.Tensor, asked: Queries, table: torch.Tensor, ranks: Ranks) -> None:
    """Checks 32 queries by the plain path: distances by a loop over dimensions, counts over every entity."""
    each = len(points) // len(asked)
    for query in range(0, len(asked), len(asked) // 32):
        distance = l1_distances_plain(points[each * query : each * (query + 1)], table).amin(0)
        free = torch.ones(ENTITIES, dtype=torch.bool, device="cuda")
        for answers in (asked.easy, asked.hard):
            free[torch.from_numpy(answers[query]).cuda().long()] = False
        for place, answer in enumerate(asked.hard[query]):
            at, mine = ranks.ptr[query] + place, distance[int(answer)]
            found = int(((distance < mine) & free).sum()), int(((distance == mine) & free).sum())
            assert found == (ranks.closer[at], ranks.tied[at]), (asked.structure, query, found)


if __name__ == "__main__":
    torch.manual_seed(0)
    print(torch.cuda.get_device_name(), torch.__version__)
    with torch.no_grad():
        measured = {"ranking": whole()}
    print("written to", record("l1_rank", measured))
