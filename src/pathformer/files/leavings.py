"""Drafts that a killed process has left: their names say whose they were, and the next writer removes them.

A draft is called `.NAME.HOST-PROCESS-START-xxxxxxxx.part`. START is when the process began, so a later process with the
same number is not taken for it; HOST is a digest, since a network folder may hold drafts of several machines, and only
the drafts of this one can be judged.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import socket
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

__all__ = ["draft_name", "remove_leavings"]

_OWNER = re.compile(r"\..+\.([0-9a-f]{8})-(\d{1,10})-(\d{1,20})-[0-9a-f]{8}\.part")
_LONGEST = 180  # signs of a name that are repeated in that of its draft


def draft_name(name: str) -> str:
    """Returns a new name for the draft of a file or folder."""
    process = os.getpid()
    return f".{name[:_LONGEST]}.{_host()}-{process}-{_start(process) or 0}-{secrets.token_hex(4)}.part"


def remove_leavings(folder: Path) -> None:
    """Removes the drafts in a folder whose process has ended, and says so on standard error."""
    with suppress(OSError):
        for path in sorted(folder.iterdir()):
            if (owner := _OWNER.fullmatch(path.name)) and _has_ended(*owner.groups()):
                _remove(path)


def _remove(draft: Path) -> None:
    from pathformer.text import visible

    try:
        shutil.rmtree(draft) if draft.is_dir() else draft.unlink()
        told = f"removed {draft}, which a command that was killed had left"
    except FileNotFoundError:
        return  # another process was faster
    except OSError as error:
        told = f"{draft} was left by a command that was killed and cannot be removed ({error.strerror}): remove it"
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(visible(told), file=sys.stderr, flush=True)


def _has_ended(host: str, process: str, start: str) -> bool:
    if host != _host() or sys.platform == "win32":  # there is no harmless way to ask for a process there
        return False
    number = int(process)
    if (now := _start(number)) is not None:
        return now != int(start)
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _start(process: int) -> int | None:
    """Returns when a process began, in ticks since the machine did; None where the system does not tell."""
    try:
        told = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return None
    return int(told.rpartition(b")")[2].split()[19])  # the name before it may hold anything


@cache
def _host() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id")
    told = socket.gethostname().encode() + (boot.read_bytes() if boot.is_file() else b"")
    return hashlib.blake2b(told, digest_size=4).hexdigest()
