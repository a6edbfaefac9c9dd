"""The time of a fit, shared among its stages by the clock.

    until 12 %   questions to learn from are drawn
    until 20 %   questions to be judged by are drawn
    until 85 %   training, a tenth of the box at the least
    15 %         measuring and calibrating

A stage that is late (the first fit on a machine compiles the sampler, which alone takes ten seconds and more) takes its
time from training. A card's kernels are compiled before the clock of training starts (`training.loop`), and that comes
on top: of a short box it would leave nothing to learn in. How long training got is written down beside it, so that a
fit that is continued follows the same schedule; questions are kept there, too (`engine.drawn`).
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from pathformer.files.atomic import write_json
from pathformer.training.settings import Training

__all__ = ["DRAWN", "JUDGED", "Box"]

DRAWN, JUDGED = 0.12, 0.2  # of the box: when drawing is to be over
_TRAINED, _LEAST, _MEASURED = 0.85, 0.1, 0.15
_FILE = "box.json"


@dataclass(frozen=True)
class Box:
    """So many seconds from its making on; none: as long as it takes."""

    seconds: float | None = None
    start: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, minutes: float | None) -> Box:
        """A box of minutes, or none."""
        return cls(None if minutes is None else 60.0 * minutes)

    def end(self, share: float) -> float | None:
        """When a share of it is over, on `time.monotonic`'s clock."""
        return None if self.seconds is None else self.start + share * self.seconds

    @property
    def measuring(self) -> float | None:
        """Seconds."""
        return None if self.seconds is None else _MEASURED * self.seconds

    def training(self, settings: Training, folder: Path) -> Training:
        """The settings with what is left of the time, or with what an earlier sitting in this folder found left.

        Settings that count steps stay as they are.
        """
        if self.seconds is None or settings.minutes is None:
            return settings
        file = folder / _FILE
        if file.is_file():
            return replace(settings, minutes=float(json.loads(file.read_text("utf-8"))["training"]))
        left = self.start + _TRAINED * self.seconds - time.monotonic()
        minutes = max(left, _LEAST * self.seconds) / 60.0
        write_json(file, {"training": minutes})
        return replace(settings, minutes=minutes)
