"""What approximate indexes add: hashes that follow the distance, recall as a target, and what is refused."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pathformer.errors import ConfigError, DivergedError, InputError, MissingExtraError
from pathformer.index._base import RowIndex, build, load
from pathformer.index._hashes import Lifted, Planes, Thresholds, complete, complete_points
from pathformer.index._rows import lengths, unit
from pathformer.index._scan import lay_out
from pathformer.index._tuning import Trial, made_up_points
from pathformer.index.kernels.hamming import differences
from pathformer.index.lsh import LSH
from pathformer.plan.measure import Measure

APPROXIMATE = ("hnsw", "lsh")
Floats = npt.NDArray[np.float32]


def normal(seed: int, *shape: int) -> Floats:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


@pytest.fixture(scope="module")
def rows() -> Floats:
    """No groups at all, which is the hardest: every distance is much like every other."""
    return normal(0, 3000, 32)


@pytest.fixture(scope="module")
def points() -> Floats:
    return np.float32(0.7) * normal(1, 400, 32)


def differing(hashes: Any, rows: Floats, points: Floats) -> np.ndarray:
    return differences(hashes.codes_of_points(points), lay_out(hashes.codes(rows)), len(rows))


def cosines(points: Floats, rows: Floats) -> np.ndarray:
    return np.clip(unit(points) @ unit(rows).T, -1, 1)


def recall(index: RowIndex, points: Floats, truth: np.ndarray, k: int = 10) -> float:
    limit = np.sort(truth, axis=1)[:, k - 1 : k]
    return float((np.take_along_axis(truth, index.nearest(points, k).ids, axis=1) <= limit + 1e-4).mean())


def test_differing_bits_follow_the_l1_norm() -> None:
    """Over many draws the mean share of differing bits, times the whole range, is the distance, up to the tails."""
    rows = normal(0, 40, 6) * np.array([0.1, 1.0, 3.0, 1.0, 1.0, 0.0], np.float32)
    low, high = np.quantile(rows, [0.01, 0.99], axis=0)
    inside = np.clip(rows, low, high)
    truth = np.abs(inside[:10, None] - inside).sum(-1)
    means = [differing(Thresholds.draw(rows, 512, seed), rows, rows[:10]) / 512 for seed in range(40)]
    means = [mean * (high - low).sum() for mean in means]
    assert np.abs(np.mean(means, axis=0) - truth).max() < 0.25
    assert np.abs(means[0] - truth).max() < 0.6
    assert np.corrcoef(means[0].ravel(), truth.ravel())[0, 1] > 0.999


def test_differing_bits_follow_the_angle() -> None:
    rows = normal(0, 40, 6)
    counts = differing(Planes.draw(rows, 4096, 0), rows, rows[:10])
    assert np.abs(np.pi * counts / 4096 - np.arccos(cosines(rows[:10], rows))).max() < 0.12


def test_differing_bits_follow_the_inner_product() -> None:
    rows, points = normal(0, 60, 6) * np.random.default_rng(1).random((60, 1), np.float32), normal(2, 10, 6)
    hashes = Lifted.draw(rows, 4096, 0)
    shares = points @ rows.T / (lengths(points)[:, None] * hashes.length)
    assert np.abs(np.pi * differing(hashes, rows, points) / 4096 - np.arccos(shares)).max() < 0.1


def test_completed_rows_are_of_one_length_and_have_the_same_products() -> None:
    rows, points = normal(0, 50, 6), normal(1, 7, 6)
    length = float(lengths(rows).max())
    whole = complete(rows, length)
    assert np.allclose(lengths(whole), length, rtol=1e-5)
    assert whole[lengths(rows).argmax(), -1] == pytest.approx(0.0, abs=1e-2)
    assert np.allclose(complete_points(points) @ whole.T, points @ rows.T, atol=1e-5)
    assert (complete(rows, 0.5 * length)[:, -1] == 0).sum() == (lengths(rows) >= 0.5 * length).sum()


@pytest.mark.parametrize("family", [Thresholds, Planes, Lifted])
def test_a_code_has_as_many_bits_as_asked_for(family: Any) -> None:
    rows = normal(0, 50, 7)
    for bits in (64, 256):
        assert family.draw(rows, bits, 3).codes(rows).shape == (50, bits // 64)
    assert family.draw(rows, 64, 3).codes(rows[:0]).shape == (0, 1)


@pytest.mark.parametrize(("family", "width", "bits", "most"), [(Thresholds, 16, 256, 0.6), (Planes, 32, 128, 0.8)])
def test_even_draws_scatter_less_than_independent_ones(family: Any, width: int, bits: int, most: float) -> None:
    """The error of the estimate over many draws, against that of independent bits: a binomial's."""
    rows = normal(0, 30, width)
    shares = [differing(family.draw(rows, bits, seed), rows, rows[:1])[0, 1:] / bits for seed in range(60)]
    mean, spread = np.mean(shares, axis=0), np.std(shares, axis=0)
    assert (spread / np.sqrt(mean * (1 - mean) / bits)).mean() < most
    if family is Planes:
        assert np.abs(mean - np.arccos(cosines(rows[:1], rows[1:]))[0] / np.pi).max() < 0.025
        group = Planes.draw(rows, width, 0).normals
        assert np.allclose(group.T @ group, np.eye(width), atol=1e-5)


