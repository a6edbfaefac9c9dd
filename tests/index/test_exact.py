"""The exact index: bits, ties, threads, precision, and a kill while it is saved."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.twins import l1_distances

from pathformer.index._base import build, load
from pathformer.index._scan import BLOCK, lay_out, nearest_plain
from pathformer.index.kernels.bf16 import to_bf16, to_float32
from pathformer.index.kernels.scan import nearest
from pathformer.plan.measure import Measure


@given(
    seed=st.integers(0, 2**31), entities=st.integers(1, 300), points=st.integers(1, 9), k=st.integers(1, 20),
    kept=st.floats(0, 1), levels=st.sampled_from([2, 1000]), threads=st.integers(1, 3),
)  # fmt: skip
def test_the_pass_gives_what_sorting_gives(
    seed: int, entities: int, points: int, k: int, kept: float, levels: int, threads: int
) -> None:
    """Few levels make many ties, which are in order of their ids, whatever the threads."""
    rng = np.random.default_rng(seed)
    rows, asked = (rng.integers(0, levels, (count, 3)).astype(np.float32) for count in (entities, points))
    keep = rng.random(entities) < kept
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        ids, distances = nearest(asked, lay_out(rows), keep, k)
    finally:
        torch.set_num_threads(before)
    for row, truth in enumerate(l1_distances(asked, rows)):
        order = [n for n in np.argsort(truth, kind="stable") if keep[n]][:k]
        filled = order + [-1] * (k - len(order))
        assert ids[row].tolist() == filled
        assert distances[row].tolist() == [truth[n] if n >= 0 else math.inf for n in filled]


@given(
    seed=st.integers(0, 2**31), entities=st.integers(1, 300), points=st.integers(1, 6), k=st.integers(1, 20),
    kept=st.floats(0, 1), levels=st.sampled_from([2, 1000]), half=st.booleans(), dot=st.booleans(),
)  # fmt: skip
def test_plain_numpy_finds_what_compiled_code_finds_to_the_bit(
    seed: int, entities: int, points: int, k: int, kept: float, levels: int, half: bool, dot: bool
) -> None:
    rng = np.random.default_rng(seed)
    rows, asked = (rng.integers(-levels, levels, (n, 7)).astype(np.float32) / 7 for n in (entities, points))
    rows[0, 0], keep = 3e38, rng.random(entities) < kept
    factors = rng.random(entities, np.float32) if dot else None
    blocks = lay_out(to_bf16(rows) if half else rows)
    plain, fast = (search(asked, blocks, keep, k, factors) for search in (nearest_plain, nearest))
    assert np.array_equal(plain[0], fast[0])
    assert np.array_equal(plain[1], fast[1])


def test_compiled_code_is_loaded_once_that_pays() -> None:
    program = (
        "import sys, numpy as np\n"
        "from pathformer.index._base import build\n"
        "index, found = build('exact', np.ones((1 << 14, 64), np.float32)), []\n"
        "for _ in range(400):\n"
        "    index.nearest(np.ones((1, 64), np.float32), 3)\n"
        "    found.append('numba' in sys.modules)\n"
        "print(found.index(True))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert int(done.stdout) == (1 << 28) // (1 << 20), done.stderr


def test_distances_have_the_bits_of_the_ranking() -> None:
    rng = np.random.default_rng(0)
    rows, points = rng.standard_normal((1000, 333), np.float32), rng.standard_normal((6, 333), np.float32)
    for stored in (rows, to_bf16(rows)):
        found = build("exact", stored).nearest(points, 1000)
        plain = l1_distances(points, to_float32(stored))
        assert np.array_equal(found.distances, np.take_along_axis(plain, found.ids, axis=1))


def test_a_table_in_bf16_is_kept_as_it_is_and_rounded_as_torch_rounds() -> None:
    table = torch.cat([torch.randn(BLOCK, 5), torch.tensor([[1.00390625, 1.01171875, -0.0, 3e38, 1e-40]])])
    stored = to_bf16(table.numpy())
    assert np.array_equal(stored, table.bfloat16().view(torch.uint16).numpy())
    assert np.array_equal(to_float32(stored), table.bfloat16().float().numpy())
    assert lay_out(stored).shape == (2, 5, BLOCK)
    assert lay_out(stored).dtype == np.uint16


def test_a_measure_brings_its_scale_and_its_offset(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows, points = rng.standard_normal((60, 8), np.float32), rng.standard_normal((4, 8), np.float32)
    rows[7] = 0  # at right angles to everything
    for kind in ("cosine", "inner"):
        bare = build("exact", rows, kind).nearest(points, 60)
        scaled = build("exact", rows, Measure(kind, scale=4.0, offset=0.5))
        found = scaled.nearest(points, 60)
        assert np.array_equal(found.ids, bare.ids)
        expected = 4.0 * bare.distances if kind == "cosine" else 0.5 + bare.distances
        assert np.allclose(found.distances, expected, atol=1e-5)
        assert load(scaled.save(tmp_path / kind)).measure == scaled.measure


def test_a_kill_while_saving_leaves_a_whole_index(tmp_path: Path) -> None:
    """A process saves one index over another, again and again, and is killed at some moment of that."""
    program = (
        "import sys, numpy as np\n"
        "from pathformer.index._base import build\n"
        "few, many = (build('exact', np.ones((n, 4), np.float32)) for n in (10, 100_000))\n"
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
    assert index.nearest(np.ones((1, 4), np.float32), 3).ids[0].tolist() == [0, 1, 2]
