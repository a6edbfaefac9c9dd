"""The loop: update, look, validate, save, until the steps or the minutes are used up.

A run lives in a folder and is continued from there by itself:

    last.safetensors   weights, optimiser, generators and counters after some step
    best.safetensors   weights alone, of the validation with the highest mean MRR
    log.jsonl          losses, rates and validation figures
    tensorboard/       the same, where TensorBoard is installed

Nothing that a run computes depends on when it is saved, looked at or interrupted, so on one machine a run that was cut
and continued ends with the same bits as one that was not; with a time limit (`minutes`) as far as the clock agrees. On
a card that time begins when kernels are compiled: that may take longer than all the updates of a short run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import torch

from pathformer.errors import DivergedError
from pathformer.evaluation.report import Report
from pathformer.files.interrupt import Interrupt
from pathformer.files.lock import hold_folder
from pathformer.nn.device import keep_freed_memory
from pathformer.text import duration
from pathformer.training import checkpoint
from pathformer.training import checkpoint as generators
from pathformer.training.budget import TimeBudget
from pathformer.training.display import Display
from pathformer.training.logs import Log, open_logs
from pathformer.training.redraw import Redrawer
from pathformer.training.rounds import Rounds
from pathformer.training.schedule import Progress, moment
from pathformer.training.settings import Result, Task, Training

__all__ = ["LAST", "Result", "Task", "Training", "train"]

LAST = "last.safetensors"  # in a run's folder
_LOOK = 1.0  # seconds between looks at the losses: each waits for the device


def train(task: Task, config: Training, folder: Path, display: Display | None = None) -> Result:
    """Trains, or continues from the folder's last checkpoint; refused while another process trains there."""
    with hold_folder(folder):
        return _train(_Run(task, config, folder, display or Display()))


def _train(run: _Run) -> Result:
    run.resume()
    if run.over and run.last.is_file():  # a box may be over before the first update, and still leaves weights
        run.close()
        return run.result()
    with run.display, run.interrupt, _freed_memory(run.step.device):
        try:
            while not run.clock.done and not run.interrupt.asked:
                run.prepare()
                run.advance()
            run.pause(finished=run.clock.done)
        finally:
            run.close()
    return run.result()