def test_entities_that_are_all_alike_are_hashed_too() -> None:
    found = build("lsh", np.ones((20, 3), np.float32)).nearest(np.ones((1, 3), np.float32), 4)
    assert found.ids[0].tolist() == [0, 1, 2, 3]
    assert (found.distances == 0).all()


@pytest.mark.parametrize("backend", APPROXIMATE)
@pytest.mark.parametrize("measure", ["l1", "cosine", "inner"])
@pytest.mark.parametrize("target", [0.5, 0.95])
def test_the_target_is_reached_on_other_points(
    backend: str, measure: str, target: float, rows: Floats, points: Floats
) -> None:
    index = build(backend, rows, measure, points=points[:200], recall=target)
    asked = points[200:]
    for k in (10, 64, 100):
        exact = build("exact", rows, measure).nearest(asked, k).ids
        found = index.nearest(asked, k).ids
        assert np.mean([np.isin(*row).mean() for row in zip(exact, found, strict=True)]) >= target
    assert index.about["recall@10 on a sample"] >= (1 + target) / 2


def test_a_higher_target_costs_more(rows: Floats, points: Floats) -> None:
    low, high = (build("lsh", rows, points=points, recall=recall, bits=512) for recall in (0.6, 0.99))
    assert low.config.rerank < high.config.rerank
    assert low.config.bits == high.config.bits == 512


def test_what_was_chosen_is_kept(rows: Floats, points: Floats, tmp_path: Path) -> None:
    index = build("lsh", rows, points=points)
    opened = load(index.save(tmp_path / "index"))
    assert opened.config == index.config
    assert opened.config.bits in (512, 768, 1024, 1536, 2048, 3072, 4096)
    assert opened.config.rerank >= 10
    assert opened.about == index.about
    given = build("lsh", rows, bits=128, rerank=70)
    assert (given.config.bits, given.config.rerank) == (128, 70)
    graph = build("hnsw", rows, breadth=40, links=8, construction=20)
    assert graph.config.breadth == 40


