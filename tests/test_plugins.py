"""The files of a folder are its entries, folders and entry points add to them, a wrong name gets the closest."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from pathformer import plugins
from pathformer.errors import InputError, PluginError, UnknownPluginError
from pathformer.kg.datasets import datasets

ADD = "pathformer.kg.datasets import Dataset\nDATASET = Dataset(title='mine', home='here', licence='mine')\n"


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A group whose package has two entries, a helper and a sub-folder."""
    folder = tmp_path / "zoo_of_plugins" / "shapes"
    (folder / "kernels").mkdir(parents=True)
    for name in ("__init__", "round_", "four_sided", "_helper", "kernels/__init__"):
        (folder / f"{name}.py").write_text(f"'''The file {name}.'''\nname = {name!r}\n")
    (folder.parent / "__init__.py").write_text("")
    (folder / "notes.txt").write_text("not a plugin")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(plugins.GROUPS, "shapes", plugins.Group("shape", "zoo_of_plugins.shapes"))
    yield "shapes"
    for module in [m for m in sys.modules if m.startswith("zoo_of_plugins")]:
        del sys.modules[module]


@pytest.fixture
def install(tmp_path: Path) -> Callable[[str, str], None]:
    """Makes a package with one entry point look installed."""

    def installed(name: str, value: str) -> None:
        info = tmp_path / "star-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: star\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[pathformer.shapes]\n{name} = {value}\n")

    return installed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder of shapes."""
    made = tmp_path / "mine" / "shapes"
    made.mkdir(parents=True)
    monkeypatch.setenv(plugins.FOLDERS, str(made.parent))
    return made


@pytest.mark.parametrize("name", plugins.GROUPS)
def test_every_group_of_the_package_has_its_entries(name: str) -> None:
    package = plugins.GROUPS[name].package
    assert package is None or find_spec(package) is not None
    assert package is None or plugins.names(name)


def test_names_are_the_files_of_the_folder(group: str) -> None:
    assert plugins.names(group) == ("four-sided", "round")
    assert "zoo_of_plugins.shapes.round_" not in sys.modules
    assert plugins.load(group, "round").__name__ == "zoo_of_plugins.shapes.round_"
    assert plugins.load(group, "four-sided").name == "four_sided"
    assert plugins.summary(group, "round") == "The file round_"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rond", "no shape 'rond'; closest: 'round'"),
        ("xyz", "no shape 'xyz'; there are: four-sided, round"),
        ("-helper", "no shape '-helper'"),
        ("kernels", "no shape 'kernels'"),
    ],
)
def test_an_unknown_name_is_answered_with_the_closest(group: str, name: str, message: str) -> None:
    with pytest.raises(UnknownPluginError) as caught:
        plugins.load(group, name)
    assert str(caught.value).startswith(message)


def test_a_users_folder_adds_plugins(group: str, folder: Path) -> None:
    (folder / "six_pointed.py").write_text("corners = 6\n")
    (folder / "_helper.py").write_text("raise SystemExit\n")
    assert plugins.names(group) == ("four-sided", "round", "six-pointed")
    module = plugins.load(group, "six-pointed")
    assert module.corners == 6
    assert plugins.load(group, "six-pointed") is module
    with pytest.raises(UnknownPluginError, match="closest: 'six-pointed'"):
        plugins.load(group, "six-point")


def test_the_first_of_equal_names_counts(
    group: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, install: Callable[[str, str], None]
) -> None:
    """The package's own file, then the user's folders in order, then an entry point."""
    install("round", "json.decoder")
    second = tmp_path / "theirs" / "shapes"
    second.mkdir(parents=True)
    for place, name in ((folder, "round_"), (folder, "star"), (second, "star"), (second, "moon")):
        (place / f"{name}.py").write_text(f"home = {place.parent.name!r}\n")
    monkeypatch.setenv(plugins.FOLDERS, f"{folder.parent}:{second.parent}")
    assert plugins.names(group) == ("four-sided", "moon", "round", "star")
    assert plugins.load(group, "round").name == "round_"
    assert plugins.load(group, "star").home == "mine"
    assert plugins.load(group, "moon").home == "theirs"


def test_a_users_file_that_does_not_load_is_named(group: str, folder: Path) -> None:
    (folder / "star.py").write_text("import no_such_module\n")
    message = r"shape 'star' \(.*star.py\) does not load: No module named 'no_such_module'"
    for _ in range(2):
        with pytest.raises(PluginError, match=message):
            plugins.load(group, "star")


def test_a_folder_that_is_not_there_is_named(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plugins.FOLDERS, "nowhere")
    with pytest.raises(InputError, match="PATHFORMER_PLUGINS names 'nowhere', which is not a folder"):
        plugins.names(group)


def test_an_entry_point_adds_a_plugin(group: str, install: Callable[[str, str], None]) -> None:
    install("star", "json.decoder")
    assert plugins.names(group) == ("four-sided", "round", "star")
    assert plugins.load(group, "star").__name__ == "json.decoder"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "no_such_module",
            r"shape 'star' \(entry point no_such_module of pathformer.shapes\) does not load: No module",
        ),
        ("json:JSONDecodeError", "is a type: the entry point must name a module"),
    ],
)
def test_an_entry_point_that_gives_no_module_is_named(
    group: str, install: Callable[[str, str], None], value: str, message: str
) -> None:
    install("star", value)
    with pytest.raises(PluginError, match=message):
        plugins.load(group, "star")


def test_a_users_folder_adds_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "mine.py").write_text(f"from {ADD}")
    monkeypatch.setenv(plugins.FOLDERS, str(tmp_path))
    assert datasets()["mine"].title == "mine"
