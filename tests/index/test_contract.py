"""What every backend promises: true distances in order, filters, additions and removals, whole files, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from support.saves import reseal

from pathformer import plugins
from pathformer.errors import ConfigError, DamagedError, DivergedError, InputError, UnknownPluginError
from pathformer.index._base import Found, Index, build, find, load
from pathformer.index.kernels.bf16 import to_bf16, to_float32

BACKENDS = plugins.names("indexes")
MEASURES = ("l1", "cosine", "inner")
ENTITIES, WIDTH, POINTS = 700, 24, 30
Floats = npt.NDArray[np.float32]

pytestmark = pytest.mark.parametrize("backend", BACKENDS)


@pytest.fixture(scope="module")
def rows() -> Floats:
    """Entities in loose groups, as trained ones lie."""
    rng = np.random.default_rng(1)
    centres = rng.standard_normal((40, WIDTH), np.float32)
    return centres[np.arange(ENTITIES) % 40] + np.float32(0.5) * rng.standard_normal((ENTITIES, WIDTH), np.float32)


@pytest.fixture(scope="module")
def points(rows: Floats) -> Floats:
    noise = np.random.default_rng(2).standard_normal((POINTS, WIDTH), np.float32)
    return rows[:POINTS] + np.float32(0.3) * noise


def true_distances(points: Floats, rows: Floats, measure: str) -> np.ndarray:
    """The twin: (b, N) in float64."""
    p, e = points.astype(np.float64), rows.astype(np.float64)
    if measure == "l1":
        return np.abs(p[:, None] - e).sum(-1)
    if measure == "inner":
        return -p @ e.T
    return 1.0 - p @ e.T / np.linalg.norm(p, axis=1)[:, None] / np.linalg.norm(e, axis=1)


def recall(found: Found, truth: np.ndarray, k: int) -> float:
    """The share of the k truly nearest that were found; at equal distances any of them counts."""
    limit, ids = np.sort(truth, axis=1)[:, k - 1], found.ids[:, :k]
    nearer = np.take_along_axis(truth, np.maximum(ids, 0), axis=1) <= limit[:, None] + 1e-5
    return float((nearer & (ids >= 0)).mean())


def test_the_folder_holds_these(backend: str) -> None:
    assert BACKENDS == ("exact", "hnsw", "lsh")
    assert find(backend).name == backend


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("half", [False, True])
def test_the_nearest_are_found_with_true_distances_in_order(
    backend: str, measure: str, half: bool, rows: Floats, points: Floats
) -> None:
    stored = to_bf16(rows) if half else rows
    found = build(backend, stored, measure).nearest(points, 10)
    truth = true_distances(points, to_float32(stored), measure)
    assert recall(found, truth, 10) >= 0.95
    assert np.allclose(found.distances, np.take_along_axis(truth, found.ids, axis=1), atol=1e-4)
    assert (np.diff(found.distances, axis=1) >= 0).all()
    assert all(len(set(row)) == 10 for row in found.ids.tolist())


@pytest.mark.parametrize("measure", MEASURES)
def test_many_points_are_found_as_one_by_one(backend: str, measure: str, rows: Floats, points: Floats) -> None:
    index = build(backend, rows, measure)
    together = index.nearest(points, 7)
    for row in range(0, POINTS, 5):
        alone = index.nearest(points[row : row + 1], 7)
        assert np.array_equal(alone.ids[0], together.ids[row])
        assert np.array_equal(alone.distances[0], together.distances[row])


def test_fewer_wanted_are_the_first_of_more(backend: str, rows: Floats, points: Floats) -> None:
    index = build(backend, rows)
    few, more = index.nearest(points, 3), index.nearest(points, 20)
    assert recall(few, true_distances(points, rows, "l1"), 3) >= 0.95
    assert recall(more, true_distances(points, rows, "l1"), 20) >= 0.95


@pytest.mark.parametrize("share", [0.01, 0.1, 0.6])
@pytest.mark.parametrize("measure", MEASURES)
def test_only_allowed_entities_are_found(
    backend: str, measure: str, share: float, rows: Floats, points: Floats
) -> None:
    allowed = np.random.default_rng(0).random(ENTITIES) < share
    index = build(backend, rows, measure)
    found = index.nearest(points, 5, allowed=allowed)
    truth = np.where(allowed, true_distances(points, rows, measure), np.inf)
    assert allowed[found.ids].all()
    assert recall(found, truth, 5) >= 0.95
    for same in (np.flatnonzero(allowed), np.flatnonzero(allowed).tolist()):
        assert np.array_equal(index.nearest(points, 5, allowed=same).ids, found.ids)


def test_fewer_than_wanted_are_filled_up(backend: str, rows: Floats, points: Floats) -> None:
    found = build(backend, rows).nearest(points, 5, allowed=[3, 9])
    assert sorted(found.ids[0].tolist()) == [-1, -1, -1, 3, 9]
    assert (found.ids[:, 2:] == -1).all()
    assert np.isinf(found.distances[:, 2:]).all()
    assert np.isfinite(found.distances[:, :2]).all()
    none = build(backend, rows).nearest(points, 5, allowed=[])
    assert (none.ids == -1).all()
    assert np.isinf(none.distances).all()


def test_no_points_find_nothing(backend: str, rows: Floats) -> None:
    found = build(backend, rows).nearest(np.empty((0, WIDTH), np.float32), 5)
    assert found.ids.shape == found.distances.shape == (0, 5)


def _towards(entity: Floats, rows: Floats, measure: str) -> Floats:
    """A point whose nearest entity this is: where it sticks out most."""
    if measure != "inner":
        return entity[None]
    centred = rows - rows.mean(axis=0)
    return np.linalg.solve(centred.T @ centred / len(rows), entity - rows.mean(axis=0))[
        None
    ]  # it sticks out most there


@pytest.mark.parametrize("measure", MEASURES)
def test_added_entities_are_found_and_removed_ones_are_not(
    backend: str, measure: str, rows: Floats, points: Floats
) -> None:
    index = build(backend, rows[:600], measure)
    assert index.add(rows[600:]).tolist() == list(range(600, ENTITIES))
    assert (len(index), index.rows) == (ENTITIES, ENTITIES)
    assert index.nearest(_towards(rows[650], rows, measure), 1).ids.item() == 650
    assert recall(index.nearest(points, 10), true_distances(points, rows, measure), 10) >= 0.95
    gone = np.unique(index.nearest(points, 1).ids)
    index.remove(gone)
    index.remove(gone[:1])
    assert (len(index), index.rows) == (ENTITIES - len(gone), ENTITIES)
    left = true_distances(points, rows, measure)
    left[:, gone] = np.inf
    found = index.nearest(points, 10)
    assert not np.isin(found.ids, gone).any()
    assert recall(found, left, 10) >= 0.95
    assert (index.nearest(points, 3, allowed=gone).ids == -1).all()


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("half", [False, True])
def test_what_was_saved_finds_the_same(
    backend: str, measure: str, half: bool, rows: Floats, points: Floats, tmp_path: Path
) -> None:
    index = build(backend, to_bf16(rows) if half else rows, measure)
    index.remove([5])
    index.save(tmp_path / "index")
    before = index.nearest(points, 8)
    for opened in (find(backend).load(tmp_path / "index"), load(tmp_path / "index")):
        assert type(opened) is type(index)
        assert (len(opened), opened.config, opened.measure) == (len(index), index.config, index.measure)
        after = opened.nearest(points, 8)
        assert np.array_equal(before.ids, after.ids)
        assert np.array_equal(before.distances, after.distances)
    opened.add(rows[:10])
    opened.remove([6])
    opened.save(tmp_path / "index", force=True)  # over the files that are mapped
    again = load(tmp_path / "index")
    assert (len(again), again.rows) == (ENTITIES - 2 + 10, ENTITIES + 10)
    assert np.array_equal(opened.nearest(points, 8).ids, again.nearest(points, 8).ids)


def test_a_save_that_fails_leaves_what_was_there(
    backend: str, rows: Floats, points: Floats, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = build(backend, rows)
    index.save(tmp_path / "index")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with monkeypatch.context() as patch:
        patch.setattr(json, "dumps", _full_disk)
        with pytest.raises(InputError, match=r"cannot be written \(no space"):
            build(backend, rows[:300]).save(tmp_path / "index", force=True)
        with pytest.raises(InputError, match=r"cannot be written \(no space"):
            index.save(tmp_path / "other")
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
    assert np.array_equal(load(tmp_path / "index").nearest(points, 4).ids, index.nearest(points, 4).ids)
    with pytest.raises(InputError, match="exists already"):
        index.save(tmp_path / "index")


def _full_disk(*_: object, **__: object) -> str:
    raise OSError("no space left on device")


def test_what_is_wrong_is_said(backend: str, rows: Floats, points: Floats, tmp_path: Path) -> None:
    index = build(backend, rows)
    wrong = points.copy()
    wrong[0, 0] = np.nan
    cases: list[tuple[type[Exception], str, object]] = [
        (InputError, r"shape \(24,\), expected \(any number, 24\)", lambda: index.nearest(points[0], 3)),
        (InputError, r"shape \(30, 23\), expected \(any number, 24\)", lambda: index.nearest(points[:, 1:], 3)),
        (InputError, "0 nearest entities were asked for", lambda: index.nearest(points, 0)),
        (DivergedError, "a point holds numbers that are not finite", lambda: index.nearest(wrong, 3)),
        (InputError, "entity 700 is not in the index: its ids go from 0 to 699", lambda: index.remove([4, 700])),
        (InputError, "entity -1 is not in the index", lambda: index.nearest(points, 3, allowed=[-1])),
        (InputError, "entities are given by float64, expected ids", lambda: index.nearest(points, 3, allowed=[1.5])),
        (InputError, "entities are given by <U3, expected ids", lambda: index.remove(["abc"])),  # type: ignore[list-item]
        (InputError, r"a mask of \(7,\) entities", lambda: index.nearest(points, 3, allowed=np.ones(7, bool))),
        (InputError, "new entities have 23 numbers, those of the index 24", lambda: index.add(rows[:, 1:])),
        (DivergedError, "entities hold numbers that are not finite", lambda: build(backend, wrong)),
        (InputError, "expected \\(at least one", lambda: build(backend, rows[:0])),
        (InputError, "expected \\(at least one, at least one\\)", lambda: build(backend, rows[:, :0])),
        (InputError, "no measure 'l2'; there are l1, cosine", lambda: build(backend, rows, "l2")),
        (ConfigError, "no setting 'bitz'", lambda: build(backend, rows, bitz=3)),
        (UnknownPluginError, f"no index '{backend}s'; closest: '{backend}'", lambda: build(f"{backend}s", rows)),
        (InputError, "nowhere does not exist", lambda: load(tmp_path / "nowhere")),
        (InputError, "holds no index", lambda: load(tmp_path)),
    ]
    for kind, message, call in cases:
        with pytest.raises(kind, match=message):
            call()  # type: ignore[operator]
    assert len(index) == ENTITIES


def test_a_damaged_folder_is_told(backend: str, rows: Floats, tmp_path: Path) -> None:
    folder = build(backend, rows).save(tmp_path / "index")
    alive = (folder / "alive.npy").read_bytes()
    (folder / "alive.npy").unlink()
    with pytest.raises(DamagedError, match=r"alive\.npy is missing: the index is damaged: build it again"):
        load(folder)
    for left in (0, 40):
        (folder / "alive.npy").write_bytes(alive[:left])
        with pytest.raises(DamagedError, match=rf"alive\.npy has {left} bytes, and [\d,]+ were saved"):
            load(folder)
        reseal(folder)
        with pytest.raises(DamagedError, match=r"alive\.npy is not an array of plain numbers"):
            load(folder)
    (folder / "alive.npy").write_bytes(alive)
    reseal(folder)
    assert isinstance(load(folder), Index)
    header = json.loads((folder / "index.json").read_text())
    for changed, message in (
        ({"version": 1}, "not the header of an index that this version reads"),
        ({"version": "x"}, "not the header of an index that this version reads"),
        ({"config": None}, r"index\.json is damaged \('config' is not an object\): build the index again"),
        ({"given": []}, r"index\.json is damaged \('given' is not an object\): build the index again"),
        ({"scale": float("nan")}, r"index\.json is damaged \('scale' is not a number\): build the index again"),
        ({"measure": "l2"}, "no measure 'l2'; there are l1, cosine, inner"),
        ({"measure": None}, "holds no distances: only the engine's own encoder can measure them"),
        ({"backend": "other"}, "no index 'other'"),
        ({"tuned_at": None}, r"index\.json is damaged \('tuned_at' is not a count\): build the index again"),
        ({"rows": 699}, "not a whole index: 700 rows of 24 where 699 of 24 were saved"),
        ({"width": 23}, "not a whole index: 700 rows of 24 where 700 of 23 were saved"),
    ):
        (folder / "index.json").write_text(json.dumps(header | changed))
        reseal(folder)
        with pytest.raises(InputError, match=message):
            load(folder)
    (folder / "index.json").write_text("{")
    reseal(folder)
    with pytest.raises(InputError, match="is not JSON"):
        load(folder)
