"""Compiled loops over plain arrays: sets, traversal, walks. Nothing here knows of names, files or threads.

Numba keeps compiled code on disk by the file of each function alone: a caller in one file goes on using what a changed
file said when it was compiled. So the cache of these files lies in a folder named by what all of them say.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba

from pathformer.errors import InputError
from pathformer.files.archives import cache_folder
from pathformer.symbolic import program

__all__ = ["evaluate", "walk"]


def _digest() -> str:
    digest = hashlib.blake2b(digest_size=8)
    for file in [*sorted(Path(__file__).parent.glob("*.py")), Path(program.__file__)]:
        digest.update(file.read_bytes())
    return digest.hexdigest()


_config: Any = numba.config  # its settings are made at run time
_given = _config.CACHE_DIR
with suppress(InputError):  # a user without a home has numba's own place, or none (`loops`)
    _config.CACHE_DIR = str((Path(_given) if _given else cache_folder() / "numba") / _digest())
try:
    from pathformer.symbolic.kernels import evaluate, walk  # decorated, and so given a place, while this is set
finally:
    _config.CACHE_DIR = _given
