"""`pathformer check`: is everything that was saved still whole?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathformer.files.saved import Fault, Saved

__all__ = ["command"]


def command(
    folder: Annotated[Path, typer.Argument(help="A saved graph, engine, query set, index or run.", show_default=False)],
    repair: Annotated[
        bool, typer.Option("--repair", help="Make a damaged index or calibration of an engine again.")
    ] = False,
) -> None:
    """Read every file of a saved folder and say which ones are not as they were saved.

    Opening checks all of a folder of up to 256 MB; in a larger one it checks small files, and of each large file the
    size and both ends. This command reads everything. The exit code is 0 only if all files are whole, and 1 if not.

    Examples:

        $ pathformer check films

        $ pathformer check films --repair
    """
    saved, faults = _read(folder)
    for fault in faults:
        typer.echo(f"{fault.file} {fault.problem}: {fault.remedy}")
    if faults and repair and saved.manifest.kind == "engine":
        from pathformer.fitting.repair import repair as make_again

        make_again(folder, faults, typer.echo)
        saved, faults = _read(folder)
    if faults:
        raise typer.Exit(1)
    typer.echo(_summary(folder, saved))


def _read(folder: Path) -> tuple[Saved, list[Fault]]:
    """Reads everything, with a bar on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    from pathformer.files.saved import find_faults

    console = Console(stderr=True)
    columns = (TextColumn("checking"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    total = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else None
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("checking", total=total)
        return find_faults(folder, lambda name, size: bar.advance(task, size))


def _summary(folder: Path, saved: Saved) -> str:
    from pathformer.text import counted

    manifest, files = saved.manifest, _count(saved)
    size = f"{saved.size / 1e6:,.1f} MB"
    made = f"saved {manifest.time} by version {manifest.program}, id {manifest.id}"
    return f"{folder}: {counted(files, 'file')}, {size}, all as they were saved ({manifest.kind}, {made})"


def _count(saved: Saved) -> int:
    return len(saved.manifest.files) + sum(map(_count, saved.parts.values()))
