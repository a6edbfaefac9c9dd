"""Writes the figures of a benchmark into one JSON file, with machine, versions, commit and date."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pathformer.training.machine import commit, machine, version_of

RESULTS = Path(__file__).parent / "results"
LIBRARIES = ("numpy", "numba", "pyarrow", "torch")


def record(name: str, figures: Mapping[str, Any], folder: Path = RESULTS) -> Path:
    """Writes `<folder>/<name>.json` and returns its path; `figures` may nest, `compare` reads every number in them."""
    entry = {
        "name": name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(Path(__file__).parents[1]),
        "machine": machine(),
        "python": platform.python_version(),
        "libraries": {library: version_of(library) for library in LIBRARIES},
        "figures": figures,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(entry, indent=2) + "\n", encoding="utf-8")
    return path
