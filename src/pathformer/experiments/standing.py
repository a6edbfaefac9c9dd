"""Where a run stands, read from outside its process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pathformer.training.display import duration
from pathformer.training.logs import LOG, read_log

__all__ = ["standing"]


def standing(folder: Path) -> str:
    """A run's step, speed and last validation in a line, from the log in its folder."""
    figures: dict[str, Any] = {}
    for line in read_log(folder / LOG):
        figures |= line
    if "step" not in figures:
        return "getting ready"
    rate = f", {figures['queries_per_second']:,.0f} queries/s" if "queries_per_second" in figures else ""
    valid = f", validation MRR {100 * figures['valid/mrr']:.2f}" if "valid/mrr" in figures else ""
    return f"step {figures['step']:,} after {duration(figures['seconds'])}{rate}{valid}"
