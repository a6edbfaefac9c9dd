"""The stages of a fit as people see them: what is being done, how far it is, how long it will take."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from pathformer.files.atomic import write_json
from pathformer.files.fields import wrong_field
from pathformer.querysets.sampler import is_sampler_compiled
from pathformer.text import duration, visible
from pathformer.training.display import Display

__all__ = ["LINKS", "TRAINING", "Stages"]

TRAINING = "training"
LINKS = "learning single links"
_FILE = "times.json"


class Stages:
    """Names each stage, shows a bar with the time left on a terminal, and records how long each stage took."""

    def __init__(self, console: Console | None = None, *, count: int = 0) -> None:
        self.console = console or Console(stderr=True)
        self.seconds: dict[str, float] = {}  # by stage, over all sessions of this work
        self._count, self._begun = count, 0
        self._file: Path | None = None
        self._now = ""  # the stage that is running

    def keep(self, folder: Path) -> None:
        """Records the times in a folder from now on, and adds the times that earlier sessions recorded there.

        An interrupted stage counts as far as it came, a killed one does not. Times that cannot be read are dropped with
        a message; the work itself is not lost.
        """
        self._file = folder / _FILE
        earlier = _read_times(self._file)
        if earlier is None:
            self.say(f"{self._file} is damaged: the report will lack the times of earlier sessions")
            earlier = {}
        names = {**earlier, **self.seconds}
        self.seconds = {name: earlier.get(name, 0.0) + self.seconds.get(name, 0.0) for name in names}

    @contextmanager
    def stoppable(self, *, kept: bool) -> Iterator[None]:
        """Adds a sentence to an interruption: which stage it stopped, and what the same command will do.

        kept: whether the work so far is kept in a folder.
        """
        try:
            yield
        except KeyboardInterrupt:
            raise KeyboardInterrupt(self._stopped(kept)) from None

    def _stopped(self, kept: bool) -> str:
        where = f"stopped while {self._now}" if self._now else "stopped"
        if not kept:
            return f"{where}: nothing was kept, the same command starts over"
        rest = "continues it" if self._now in (LINKS, TRAINING) else "repeats this stage and keeps the stages before it"
        return f"{where}: the same command {rest}"

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Callable[[str], None]]:
        """Runs one stage; it yields a function to call with a word after each of the `total` parts.

        Without `total` the bar only shows that the stage is running.
        """
        number = self._number()
        columns = (TextColumn(f"{number}{name}"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
        start = time.monotonic()
        with (
            self._timed(name),
            Progress(*columns, console=self.console, transient=True, disable=not self.console.is_terminal) as bar,
        ):
            task = bar.add_task("", total=total)
            yield lambda word: bar.update(task, advance=1, description=word)
        self.say(f"{number}{name}: {duration(time.monotonic() - start)}")

    @contextmanager
    def training(self, name: str = TRAINING) -> Iterator[Display]:
        """Runs the training stage; it yields the display of training."""
        self.say(f"{self._number()}{name}")
        with self._timed(name):
            yield Display(self.console, after_stop="")  # `stoppable` says that

    def _number(self) -> str:
        self._begun += 1
        return f"{self._begun}/{self._count} " if self._count else ""

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        start, self._now = time.monotonic(), name
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - start
            if self._file is not None and self._file.parent.is_dir():
                write_json(self._file, self.seconds, "fit")

    def say_compiling(self) -> None:
        """Says that drawing waits for the compiler, if the sampler was never compiled here."""
        if not is_sampler_compiled():
            self.say("compiling the sampler, once on this machine")

    def say(self, text: str) -> None:
        """Prints a line that stays; it is folded on a terminal only."""
        safe, whole = "\n".join(map(visible, text.split("\n"))), not self.console.is_terminal
        self.console.print(safe, highlight=False, markup=False, soft_wrap=whole)


def _read_times(file: Path) -> dict[str, float] | None:
    """Returns the seconds by stage: {} without a file, and None if the file is damaged."""
    try:
        times = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    except (OSError, ValueError, RecursionError):
        return None
    sound = isinstance(times, dict) and not wrong_field(times, dict.fromkeys(times, "a number"))
    return times if sound and min(times.values(), default=0) >= 0 else None
