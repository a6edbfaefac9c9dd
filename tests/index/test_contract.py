"""What every backend promises: true distances in order, filters, additions and removals, whole files, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from pathformer import plugins
from pathformer.errors import ConfigError, DivergedError, InputError, UnknownPluginError
from pathformer.index._base import Found, Index, build, find, load

BACKENDS = plugins.names("indexes")
METRICS = ("l1", "cosine", "inner")
ENTITIES, WIDTH, POINTS = 700, 24, 30

pytestmark = pytest.mark.parametrize("backend", BACKENDS)


@pytest.fixture(scope="module")
def vectors() -> Tensor:
    """Entities in loose groups, as trained ones lie."""
    generator = torch.Generator().manual_seed(1)
    centres = torch.randn(40, WIDTH, generator=generator)
    return centres[torch.arange(ENTITIES) % 40] + 0.5 * torch.randn(ENTITIES, WIDTH, generator=generator)


@pytest.fixture(scope="module")
def points(vectors: Tensor) -> Tensor:
    generator = torch.Generator().manual_seed(2)
    return vectors[:POINTS] + 0.3 * torch.randn(POINTS, WIDTH, generator=generator)


def true_distances(points: Tensor, vectors: Tensor, metric: str) -> Tensor:
    """The twin: (b, N) in float64."""
    p, e = points.double()[:, None], vectors.double()
    if metric == "l1":
        return (p - e).abs().sum(-1)
    if metric == "inner":
        return -(p * e).sum(-1)
    return 1.0 - torch.nn.functional.cosine_similarity(p, e, dim=-1)


def recall(found: Found, truth: Tensor, k: int) -> float:
    """The share of the k truly nearest that were found; at equal distances any of them counts."""
    limit = truth.sort(dim=1).values[:, k - 1]
    nearer = truth.gather(1, found.ids[:, :k].clamp_min(0)) <= limit[:, None] + 1e-5
    return (nearer & (found.ids[:, :k] >= 0)).double().mean().item()


def test_the_folder_holds_these(backend: str) -> None:
    assert BACKENDS == ("exact", "hnsw", "lsh")
    assert find(backend).name == backend


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_nearest_are_found_with_true_distances_in_order(
    backend: str, metric: str, dtype: torch.dtype, vectors: Tensor, points: Tensor
) -> None:
    stored = vectors.to(dtype)
    found = build(backend, stored, metric).search(points, 10)
    truth = true_distances(points, stored, metric)
    assert recall(found, truth, 10) >= 0.95
    assert torch.allclose(found.distances.double(), truth.gather(1, found.ids), atol=1e-4)
    assert bool((found.distances.diff(dim=1) >= 0).all())
    assert all(len(set(row)) == 10 for row in found.ids.tolist())


@pytest.mark.parametrize("metric", METRICS)
def test_many_points_are_found_as_one_by_one(backend: str, metric: str, vectors: Tensor, points: Tensor) -> None:
    index = build(backend, vectors, metric)
    together = index.search(points, 7)
    for row in range(0, POINTS, 5):
        alone = index.search(points[row : row + 1], 7)
        assert torch.equal(alone.ids[0], together.ids[row])
        assert torch.equal(alone.distances[0], together.distances[row])


def test_a_fewer_wanted_are_the_first_of_more(backend: str, vectors: Tensor, points: Tensor) -> None:
    index = build(backend, vectors)
    few, more = index.search(points, 3), index.search(points, 20)
    assert recall(few, true_distances(points, vectors, "l1"), 3) >= 0.95
    assert recall(more, true_distances(points, vectors, "l1"), 20) >= 0.95


@pytest.mark.parametrize("share", [0.01, 0.1, 0.6])
@pytest.mark.parametrize("metric", METRICS)
def test_only_allowed_entities_are_found(
    backend: str, metric: str, share: float, vectors: Tensor, points: Tensor
) -> None:
    allowed = np.random.default_rng(0).random(ENTITIES) < share
    index = build(backend, vectors, metric)
    found = index.search(points, 5, allowed=allowed)
    truth = true_distances(points, vectors, metric).masked_fill(~torch.from_numpy(allowed), torch.inf)
    assert bool(allowed[found.ids.numpy()].all())
    assert recall(found, truth, 5) >= 0.95
    for same in (np.flatnonzero(allowed), np.flatnonzero(allowed).tolist(), torch.from_numpy(allowed)):
        assert torch.equal(index.search(points, 5, allowed=same).ids, found.ids)


def test_fewer_than_wanted_are_filled_up(backend: str, vectors: Tensor, points: Tensor) -> None:
    found = build(backend, vectors).search(points, 5, allowed=[3, 9])
    assert sorted(found.ids[0].tolist()) == [-1, -1, -1, 3, 9]
    assert found.ids[:, 2:].eq(-1).all()
    assert found.distances[:, 2:].isinf().all()
    assert found.distances[:, :2].isfinite().all()
    none = build(backend, vectors).search(points, 5, allowed=[])
    assert none.ids.eq(-1).all()
    assert none.distances.isinf().all()


def test_no_points_find_nothing(backend: str, vectors: Tensor) -> None:
    found = build(backend, vectors).search(torch.empty(0, WIDTH), 5)
    assert found.ids.shape == found.distances.shape == (0, 5)


def _towards(entity: Tensor, vectors: Tensor, metric: str) -> Tensor:
    """A point whose nearest entity this is."""
    if metric != "inner":
        return entity[None]
    spread = (vectors - vectors.mean(dim=0)).T @ (vectors - vectors.mean(dim=0)) / len(vectors)
    return torch.linalg.solve(spread, entity - vectors.mean(dim=0))[None]  # where it sticks out most


@pytest.mark.parametrize("metric", METRICS)
def test_added_entities_are_found_and_removed_ones_are_not(
    backend: str, metric: str, vectors: Tensor, points: Tensor
) -> None:
    index = build(backend, vectors[:600], metric)
    assert index.add(vectors[600:]).tolist() == list(range(600, ENTITIES))
    assert (len(index), index.rows) == (ENTITIES, ENTITIES)
    assert index.search(_towards(vectors[650], vectors, metric), 1).ids.item() == 650
    assert recall(index.search(points, 10), true_distances(points, vectors, metric), 10) >= 0.95
    gone = index.search(points, 1).ids.flatten().unique()
    index.remove(gone)
    index.remove(gone[:1])
    assert (len(index), index.rows) == (ENTITIES - len(gone), ENTITIES)
    left = true_distances(points, vectors, metric)
    left[:, gone] = torch.inf
    found = index.search(points, 10)
    assert not np.isin(found.ids.numpy(), gone.numpy()).any()
    assert recall(found, left, 10) >= 0.95
    assert (index.search(points, 3, allowed=gone).ids == -1).all()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_was_saved_finds_the_same(
    backend: str, metric: str, dtype: torch.dtype, vectors: Tensor, points: Tensor, tmp_path: Path
) -> None:
    index = build(backend, vectors.to(dtype), metric)
    index.remove([5])
    index.save(tmp_path / "index")
    before = index.search(points, 8)
    for opened in (find(backend).load(tmp_path / "index"), load(tmp_path / "index")):
        assert type(opened) is type(index)
        assert (len(opened), opened.config, opened.measure) == (len(index), index.config, index.measure)
        after = opened.search(points, 8)
        assert torch.equal(before.ids, after.ids)
        assert torch.equal(before.distances, after.distances)
    opened.add(vectors[:10])
    opened.remove([6])
    opened.save(tmp_path / "index", force=True)  # over the files that are mapped
    again = load(tmp_path / "index")
    assert (len(again), again.rows) == (ENTITIES - 2 + 10, ENTITIES + 10)
    assert torch.equal(opened.search(points, 8).ids, again.search(points, 8).ids)


def test_a_save_that_fails_leaves_what_was_there(
    backend: str, vectors: Tensor, points: Tensor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = build(backend, vectors)
    index.save(tmp_path / "index")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with monkeypatch.context() as patch:
        patch.setattr(json, "dumps", _full_disk)
        with pytest.raises(InputError, match=r"cannot be written \(no space"):
            build(backend, vectors[:300]).save(tmp_path / "index", force=True)
        with pytest.raises(InputError, match=r"cannot be written \(no space"):
            index.save(tmp_path / "other")
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
    assert torch.equal(load(tmp_path / "index").search(points, 4).ids, index.search(points, 4).ids)
    with pytest.raises(InputError, match="exists already"):
        index.save(tmp_path / "index")


def _full_disk(*_: object, **__: object) -> str:
    raise OSError("no space left on device")


def test_what_is_wrong_is_said(backend: str, vectors: Tensor, points: Tensor, tmp_path: Path) -> None:
    index = build(backend, vectors)
    wrong = points.clone()
    wrong[0, 0] = torch.nan
    cases: list[tuple[type[Exception], str, object]] = [
        (InputError, r"shape \(24,\), expected \(any number, 24\)", lambda: index.search(points[0], 3)),
        (InputError, r"shape \(30, 23\), expected \(any number, 24\)", lambda: index.search(points[:, 1:], 3)),
        (InputError, "0 nearest entities were asked for", lambda: index.search(points, 0)),
        (DivergedError, "a point holds numbers that are not finite", lambda: index.search(wrong, 3)),
        (InputError, "entity 700 is not in the index: its ids go from 0 to 699", lambda: index.remove([4, 700])),
        (InputError, "entity -1 is not in the index", lambda: index.search(points, 3, allowed=[-1])),
        (InputError, "entities are given by float64, expected ids", lambda: index.search(points, 3, allowed=[1.5])),
        (InputError, "entities are given by <U3, expected ids", lambda: index.remove(["abc"])),  # type: ignore[list-item]
        (InputError, r"a mask of \(7,\) entities", lambda: index.search(points, 3, allowed=np.ones(7, bool))),
        (InputError, "new entities have 23 numbers, those of the index 24", lambda: index.add(vectors[:, 1:])),
        (DivergedError, "entities hold numbers that are not finite", lambda: build(backend, wrong)),
        (InputError, "expected \\(at least one", lambda: build(backend, vectors[:0])),
        (InputError, "expected \\(at least one, at least one\\)", lambda: build(backend, vectors[:, :0])),
        (InputError, "no metric 'l2'; there are l1, cosine", lambda: build(backend, vectors, "l2")),
        (ConfigError, "no setting 'bitz'", lambda: build(backend, vectors, bitz=3)),
        (UnknownPluginError, f"no index '{backend}s'; closest: '{backend}'", lambda: build(f"{backend}s", vectors)),
        (InputError, "nowhere does not exist", lambda: load(tmp_path / "nowhere")),
        (InputError, "holds no index", lambda: load(tmp_path)),
    ]
    for kind, message, call in cases:
        with pytest.raises(kind, match=message):
            call()  # type: ignore[operator]
    assert len(index) == ENTITIES


def test_a_damaged_folder_is_told(backend: str, vectors: Tensor, tmp_path: Path) -> None:
    folder = build(backend, vectors).save(tmp_path / "index")
    alive = (folder / "alive.npy").read_bytes()
    (folder / "alive.npy").unlink()
    with pytest.raises(InputError, match=r"alive\.npy cannot be read .*: the index is not whole"):
        load(folder)
    for left in (0, 40):
        (folder / "alive.npy").write_bytes(alive[:left])
        with pytest.raises(InputError, match=r"alive\.npy is damaged"):
            load(folder)
    (folder / "alive.npy").write_bytes(alive)
    assert isinstance(load(folder), Index)
    header = json.loads((folder / "index.json").read_text())
    for changed, message in (
        ({"version": 1}, "not the header of an index that this version reads"),
        ({"version": "x"}, "not the header of an index that this version reads"),
        ({"config": None}, r"index\.json is damaged \('config' is not an object\): build the index again"),
        ({"given": []}, r"index\.json is damaged \('given' is not an object\): build the index again"),
        ({"scale": float("nan")}, r"index\.json is damaged \('scale' is not a number\): build the index again"),
        ({"metric": None}, r"index\.json is damaged \('metric' is not text\): build the index again"),
        ({"backend": "other"}, "no index 'other'"),
        ({"tuned": None}, r"index\.json is damaged \('tuned' is not a count\): build the index again"),
        ({"rows": 699}, "not a whole index: 700 rows of 24 where 699 of 24 were saved"),
        ({"width": 23}, "not a whole index: 700 rows of 24 where 700 of 23 were saved"),
    ):
        (folder / "index.json").write_text(json.dumps(header | changed))
        with pytest.raises(InputError, match=message):
            load(folder)
    (folder / "index.json").write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        load(folder)
