"""The exact backend: bits, ties, chunks, threads, spaces."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pathformer.errors import InputError
from pathformer.index._base import build, load
from pathformer.index._measure import Measure
from pathformer.index.kernels.scan import BLOCK, lay_out, nearest
from pathformer.index.kernels.stored import as_stored, widened
from pathformer.spaces._base import Space
from pathformer.spaces.kernels.l1_rank import l1_distances_plain
from pathformer.spaces.point import Point
from pathformer.spaces.sphere import Sphere


class Interval(Space):
    """A made-up space whose points are wider than its entities: a centre and a reach a dimension."""

    def __init__(self, dim: int) -> None:
        super().__init__(dim, 1.0)
        self.entity_width, self.relation_width, self.query_width = dim, dim, 2 * dim

    def distance(self, queries: Tensor, entities: Tensor) -> Tensor:
        centre, reach = queries.chunk(2, dim=-1)
        return ((entities - centre).abs() - reach.abs()).clamp_min(0).sum(-1)


@given(
    seed=st.integers(0, 2**31), entities=st.integers(1, 300), points=st.integers(1, 9), k=st.integers(1, 20),
    kept=st.floats(0, 1), levels=st.sampled_from([2, 1000]), threads=st.integers(1, 3),
)  # fmt: skip
def test_the_pass_gives_what_sorting_gives(
    seed: int, entities: int, points: int, k: int, kept: float, levels: int, threads: int
) -> None:
    """Few levels make many ties, which are in order of their ids, whatever the threads."""
    rng = np.random.default_rng(seed)
    table = torch.from_numpy(rng.integers(0, levels, (entities, 3)).astype(np.float32))
    asked = torch.from_numpy(rng.integers(0, levels, (points, 3)).astype(np.float32))
    keep = rng.random(entities) < kept
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        ids, distances = nearest(asked.numpy(), lay_out(table.numpy()), keep, k)
    finally:
        torch.set_num_threads(before)
    for row, truth in enumerate(l1_distances_plain(asked, table).numpy()):
        order = [n for n in np.argsort(truth, kind="stable") if keep[n]][:k]
        filled = order + [-1] * (k - len(order))
        assert ids[row].tolist() == filled
        assert distances[row].tolist() == [truth[n] if n >= 0 else math.inf for n in filled]


def test_distances_have_the_bits_of_the_ranking() -> None:
    table, points = torch.randn(1000, 333), torch.randn(6, 333)
    for stored in (table, table.bfloat16()):
        found = build("exact", stored).search(points, 1000)
        plain = l1_distances_plain(points, stored)
        assert torch.equal(found.distances, plain.gather(1, found.ids))


def test_a_table_in_bf16_is_kept_as_it_is() -> None:
    table = torch.randn(BLOCK + 3, 5).bfloat16()
    assert as_stored(table).dtype == np.uint16
    assert np.array_equal(widened(as_stored(table)), table.float().numpy())
    assert lay_out(as_stored(table)).shape == (2, 5, BLOCK)
    assert lay_out(as_stored(table)).dtype == np.uint16


@pytest.mark.parametrize("memory", [1, 5000, 1 << 28])
def test_a_space_is_searched_by_its_own_distance(memory: int, tmp_path: Path) -> None:
    torch.manual_seed(0)
    space, entities, points = Interval(6), torch.randn(500, 6), torch.randn(11, 12)
    index = build("exact", entities, space, memory=memory)
    truth = space.distance(points[:, None], entities)
    found = index.search(points, 9)
    assert torch.equal(found.distances, truth.sort(dim=1).values[:, :9])
    assert torch.equal(truth.gather(1, found.ids), found.distances)
    index.save(tmp_path / "index")
    with pytest.raises(InputError, match="measures by a model's Interval space: give the space to load it"):
        load(tmp_path / "index")
    assert torch.equal(load(tmp_path / "index", space=space).search(points, 9).distances, found.distances)
    with pytest.raises(InputError, match=r"expected \(any number, 12\)"):
        index.search(points[:, :6], 3)


def test_the_sphere_is_a_cosine_with_its_scale() -> None:
    torch.manual_seed(0)
    space, entities, points = Sphere(8, 1.0, temperature=0.25), torch.randn(60, 8), torch.randn(4, 8)
    entities[7] = 0
    measure = Measure.of(space)
    assert (measure.metric, measure.scale) == ("cosine", pytest.approx(4.0))
    found = build("exact", entities, space).search(points, 60)
    truth = space.distance(points[:, None], entities).detach()
    assert torch.allclose(found.distances, truth.gather(1, found.ids), atol=1e-5)


def test_points_are_measured_by_l1() -> None:
    assert Measure.of(Point(8, 1.0)) == Measure.of("l1")


def test_a_block_of_memory_is_some() -> None:
    with pytest.raises(InputError, match="memory 0 is no room at all"):
        build("exact", torch.randn(3, 2), memory=0)


@pytest.mark.gpu
@pytest.mark.parametrize("metric", ["l1", "cosine", "inner"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_card_finds_what_the_processor_finds(metric: str, dtype: torch.dtype, tmp_path: Path) -> None:
    torch.manual_seed(0)
    table, points = torch.randn(5000, 64).to(dtype), torch.randn(20, 64)
    here = build("exact", table, metric).search(points, 10)
    index = build("exact", table.cuda(), metric, memory=1 << 16)
    there = index.search(points.cuda(), 10)
    assert there.ids.is_cuda
    assert torch.allclose(there.distances.cpu(), here.distances, atol=1e-5, rtol=1e-5)
    assert (there.ids.cpu() == here.ids).float().mean() > 0.99
    index.save(tmp_path / "index")
    assert torch.equal(load(tmp_path / "index").search(points, 10).ids, here.ids)
    assert torch.equal(load(tmp_path / "index", device="cuda").search(points.cuda(), 10).ids, there.ids)


def test_a_kill_while_saving_leaves_a_whole_index(tmp_path: Path) -> None:
    """A process saves one index over another, again and again, and is killed at some moment of that."""
    program = (
        "import sys, torch\n"
        "from pathformer.index._base import build\n"
        "few, many = build('exact', torch.ones(10, 4)), build('exact', torch.ones(100_000, 4))\n"
        "few.save(sys.argv[1]); print('saved', flush=True)\n"
        "while True:\n"
        "    many.save(sys.argv[1], force=True); few.save(sys.argv[1], force=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, tmp_path / "index"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"saved\n"
        time.sleep(0.2)
        process.kill()
    index = load(tmp_path / "index")
    assert len(index) in (10, 100_000)
    assert index.search(torch.ones(1, 4), 3).ids[0].tolist() == [0, 1, 2]
