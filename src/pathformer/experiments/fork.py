"""A process that inherits what this one holds."""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Callable
from multiprocessing.context import ForkProcess
from typing import Any

__all__ = ["forked"]


def forked(target: Callable[..., None], *arguments: Any) -> ForkProcess:
    """Start a function in a fork of this process, which must have neither opened a CUDA device nor computed with torch.

    Python 3.12 warns of any thread that is there. Those of numpy and pyarrow are idle and prepared for a fork.
    """
    process = multiprocessing.get_context("fork").Process(target=target, args=arguments, daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    return process
