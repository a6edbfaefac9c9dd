"""Loops that numba compiles, the threads of others running meanwhile; compiled code is kept on disk where it can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numba

__all__ = ["compiled"]

P = ParamSpec("P")
R = TypeVar("R")


def compiled(loop: Callable[P, R]) -> Callable[P, R]:
    """A loop to compile when it is first called.

    Numba refuses to keep what it compiled where nothing can be written, neither beside the package nor in the user's
    folder: in a container, say, whose user has no home. There every process compiles anew.
    """
    try:
        kept: Callable[P, R] = numba.njit(nogil=True, cache=True)(loop)
    except RuntimeError:
        kept = numba.njit(nogil=True)(loop)
    return kept
