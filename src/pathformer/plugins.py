"""The folder is the registry: a new format, dataset, model or subcommand is one new file.

The name of a plugin is its file's name with `-` for `_` and without a trailing `_` (`fb15k_237.py` is `fb15k-237`,
`import_.py` is `import`); files that start with `_` and the folder `kernels` are helpers. Somebody else's package adds
its own through an entry point whose group is the folder's package and whose object is a module:

```toml
[project.entry-points."pathformer.kg.formats"]
jelly = "pathformer_jelly.format"
```

Without a package, a folder will do: PATHFORMER_PLUGINS names folders that are laid out as this package is, so that
`mine/models/toy.py` adds the method `toy`. Only what the user names is ever run: no file names a file to run.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from zlib import crc32

from pathformer.errors import InputError, PluginError, UnknownPluginError

__all__ = ["FOLDERS", "load", "names", "summary"]

FOLDERS = "PATHFORMER_PLUGINS"


def names(package: str) -> tuple[str, ...]:
    """The names of all plugins of a package, e.g. `pathformer.kg.formats`, sorted; none of them is imported."""
    return tuple(sorted({*_files(package), *_folders(package), *_entry_points(package)}))


def load(package: str, name: str) -> ModuleType:
    """The module of one plugin; of equal names the package's own counts, then a folder's, then an entry point's."""
    files = _files(package)
    if name in files:
        return importlib.import_module(f"{package}.{files[name]}")
    folders, points = _folders(package), _entry_points(package)
    if name in folders:
        return _load_file(package, name, folders[name])
    if name in points:
        return _load_entry_point(points[name])
    kind = package.rpartition(".")[2].removesuffix("s")
    raise UnknownPluginError(kind, name, sorted({*files, *folders, *points}))


def summary(package: str, name: str) -> str:
    """What one plugin is: the first line of its file."""
    return (load(package, name).__doc__ or "").partition("\n")[0].rstrip(".")


def _files(package: str) -> dict[str, str]:
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return {_name(m.name): m.name for m in found if not (m.name.startswith("_") or m.name == "kernels")}


def _name(stem: str) -> str:
    return stem.rstrip("_").replace("_", "-")


def _folders(package: str) -> dict[str, Path]:
    """Files of the folders that the user names; the first of equal names counts."""
    found: dict[str, Path] = {}
    for root in filter(None, os.environ.get(FOLDERS, "").split(os.pathsep)):
        if not Path(root).is_dir():
            raise InputError(f"{FOLDERS} names {root!r}, which is not a folder")
        for path in sorted(Path(root, *package.split(".")[1:]).glob("[!_]*.py")):
            found.setdefault(_name(path.stem), path.resolve())
    return found


def _load_file(package: str, name: str, path: Path) -> ModuleType:
    title = f"{package}._{crc32(str(path).encode()):08x}_{path.stem}"
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
        raise PluginError(f"plugin {name!r} of {package!r} ({path}) does not load: {error}") from error
    return module


def _entry_points(package: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=package)}


def _load_entry_point(point: EntryPoint) -> ModuleType:
    try:
        plugin = point.load()
    except Exception as error:
        raise PluginError(f"plugin {point.name!r} of {point.group!r} ({point.value}) does not load: {error}") from error
    if not isinstance(plugin, ModuleType):
        found = type(plugin).__name__
        raise PluginError(f"plugin {point.name!r} of {point.group!r} ({point.value}) is a {found}, expected a module")
    return plugin
