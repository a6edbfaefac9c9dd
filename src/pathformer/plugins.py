"""Registries: a new model, format, dataset or subcommand is one new file.

`GROUPS` names every registry. Its own entries are the files of one folder of the package: an entry is called like its
file, with `-` for `_` and without a trailing `_` (`mlp_mixer.py` is `mlp-mixer`, `import_.py` is `import`). Files that
start with `_` and sub-folders are helpers. Another package adds an entry by an entry point whose object is a module:

```toml
[project.entry-points."pathformer.formats"]
jelly = "pathformer_jelly.format"
```

A folder adds entries without being a package: PATHFORMER_PLUGINS names folders with a sub-folder for each group, so
that `mine/models/toy.py` adds the method `toy`. Only what the user names is ever run: no file names a file to run.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import NamedTuple
from zlib import crc32

from pathformer.errors import InputError, PluginError, UnknownPluginError

__all__ = ["FOLDERS", "GROUPS", "Group", "load", "names", "summary"]

FOLDERS = "PATHFORMER_PLUGINS"


class Group(NamedTuple):
    """A registry: what a message calls one entry, and the package whose files are the entries."""

    singular: str
    package: str | None = None  # None: its own entries are rows of a table, and others add modules


GROUPS: dict[str, Group] = {
    "models": Group("model", "pathformer.models"),
    "spaces": Group("space", "pathformer.spaces"),
    "formats": Group("format", "pathformer.kg.formats"),
    "syntaxes": Group("syntax", "pathformer.query.syntax"),
    "indexes": Group("index", "pathformer.index"),
    "encoders": Group("encoder"),
    "evidence": Group("source of evidence", "pathformer.links.evidence"),
    "datasets": Group("dataset"),
    "layouts": Group("layout", "pathformer.querysets.layouts"),
    "objectives": Group("objective", "pathformer.training.objectives"),
    "recipes": Group("recipe", "pathformer.training.recipes"),
    "commands": Group("command", "pathformer.cli"),
}


def names(group: str) -> tuple[str, ...]:
    """Returns the names of all entries of a group, such as `models`, sorted; imports none of them."""
    return tuple(sorted(_entries(group)))


def load(group: str, name: str) -> ModuleType:
    """Imports one entry; of equal names the package's own counts, then a folder's, then an entry point's."""
    entries = _from_package(GROUPS[group].package)
    if name not in entries:  # only then: to look through all installed packages takes milliseconds
        entries = _entries(group)
    if name not in entries:
        raise UnknownPluginError(GROUPS[group].singular, name, sorted(entries))
    return entries[name]()


def summary(group: str, name: str) -> str:
    """Returns the first line of an entry's docstring."""
    return (load(group, name).__doc__ or "").partition("\n")[0].rstrip(".")


def _entries(group: str) -> dict[str, Callable[[], ModuleType]]:
    """Every entry of a group with the function that imports it."""
    return {**_from_entry_points(group), **_from_folders(group), **_from_package(GROUPS[group].package)}


def _from_package(package: str | None) -> Mapping[str, Callable[[], ModuleType]]:
    if package is None:
        return {}
    files = pkgutil.iter_modules(importlib.import_module(package).__path__)
    stems = [file.name for file in files if not (file.name.startswith("_") or file.ispkg)]
    return {_name(stem): partial(importlib.import_module, f"{package}.{stem}") for stem in stems}


def _from_folders(group: str) -> Mapping[str, Callable[[], ModuleType]]:
    """The files of the folders that the user names; the first of equal names counts."""
    found: dict[str, Path] = {}
    for root in filter(None, os.environ.get(FOLDERS, "").split(os.pathsep)):
        if not Path(root).is_dir():
            raise InputError(f"{FOLDERS} names {root!r}, which is not a folder")
        for path in sorted(Path(root, group).glob("[!_]*.py")):
            found.setdefault(_name(path.stem), path.resolve())
    return {name: partial(_load_file, group, name, path) for name, path in found.items()}


def _from_entry_points(group: str) -> Mapping[str, Callable[[], ModuleType]]:
    points = entry_points(group=f"pathformer.{group}")
    return {point.name: partial(_load_entry_point, group, point) for point in points}


def _name(stem: str) -> str:
    return stem.rstrip("_").replace("_", "-")


def _load_file(group: str, name: str, path: Path) -> ModuleType:
    title = f"pathformer.{group}._{crc32(str(path).encode()):08x}_{path.stem}"
    if title in sys.modules:
        return sys.modules[title]
    spec = importlib.util.spec_from_file_location(title, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[title] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[title]
        raise PluginError(f"{GROUPS[group].singular} {name!r} ({path}) does not load: {error}") from error
    return module


def _load_entry_point(group: str, point: EntryPoint) -> ModuleType:
    about = f"{GROUPS[group].singular} {point.name!r} (entry point {point.value} of {point.group})"
    try:
        plugin = point.load()
    except Exception as error:
        raise PluginError(f"{about} does not load: {error}") from error
    if not isinstance(plugin, ModuleType):
        raise PluginError(f"{about} is a {type(plugin).__name__}: the entry point must name a module")
    return plugin
