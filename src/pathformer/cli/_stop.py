"""A polite kill (SIGTERM) is what Ctrl-C is: the work is told to stop, so that nothing temporary is left behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

__all__ = ["stopped_politely"]

_ECHO = 1.0  # seconds within which `timeout` and `make` may pass on what came already


@contextmanager
def stopped_politely() -> Iterator[None]:
    """Inside, SIGTERM raises KeyboardInterrupt where it would end the process at once.

    The exit code is that of Ctrl-C, not the 143 of a process that the signal ended: after either the same
    command does the rest. Where whoever started the process has it ignored, it stays so. Training, which stops between
    two updates, has handlers of its own meanwhile.
    """
    main = threading.current_thread() is threading.main_thread()  # only there may handlers be set
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    since = float("-inf")

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal since
        before, since = since, monotonic()
        if since - before > _ECHO:
            raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
