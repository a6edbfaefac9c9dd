"""A progress bar for long readings, on a terminal's stderr, which disappears at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pathformer.files.source import is_pipe

__all__ = ["reading"]


@contextmanager
def reading(sources: Path | dict[str, list[Path]], shown: bool) -> Iterator[Callable[[int], None] | None]:
    """Yields a function to call with the bytes of each step, or None if no bar is wanted."""
    from rich.console import Console

    console = Console(stderr=True)
    if not shown or not console.is_terminal or isinstance(sources, Path):
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    paths = [path for files in sources.values() for path in files]
    # that of a pipe is not known
    total = None if any(map(is_pipe, paths)) else sum(path.stat().st_size for path in paths)
    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=total)
        yield lambda step: bar.advance(task, step)
