"""Stops between two updates: Ctrl-C and a polite kill ask for it, a second Ctrl-C insists.

Wrappers such as `timeout` and `make` pass a signal on to a process that has had it already, as one of their group. So a
second one counts only when it comes so late that a person meant it.
"""

from __future__ import annotations

import signal
import threading
from time import monotonic
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Interrupt"]

_ECHO = 1.0  # seconds within which a second signal is taken for the same one


class Interrupt:
    """While it is entered, SIGINT and SIGTERM set `asked` instead of ending the process; a second SIGINT ends it."""

    def __init__(self) -> None:
        self.asked = False
        self._since = 0.0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():  # only there may handlers be set
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self.asked:
            self.asked, self._since = True, monotonic()
        elif number == signal.SIGINT and monotonic() - self._since > _ECHO:
            raise KeyboardInterrupt
