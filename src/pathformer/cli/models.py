"""`pathformer models`: lists the methods and checks one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

__all__ = ["command"]

_OR = {"dnf": "one point for each part", "native": "an operator of its own", "demorgan": "by and and not"}


def command(
    name: Annotated[
        str | None,
        typer.Argument(help="A method whose settings to show; without it, all methods are listed.", show_default=False),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Argument(help="With --check: settings of the small model, as in `dim=16`.", show_default=False),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check the rules that every method must keep, on a small graph.")
    ] = False,
) -> None:
    """List the methods and how each answers *or* and *not*; or show the settings of one; or check one.

    Any of them can be trained (`pathformer train RUN method=NAME`) and evaluated by the same protocol.

    Examples:

        $ pathformer models

        $ pathformer models pathformer

        $ pathformer models mine --check dim=16
    """
    from rich.console import Console
    from rich.table import Table

    from pathformer import plugins
    from pathformer.errors import InputError
    from pathformer.models._base import find

    if check and name is None:
        raise InputError("--check needs the name of a method, as in `pathformer models gqe --check`")
    if settings and not check:
        raise InputError(f"{settings[0]!r} is a setting of the model to check: add --check")
    console = Console(highlight=False)
    if name is not None:
        _check(name, settings or ()) if check else _settings(name)
        return
    table = Table(box=None, pad_edge=False)
    for column in ("name", "or", "not", "what it is"):
        table.add_column(column, no_wrap=column != "what it is")
    methods = {each: find(each) for each in plugins.names("models")}
    for each, method in methods.items():
        table.add_row(each, method.union, "yes" if method.negation else "no", plugins.summary("models", each))
    console.print(table)
    used = {method.union for method in methods.values()}
    meanings = ", ".join(f"{way} = {meaning}" for way, meaning in _OR.items() if way in used)
    console.print(f"or: {meanings}", style="dim")


def _check(name: str, settings: Sequence[str]) -> None:
    """Checks every rule; the error lists the broken ones."""
    import torch

    from pathformer import config
    from pathformer.errors import InputError
    from pathformer.models._base import Model, find
    from pathformer.models._contract import ENTITIES, RELATIONS, RULES, broken_rules

    method = find(name)
    chosen = config.read(method.config_type, None, settings)

    def build(seed: int) -> Model:
        torch.manual_seed(seed)
        return method(chosen, ENTITIES, RELATIONS).eval()

    broken = broken_rules(build)
    for rule in RULES:
        typer.echo(f"{'BROKEN' if rule in broken else 'kept'}: {rule}")
    typer.echo(f"{len(RULES) - len(broken)} of {len(RULES)} kept")
    if broken:
        seen = "".join(f"\n{rule}:\n{error}" for rule, error in broken.items())
        raise InputError(f"{name} breaks {len(broken)} of {len(RULES)} rules{seen}")


def _settings(name: str) -> None:
    from dataclasses import fields

    from pathformer import plugins
    from pathformer.models._base import find

    method = find(name)
    typer.echo(f"{name}: {plugins.summary('models', name)}\n")
    default = method.config_type()
    width = max(len(field.name) for field in fields(default))
    for field in fields(default):
        typer.echo(f"  model.{field.name:<{width}} = {getattr(default, field.name)!r}")
