"""Graphs by name: a row each, found in the data folder, unpacked safely, and a sentence when one is not there."""

from __future__ import annotations

import io
import random
import tarfile
from pathlib import Path
from typing import Literal

import pytest

from pathformer.compiled import cache_folder
from pathformer.errors import DatasetError, GraphFileError, InputError
from pathformer.files.archives import unpack
from pathformer.kg.datasets import datasets, load, locate

Mode = Literal["w:xz", "w:gz", "w:bz2"]
NAMES = {"codex-s", "fb15k-237", "kinships", "nations", "nell995", "umls", "wn18rr-qa", "world"}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PATHFORMER_DATA", raising=False)
    return tmp_path / "cache" / "pathformer"


def archive(path: Path, files: dict[str, bytes], mode: Mode = "w:xz") -> Path:
    with tarfile.open(path, mode) as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return path


def test_every_dataset_is_a_whole_row() -> None:
    found = datasets()
    assert set(found) == NAMES
    assert len(found) == 8
    for name, dataset in found.items():
        assert dataset.title
        assert dataset.home
        assert dataset.licence
        assert (dataset.bundled is not None) == (name == "world")
        assert bool(dataset.places) == (name != "world")
        assert (dataset.triples is None) == (name == "world")


def test_the_bundled_graph_needs_no_data() -> None:
    world = load("world")
    assert world.name == "world"
    assert world.vocabulary.label(world.vocabulary.entity_id("FCO")) != "FCO"


def test_a_dataset_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DatasetError) as caught:
        load("umls")
    assert str(caught.value) == (
        "the dataset 'umls' is not found: set --data or $PATHFORMER_DATA to the folder that holds "
        "small/umls or umls; get it from the datasets of PyKEEN (github.com/pykeen/pykeen)"
    )
    monkeypatch.setenv("PATHFORMER_DATA", str(tmp_path))
    with pytest.raises(DatasetError, match=f"the dataset 'nations' is not under {tmp_path} .* get it from"):
        load("nations")
    with pytest.raises(DatasetError, match=f"not under {tmp_path / 'other'}"):
        load("nations", tmp_path / "other")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("umsl", "no file or folder 'umsl', and no dataset of that name; closest: 'umls'"),
        ("./umls", "no file or folder './umls', and no dataset of that name; closest: 'umls'"),
        (
            "?!",
            "no file or folder '?!', and no dataset of that name; the known ones are codex-s, fb15k-237, kinships,",
        ),
    ],
)
def test_an_unknown_name(name: str, message: str) -> None:
    with pytest.raises(DatasetError) as caught:
        load(name)
    assert str(caught.value).startswith(message)


def test_a_folder_of_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small" / "umls").mkdir(parents=True)
    (tmp_path / "small" / "umls" / "train.txt").write_text("a\tr\tb\n")
    assert load("umls", tmp_path).name == "umls"
    assert load("umls", str(tmp_path)).vocabulary.label(0) == "a"  # no labels beside it
    (tmp_path / "small" / "umls" / "entity2text.txt").write_text("a\tthe a\n")
    monkeypatch.setenv("PATHFORMER_DATA", str(tmp_path))
    assert load("umls").vocabulary.label(0) == "the a"
    assert locate("umls") == tmp_path / "small" / "umls"


def test_a_path_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "umls").mkdir()
    (tmp_path / "umls" / "train.txt").write_text("a\tr\tb\n")
    assert load("./umls").triple_count == 1
    assert load(Path("umls")).triple_count == 1
    assert locate(Path("umls")) == Path("umls")
    with pytest.raises(DatasetError, match="set --data or"):
        load("umls")


def test_a_user_without_a_home_is_told_what_to_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", none)
    with pytest.raises(InputError, match="has no home folder to keep files in: name another in XDG_CACHE_HOME"):
        cache_folder()


