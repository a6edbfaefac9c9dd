"""Options that several subcommands have in the same words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Data", "Device"]

Data = Annotated[Path | None, typer.Option(help="The folder that holds datasets.", show_default=False)]
Device = Annotated[str, typer.Option(help="cuda, cuda:1, cpu, or auto.")]
