"""Rows side by side on one device: a queue of boxes, and a process for each row.

The calling process reads graphs and queries and starts every row as a fork of itself, so all rows share what was read,
and a row that crashes takes nothing with it. It computes nothing itself and never asks for a CUDA device: a fork cannot
use a device that its parent has opened. A row writes what it has to say into `work/ROW.log`; where all rows stand is
told here every few seconds, from their `log.jsonl`.
"""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from time import monotonic

import torch
from rich.console import Console

from pathformer.errors import InputError
from pathformer.experiments.box import GRACE, Box, Terms, alarm, run_box, summary
from pathformer.experiments.filled import Filled
from pathformer.experiments.fork import forked
from pathformer.experiments.mps import Service
from pathformer.experiments.records import Record
from pathformer.experiments.shelf import Shelf
from pathformer.experiments.standing import standing
from pathformer.training.display import Display

__all__ = ["fill_side"]

_TELL = 20.0  # seconds between two reports of where the rows stand
_READING = 90.0  # seconds that reading a dataset may take; beside running rows it is not begun later than that
_RANKING = 60.0  # seconds for the test of a row, with neighbours
_INSIST = 1.0  # a second Ctrl-C counts after so many seconds
_WORDS = 4000  # characters of an error that are told: a pipe holds 64 KiB, and nobody reads it before the row has ended
_END = 3.0  # seconds before the end at which a row that has not stopped is killed; what it saved before stays


def fill_side(
    boxes: Sequence[Box],
    shelf: Shelf,
    terms: Terms,
    *,
    deadline: float | None = None,
    whole: bool = False,
    display: Display | None = None,
    mps: bool = True,
) -> Filled:
    """Run the boxes, `terms.jobs` at a time, in their order.

    deadline: of `time.monotonic`; all is saved and over by then. whole: start none that would be cut.
    """
    if torch.cuda.is_initialized():
        raise InputError("rows side by side must be started by a process that has not used a CUDA device")
    display = display or Display()
    with Service(display.say) if mps and terms.device != "cpu" else nullcontext() as service:
        return _Side(boxes, shelf, terms, deadline, whole, display, service).run()


@dataclass(frozen=True)
class _Row:
    """A box that is running."""

    box: Box
    process: ForkProcess
    answer: Connection  # "done", "cut", or what went wrong


