"""Figures with what they were measured on: machine, versions, commit and date in one JSON file a benchmark."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
LIBRARIES = ("numpy", "numba", "pyarrow", "torch")


def record(name: str, figures: Mapping[str, Any], folder: Path = RESULTS) -> Path:
    """Write `<folder>/<name>.json` and return its path; `figures` may nest, `compare` reads every number in them."""
    entry = {
        "name": name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine(),
        "python": platform.python_version(),
        "libraries": {library: _version(library) for library in LIBRARIES},
        "figures": figures,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(entry, indent=2) + "\n", encoding="utf-8")
    return path


def machine() -> dict[str, Any]:
    """Processor model, cores this process may use, and memory in GB."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"cpu": _cpu_model(), "cores": len(os.sched_getaffinity(0)), "memory_gb": round(pages / 1e9, 1)}


def commit() -> str:
    """The commit measured, with `+` after it when package or benchmarks differ from it."""
    hash_ = _git("rev-parse", "--short=12", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", "src", "benchmarks/*.py")
    return f"{hash_ or 'unknown'}{'+' if changed else ''}"


def _git(*arguments: str) -> str:
    root = Path(__file__).parents[1]
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
