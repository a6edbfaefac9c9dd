"""Inner products as distances: codes that follow them, entities longer than all before, spaces that are such."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from pathformer import plugins
from pathformer.errors import InputError
from pathformer.index._asked import made_up
from pathformer.index._base import Index, build, load
from pathformer.index._hashes import Lifted, Planes, completed, completed_points, longest
from pathformer.index._measure import Measure
from pathformer.index._tuning import Trial
from pathformer.index.exact import Config, Exact
from pathformer.index.kernels.hamming import differences
from pathformer.index.kernels.scan import lay_out
from pathformer.index.lsh import LSH
from pathformer.spaces._base import Space
from pathformer.spaces._beside import Beside

BACKENDS = plugins.names("indexes")
SPACES = {"hermitian": (8,), "inner": (16,), "fuzzy": (16,)}  # that are inner products, and how small ones are made
PAIRS = ("hermitian+sphere", "sphere+inner")  # two side by side, which are such as well
OTHERS = {"l1": ("point",), "cosine": ("sphere",), "space": ("beta", "box", "cone", "gamma", "particles")}


def space_of(name: str) -> Space:
    torch.manual_seed(0)
    if "+" in name:
        one, other = map(space_of, name.split("+"))
        return Beside(one, other, 0.6)
    space: Space = plugins.load("spaces", name).SPACE(*SPACES.get(name, (8, 12)))
    return space


def entities_of(space: Space, count: int = 600, seed: int = 1) -> Tensor:
    """In loose groups, as trained ones lie, some longer than others."""
    draws = torch.Generator().manual_seed(seed)
    centres = torch.randn(30, space.entity_width, generator=draws)
    rows = centres[torch.arange(count) % 30] + 0.5 * torch.randn(count, space.entity_width, generator=draws)
    return rows * (0.5 + torch.rand(count, 1, generator=draws))


def points_of(space: Space, entities: Tensor, count: int = 60) -> Tensor:
    """Between some entities, as queries."""
    draws = torch.Generator().manual_seed(3)
    rows = entities[torch.randint(len(entities), (count, 2), generator=draws)].mean(dim=1)
    return space.anchor(rows + 0.2 * torch.randn(rows.shape, generator=draws)).detach()


def recall(index: Index, points: Tensor, truth: Tensor, k: int = 10) -> float:
    limit = truth.sort(dim=1).values[:, k - 1 : k]
    return (truth.gather(1, index.search(points, k).ids) <= limit + 1e-4).double().mean().item()


def test_which_space_is_searched_how() -> None:
    found: dict[str, list[str]] = {}
    for name in plugins.names("spaces"):
        made = space_of(name)
        found.setdefault(Measure.of(made).metric, []).append(name)
        if name in OTHERS["space"]:
            for backend in ("hnsw", "lsh"):
                with pytest.raises(InputError, match=f"{backend} knows .*; {type(made).__name__} has its own distance"):
                    build(backend, torch.randn(20, made.entity_width), made)
    assert {metric: tuple(names) for metric, names in found.items()} == {
        "inner": ("fuzzy", "hermitian", "inner"),
        **OTHERS,
    }


def test_two_side_by_side_are_searched_by_products_where_both_are_angles_or_such() -> None:
    for name in PAIRS:
        space = space_of(name)
        measure, rows = Measure.of(space), entities_of(space, 40)
        assert (measure.metric, measure.facts["space"]) == ("inner", "Beside")
        points = points_of(space, rows, 9)
        constants = measure.constants(points)
        assert constants is not None
        found = measure.to_all(measure.points(points), measure.rows(rows)) + constants[:, None]
        torch.testing.assert_close(found, space.distance(points[:, None], rows).detach(), atol=1e-3, rtol=1e-4)
    for name in ("hermitian+point", "box+sphere", "beta+hermitian"):  # of the last two products find few of the nearest
        space = space_of(name)
        assert Measure.of(space).metric == "space"
        rows = entities_of(space, 40).abs()
        points = points_of(space, rows, 9).abs()
        near = build("exact", rows, space).search(points, 5)
        best = space.distance(points[:, None], rows).detach().sort(dim=1).values[:, :5]
        torch.testing.assert_close(near.distances, best, atol=1e-3, rtol=1e-4)
        one, other = (part.capitalize() for part in name.split("+"))
        with pytest.raises(InputError, match=rf"lsh knows .*; {one} beside {other} has its own distance: use exact"):
            build("lsh", rows, space)


def test_completed_rows_are_of_one_length_and_have_the_same_products() -> None:
    torch.manual_seed(0)
    rows, points = torch.randn(50, 6).bfloat16(), torch.randn(7, 6)
    length = longest(rows)
    whole = completed(rows, length)
    assert torch.allclose(whole.norm(dim=1), torch.full((50,), length), rtol=1e-5)
    assert whole[rows.float().norm(dim=1).argmax(), -1].item() == pytest.approx(0.0, abs=1e-2)
    assert torch.allclose(completed_points(points) @ whole.T, points @ rows.float().T, atol=1e-5)
    assert completed(rows, 0.5 * length)[:, -1].eq(0).sum() == (rows.float().norm(dim=1) >= 0.5 * length).sum()


def test_differing_bits_follow_the_inner_product() -> None:
    torch.manual_seed(0)
    rows, points = torch.randn(60, 6) * torch.rand(60, 1), torch.randn(10, 6)
    hashes = Lifted.drawn(rows, 4096, 0)
    counts = differences(hashes.codes_of_points(points), lay_out(hashes.codes(rows)), 60)
    cosines = (points @ rows.T) / (points.norm(dim=1, keepdim=True) * hashes.length)
    assert np.abs(np.pi * counts / 4096 - torch.arccos(cosines).numpy()).max() < 0.1


def test_planes_at_right_angles_scatter_less_than_independent_ones() -> None:
    """The error of the estimate over many draws, against a binomial's; its mean is the angle's share."""
    torch.manual_seed(0)
    rows = torch.randn(30, 32)
    shares = []
    for seed in range(60):
        hashes = Planes.drawn(rows, 128, seed)
        shares.append(differences(hashes.codes(rows[:1]), lay_out(hashes.codes(rows)), 30)[0, 1:] / 128)
    mean, spread = np.mean(shares, axis=0), np.std(shares, axis=0)
    angles = torch.arccos(torch.nn.functional.cosine_similarity(rows[:1], rows[1:], dim=1)).numpy() / np.pi
    assert np.abs(mean - angles).max() < 0.025
    assert (spread / np.sqrt(mean * (1 - mean) / 128)).mean() < 0.8
    group = torch.from_numpy(Planes.drawn(rows, 32, 0).normals)
    assert torch.allclose(group.T @ group, torch.eye(32), atol=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", [*SPACES, *PAIRS])
def test_a_space_is_searched_by_its_true_distance(backend: str, name: str, tmp_path: Path) -> None:
    """Recall of the nearest, their distances in order, additions, and the same from disk."""
    space = space_of(name)
    entities = entities_of(space)
    points = points_of(space, entities)
    truth = space.distance(points[:, None], entities).detach()
    index = build(backend, entities[:550], space, points=points[:30])
    assert index.add(entities[550:]).tolist() == list(range(550, 600))
    assert recall(index, points[30:], truth[30:]) >= 0.95
    found = index.search(points, 12)
    assert torch.allclose(found.distances, truth.gather(1, found.ids), rtol=1e-4, atol=1e-3)
    assert bool((found.distances.diff(dim=1) >= 0).all())
    folder = index.save(tmp_path / "index")
    if name != "hermitian":
        with pytest.raises(InputError, match=f"measures by a model's {type(space).__name__} space: give the space"):
            load(folder)
    opened = load(folder, space=space)
    assert torch.equal(opened.search(points, 12).ids, found.ids)
    assert torch.equal(opened.search(points, 12).distances, found.distances)
    opened.add(entities[:3])
    assert opened.rows == 603
    wrong = torch.zeros(2, space.entity_width + 2)
    with pytest.raises(InputError, match=rf"new entities have {wrong.shape[1]} numbers, those of the index"):
        opened.add(wrong)
    if name != "hermitian":  # whose width is any
        with pytest.raises(InputError, match=rf"entities have {wrong.shape[1]} numbers, those of the space"):
            build(backend, wrong, space)


@pytest.mark.parametrize("backend", ["hnsw", "lsh"])
@pytest.mark.parametrize("name", [*SPACES, *PAIRS])
def test_without_points_recall_is_kept_too(backend: str, name: str) -> None:
    space = space_of(name)
    entities = entities_of(space)
    points = points_of(space, entities)
    index = build(backend, entities, space)
    assert recall(index, points, space.distance(points[:, None], entities).detach()) >= 0.95


def test_made_up_points_lie_between_more_entities_where_products_count() -> None:
    rows = torch.randn(5000, 8, generator=torch.Generator().manual_seed(0))
    lengths = {metric: made_up(rows, Measure.of(metric), 0).norm(dim=1).mean() for metric in ("l1", "inner")}
    assert lengths["l1"] / lengths["inner"] == pytest.approx(2.0, rel=0.1)  # means of 2 and of 8


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_entity_longer_than_all_before_is_found(backend: str, tmp_path: Path) -> None:
    """Five times as long as any: the nearest of every point on its side, also in an index that was opened."""
    draws = torch.Generator().manual_seed(0)
    rows, points = torch.randn(800, 24, generator=draws), torch.randn(40, 24, generator=draws)
    long = 5 * rows.norm(dim=1).max() * torch.nn.functional.normalize(torch.randn(2, 24, generator=draws))
    index = load(build(backend, rows, "inner", points=points).save(tmp_path / "index"))
    index.add(long)
    whole = torch.cat([rows, long])
    truth = -(points @ whole.T)
    best = truth.argmin(dim=1)
    assert (best >= 800).sum() > 10
    assert (index.search(points, 1).ids.flatten() == best)[best >= 800].double().mean() >= 0.95
    assert recall(index, points, truth) >= 0.95


def test_codes_are_made_anew_for_a_longer_entity_and_kept_otherwise() -> None:
    draws = torch.Generator().manual_seed(0)
    rows = torch.randn(300, 8, generator=draws)
    short, long = 0.5 * rows[:20], 3 * rows[:20]
    index = LSH.build(rows, "inner", bits=256)
    before, rerank = index._hashes, index.config.rerank
    index.add(short)
    assert index._hashes is before
    index.add(long)
    assert isinstance(before, Lifted)
    assert isinstance(index._hashes, Lifted)
    whole = torch.cat([rows, short, long])
    assert index._hashes.length == longest(whole) == pytest.approx(3 * before.length, rel=0.4)
    assert np.array_equal(index._codes, lay_out(Lifted.drawn(whole, 256, 0).codes(whole)))
    assert index.config.rerank > rerank  # angles are smaller now, and more candidates are needed
    assert index._tuned == 300  # growth alone has nothing to do with it


@pytest.mark.parametrize("backend", ["hnsw", "lsh"])
def test_points_to_tune_by_are_kept_for_growth(backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = torch.Generator().manual_seed(0)
    rows, points = torch.randn(500, 12, generator=draws), torch.randn(300, 12, generator=draws)
    index = load(build(backend, rows[:200], "inner", points=points).save(tmp_path / "index"))
    tuned: list[Tensor] = []
    usual = Trial.of

    def watched(rows: Tensor, measure: Measure, asked: Tensor | None, seed: int) -> Trial:
        assert asked is not None
        tuned.append(asked)
        return usual(rows, measure, asked, seed)

    monkeypatch.setattr(Trial, "of", watched)
    index.add(rows[200:])
    assert [tuple(asked.shape) for asked in tuned] == [(256, 12)]
    assert torch.equal(tuned[0][[0, -1]], points[[0, -1]])
    assert build("exact", rows, "inner", points=points)._asked is None  # it has nothing to tune


def test_an_index_of_a_space_is_not_opened_by_another(tmp_path: Path) -> None:
    space = space_of("box")
    folder = build("exact", entities_of(space), space).save(tmp_path / "index")
    with pytest.raises(InputError, match="this index measures by a Box space, not by a Cone one"):
        load(folder, space=space_of("cone"))


def test_an_exact_index_that_was_saved_by_a_space_opens(tmp_path: Path) -> None:
    """As those of hermitian and beta spaces were, before inner products had a measure of their own."""
    for name in ("hermitian", "beta"):
        space = space_of(name)
        entities = entities_of(space)
        points = points_of(space, entities)
        old = Exact._build(entities, Measure("space", space=space), Config(), None)
        opened = load(old.save(tmp_path / name), space=space)
        assert opened.measure.metric == "space"
        found, now = opened.search(points, 9), build("exact", entities, space).search(points, 9)
        assert torch.equal(found.ids, now.ids)
        assert torch.allclose(found.distances, now.distances, rtol=1e-5, atol=1e-4)
