"""What came of boxes of time."""

from __future__ import annotations

from dataclasses import dataclass

from pathformer.experiments.box import Box
from pathformer.experiments.records import Record

__all__ = ["Filled"]


@dataclass
class Filled:
    """What came of the boxes."""

    done: list[Record]
    left: list[Box]  # some of them may have been cut: those go on from there
    failed: dict[str, str]  # run -> what it said

    def finish(self, box: Box, record: Record) -> None:
        """A box has its record."""
        self.done.append(record)
        self.left.remove(box)

    def fail(self, box: Box, words: str) -> None:
        """A box cannot be run."""
        self.failed[box.name] = words
        self.left.remove(box)