class _Side:
    """The queue."""

    def __init__(
        self,
        boxes: Sequence[Box],
        shelf: Shelf,
        terms: Terms,
        deadline: float | None,
        whole: bool,
        display: Display,
        service: Service | None,
    ) -> None:
        self.shelf, self.terms, self.whole, self.display, self.service = shelf, terms, whole, display, service
        self.deadline = float("inf") if deadline is None else deadline
        self.grace = GRACE + 2.0 * terms.jobs  # they all save at once
        self.threads = max(1, min(2, len(os.sched_getaffinity(0)) // terms.beside))
        self.filled = Filled([], list(boxes), {})
        self.runs = {box.name: box.runs() for box in boxes}
        self.waiting, self.running = list(boxes), list[_Row]()
        self.stopped: float | None = None  # since when nothing more is started
        self._told, self._reading = monotonic(), False

    def run(self) -> Filled:
        """Until nothing waits that there is time for, and nothing runs."""
        with self._stopping():
            while self._start() or self.running:
                self._read_ahead()
                ended = wait([row.process.sentinel for row in self.running], timeout=1.0)
                for row in [row for row in self.running if row.process.sentinel in ended]:
                    self._end(row)
                self._watch()
        if self.stopped is not None:
            self.display.say("stopped; the same command goes on")
        return self.filled

    # --- starting and ending a row ----------------------------------------------------------------------------------

    def _start(self) -> bool:
        """Fill the free places; whether any row was started."""
        started = False
        while len(self.running) < self.terms.jobs and self.stopped is None:
            box = next((box for box in self.waiting if self._fits(box)), None)
            if box is None:
                break
            self.waiting.remove(box)
            if self._read(box):
                self.running.append(self._fork(box))
                started = True
        return started

    def _fits(self, box: Box) -> bool:
        spare = self.deadline - monotonic() - self.grace
        reading = _READING if self.running and not self._is_read(box) else 0.0
        return spare > reading and (not self.whole or spare >= 60 * box.whole + _RANKING + reading)

    def _is_read(self, box: Box) -> bool:
        return all(map(self.shelf.holds, self.runs[box.name]))

    def _read(self, box: Box) -> bool:
        """What a box works on; one whose data cannot be read has failed, one whose reading was stopped is left."""
        self._reading = True
        try:
            with alarm(self._seconds()):
                for run in self.runs[box.name]:
                    self.shelf.material(run)
        except KeyboardInterrupt:
            return False
        except Exception as error:
            self._fail(box, f"{type(error).__name__}: {error}")
            return False
        finally:
            self._reading = False
        return True

    def _seconds(self) -> float | None:
        """Until rows have to be saved."""
        return None if self.deadline == float("inf") else self.deadline - monotonic() - self.grace

    def _read_ahead(self) -> None:
        """While rows run, read what the next ones need, one dataset at a time."""
        for box in list(self.waiting):
            if self.stopped is None and not self._is_read(box) and self._fits(box):
                if not self._read(box):
                    self.waiting.remove(box)
                return

    def _fork(self, box: Box) -> _Row:
        if self.service is not None:
            self.service.settle()
        log = self.terms.work / f"{box.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        answer, sender = Pipe(duplex=False)
        process = forked(_row, box, self.shelf, self.terms, log, self._seconds(), self.threads, sender)
        sender.close()
        self.display.say(f"{box.name}: started, {len(self.waiting)} wait; its log: {log}")
        return _Row(box, process, answer)

    def _end(self, row: _Row) -> None:
        row.process.join()
        self.running.remove(row)
        try:
            said = row.answer.recv()
        except EOFError:  # it never came to an answer
            said = "cut" if self.stopped is not None else f"ended with exit status {row.process.exitcode}"
        if said == "done":
            record = Record.read(self.terms.out / row.box.file_name)
            self.filled.finish(row.box, record)
            self.display.say(summary(record))
        elif said == "cut":
            self.display.say(f"{row.box.name}: cut, and saved")
        else:
            self._fail(row.box, said)

    def _fail(self, box: Box, words: str) -> None:
        self.filled.fail(box, words)
        self.display.say(f"{box.name} FAILED: {words}")

    # --- the clock, and Ctrl-C --------------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Kill what outlives the time; tell where rows stand when it is time for that."""
        if monotonic() > self.deadline - _END:
            self.stopped = self.stopped or monotonic()
            self._signal(signal.SIGKILL)
        if monotonic() - self._told >= _TELL:
            self._told = monotonic()
            for row in self.running:
                self.display.say(f"  {row.box.name}: {standing(self.terms.work / row.box.name)}")

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        """While it is entered, Ctrl-C and a polite kill stop and save all rows; a second one ends them at once."""
        before = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, *_: object) -> None:
        if self.stopped is None:
            self.stopped = monotonic()
            self._signal(signal.SIGINT)
            if self._reading:
                raise KeyboardInterrupt
        elif monotonic() - self.stopped > _INSIST:
            self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        for row in self.running:
            if row.process.pid is not None and row.process.is_alive():
                os.kill(row.process.pid, number)


def _row(
    box: Box, shelf: Shelf, terms: Terms, log: Path, seconds: float | None, threads: int, answer: Connection
) -> None:
    """What the process of a row does; its output goes to its log."""
    os.setpgrp()  # Ctrl-C at a terminal goes to the queue, which passes it on once
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with log.open("a", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        display = Display(Console(file=file, width=160))
        display.say(f"{time.strftime('%H:%M:%S')} {box.name} on {threads} threads")
        torch.set_num_threads(threads)
        try:
            with alarm(seconds):
                record = run_box(box, shelf, terms, display)
            answer.send("cut" if record is None else "done")
        except KeyboardInterrupt:
            answer.send("cut")
        except Exception as error:
            traceback.print_exc(file=file)
            answer.send(f"{type(error).__name__}: {error}"[:_WORDS])  # the log has all of it
