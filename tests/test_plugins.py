"""The folder is the registry, entry points add to it, and a wrong name is answered with the closest."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pathformer import plugins
from pathformer.errors import InputError, PluginError, UnknownPluginError


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package with two plugins, a helper and a sub-package."""
    folder = tmp_path / "zoo_of_plugins" / "shapes"
    (folder / "hexagon").mkdir(parents=True)
    for name in ("__init__", "round_", "four_sided", "_helper", "hexagon/__init__"):
        (folder / f"{name}.py").write_text(f"name = {name!r}\n")
    (folder.parent / "__init__.py").write_text("")
    (folder / "notes.txt").write_text("not a plugin")
    monkeypatch.syspath_prepend(tmp_path)
    yield "zoo_of_plugins.shapes"
    for module in [m for m in sys.modules if m.startswith("zoo_of_plugins")]:
        del sys.modules[module]


def entry_point(monkeypatch: pytest.MonkeyPatch, name: str, value: str, package: str) -> None:
    point = EntryPoint(name=name, value=value, group=package)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point] if group == package else [])


def test_names_are_the_files_of_the_folder(package: str) -> None:
    assert plugins.names(package) == ("four-sided", "hexagon", "round")


def test_naming_imports_no_plugin(package: str) -> None:
    plugins.names(package)
    assert f"{package}.round_" not in sys.modules


@pytest.mark.parametrize(
    ("name", "module"), [("round", "round_"), ("four-sided", "four_sided"), ("hexagon", "hexagon")]
)
def test_load(package: str, name: str, module: str) -> None:
    assert plugins.load(package, name).__name__ == f"{package}.{module}"


def test_an_unknown_name_is_answered_with_the_closest(package: str) -> None:
    with pytest.raises(UnknownPluginError, match=r"^no shape 'rond'; closest: 'round'$"):
        plugins.load(package, "rond")


def test_a_name_like_no_other_is_answered_with_all(package: str) -> None:
    with pytest.raises(UnknownPluginError, match=r"^no shape 'xyz'; there are: four-sided, hexagon, round$"):
        plugins.load(package, "xyz")


def test_a_helper_is_no_plugin(package: str) -> None:
    with pytest.raises(UnknownPluginError):
        plugins.load(package, "-helper")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder, laid out as the package is."""
    made = tmp_path / "mine" / "shapes"
    made.mkdir(parents=True)
    monkeypatch.setenv(plugins.FOLDERS, str(made.parent))
    return made


def test_a_users_folder_adds_plugins(package: str, folder: Path) -> None:
    (folder / "six_pointed.py").write_text("corners = 6\n")
    (folder / "_helper.py").write_text("raise SystemExit\n")
    assert plugins.names(package) == ("four-sided", "hexagon", "round", "six-pointed")
    module = plugins.load(package, "six-pointed")
    assert module.corners == 6
    assert plugins.load(package, "six-pointed") is module
    with pytest.raises(UnknownPluginError, match="closest: 'six-pointed'"):
        plugins.load(package, "six-point")


def test_a_file_of_the_package_comes_before_a_folders(package: str, folder: Path) -> None:
    (folder / "round_.py").write_text("name = 'another'\n")
    assert plugins.names(package) == ("four-sided", "hexagon", "round")
    assert plugins.load(package, "round").name == "round_"


def test_of_several_folders_the_first_counts(
    package: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = tmp_path / "theirs" / "shapes"
    second.mkdir(parents=True)
    for place, name in ((folder, "star"), (second, "star"), (second, "moon")):
        (place / f"{name}.py").write_text(f"home = {place.parent.name!r}\n")
    monkeypatch.setenv(plugins.FOLDERS, f"{folder.parent}:{second.parent}")
    assert plugins.load(package, "star").home == "mine"
    assert plugins.load(package, "moon").home == "theirs"
    (second.parent / "empty").mkdir()
    monkeypatch.setenv(plugins.FOLDERS, str(second.parent / "empty"))
    assert "moon" not in plugins.names(package)


def test_a_users_file_that_does_not_load_is_named(package: str, folder: Path) -> None:
    (folder / "star.py").write_text("import no_such_module\n")
    message = r"plugin 'star' of 'zoo_of_plugins.shapes' \(.*star.py\) does not load: No module named 'no_such_module'"
    for _ in range(2):
        with pytest.raises(PluginError, match=message):
            plugins.load(package, "star")


def test_a_folder_that_is_not_there_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plugins.FOLDERS, "nowhere")
    with pytest.raises(InputError, match="PATHFORMER_PLUGINS names 'nowhere', which is not a folder"):
        plugins.names(package)


def test_an_entry_point_adds_a_plugin(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry_point(monkeypatch, "star", "json.decoder", package)
    assert "star" in plugins.names(package)
    assert plugins.load(package, "star").__name__ == "json.decoder"


def test_a_file_comes_before_an_entry_point_of_its_name(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry_point(monkeypatch, "round", "json.decoder", package)
    assert plugins.load(package, "round").__name__ == f"{package}.round_"


def test_an_entry_point_that_does_not_load_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry_point(monkeypatch, "star", "no_such_module", package)
    message = r"plugin 'star' of 'zoo_of_plugins.shapes' \(no_such_module\) does not load: No module named"
    with pytest.raises(PluginError, match=message):
        plugins.load(package, "star")


def test_an_entry_point_must_be_a_module(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry_point(monkeypatch, "star", "json:JSONDecodeError", package)
    with pytest.raises(PluginError, match="is a type, expected a module"):
        plugins.load(package, "star")
