"""The logs of a run: JSON lines always, TensorBoard where it is installed.

A line is `{"step": ..., "seconds": ..., <figures>}`. A run that continues from a checkpoint first takes back what was
logged after it, so the file reads like that of a run that was never interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from pathformer.files.atomic import new_file
from pathformer.files.fields import wrong_field

__all__ = ["LOG", "JsonLines", "Log", "TensorBoard", "open_logs", "read_log"]

LOG = "log.jsonl"


class Log(Protocol):
    """A log that figures are written to."""

    def write(self, step: int, figures: Mapping[str, float]) -> None:
        """Writes the figures of a step."""

    def close(self) -> None:
        """Ends the log."""


def open_logs(folder: Path, step: int, *, ranked: bool = True) -> list[Log]:
    """Opens the logs of a run at `step`; ranked: whether these very weights were validated."""
    logs: list[Log] = [JsonLines(folder / LOG, step, ranked=ranked)]
    if find_spec("tensorboard") is not None:
        logs.append(TensorBoard(folder / "tensorboard", step))
    return logs


class JsonLines:
    """One JSON object a line, flushed as it is written."""

    def __init__(self, path: Path, step: int, *, ranked: bool = True) -> None:
        kept = [line for line in read_log(path) if line["step"] <= step] if step else []
        if not ranked:  # it will be made once more
            kept = [line for line in kept if line["step"] < step or "valid/mrr" not in line]
        with new_file(path) as draft:
            draft.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
        self._file = path.open("a", encoding="utf-8")

    def write(self, step: int, figures: Mapping[str, float]) -> None:
        """Appends a line."""
        self._file.write(json.dumps({"step": step, **figures}) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


class TensorBoard:
    """Event files; figures named `valid/2p` share a panel with `valid/3p`."""

    def __init__(self, folder: Path, step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder), purge_step=step + 1 if step else None)

    def write(self, step: int, figures: Mapping[str, float]) -> None:
        """Adds each figure as a scalar."""
        for name, value in figures.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Flushes and closes."""
        self._writer.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Reads the whole lines of a log, if there is one; a kill may have cut the last one short."""
    found = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []:
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            break
        if not isinstance(line, dict) or wrong_field(line, {"step": "a count", **dict.fromkeys(line, "a number")}):
            break
        found.append(line)
    return found
