"""Settings as TOML: what `config.read` reads back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["NONE", "to_toml"]

NONE = "none"  # TOML has no null


def to_toml(config: Any) -> str:
    """Every setting as TOML that reads back to an equal object, defaults included; kept beside a checkpoint."""
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
