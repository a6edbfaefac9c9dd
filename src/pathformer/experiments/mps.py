"""NVIDIA's multi-process service (MPS): with it kernels of several processes run at the same time on one card.

Without it the card serves processes in turns, and kernels that are too small to fill it leave the rest idle. A daemon
of our own, with its own folder, is started and ended here; one that somebody else has started is used as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from multiprocessing.context import ForkProcess
from tempfile import TemporaryDirectory
from types import TracebackType

import torch

from pathformer.experiments.fork import forked

__all__ = ["PROGRAM", "Service", "probe"]

PROGRAM = "nvidia-cuda-mps-control"
_PLACES = ("CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY")
_START, _TRY, _QUIT = 20.0, 60.0, 10.0  # seconds that each may take


def probe() -> None:
    """Use the card once; run in a process of its own, which ends with an error if that is not possible."""
    torch.zeros(1, device="cuda").item()


class Service:
    """The service for as long as it is entered; `say` is told whether it is there, and why not.

    A daemon that starts may still refuse programs, and then no row could use the card. So it is tried by a process of
    its own, which goes on while the caller reads its data; `settle` waits for it and ends a daemon that does not work.
    """

    def __init__(self, say: Callable[[str], None], trial: Callable[[], None] = probe) -> None:
        self._say, self._trial = say, trial
        self._folder: TemporaryDirectory[str] | None = None
        self._trying: ForkProcess | None = None

    def __enter__(self) -> Service:
        program = shutil.which(PROGRAM)
        if _PLACES[0] in os.environ:
            self._say(f"MPS: the service of {os.environ[_PLACES[0]]} is used")
        elif program is None:
            self._say(f"no MPS: there is no {PROGRAM}; rows take turns on the device")
        else:
            self._start(program)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def settle(self) -> None:
        """Wait until it is known whether the service works; call before the first row starts."""
        if self._trying is None:
            return
        self._trying.join(_TRY)
        code = self._trying.exitcode
        if code is None:
            self._trying.kill()
        self._trying = None
        if code == 0:
            self._say(f"MPS is on (servers: {self._command('get_server_list') or 'none told'})")
        else:
            self._give_up(f"a process that tried it ended with {code}" if code is not None else "no answer to a trial")

    def _start(self, program: str) -> None:
        self._folder = TemporaryDirectory(prefix="mps-")
        os.environ.update(dict.fromkeys(_PLACES, self._folder.name))
        try:
            subprocess.run([program, "-d"], check=True, capture_output=True, text=True, timeout=_START)
        except subprocess.CalledProcessError as error:
            self._give_up((error.stderr or error.stdout).strip() or f"exit status {error.returncode}")
        except (OSError, subprocess.TimeoutExpired) as error:
            self._give_up(str(error))
        else:
            self._trying = forked(self._trial)

    def _give_up(self, words: str) -> None:
        self._end()
        self._say(f"no MPS: {words}; rows take turns on the device")

    def _end(self) -> None:
        if self._folder is None:
            return
        self._command(f"quit -t {_QUIT / 2:.0f}")
        for name in _PLACES:
            os.environ.pop(name, None)
        self._folder.cleanup()
        self._folder = None

    def _command(self, words: str) -> str:
        """Send the daemon a command; one that is gone has no answer."""
        try:
            done = subprocess.run(
                [PROGRAM], input=f"{words}\n", capture_output=True, text=True, timeout=_QUIT, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return " ".join(done.stdout.split())
