"""The folder is the registry, entry points add to it, and a wrong name is answered with the closest."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pathformer import plugins
from pathformer.errors import PluginError, UnknownPluginError


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
