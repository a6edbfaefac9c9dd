"""What approximate backends add: hashes that follow the distance, recall as a target, and what is refused."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from pathformer.errors import ConfigError, DivergedError, InputError, MissingExtraError
from pathformer.index._base import build, load
from pathformer.index._hashes import Planes, Thresholds
from pathformer.index._measure import Measure
from pathformer.index._tuning import Trial
from pathformer.index.kernels.hamming import differences
from pathformer.index.kernels.scan import lay_out
from pathformer.spaces.box import SPACE as BOX

APPROXIMATE = ("hnsw", "lsh")


@pytest.fixture(scope="module")
def vectors() -> Tensor:
    """No groups at all, which is the hardest: every distance is much like every other."""
    return torch.randn(3000, 32, generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def points() -> Tensor:
    return 0.7 * torch.randn(400, 32, generator=torch.Generator().manual_seed(1))


def test_differing_bits_follow_the_l1_norm() -> None:
    """Over many draws the mean share of differing bits, times the whole range, is the distance, up to the tails."""
    torch.manual_seed(0)
    rows = torch.randn(40, 6) * torch.tensor([0.1, 1.0, 3.0, 1.0, 1.0, 0.0])
    low, high = torch.quantile(rows, torch.tensor([0.01, 0.99]), dim=0)
    total = (high - low).sum().item()
    inside = rows.clamp(low, high)
    truth = torch.cdist(inside[:10], inside, p=1).numpy()
    means = []
    for seed in range(40):
        hashes = Thresholds.drawn(rows, 512, seed)
        counts = differences(hashes.codes(rows[:10]), lay_out(hashes.codes(rows)), 40)
        means.append(counts / 512 * total)
    assert np.abs(np.mean(means, axis=0) - truth).max() < 0.25
    assert np.abs(means[0] - truth).max() < 0.6
    assert np.corrcoef(means[0].ravel(), truth.ravel())[0, 1] > 0.999


def test_differing_bits_follow_the_angle() -> None:
    torch.manual_seed(0)
    rows = torch.randn(40, 6)
    hashes = Planes.drawn(rows, 4096, 0)
    counts = differences(hashes.codes(rows[:10]), lay_out(hashes.codes(rows)), 40)
    cosines = torch.nn.functional.cosine_similarity(rows[:10, None], rows, dim=-1).clamp(-1, 1)
    assert np.abs(np.pi * counts / 4096 - torch.arccos(cosines).numpy()).max() < 0.12


@pytest.mark.parametrize("family", [Thresholds, Planes])
def test_a_code_has_as_many_bits_as_asked_for(family: Any) -> None:
    rows = torch.randn(50, 7)
    for bits in (64, 256):
        assert family.drawn(rows, bits, 3).codes(rows).shape == (50, bits // 64)
    assert family.drawn(rows, 64, 3).codes(rows[:0]).shape == (0, 1)


def test_even_thresholds_scatter_less_than_independent_ones() -> None:
    """The error of the estimate over many draws, against that of independent bits: a binomial's."""
    torch.manual_seed(0)
    rows = torch.randn(30, 16)
    shares = []
    for seed in range(30):
        hashes = Thresholds.drawn(rows, 256, seed)
        shares.append(differences(hashes.codes(rows[:1]), lay_out(hashes.codes(rows)), 30)[0, 1:] / 256)
    mean, spread = np.mean(shares, axis=0), np.std(shares, axis=0)
    assert (spread / np.sqrt(mean * (1 - mean) / 256)).mean() < 0.6


def test_entities_that_are_all_alike_are_hashed_too() -> None:
    found = build("lsh", torch.ones(20, 3)).search(torch.ones(1, 3), 4)
    assert found.ids[0].tolist() == [0, 1, 2, 3]
    assert found.distances.eq(0).all()


@pytest.mark.parametrize("backend", APPROXIMATE)
@pytest.mark.parametrize("metric", ["l1", "cosine", "inner"])
@pytest.mark.parametrize("target", [0.5, 0.95])
def test_the_target_is_reached_on_other_points(
    backend: str, metric: str, target: float, vectors: Tensor, points: Tensor
) -> None:
    index = build(backend, vectors, metric, points=points[:200], recall=target)
    asked = points[200:]
    for k in (10, 64, 100):
        exact = build("exact", vectors, metric).search(asked, k).ids.numpy()
        found = index.search(asked, k).ids.numpy()
        assert np.mean([np.isin(*row).mean() for row in zip(exact, found, strict=True)]) >= target
    assert index.about["recall@10 on a sample"] >= (1 + target) / 2


def test_a_higher_target_costs_more(vectors: Tensor, points: Tensor) -> None:
    low, high = (build("lsh", vectors, points=points, recall=recall, bits=512) for recall in (0.6, 0.99))
    assert low.config.rerank < high.config.rerank
    assert low.config.bits == high.config.bits == 512


def test_what_was_chosen_is_kept(vectors: Tensor, points: Tensor, tmp_path: Path) -> None:
    index = build("lsh", vectors, points=points)
    opened = load(index.save(tmp_path / "index"))
    assert opened.config == index.config
    assert opened.config.bits in (512, 768, 1024, 1536, 2048, 3072, 4096)
    assert opened.config.rerank >= 10
    assert opened.about == index.about
    given = build("lsh", vectors, bits=128, rerank=70)
    assert (given.config.bits, given.config.rerank) == (128, 70)
    graph = build("hnsw", vectors, breadth=40, links=8, construction=20)
    assert graph.config.breadth == 40


