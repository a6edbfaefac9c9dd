"""How the program behaves in a shell: signals, closed streams and encodings; messages name options, not arguments."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import FrameType

from pathformer.files.interrupt import hang_ups, leave_terminal

__all__ = ["open_closed_streams", "speak_utf8", "stop_on_signals", "without_python"]

_ECHO = 1.0  # seconds within which `timeout` and `make` may send the same signal again


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """While this is open, SIGTERM and SIGHUP raise KeyboardInterrupt, so that nothing temporary is left behind.

    The exit code is that of Ctrl-C: after any of them, the same command does the rest. A signal that the process was
    started to ignore stays ignored. Training stops between two updates and has its own handlers meanwhile.
    """
    main = threading.current_thread() is threading.main_thread()  # only there may handlers be set
    numbers = [signal.SIGTERM, *hang_ups()] if main else []
    numbers = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    since = float("-inf")

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal since
        if number in hang_ups():
            leave_terminal()
        before, since = since, monotonic()
        if since - before > _ECHO:
            raise KeyboardInterrupt

    for number in numbers:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def open_closed_streams() -> None:
    """Opens what the caller has closed (`<&-`, `>&-`): nothing comes in, and what goes out goes nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  # for as long as we run


def speak_utf8() -> None:
    """Starts the program anew where Python does not read arguments as UTF-8 (`LC_ALL=C PYTHONUTF8=0`).

    Names in arguments would be taken apart into bytes, and no answer with such a name could be written.
    """
    if (
        sys.getfilesystemencoding() == "utf-8"
        or os.environ.get("PYTHONUTF8") == "1"
        or sys.platform == "win32"
        or not sys.executable
    ):
        return
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHONUTF8": "1"})


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
