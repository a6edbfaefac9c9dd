"""Room for a parser that recurses: rdflib's goes several calls down for every triple of a block."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["run_deep"]

Result = TypeVar("Result")

_CALLS = 20_000
_STACK = 512 << 20  # bytes of address space, of which a short query touches little
_ONE_AT_A_TIME = threading.Lock()  # the limits are the process's


def run_deep(function: Callable[[], Result]) -> Result:
    """Run a function in a thread of its own, where 20,000 calls may nest; what it raises is raised here."""
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:  # handed on below
            errors.append(error)

    with _ONE_AT_A_TIME:
        calls, stack = sys.getrecursionlimit(), threading.stack_size(_STACK)
        sys.setrecursionlimit(max(calls, _CALLS))
        try:
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        finally:
            sys.setrecursionlimit(calls)
            threading.stack_size(stack)
    if errors:
        raise errors[0]
    return results[0]