def test_an_opened_graph_is_read_where_it_lies_until_it_grows(
    vectors: Tensor, points: Tensor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = build("hnsw", vectors, links=8, breadth=64)
    folder = built.save(tmp_path / "index")
    faiss = pytest.importorskip("faiss")
    read = faiss.deserialize_index
    copies: list[int] = []
    monkeypatch.setattr(faiss, "deserialize_index", lambda given: copies.append(given.nbytes) or read(given))
    opened = load(folder)
    assert torch.equal(opened.search(points, 10).ids, built.search(points, 10).ids)
    again = load(opened.save(tmp_path / "again"))
    assert torch.equal(again.search(points, 10).ids, built.search(points, 10).ids)
    assert copies == []
    opened.add(points[:20])
    opened.add(points[20:21])
    assert len(copies) == 1
    assert torch.equal(opened.search(points[:21], 1).ids.flatten(), torch.arange(3000, 3021))


@pytest.mark.parametrize("backend", APPROXIMATE)
def test_an_index_that_doubled_is_tuned_anew(backend: str, vectors: Tensor, points: Tensor, tmp_path: Path) -> None:
    """One that was built on two entities alike knows nothing of the others' ranges."""
    index = build(backend, torch.zeros(2, 32), **({"bits": 512} if backend == "lsh" else {}))
    index.add(vectors[:2])
    assert index._tuned == 2  # twice as many is not more than twice
    index = load(index.save(tmp_path / "index"))
    index.add(vectors[2:1500])
    assert index._tuned == 1502
    index.add(vectors[1500:])
    assert index._tuned == 1502
    whole = torch.cat([torch.zeros(2, 32), vectors])
    exact = build("exact", whole).search(points, 10).ids.numpy()
    found = index.search(points, 10).ids.numpy()
    assert np.mean([np.isin(*row).mean() for row in zip(exact, found, strict=True)]) >= 0.95
    assert index.about["recall@10 on a sample"] >= 0.975


@pytest.mark.parametrize(
    ("backend", "asked"), [("hnsw", {"breadth": 40}), ("lsh", {"bits": 128, "rerank": 70, "growth": 0.5})]
)
def test_options_that_were_asked_for_survive_growth(
    backend: str, asked: dict[str, Any], vectors: Tensor, tmp_path: Path
) -> None:
    """Free ones are chosen anew beside them, also where it was saved in between."""
    fixed, free = build(backend, vectors[:100], **asked), build(backend, vectors[:100], recall=0.99)
    for index in (fixed, load(fixed.save(tmp_path / "fixed"))):
        index.add(vectors[100:1000])
        assert index._tuned == 1000
        assert {name: getattr(index.config, name) for name in asked} == asked
        assert {name: getattr(index.given, name) for name in asked} == asked
    reopened = load(free.save(tmp_path / "free"))
    assert reopened.given == free.given == free.config_type(recall=0.99)
    assert reopened.config != reopened.given
    before = reopened.config
    reopened.add(vectors[100:])
    assert reopened.config != before


def test_without_points_a_sample_is_made_up(vectors: Tensor) -> None:
    one, two = (Trial.of(vectors, Measure.of("l1"), None, seed=0) for _ in range(2))
    assert one.points.shape == (256, 32)
    assert torch.equal(one.points, two.points)
    assert one.recall(one.nearest) == 1.0
    assert one.recall(one.nearest[:, :5]) == 0.5
    assert Trial.of(vectors[:3], Measure.of("l1"), None, seed=0).nearest.shape == (256, 3)  # all there are


@pytest.mark.parametrize("backend", APPROXIMATE)
def test_what_cannot_be_is_refused(backend: str, vectors: Tensor) -> None:
    with pytest.raises(InputError, match=f"{backend} knows the L1 norm, the cosine and inner products; Box has its"):
        build(backend, vectors, BOX(32, 24.0))
    with pytest.raises(ConfigError, match=r"recall 0.0 is not in \(0, 1\]"):
        build(backend, vectors, recall=0.0)
    with pytest.raises(InputError, match=r"points to tune by have the shape \(4, 31\), expected \(at least one, 32\)"):
        build(backend, vectors, points=torch.randn(4, 31))
    with pytest.raises(DivergedError, match="a point to tune by holds numbers that are not finite"):
        build(backend, vectors, points=torch.full((4, 32), torch.nan))


@pytest.mark.parametrize(
    ("backend", "options", "message"),
    [
        ("lsh", {"bits": 100}, "bits 100 is not a multiple of 64"),
        ("lsh", {"bits": 1 << 40}, "bits 1099511627776 is more than 65,536: the rows themselves are shorter"),
        ("lsh", {"rerank": -1}, "rerank -1 is negative, or growth 0.0 not from 0 to 10"),
        ("lsh", {"growth": float("nan")}, "rerank 0 is negative, or growth nan not from 0 to 10"),
        ("lsh", {"growth": 1e300}, r"rerank 0 is negative, or growth 1e\+300 not from 0 to 10"),
        ("lsh", {"seed": 1 << 64}, r"seed 18446744073709551616 is no whole number from 0, below 2\^64"),
        ("lsh", {"seed": -1}, r"seed -1 is no whole number from 0, below 2\^64"),
        ("hnsw", {"links": 1 << 30}, "links are at most 1,024, construction and breadth 1,048,576"),
        ("hnsw", {"breadth": 1 << 40}, "links are at most 1,024, construction and breadth 1,048,576"),
        ("hnsw", {"links": 1}, "links are at least 2"),
    ],
)
def test_an_option_that_makes_no_sense_is_told(
    backend: str, options: dict[str, int], message: str, vectors: Tensor
) -> None:
    with pytest.raises(ConfigError, match=message):
        build(backend, vectors, **options)


def test_hnsw_without_faiss_says_what_to_install(vectors: Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "faiss":
            raise ImportError(name)
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"the index hnsw needs faiss: pip install 'pathformer\[faiss\]'"):
        build("hnsw", vectors)
