"""Progress for people: a bar with loss, queries a second and time left; plain lines where there is no terminal."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from pathformer.text import duration

__all__ = ["Display"]

_QUIET = 30.0  # seconds between lines where there is no terminal


class Display:
    """Shows where a run stands; entered for as long as it trains."""

    def __init__(
        self,
        console: Console | None = None,
        now: Callable[[], float] = time.monotonic,
        *,
        label: str = "",
        after_stop: str = "; the same command continues",
    ) -> None:
        """label: stands before every line; after_stop: ends the line of an interruption."""
        self.console = console or Console(stderr=True)
        self.after_stop, self._label = after_stop, f"{label}: " if label else ""
        self._now, self._last = now, -math.inf
        self._bar = Progress(
            TextColumn(self._label + "step {task.fields[step]:,}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.description}"),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=1.0, step=0)

    def __enter__(self) -> Display:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, text: str) -> None:
        """Shows on the bar what is done before the first step."""
        self._bar.update(self._task, description=text)

    def update(self, *, step: int, progress: float, loss: float, rate: float, left: float) -> None:
        """Shows a step: loss, queries a second, seconds left; a last update that outlasts the time is at 100 %."""
        progress = min(1.0, progress)
        text = f"loss {loss:.4f}  {rate:,.0f} queries/s  {duration(left)} left"
        self._bar.update(self._task, completed=progress, step=step, description=text)
        if not self.console.is_terminal and self._now() - self._last >= _QUIET:
            self._last = self._now()
            self.console.print(f"{self._label}step {step:,}  {progress:.0%}  {text}", highlight=False)

    def say(self, text: str) -> None:
        """Prints a line that stays; without a terminal it is not wrapped."""
        console = self._bar.console
        console.print(f"{self._label}{text}", highlight=False, markup=False, soft_wrap=not console.is_terminal)

    @contextmanager
    def ranking(self, what: str) -> Iterator[Callable[[str, int], None]]:
        """Shows how far queries are ranked; call what it gives with each structure and its number of queries."""
        self.say(f"ranking {what}")
        began = self._now()
        with self.console.status("ranking") as status:

            def done(name: str, queries: int) -> None:
                nonlocal began
                text = f"ranked {queries:,} queries of {name}"
                status.update(text)
                if not self.console.is_terminal and self._now() - began >= _QUIET:
                    began = self._now()
                    self.say(text)

            yield done

    def for_part(self, label: str) -> Display:
        """Returns a display for a part of the same work."""
        return Display(self.console, self._now, label=label, after_stop=self.after_stop)
