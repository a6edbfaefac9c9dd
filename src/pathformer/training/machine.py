"""The machine and the commit that a figure was measured on.

On what a figure was measured: processor, memory, device, versions, commit.
"""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathformer.compiled import cores

if TYPE_CHECKING:
    import torch

__all__ = ["commit", "device_facts", "machine", "version_of"]

_ROOT = Path(__file__).parents[3]


def commit(root: Path = _ROOT) -> str:
    """The commit of a checkout, with `+` after it when package or benchmarks differ from it; "unknown" outside one.

    A package that is installed below somebody's own repository is no checkout of this one.
    """
    if not (root / ".git").exists():
        return "unknown"
    hash_ = _git(root, "rev-parse", "--short=12", "HEAD")
    changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", "src", "benchmarks/*.py")
    return f"{hash_ or 'unknown'}{'+' if changed else ''}"


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    except OSError:  # a bare node has no git
        return ""
    return done.stdout.strip()


def machine() -> dict[str, Any]:
    """Processor model, cores this process may use, and memory in GB."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"cpu": _cpu_model(), "cores": cores(), "memory_gb": round(pages / 1e9, 1)}


def device_facts(device: torch.device) -> dict[str, Any]:
    """The machine of a run on `device`, that device's name first, and the versions that it runs on."""
    import torch

    cuda = device.type == "cuda"
    name = torch.cuda.get_device_name(device) if cuda else machine()["cpu"]
    return {"device": name, **machine(), "python": platform.python_version(), "torch": str(torch.__version__)}


def version_of(library: str) -> str | None:
    """The installed version of a library."""
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())
