"""Stops between two updates: Ctrl-C, a polite kill or a closed terminal ask for it, a second Ctrl-C insists.

Wrappers such as `timeout` and `make` pass a signal on to a process that has had it already, as one of their group. So a
second one counts only when it comes so late that a person meant it.
"""

from __future__ import annotations

import os
import signal
import stat
import threading
from contextlib import suppress
from time import monotonic
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Interrupt", "hang_ups", "leave_terminal"]

_ECHO = 1.0  # seconds within which a second signal is taken for the same one


def hang_ups() -> tuple[signal.Signals, ...]:
    """Returns the signal of a terminal that was closed; none if it is ignored, or the system has no such signal."""
    number = getattr(signal, "SIGHUP", None)
    return () if number is None or signal.getsignal(number) is signal.SIG_IGN else (number,)


def leave_terminal() -> None:
    """Sends what is still written to a terminal that is gone nowhere: the work must be saved, not its progress told."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for file in range(3):
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(file).st_mode):
                os.dup2(nowhere, file)
    os.close(nowhere)


class Interrupt:
    """While it is entered, SIGINT, SIGTERM and SIGHUP set `asked` instead of ending the process.

    A second SIGINT ends it. Who started the process with SIGHUP ignored, as `nohup` does, wants it to go on.
    """

    def __init__(self) -> None:
        self.asked = False
        self._since = 0.0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():  # only there may handlers be set
            for number in (signal.SIGINT, signal.SIGTERM, *hang_ups()):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if number in hang_ups():
            leave_terminal()
        if not self.asked:
            self.asked, self._since = True, monotonic()
        elif number == signal.SIGINT and monotonic() - self._since > _ECHO:
            raise KeyboardInterrupt
