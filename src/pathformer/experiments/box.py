"""A run in its box of time: trained, or continued, in a folder of its own, and kept as a record once it is ranked."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from pathformer.errors import ConfigError
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.evaluation.report import Report
from pathformer.experiments import beside
from pathformer.experiments.keep import figures_of, record_of
from pathformer.experiments.records import Record, record_name
from pathformer.experiments.run import start_anew, train_run
from pathformer.experiments.settings import Run, read_run
from pathformer.experiments.shelf import Shelf
from pathformer.models import Model
from pathformer.training import checkpoint
from pathformer.training.device import choose_device
from pathformer.training.display import Display, duration
from pathformer.training.lock import alone

__all__ = ["GRACE", "HABITS", "Box", "Terms", "alarm", "run_box", "summary"]

# Looking is part of the box's time: a look or four at a sample, and few saves.
HABITS = ("training.validations=4", "training.save_minutes=3", "valid_queries=200")
GRACE = 15.0  # seconds that saving may take when the time is up
_BESIDE = "beside"  # in the folder of a row that is not finished: how many shared the device with it at most


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
        return record_name(Path(self.run).stem, self.whole, 0, self.variant)

    @property
    def whole(self) -> float:
        """Its minutes, and those of a run beside it that goes by the clock."""
        return beside.whole_minutes(self.read()) or self.minutes


def _training_of(file: str) -> tuple[object, ...]:
    run = read_run(file)
    other = beside.second_run(run)
    return _alike(run), None if other is None else (_alike(other), run.beside_weight)


def _alike(run: Run) -> tuple[object, ...]:
    """All that decides a run's weights; which queries it is ranked on is nothing of it."""
    start = (run.start, run.start_minutes, run.start_members)
    return run.dataset, run.trained, run.method, run.model_settings, run.training, start


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What all rows of a call share: where they compute and what is kept of them."""

    out: Path  # for records
    work: Path  # for a folder a row
    device: str = "auto"
    keep: bool = False  # the weights of finished rows
    commit: str | None = None  # what the records say, where this is no checkout
    jobs: int = 1  # rows at a time
    beside: int = 1  # runs that share the device at most: these, and those of others


def run_box(box: Box, shelf: Shelf, terms: Terms, display: Display) -> Record | None:
    """One box to its record; none if it was cut."""
    folder = terms.work / box.name
    with alone(folder):
        terms = dataclasses.replace(terms, beside=_most(folder / _BESIDE, terms.beside))
        record = _run_alone(box, folder, shelf, terms, display)
        if record is not None and not terms.keep:
            start_anew(folder)
            (folder / _BESIDE).unlink()
    return record


def _most(file: Path, beside: int) -> int:
    """How many shared the device at most while a row was trained, in calls before this one, too; kept for the next."""
    most = max(beside, int(file.read_text(encoding="utf-8")) if file.is_file() else 0)
    file.write_text(f"{most}\n", encoding="utf-8")
    return most


def _run_alone(box: Box, folder: Path, shelf: Shelf, terms: Terms, display: Display) -> Record | None:
    run, device = box.read(), choose_device(terms.device)
    outcome = train_run(run, folder, device=str(device), material=shelf.material(run), display=display)
    if not outcome.result.finished:
        return None
    record = record_of(folder, run=box.run, variant=box.variant, device=device, commit=terms.commit)
    record = dataclasses.replace(record, beside=terms.beside, minutes=box.whole)  # its file has the box's name
    for name in box.also:
        _rank_also(record, read_run(name), name, shelf, folder, device).write(terms.out)
    record.write(terms.out)  # the last one: where it is, the box is done
    return record


def _rank_also(record: Record, other: Run, name: str, shelf: Shelf, folder: Path, device: torch.device) -> Record:
    """The same weights, last and best, on the test queries of another run."""
    queries = shelf.material(other).sets
    reports: dict[str, Report] = {}
    for kind in record.mrr:
        reports[kind] = evaluate(ModelRanker(_trained(folder, kind, device)), queries["test"])
    return dataclasses.replace(
        record,
        run=Path(name).stem,
        queries=queries.origin_of("test"),
        **figures_of(reports),
        changes={**record.changes, "queries": record.settings["queries"]},
        note=f"The weights of {record.file_name.removesuffix('.json')}, the best by that run's validation queries.",
    )


def _trained(folder: Path, kind: str, device: torch.device) -> Model:
    """What a row's weights of a kind are, with what stands beside them."""
    run = read_run(folder / "settings.toml")
    if run.beside:
        return beside.joined(run, folder, kind, device)[0]
    return checkpoint.load_model(folder / f"{kind}.safetensors", device)[0]


def _ring(*_: object) -> None:
    """While a run trains, ask it to stop and save; elsewhere stop at once, even where a shell has Ctrl-C ignored."""
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, signal.SIG_IGN, signal.SIG_DFL):
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


@contextmanager
def alarm(seconds: float | None) -> Iterator[None]:
    """Ask for a stop, as Ctrl-C does, after these seconds."""
    if seconds is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, max(0.01, seconds))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def summary(record: Record) -> str:
    """What came of a row, in a line."""
    figures = record.figures("last")
    shown = ", ".join(f"{name} {value:.1f}" for name, value in figures.items() if name[:3] in ("1p", "avg"))
    rate = f", {record.queries_per_second:,.0f} queries/s" if record.queries_per_second else ""
    waited = f", {record.waited:.1f} s of waiting for queries" if record.waited else ""
    return f"{record.run}: {shown} after {record.steps:,} steps in {duration(record.seconds)}{rate}{waited}"