def test_an_opened_graph_is_read_where_it_lies_until_it_grows(
    rows: Floats, points: Floats, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = build("hnsw", rows, links=8, breadth=64)
    folder = built.save(tmp_path / "index")
    faiss = pytest.importorskip("faiss")
    read = faiss.deserialize_index
    copies: list[int] = []
    monkeypatch.setattr(faiss, "deserialize_index", lambda given: copies.append(given.nbytes) or read(given))
    opened = load(folder)
    assert np.array_equal(opened.nearest(points, 10).ids, built.nearest(points, 10).ids)
    again = load(opened.save(tmp_path / "again"))
    assert np.array_equal(again.nearest(points, 10).ids, built.nearest(points, 10).ids)
    assert copies == []
    opened.add(points[:20])
    opened.add(points[20:21])
    assert len(copies) == 1
    assert np.array_equal(opened.nearest(points[:21], 1).ids.flatten(), np.arange(3000, 3021))


@pytest.mark.parametrize("backend", APPROXIMATE)
def test_an_index_that_doubled_is_tuned_anew(backend: str, rows: Floats, points: Floats, tmp_path: Path) -> None:
    """One that was built on two entities alike knows nothing of the others' ranges."""
    index = build(backend, np.zeros((2, 32), np.float32), **({"bits": 512} if backend == "lsh" else {}))
    index.add(rows[:2])
    assert index._tuned_at == 2  # twice as many is not more than twice
    index = load(index.save(tmp_path / "index"))
    index.add(rows[2:1500])
    assert index._tuned_at == 1502
    index.add(rows[1500:])
    assert index._tuned_at == 1502
    whole = np.concatenate([np.zeros((2, 32), np.float32), rows])
    exact = build("exact", whole).nearest(points, 10).ids
    found = index.nearest(points, 10).ids
    assert np.mean([np.isin(*row).mean() for row in zip(exact, found, strict=True)]) >= 0.95
    assert index.about["recall@10 on a sample"] >= 0.975


@pytest.mark.parametrize(
    ("backend", "asked"), [("hnsw", {"breadth": 40}), ("lsh", {"bits": 128, "rerank": 70, "growth": 0.5})]
)
def test_options_that_were_asked_for_survive_growth(
    backend: str, asked: dict[str, Any], rows: Floats, tmp_path: Path
) -> None:
    """Free ones are chosen anew beside them, also where it was saved in between."""
    fixed, free = build(backend, rows[:100], **asked), build(backend, rows[:100], recall=0.99)
    for index in (fixed, load(fixed.save(tmp_path / "fixed"))):
        index.add(rows[100:1000])
        assert index._tuned_at == 1000
        assert {name: getattr(index.config, name) for name in asked} == asked
        assert {name: getattr(index.given, name) for name in asked} == asked
    reopened = load(free.save(tmp_path / "free"))
    assert reopened.given == free.given == free.config_type(recall=0.99)
    assert reopened.config != reopened.given
    before = reopened.config
    reopened.add(rows[100:])
    assert reopened.config != before


def test_without_points_a_sample_is_made_up(rows: Floats) -> None:
    """Points lie between more entities where products count: means of 8 are half as long as means of 2."""
    one, two = (Trial.of(rows, Measure("l1"), None, seed=0) for _ in range(2))
    assert one.points.shape == (256, 32)
    assert np.array_equal(one.points, two.points)
    assert one.recall(one.nearest) == 1.0
    assert one.recall(one.nearest[:, :5]) == 0.5
    assert Trial.of(rows[:3], Measure("l1"), None, seed=0).nearest.shape == (256, 3)  # all there are
    few, many = (lengths(made_up_points(rows, Measure.of(kind), 0)).mean() for kind in ("l1", "inner"))
    assert few / many == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("backend", ["exact", *APPROXIMATE])
def test_an_entity_longer_than_all_before_is_found(backend: str, tmp_path: Path) -> None:
    """Five times as long as any: the nearest of every point on its side, also in an index that was opened."""
    rows, points = normal(0, 800, 24), normal(1, 40, 24)
    long = 5 * lengths(rows).max() * unit(normal(2, 2, 24))
    index = load(build(backend, rows, "inner", points=points).save(tmp_path / "index"))
    index.add(long)
    truth = -points @ np.concatenate([rows, long]).T
    best = truth.argmin(axis=1)
    assert (best >= 800).sum() > 10
    assert (index.nearest(points, 1).ids[:, 0] == best)[best >= 800].mean() >= 0.95
    assert recall(index, points, truth) >= 0.95


def test_codes_are_made_anew_for_a_longer_entity_and_kept_otherwise() -> None:
    rows = normal(0, 300, 8)
    short, long = np.float32(0.5) * rows[:20], np.float32(3) * rows[:20]
    index = LSH.build(rows, "inner", bits=256)
    before, rerank = index._hashes, index.config.rerank
    index.add(short)
    assert index._hashes is before
    index.add(long)
    assert isinstance(before, Lifted)
    assert isinstance(index._hashes, Lifted)
    whole = np.concatenate([rows, short, long])
    assert index._hashes.length == lengths(whole).max() == pytest.approx(3 * before.length, rel=0.4)
    assert np.array_equal(index._codes, lay_out(Lifted.draw(whole, 256, 0).codes(whole)))
    assert index.config.rerank > rerank  # angles are smaller now, and more candidates are needed
    assert index._tuned_at == 300  # growth alone has nothing to do with it


@pytest.mark.parametrize("backend", APPROXIMATE)
def test_points_to_tune_by_are_kept_for_growth(backend: str, tmp_path: Path) -> None:
    rows, points = normal(0, 500, 12), normal(1, 300, 12)
    index = load(build(backend, rows[:200], "inner", points=points).save(tmp_path / "index"))
    index.add(rows[200:])
    kept = index._tuned_by
    assert kept is not None
    assert kept.shape == (256, 12)
    assert np.array_equal(kept[[0, -1]], points[[0, -1]])
    assert build("exact", rows, "inner", points=points)._tuned_by is None  # it has nothing to tune


@pytest.mark.parametrize("backend", APPROXIMATE)
def test_what_cannot_be_is_refused(backend: str, rows: Floats) -> None:
    with pytest.raises(ConfigError, match=r"recall must be above 0 and at most 1, got 0.0"):
        build(backend, rows, recall=0.0)
    with pytest.raises(InputError, match=r"points to tune by have the shape \(4, 31\), expected \(at least one, 32\)"):
        build(backend, rows, points=rows[:4, :31])
    with pytest.raises(DivergedError, match="a point to tune by holds numbers that are not finite"):
        build(backend, rows, points=np.full((4, 32), np.nan))


@pytest.mark.parametrize(
    ("backend", "options", "message"),
    [
        ("lsh", {"bits": 100}, "bits must be a multiple of 64, got 100"),
        ("lsh", {"bits": 1 << 40}, "bits must be at most 65,536, got 1099511627776"),
        ("lsh", {"rerank": -1}, "rerank must be at least 0 and growth from 0 to 10, got -1 and 0.0"),
        ("lsh", {"growth": float("nan")}, "growth from 0 to 10, got 0 and nan"),
        ("lsh", {"growth": 1e300}, r"growth from 0 to 10, got 0 and 1e\+300"),
        ("lsh", {"seed": 1 << 64}, r"seed must be from 0 and below 2\^64, got 18446744073709551616"),
        ("lsh", {"seed": -1}, r"seed must be from 0 and below 2\^64, got -1"),
        ("hnsw", {"links": 1 << 30}, "links must be at most 1,024, construction and breadth at most 1,048,576"),
        ("hnsw", {"breadth": 1 << 40}, "links must be at most 1,024, construction and breadth at most 1,048,576"),
        ("hnsw", {"links": 1}, "links must be at least 2"),
    ],
)
def test_an_option_that_makes_no_sense_is_told(
    backend: str, options: dict[str, int], message: str, rows: Floats
) -> None:
    with pytest.raises(ConfigError, match=message):
        build(backend, rows, **options)


def test_hnsw_without_faiss_says_what_to_install(rows: Floats, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "faiss":
            raise ImportError(name)
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"the index hnsw needs faiss: pip install 'pathformer\[faiss\]'"):
        build("hnsw", rows)
