"""Whether the sampler's loops lie compiled on this machine: that takes longer than to draw on a small graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["is_compiled"]


def is_compiled() -> bool:
    """Whether drawing can begin at once, as far as the folder of compiled code tells; so too where none is made."""
    from pathformer.symbolic.kernels.walk import draw

    compiled: Any = draw
    if not hasattr(compiled, "stats"):  # a plain function: numba was told to leave it so
        return True
    kept = compiled.stats.cache_path if not compiled.signatures else None  # None, too, where nothing can be kept
    return bool(compiled.signatures) or (kept is not None and any(Path(kept).glob("walk.draw-*.nbi")))