class _Run:
    """One run in progress."""

    def __init__(self, task: Task, config: Training, folder: Path, display: Display) -> None:
        self.task, self.config, self.folder, self.display = task, config, folder, display
        torch.manual_seed(config.seed)
        names = tuple(structure.name for structure in task.data.structures)
        composition = config.composition(names)
        self.step = Rounds(
            task.model, task.data, composition, config.update, config.update_per_structure, task.row_rates
        )
        self.redrawer = (
            None
            if task.draw is None or not config.redraw_every
            else Redrawer(task.data, task.draw, config.redraw_every)
        )
        self.clock = Progress(config.steps, TimeBudget.of_minutes(config.minutes))
        self.logs: list[Log] = []
        self.interrupt = Interrupt()
        self.phase, self.factor = 0, 1.0
        self.best: tuple[float, int] | None = None  # MRR, step
        self.validated = 0  # how many of the validations are behind
        self._ranked = -1  # the step of the last one
        self._chunk, self._saved, self._looked, self._compiling = 1, 0.0, 0.0, 0.0

    # --- coming and going -------------------------------------------------------------------------------------------

    @property
    def last(self) -> Path:
        return self.folder / LAST

    @property
    def over(self) -> bool:
        """Whether all is done, the last validation too: a kill may come between the last update and that."""
        ranked = self.validated >= self.config.validations or self.clock.step == self._ranked
        return self.clock.done and ranked

    def resume(self) -> None:
        """Loads the last checkpoint, if there is one."""
        for name in (LAST, "best.safetensors"):
            checkpoint.check(self.folder / name)  # before hours of training, not after them
        ranked = True
        if self.last.is_file():
            saved = checkpoint.read(self.last, self.step.device)
            facts = saved.facts
            self.task.model.load_state_dict(saved.part("model"))
            self.step.load(saved.part("optimizer"), facts["step"])
            if self.step.average is not None:
                self.step.average.load(saved.part("average"))
            generators.restore(saved.part("generator"), self.step.device)
            budget = TimeBudget.of_minutes(self.config.minutes, spent=facts["seconds"])
            self.clock = Progress(self.config.steps, budget, facts["step"])
            self.phase, self.factor = facts["phase"], facts["factor"]
            self.step.adam.set_rate(self.config.update.rate * self.factor)
            self.best, self.validated = facts["best"] and tuple(facts["best"]), facts["validated"]
            self._ranked = facts["ranked"]
            ranked = self._ranked == self.clock.step
            at = f"at step {self.clock.step:,}"
            done = f"{self.folder} had finished, {at}: nothing is left to train"
            self.display.say(done if self.over else f"continues {at} of {self.folder}")
        self._saved = self._looked = self.clock.seconds
        self.logs = open_logs(self.folder, self.clock.step, ranked=ranked)

    def save(self) -> None:
        """Writes `last.safetensors`; refuses weights that are not finite."""
        self._check_weights()
        facts = {
            **self.task.facts,
            "step": self.clock.step,
            "seconds": self.clock.seconds,
            "phase": self.phase,
            "factor": self.factor,
            "best": self.best,
            "validated": self.validated,
            "ranked": self._ranked,
        }
        tensors = {f"model.{name}": tensor for name, tensor in self.task.model.state_dict().items()}
        tensors |= {f"optimizer.{name}": tensor for name, tensor in self.step.state().items()}
        if self.step.average is not None:
            tensors |= {f"average.{name}": tensor for name, tensor in self.step.average.state().items()}
        tensors |= {f"generator.{name}": tensor for name, tensor in generators.states(self.step.device).items()}
        checkpoint.write(self.last, facts, tensors)
        self._saved = self.clock.seconds

    def pause(self, *, finished: bool) -> None:
        """Ends this sitting and saves it."""
        self._look()
        if finished and not self.over:
            self._validate()
        self.save()
        if not finished:
            self.display.say(f"stopped at step {self.clock.step:,}{self.display.after_stop}")

    def close(self) -> None:
        if self.redrawer is not None:
            self.redrawer.close()
        for log in self.logs:
            log.close()

    def result(self) -> Result:
        best = self.folder / "best.safetensors"
        return Result(
            finished=self.clock.done,
            step=self.clock.step,
            seconds=self.clock.seconds,
            last=self.last,
            best=best if self.best is not None else None,
            best_mrr=None if self.best is None else self.best[0],
        )

    # --- the work ---------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Makes the updates that compile and record while the clock of a time limit stands still.

        A validation that is due comes before the rest of them.
        """
        if self.config.minutes is None or not self.step.cold:
            return
        start = time.monotonic()
        self.display.begin("compiling kernels")
        with self.clock.budget.pause():
            self._updates(self.step.cold)
            self.step.losses()  # waits for the device
        self._compiling += time.monotonic() - start
        if not self.step.cold:
            self.display.say(f"kernels compiled in {duration(self._compiling)}, before the clock started")

    def advance(self) -> None:
        """Updates up to the next look, then does whatever is due."""
        self._updates(self._chunk)
        self._look()
        if self._due():
            self._validate()
            self.save()
        elif self.clock.seconds - self._saved > 60 * self.config.save_minutes:
            self.save()

    def _updates(self, most: int) -> None:
        for _ in range(most):
            if self._due() or self.clock.done or self.interrupt.asked:
                break
            self._update()

    def _update(self) -> None:
        now = moment(self.config.schedule, self.clock.share, self.config.warmup, self.config.floor)
        if now.phase != self.phase:
            self.step.adam.reset()
        if now.factor != self.factor or self.clock.step == 0:
            self.step.adam.set_rate(self.config.update.rate * now.factor)
        self.phase, self.factor = now.phase, now.factor
        if self.redrawer is not None:
            self.redrawer.prepare(self.clock.step)
        self.step.run()
        self.clock.step += 1

    def _due(self) -> bool:
        """Whether the next validation is due; the last one is made by `pause`.

        A validation that took longer than that share is followed by an update, or weights would be ranked twice.
        """
        behind = self.validated + 1
        waits = behind < self.config.validations and self.clock.step != self._ranked
        return waits and self.clock.share >= behind / self.config.validations

    def _look(self) -> None:
        """Reads the losses, shows and logs them; stops where one is not finite."""
        losses = self.step.losses()
        if losses.diverged:
            raise _divergence(losses.diverged, self.folder)
        if not losses.updates:
            return
        spent, self._looked = self.clock.seconds - self._looked, self.clock.seconds
        pace = spent / losses.updates
        self._chunk = max(1, min(4 * self._chunk, round(_LOOK / max(pace, 1e-9))))
        loss = sum(losses.mean.values()) / len(losses.mean)
        rate = self.step.queries / max(pace, 1e-9)
        self.display.update(
            step=self.clock.step, progress=self.clock.share, loss=loss, rate=rate, left=self.clock.seconds_left
        )
        figures = {"seconds": self.clock.seconds, "loss": loss, "rate": self.config.update.rate * self.factor}
        by_structure = {f"loss/{name}": value for name, value in losses.mean.items()}
        if self.redrawer is not None:
            figures["seconds_waited"] = self.redrawer.take_waited()
        self._log({**figures, "queries_per_second": rate, **_memory(self.step.device), **by_structure})

    def _validate(self) -> None:
        """Validates and keeps the weights if they are the best; of several validations that are due, one is made."""
        self.validated = int(self.config.validations * min(1.0, self.clock.share) + 1e-9)
        self._ranked = self.clock.step
        if self.task.validate is None:
            return
        average = self.step.average
        with nullcontext() if average is None else average.instead():
            self._rank(self.task.validate)
        self._looked = self.clock.seconds  # validation is not the updates' time

    def _rank(self, validate: Callable[[], Report]) -> None:
        report = validate()
        mrr = report.mrr
        by_structure = {f"valid/{name}": scores.mrr for name, scores in report.scores.items()}
        self._log({"seconds": self.clock.seconds, "valid/mrr": mrr, **by_structure})
        better = self.best is None or mrr > self.best[0]
        if better:
            self.best = (mrr, self.clock.step)
            weights = {f"model.{name}": tensor for name, tensor in self.task.model.state_dict().items()}
            facts = {**self.task.facts, "step": self.clock.step, "seconds": self.clock.seconds, "valid_mrr": mrr}
            self._check_weights()
            checkpoint.write(self.folder / "best.safetensors", facts, weights)
        self.display.say(
            f"step {self.clock.step:,} after {duration(self.clock.seconds)}: "
            f"validation MRR {100 * mrr:.2f}{', the best so far' if better else ''}"
        )

    def _log(self, figures: Mapping[str, float]) -> None:
        for log in self.logs:
            log.write(self.clock.step, figures)

    def _check_weights(self) -> None:
        for name, tensor in self.task.model.state_dict().items():
            if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
                raise DivergedError(
                    f"{name} holds numbers that are not finite after step {self.clock.step:,}; {_ADVICE}; "
                    f"{self.folder} keeps what was saved before"
                )


_ADVICE = "try a lower training.update.rate, a warm-up (training.warmup=0.01) or training.update.precision=fp32"


def _divergence(diverged: Mapping[str, int], folder: Path) -> DivergedError:
    step = min(diverged.values())
    names = ", ".join(name for name, at in diverged.items() if at == step)
    return DivergedError(
        f"the loss of {names} is not a finite number at step {step:,}; {_ADVICE}; {folder} keeps what was saved before"
    )


def _freed_memory(device: torch.device) -> AbstractContextManager[None]:
    """Lets an update on a processor reuse the memory of the one before; on a card torch does so itself."""
    return keep_freed_memory() if device.type == "cpu" else nullcontext()


def _memory(device: torch.device) -> dict[str, float]:
    """Returns the most memory that tensors have held on a card so far, in GB; nothing for a processor."""
    return {"memory_gb": torch.cuda.max_memory_allocated(device) / 1e9} if device.type == "cuda" else {}
