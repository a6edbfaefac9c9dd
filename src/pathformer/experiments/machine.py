"""On what a figure was measured: processor, memory, device, versions, commit."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathformer.symbolic.answer import cores
from pathformer.training.checkout import commit

if TYPE_CHECKING:
    import torch

__all__ = ["commit", "device_facts", "machine", "version_of"]


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
