"""A polite kill (SIGTERM) is what Ctrl-C is: the work is told to stop, so that nothing temporary is left behind.

What is said in a shell, where the library speaks to Python as well.
"""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

__all__ = ["in_shell", "stopped_politely"]

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


def in_shell(message: str) -> str:
    """A message without Python's spelling of an option that stands beside the shell's.

    >>> in_shell("replace it with --force (force=True)")
    'replace it with --force'
    >>> in_shell("--quote '' (quote=\\"\\") reads them so")
    "--quote '' reads them so"
    >>> in_shell('--format ntriples (format="ntriples") reads it so')
    '--format ntriples reads it so'
    """
    return re.sub(r"""(--[a-z-]+(?: \S+)?) \([a-z_]+=(True|\.\.\.|"[a-z]*")\)""", r"\1", message)
