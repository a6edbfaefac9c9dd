"""How the program behaves in a shell: SIGTERM stops it as Ctrl-C does, and messages name options, not arguments."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

__all__ = ["stop_on_sigterm", "without_python"]

_ECHO = 1.0  # seconds within which `timeout` and `make` may send the same signal again


@contextmanager
def stop_on_sigterm() -> Iterator[None]:
    """While this is open, SIGTERM raises KeyboardInterrupt, so that nothing temporary is left behind.

    The exit code is that of Ctrl-C: after either, the same command does the rest. If the process was started with
    SIGTERM ignored, it stays ignored. Training stops between two updates and has its own handlers meanwhile.
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


def without_python(message: str) -> str:
    """Returns a message without the Python spelling that stands beside an option of the shell.

    >>> without_python("replace it with --force (force=True)")
    'replace it with --force'
    >>> without_python("--quote '' (quote=\\"\\") reads them so")
    "--quote '' reads them so"
    >>> without_python('--format ntriples (format="ntriples") reads it so')
    '--format ntriples reads it so'
    """
    return re.sub(r"""(--[a-z-]+(?: \S+)?) \([a-z_]+=(True|\.\.\.|"[a-z]*")\)""", r"\1", message)
