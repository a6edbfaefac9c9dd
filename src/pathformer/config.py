"""Settings: a TOML file, then `key=value`, into a frozen keyword-only dataclass.

There is one way in. A key that no field has is an error with the closest name; a value must have the field's type (an
integer is taken for a float, nothing else is converted). A field may be bool, int, float, str, `Path`, `Literal`, a
tuple, `Mapping[str, T]`, `T | None` or a dataclass, whose own fields are reached with dots: `model.layers=6`.
TOML has no null, so the word `none` stands for it where a field admits it.

>>> @dataclasses.dataclass(frozen=True, kw_only=True)
... class Model:
...     layers: int = 6
>>> read(Model, overrides=["layers=2"])
Model(layers=2)
>>> read(Model, overrides=["layrs=2"])
Traceback (most recent call last):
pathformer.errors.ConfigError: no setting 'layrs'; closest: 'layers'

Settings as TOML: what `config.read` reads back.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pathformer.errors import ConfigError
from pathformer.text import closest

__all__ = ["NONE", "check_range", "flat", "from_mapping", "list_changes", "read", "to_toml"]

NONE = "none"  # TOML has no null
INFINITY = float("inf")


def check_range(
    settings: Any, *names: str, least: float = -INFINITY, above: float = -INFINITY, below: float = INFINITY
) -> None:
    """Refuses settings that are not numbers in [least, below), or above a number.

    >>> check_range(types.SimpleNamespace(dropout=2.0), "dropout", least=0, below=1)
    Traceback (most recent call last):
    ValueError: dropout must be at least 0 and below 1, got 2.0
    """
    for name in names:
        value = getattr(settings, name)
        if not (value >= least and value > above and value < below):
            bounds = {f"at least {least}": least, f"above {above}": above, f"below {below}": below}
            words = [word for word, bound in bounds.items() if abs(bound) < INFINITY]
            raise ValueError(f"{name} must be {' and '.join(words)}, got {value}")


def to_toml(config: Any) -> str:
    """Writes every setting, defaults included, as TOML that reads back to an equal object."""
    return "\n".join(_lines(config, "")).lstrip("\n") + "\n"


def _lines(config: Any, prefix: str) -> Iterator[str]:
    """The plain settings of a table first, its sub-tables after: the order TOML wants."""
    tables = []
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            tables.append((field.name, value))
        elif value is not None or field.default is not None:
            yield f"{field.name} = {_value(value)}"
    for name, value in tables:
        path = f"{prefix}.{name}" if prefix else name
        yield ""
        yield f"[{path}]"
        yield from _lines(value, path)


def _value(value: Any) -> str:
    match value:
        case None:
            return f'"{NONE}"'
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str() | Path():
            # A JSON string is a TOML string once DEL is escaped too and surrogate pairs are not used.
            return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
        case tuple() | list():
            return f"[{', '.join(map(_value, value))}]"
        case Mapping():
            inner = ", ".join(f"{_value(str(k))} = {_value(v)}" for k, v in value.items())
            return f"{{{inner}}}"
    raise TypeError(f"a setting of type {type(value).__name__} cannot be written as TOML")


T = TypeVar("T")

_WORDS: dict[Any, str] = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a text",
    Path: "a path",
    type(None): NONE,
}


def read(
    cls: type[T],
    path: str | Path | None = None,
    overrides: Sequence[str] = (),
    base: Mapping[str, Any] | None = None,
) -> T:
    """Reads settings of `cls`: its defaults, `base`, the file at `path`, then each `key=value`; the last one wins."""
    table: dict[str, Any] = {}
    if path is not None:
        table = _read_toml(Path(path))
        try:
            _build(cls, table, "", complete=False)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from None
    table = _overlay(base or {}, table)
    for override in overrides:
        _apply(cls, table, override)
    return from_mapping(cls, table)


def _overlay(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Puts nested settings on top of others."""
    joined = dict(base)
    for key, value in more.items():
        below = joined.get(key)
        joined[key] = _overlay(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return joined


def from_mapping(cls: type[T], table: Mapping[str, Any]) -> T:
    """Builds settings of dataclass `cls` from nested mappings, as `tomllib` gives them; checks every key and type."""
    built: T = _build(cls, table, "")
    return built


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flattens nested settings to dotted names, as `key=value` has them.

    >>> flat({"model": {"layers": 6}, "dataset": "umls"})
    {'model.layers': 6, 'dataset': 'umls'}
    """
    found: dict[str, Any] = {}
    for key, value in table.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return found


def list_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Lists the settings that differ between two nested tables, for a message.

    >>> list_changes({"model": {"layers": 6}, "seed": 0}, {"model": {"layers": 2}, "seed": 0})
    ['model.layers was 6 and is 2']
    """
    old, new = flat(before), flat(now)
    return [
        f"{key} was {old.get(key)!r} and is {new.get(key)!r}" for key in {**old, **new} if old.get(key) != new.get(key)
    ]


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text: save the file as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None


# --- key=value ------------------------------------------------------------------------------------------------------


def _apply(cls: type, table: dict[str, Any], override: str) -> None:
    key, equals, text = (part.strip() for part in override.partition("="))
    if not equals or not key:
        raise ConfigError(f"expected key=value, as in training.steps=1000, found {override!r}")
    *folders, leaf = key.split(".")
    kind: Any = cls
    for depth, folder in enumerate(folders):
        kind = _field_type(kind, folder, ".".join(folders[:depth]), cls)
        inside = _dataclass_in(kind)
        if inside is None and not _is_mapping(kind):
            raise ConfigError(f"setting {'.'.join(folders[: depth + 1])!r} has no settings inside it, found {key!r}")
        table = _inside(table, folder, kind, ".".join(folders[: depth + 1]))
        kind = inside or kind
    table[leaf] = _parse(text, _field_type(kind, leaf, ".".join(folders), cls))


def _inside(table: dict[str, Any], folder: str, kind: Any, key: str) -> dict[str, Any]:
    """Returns the table for a dotted key's last part; a `none` before it gives way, any other value is refused."""
    found = table.get(folder, NONE)
    if found == NONE:
        found = table[folder] = {}
    if not isinstance(found, dict):
        raise _unfit(key, kind, found)
    return found


def _field_type(kind: Any, name: str, prefix: str, root: type) -> Any:
    if _is_mapping(kind):
        return typing.get_args(kind)[1]
    hints = _hints(kind)
    if name not in hints:
        raise _unknown(_join(prefix, name), root)
    return hints[name]


def _parse(text: str, kind: Any) -> Any:
    """Returns the value of a text: TOML if the field wants that, else the text itself."""
    wants_text = any(option in (str, Path) or typing.get_origin(option) is Literal for option in _options(kind))
    if wants_text and not text.startswith(("'", '"')):
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # no TOML, more digits than Python reads, deeper than it goes
        return text  # the type check names what was expected


# --- mapping -> dataclass -------------------------------------------------------------------------------------------


def _build(cls: type, table: Mapping[str, Any], prefix: str, root: type | None = None, complete: bool = True) -> Any:
    root = root or cls
    hints = _hints(cls)
    for name in table:
        if name not in hints:
            raise _unknown(_join(prefix, name), root)
    values = {n: _convert(v, hints[n], _join(prefix, n), root, complete) for n, v in table.items()}
    if not complete:
        return None
    for field in dataclasses.fields(cls):
        if field.init and field.name not in values and _is_required(field):
            raise ConfigError(f"setting {_join(prefix, field.name)!r} is missing: give it a value")
    try:
        return cls(**values)
    except ValueError as error:  # a dataclass's own check of its values
        raise ConfigError(f"{prefix}: {error}" if prefix else f"{error}") from None


def _convert(value: Any, kind: Any, key: str, root: type, complete: bool) -> Any:
    options = _options(kind)
    if type(None) in options and (value is None or value == NONE):
        return None
    for option in options:
        if dataclasses.is_dataclass(option) and isinstance(value, Mapping):
            return _build(typing.cast(type, option), value, key, root, complete)
        if _is_mapping(option) and isinstance(value, Mapping):
            inner = typing.get_args(option)[1]
            return {str(k): _convert(v, inner, _join(key, k), root, complete) for k, v in value.items()}
        if typing.get_origin(option) is tuple and isinstance(value, list | tuple):
            return _convert_tuple(value, option, key, root, complete)
        if _fits(value, option):
            return option(value) if option in (float, Path) else value
    raise _unfit(key, kind, value)


def _unfit(key: str, kind: Any, value: Any) -> ConfigError:
    return ConfigError(f"setting {key!r} must be {_describe(kind)}, found {value!r}")


def _convert_tuple(value: Sequence[Any], kind: Any, key: str, root: type, complete: bool) -> tuple[Any, ...]:
    inner = typing.get_args(kind)
    if len(inner) == 2 and inner[1] is Ellipsis:
        inner = (inner[0],) * len(value)
    if len(inner) != len(value):
        raise ConfigError(f"setting {key!r} must be {_describe(kind)}, found {len(value)} values")
    pairs = enumerate(zip(value, inner, strict=True))
    return tuple(_convert(v, k, f"{key}[{place}]", root, complete) for place, (v, k) in pairs)


def _fits(value: Any, kind: Any) -> bool:
    if typing.get_origin(kind) is Literal:
        return any(value == choice and type(value) is type(choice) for choice in typing.get_args(kind))
    if kind is float:
        return isinstance(value, float) or (_fits(value, int) and abs(value) <= sys.float_info.max)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind is Path:
        return isinstance(value, str | Path)
    return kind in (bool, str) and isinstance(value, kind)


def _describe(kind: Any) -> str:
    words = []
    for option in _options(kind):
        origin = typing.get_origin(option)
        if origin is Literal:
            words.append("one of " + ", ".join(map(repr, typing.get_args(option))))
        elif origin is tuple:
            inner = typing.get_args(option)
            count = "" if Ellipsis in inner else f"{len(inner)} values: "
            words.append(f"a list of {count}" + ", ".join(_describe(i) for i in inner if i is not Ellipsis))
        elif _is_mapping(option) or dataclasses.is_dataclass(option):
            words.append("a table")
        else:
            words.append(_WORDS.get(option, str(option)))
    return " or ".join(words)


def _unknown(key: str, root: type) -> ConfigError:
    keys = tuple(_keys(root, ""))
    near = closest(key, keys, count=1)
    return ConfigError(f"no setting {key!r}; " + (f"closest: {near[0]!r}" if near else f"there are: {', '.join(keys)}"))


def _keys(cls: type, prefix: str) -> Iterator[str]:
    for name, kind in _hints(cls).items():
        inside = _dataclass_in(kind)
        if inside is None:
            yield _join(prefix, name)
        else:
            yield from _keys(inside, _join(prefix, name))


# --- types ----------------------------------------------------------------------------------------------------------


def _hints(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls) if field.init}


def _options(kind: Any) -> tuple[Any, ...]:
    """The members of a union, or the type alone."""
    return typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)


def _dataclass_in(kind: Any) -> type | None:
    return next((option for option in _options(kind) if dataclasses.is_dataclass(option)), None)  # type: ignore[return-value]


def _is_mapping(kind: Any) -> bool:
    return typing.get_origin(kind) in (dict, Mapping)


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
