"""The stages of a long piece of work, for people: what is being done, how far it is, how long it will take."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from pathformer.files.atomic import write_json
from pathformer.files.manifest import wrong_field
from pathformer.querysets.sampler import is_sampler_compiled
from pathformer.text import duration, visible
from pathformer.training.display import Display

__all__ = ["TRAINING", "Stages"]

TRAINING = "training"
_FILE = "times.json"


class Stages:
    """Names each stage, shows a bar with the time left on a terminal, and keeps how long each took."""

    def __init__(self, console: Console | None = None, *, count: int = 0) -> None:
        self.console = console or Console(stderr=True)
        self.seconds: dict[str, float] = {}  # by stage, of all sittings that `keep` knows of
        self._count, self._begun = count, 0
        self._file: Path | None = None
        self._now = ""  # the stage that is at work

    def keep(self, folder: Path) -> None:
        """Write times down in a folder from now on, and add those that earlier sittings left there.

        A stage that is interrupted counts as far as it came; one that is killed does not. Times that cannot be read are
        lost, which is said: the work they were taken of is not.
        """
        self._file = folder / _FILE
        earlier = _read_times(self._file)
        if earlier is None:
            self.say(f"{self._file} is damaged: times of earlier sittings are lost")
            earlier = {}
        names = {**earlier, **self.seconds}
        self.seconds = {name: earlier.get(name, 0.0) + self.seconds.get(name, 0.0) for name in names}

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
        """One stage; the function it gives is called with a word for each of the `total` parts that is done.

        Without parts its bar moves to and fro: how long it will take is not known.
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
        """A stage that shows itself as training does."""
        self.say(f"{self._number()}{name}")
        with self._timed(name):
            yield Display(self.console, after_stop="")  # `stoppable` tells of that

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
                write_json(self._file, self.seconds)

    def say_compiling(self) -> None:
        """Tell of what drawing waits for where the sampler was never compiled here."""
        if not is_sampler_compiled():
            self.say("compiling the sampler, once on this machine")

    def say(self, text: str) -> None:
        """A line that stays; what is no terminal has it whole."""
        told, whole = "\n".join(map(visible, text.split("\n"))), not self.console.is_terminal
        self.console.print(told, highlight=False, markup=False, soft_wrap=whole)


def _read_times(file: Path) -> dict[str, float] | None:
    """Seconds by stage, nothing where there is no file; None where they are none."""
    try:
        times = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    except (OSError, ValueError, RecursionError):
        return None
    sound = isinstance(times, dict) and not wrong_field(times, dict.fromkeys(times, "a number"))
    return times if sound and min(times.values(), default=0) >= 0 else None
