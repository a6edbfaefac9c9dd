"""The folder is the registry: a new format, dataset, model or subcommand is one new file.

The name of a plugin is its file's name with `-` for `_` and without a trailing `_` (`fb15k_237.py` is `fb15k-237`,
`import_.py` is `import`); files that start with `_` are helpers. Somebody else's package adds its own through an entry
point whose group is the folder's package and whose object is a module:

```toml
[project.entry-points."pathformer.kg.formats"]
jelly = "pathformer_jelly.format"
```
"""

from __future__ import annotations

import importlib
import pkgutil
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType

from pathformer.errors import PluginError, UnknownPluginError

__all__ = ["load", "names"]


def names(package: str) -> tuple[str, ...]:
    """The names of all plugins of a package, e.g. `pathformer.kg.formats`, sorted; none of them is imported."""
    return tuple(sorted({*_files(package), *_entry_points(package)}))


def load(package: str, name: str) -> ModuleType:
    """The module of one plugin; the package's own files come before entry points of the same name."""
    files = _files(package)
    if name in files:
        return importlib.import_module(f"{package}.{files[name]}")
    points = _entry_points(package)
    if name in points:
        return _load_entry_point(points[name])
    kind = package.rpartition(".")[2].removesuffix("s")
    raise UnknownPluginError(kind, name, sorted({*files, *points}))


def _files(package: str) -> dict[str, str]:
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return {m.name.rstrip("_").replace("_", "-"): m.name for m in found if not m.name.startswith("_")}


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
