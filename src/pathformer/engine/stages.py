"""The stages of a long piece of work, for people: what is being done, how far it is, how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from pathformer.training.display import Display, duration

__all__ = ["TRAINING", "Stages"]

TRAINING = "training"


class Stages:
    """Names each stage, shows a bar with the time left on a terminal, and keeps how long each took."""

    def __init__(self, console: Console | None = None, *, count: int = 0) -> None:
        self.console = console or Console(stderr=True)
        self.seconds: dict[str, float] = {}
        self._count = count
        self._now = ""  # the stage that is at work

    @contextmanager
    def stoppable(self, *, kept: bool) -> Iterator[None]:
        """Inside, an interruption carries a sentence: where it came, and what the same command will do.

        kept: whether there is a folder that keeps what was done.
        """
        try:
            yield
        except KeyboardInterrupt:
            raise KeyboardInterrupt(self._stopped(kept)) from None

    def _stopped(self, kept: bool) -> str:
        where = f"stopped while {self._now}" if self._now else "stopped"
        if not kept:
            return f"{where}: nothing was kept, the same command starts over"
        rest = "continues it" if self._now == TRAINING else "does this stage again and keeps what was done before"
        return f"{where}: the same command {rest}"

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Callable[[str], None]]:
        """One stage; the function it gives is called with a word for each of the `total` parts that is done."""
        start, self._now = time.monotonic(), name
        number = f"{len(self.seconds) + 1}/{self._count} " if self._count else ""
        columns = (TextColumn(f"{number}{name}"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
        shown = self.console.is_terminal and total is not None
        with Progress(*columns, console=self.console, transient=True, disable=not shown) as bar:
            task = bar.add_task("", total=total)
            yield lambda word: bar.update(task, advance=1, description=word)
        self.seconds[name] = time.monotonic() - start
        self.say(f"{number}{name}: {duration(self.seconds[name])}")

    @contextmanager
    def training(self, name: str = TRAINING) -> Iterator[Display]:
        """A stage that shows itself as training does."""
        start, self._now = time.monotonic(), name
        number = f"{len(self.seconds) + 1}/{self._count} " if self._count else ""
        self.say(f"{number}{name}")
        yield Display(self.console, after_stop="")  # `stoppable` tells of that
        self.seconds[name] = time.monotonic() - start

    def say(self, text: str) -> None:
        """A line that stays."""
        self.console.print(text, highlight=False, markup=False)
