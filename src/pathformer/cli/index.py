"""`pathformer index`: how an engine finds the nearest entities."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathformer import plugins

if TYPE_CHECKING:
    from pathformer.index._base import Index

__all__ = ["command"]


def command(
    engine: Annotated[
        Path | None,
        typer.Argument(help="The folder that `pathformer fit` made; without it, the backends are listed."),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Argument(help="Settings of the backend, key=value.", show_default=False)
    ] = None,
    backend: Annotated[
        str | None, typer.Option("--backend", "-b", help="Build the index anew with this backend.", show_default=False)
    ] = None,
) -> None:
    """List the backends, show the index of an engine, or build it anew with another backend.

    An approximate backend measures its recall when it is built, on questions drawn from the engine's own graph, and
    chooses settings that reach its target (recall=...). The engine is replaced in one step: a kill leaves the old one.

    Examples:

        $ pathformer index

        $ pathformer index films

        $ pathformer index films --backend lsh recall=0.99
    """
    from pathformer.errors import InputError

    if engine is None:
        if backend is not None:
            raise InputError(f"--backend needs an engine: `pathformer index ENGINE --backend {backend}`")
        _list_backends()
        return
    if backend is None and settings:
        raise InputError(_without_backend(engine, settings))
    _show_or_build(engine, backend, settings or [])


def _without_backend(engine: Path, settings: list[str]) -> str:
    """Returns the message about settings without --backend; the first of them may be the name of a backend."""
    known = plugins.names("indexes")
    if settings[0] in known:
        right = shlex.join(["pathformer", "index", str(engine), "--backend", *settings])
        return f"a backend is named by an option: `{right}`"
    if "=" in settings[0]:
        return f"{settings[0]!r} is a setting of a backend: name the backend with --backend"
    neither = f"{settings[0]!r} is neither a backend nor a setting (key=value)"
    return f"{neither}: name one of {', '.join(known)} with --backend"


def _list_backends() -> None:
    """Prints every backend with what it is and its settings."""
    from dataclasses import fields

    from pathformer.index._base import find

    for name in plugins.names("indexes"):
        default = find(name).config_type()
        options = ", ".join(f"{field.name}={getattr(default, field.name)}" for field in fields(default))
        typer.echo(f"{name:6} {plugins.summary('indexes', name)}\n       settings: {options}")


def _show_or_build(folder: Path, backend: str | None, settings: list[str]) -> None:
    import time

    from pathformer.engine.engine import load

    engine = load(folder)
    if backend is not None:
        from pathformer.fitting.reindex import reindex

        begun = time.perf_counter()
        engine = reindex(engine, backend, settings)
        typer.echo(f"built in {time.perf_counter() - begun:.1f} s")
        engine.save(folder, force=True)
    for line in _describe(engine.index):
        typer.echo(line)


def _describe(index: Index) -> list[str]:
    """Describes an index, one fact on each line."""
    from dataclasses import asdict

    gone = index.rows - len(index)
    removed = f", {gone:,} removed" if gone else ""
    measured: dict[str, Any] = {**asdict(index.config), **index.about}
    return [
        f"{index.name} over {len(index):,} entities{removed}, by {_distance(index)}",
        *(f"  {name} = {value}" for name, value in measured.items()),
    ]


def _distance(index: Index) -> str:
    """Says how far an entity is from a question."""
    if index.measure is None:
        return "the method's own distance"
    return {"l1": "the L1 norm", "cosine": "the cosine", "inner": "the inner product"}[index.measure.kind]