def test_an_archive_is_unpacked_once(tmp_path: Path, own_cache: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    path = archive(data / "wn18rr-qa.tar.xz", {"wn18rr-qa/train.txt": b"a\tr\tb\n"})
    assert load("wn18rr-qa", data).triple_count == 1
    folder = locate("wn18rr-qa", data)
    assert own_cache == cache_folder()
    assert folder.parent.parent == own_cache
    stamp = (folder / "train.txt").stat().st_ino
    assert (locate("wn18rr-qa", data) / "train.txt").stat().st_ino == stamp
    archive(path, {"wn18rr-qa/train.txt": b"a\tr\tb\nb\tr\ta\n"})
    assert load("wn18rr-qa", data).triple_count == 2


def test_an_archive_without_a_folder_of_its_own(tmp_path: Path) -> None:
    folder = unpack(archive(tmp_path / "x.tar.xz", {"train.txt": b"a", "valid.txt": b"b"}))
    assert {path.name for path in folder.iterdir()} >= {"train.txt", "valid.txt"}


@pytest.mark.parametrize("name", ["../outside.txt", "/absolute.txt"])
def test_members_that_lead_outside_are_refused(name: str, tmp_path: Path, own_cache: Path) -> None:
    path = archive(tmp_path / "x.tar.xz", {"fine.txt": b"x", name: b"hostile"})
    if name.startswith("/"):  # the leading slash is dropped: it lands inside
        assert {p.name for p in unpack(path).iterdir()} == {"fine.txt", "absolute.txt", ".unpacked"}
        assert not Path(name).exists()
        return
    with pytest.raises(GraphFileError, match=r"x\.tar\.xz: the archive cannot be unpacked \(.*outside"):
        unpack(path)
    assert list(own_cache.iterdir()) == []
    assert not list(tmp_path.glob("**/outside.txt"))


def test_a_link_to_elsewhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as tar:
        entry = tarfile.TarInfo("link")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(entry)
    with pytest.raises(GraphFileError, match="cannot be unpacked"):
        unpack(path)


def test_a_truncated_archive(tmp_path: Path, own_cache: Path) -> None:
    path = archive(tmp_path / "x.tar.xz", {"train.txt": b"a\tr\tb\n" * 1000})
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(GraphFileError, match=r"x\.tar\.xz: the archive cannot be unpacked"):
        unpack(path)
    assert list(own_cache.iterdir()) == []
    with pytest.raises(GraphFileError, match="cannot be read"):
        unpack(tmp_path / "gone.tar.xz")


@pytest.mark.parametrize("mode", ["w:xz", "w:gz", "w:bz2"])
@pytest.mark.parametrize("compressible", [True, False])
def test_one_wrong_bit_of_an_archive_is_found(mode: Mode, compressible: bool, tmp_path: Path, own_cache: Path) -> None:
    """Also where it unpacks, to something else: the packers' checksums are read to the end."""
    letters = random.Random(0)
    content = bytes(letters.choices(b"abc\t\n", k=100_000)) if compressible else letters.randbytes(100_000)
    path = archive(tmp_path / f"x.tar.{mode[2:]}", {"train.txt": content}, mode)
    assert (unpack(path) / "train.txt").read_bytes() == content
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(GraphFileError, match=rf"x\.tar\.{mode[2:]}: the archive cannot be unpacked"):
        unpack(path)
    assert len(list(own_cache.iterdir())) == 1


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(NAMES - {"world"}))
def test_the_public_graphs_have_their_published_sizes(name: str, data_dir: Path) -> None:
    graph, dataset = load(name, data_dir), datasets()[name]
    assert graph.vocabulary.entity_count == dataset.entities
    assert len(graph.vocabulary.relations) == dataset.relations
    assert tuple(len(part) for part in graph.splits.values()) == dataset.triples
    report = graph.report
    assert (report.duplicates, report.repeated, report.unseen, report.skipped) == (0, 0, 0, 0)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "entity", "label", "relation", "directed"),
    [
        ("fb15k-237", "/m/027rn", "Dominican Republic", "-/location/country/form_of_government", 1),
        ("nell995", "concept_visualizablething_jotter", None, "concept:latitudelongitude_reverse", 3),
        ("wn18rr-qa", "00590383", "chieftainship, the position of chieftain", "hypernym", 0),
        ("umls", "idea_or_concept", "idea or concept", "location_of", 0),
        ("codex-s", "Q168419", "Jérôme Lalande", "cause of death", 2),
    ],
)
def test_the_names_of_the_public_graphs(
    name: str, entity: str, label: str | None, relation: str, directed: int, data_dir: Path
) -> None:
    vocabulary = load(name, data_dir).vocabulary
    place = vocabulary.entity_id(entity)
    assert vocabulary.label(place) == (label or entity)
    assert vocabulary.entity_id(label or entity) == place
    assert vocabulary.relation_id(relation) == directed
    if label is not None:
        assert vocabulary.labels is not None
        assert all(vocabulary.labels)


@pytest.mark.data
@pytest.mark.parametrize("name", ["fb15k-237", "nell995"])
def test_the_released_files_list_both_directions(name: str, data_dir: Path) -> None:
    graph = load(name, data_dir)
    for split, triples in graph.splits.items():
        with (data_dir / name / f"{split}.txt").open("rb") as file:
            assert 2 * len(triples) == sum(1 for _ in file)
