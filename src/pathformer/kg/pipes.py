"""Triples, or labels, that come out of a pipe: `-`, what a shell's `<(...)` names, a named one.

Readers go over a file more than once (how it is packed, whether it has a header), so what comes out of a pipe is
written to a temporary file first, as packed as it comes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pathformer.errors import GraphFileError

__all__ = ["as_file", "is_pipe"]

_STDIN = Path("-")


def is_pipe(path: Path) -> bool:
    """Whether it can be read only once."""
    return path == _STDIN or path.is_fifo()


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """The path itself, or in place of a pipe a file of what came out of it; an error within names the pipe."""
    if not is_pipe(path):
        yield path
        return
    with TemporaryDirectory(prefix="pathformer-") as folder:
        plain = Path(folder) / path.name
        try:
            with open(0 if path == _STDIN else path, "rb", closefd=path != _STDIN) as pipe, plain.open("wb") as target:
                shutil.copyfileobj(pipe, target, 1 << 20)
        except OSError as error:
            raise GraphFileError(f"cannot be read into {folder} ({error.strerror})", path) from error
        if not plain.stat().st_size:
            raise GraphFileError("nothing came out of the pipe", path)
        try:
            yield plain
        except GraphFileError as error:
            if error.path != plain:
                raise
            raise GraphFileError(error.problem, path, error.line) from error
