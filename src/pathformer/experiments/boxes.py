"""Many runs one after the other, each in a box of time; what is done is kept at once, what was cut goes on.

Every run has its folder under `work`, where a cut one is continued by the next call, and leaves a record under `out` as
soon as it is ranked. A run that has its record is not run again. Graphs and queries are read once for all runs. On a
CUDA device a few updates are made and thrown away first, so that no run's box pays for compiling kernels.
"""

from __future__ import annotations

import dataclasses
import gc
import signal
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from pathformer.errors import ConfigError
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.evaluation.report import Report
from pathformer.experiments.keep import figures_of, record_of
from pathformer.experiments.records import Record, record_name
from pathformer.experiments.run import Material, new_model, start_anew, train_run
from pathformer.experiments.settings import Run, read_run
from pathformer.experiments.shelf import Shelf
from pathformer.training import checkpoint
from pathformer.training.data import TrainingSet
from pathformer.training.device import choose_device
from pathformer.training.display import Display, duration
from pathformer.training.turns import Turns

__all__ = ["HABITS", "Box", "Filled", "fill"]

# Looking is part of the box's time: a look or four at a sample, and few saves.
HABITS = ("training.validations=4", "training.save_minutes=3", "valid_queries=200")
_WARM = 5  # updates; the fourth is captured
_GRACE = 15.0  # seconds that saving may take when the time is up


@dataclass(frozen=True, kw_only=True)
class Box:
    """A run with its time."""

    run: str  # a run file, by name or path
    minutes: float
    settings: tuple[str, ...] = ()  # key=value, after the run file's
    variant: str = ""
    also: tuple[str, ...] = ()  # runs that train alike and are ranked on other queries: the same weights serve them

    def read(self) -> Run:
        """Its settings."""
        return read_run(self.run, [*HABITS, *self.settings, f"training.minutes={self.minutes}"])

    def runs(self) -> list[Run]:
        """Its own and those that are ranked with its weights; they must train alike."""
        for name in self.also:
            if _training_of(name) != _training_of(self.run):
                raise ConfigError(f"{name} does not train as {self.run} does: its weights are others")
        return [self.read(), *map(read_run, self.also)]

    @property
    def name(self) -> str:
        """Of its folder."""
        return self.file_name.removesuffix(".json")

    @property
    def file_name(self) -> str:
        """Of its record."""
        return record_name(Path(self.run).stem, self.minutes, 0, self.variant)


def _training_of(file: str) -> tuple[object, ...]:
    run = read_run(file)
    return run.dataset, run.trained, run.method, run.model_settings, run.training


@dataclass
class Filled:
    """What came of the boxes."""

    done: list[Record]
    left: list[Box]  # the first of them may have been cut: it goes on from there
    failed: dict[str, str]  # run -> what it said


def fill(
    boxes: Sequence[Box],
    out: Path,
    work: Path,
    *,
    seconds: float | None = None,
    whole: bool = False,
    keep: bool = False,
    data: str | Path | None = None,
    device: str = "auto",
    commit: str | None = None,
    display: Display | None = None,
) -> Filled:
    """Run the boxes in their order, as many as there is time for.

    seconds: after which the run in progress is stopped and saved; whole: start none that would be cut; keep: leave the
    weights of finished runs in their folders; commit: what the records say, where this is no checkout.
    """
    display, begun, place = display or Display(), time.monotonic(), choose_device(device)
    shelf = Shelf((run for box in boxes for run in box.runs()), data)
    filled, ranking = Filled([], list(boxes), {}), 20.0  # seconds of the longest test so far
    try:
        with _alarm(seconds):
            for box in boxes:
                spare = float("inf") if seconds is None else seconds - (time.monotonic() - begun) - _GRACE
                if spare <= 0 or (whole and spare < 60 * box.minutes + ranking):
                    break
                display.say(f"{box.name}: {len(filled.left)} to go")
                try:
                    shelf.material(box.read())
                    start = time.monotonic()
                    record = _one(box, shelf, work / box.name, place, out, commit, display)
                except Exception as error:
                    filled.failed[box.name] = f"{type(error).__name__}: {error}"
                    filled.left.remove(box)
                    display.say(traceback.format_exc())
                    continue
                finally:
                    gc.collect()
                if record is None:
                    break
                filled.done.append(record)
                filled.left.remove(box)
                ranking = max(ranking, time.monotonic() - start - record.seconds)
                if not keep:
                    start_anew(work / box.name)
                display.say(_summary(record))
    except KeyboardInterrupt:
        display.say("stopped; the same command goes on")
    return filled


def _one(
    box: Box, shelf: Shelf, folder: Path, device: torch.device, out: Path, commit: str | None, display: Display
) -> Record | None:
    """One box to its record; none if it was cut."""
    run = box.read()
    material = shelf.material(run)
    if device.type == "cuda" and not (folder / "last.safetensors").is_file():
        _warm(run, material, device)
    outcome = train_run(run, folder, device=str(device), material=material, display=display)
    if not outcome.result.finished:
        return None
    record = record_of(folder, run=box.run, variant=box.variant, device=device, commit=commit)
    record.write(out)
    for name in box.also:
        _rank_also(record, read_run(name), name, shelf, folder, device).write(out)
    return record


def _rank_also(record: Record, other: Run, name: str, shelf: Shelf, folder: Path, device: torch.device) -> Record:
    """The same weights, last and best, on the test queries of another run."""
    queries = shelf.material(other).sets
    reports: dict[str, Report] = {}
    for kind in record.mrr:
        model, _ = checkpoint.load_model(folder / f"{kind}.safetensors", device)
        reports[kind] = evaluate(ModelRanker(model), queries["test"])
    return dataclasses.replace(
        record,
        run=Path(name).stem,
        queries=queries.origin_of("test"),
        **figures_of(reports),
        changes={**record.changes, "queries": record.settings["queries"]},
        note=f"The weights of {record.file_name.removesuffix('.json')}, the best by that run's validation queries.",
    )


def _warm(run: Run, material: Material, device: torch.device) -> None:
    """Compile and tune what the run will need, on weights that are thrown away."""
    model = new_model(run, material.kg, device)
    data = TrainingSet.of(list(material.sets["train"].values()), material.kg.vocabulary.entity_count, device)
    step = Turns(model, data, run.training.composition(run.trained_structures), run.training.update, run.training.turns)
    for _ in range(_WARM):
        step.run()
    step.losses()
    del step, data, model
    gc.collect()
    torch.cuda.empty_cache()


def _ring(*_: object) -> None:
    """While a run trains, ask it to stop and save; elsewhere stop at once, even where a shell has Ctrl-C ignored."""
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, signal.SIG_IGN, signal.SIG_DFL):
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


@contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    """Ask for a stop, as Ctrl-C does, shortly before the time is up."""
    if seconds is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, max(0.01, seconds - _GRACE))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _summary(record: Record) -> str:
    figures = record.figures("last")
    shown = ", ".join(f"{name} {value:.1f}" for name, value in figures.items() if name[:3] in ("1p", "avg"))
    rate = f", {record.queries_per_second:,.0f} queries/s" if record.queries_per_second else ""
    return f"{record.run}: {shown} after {record.steps:,} steps in {duration(record.seconds)}{rate}"
