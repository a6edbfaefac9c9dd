"""Errors of files that other programs wrote, with the name of the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pathformer.errors import BenchmarkError

__all__ = ["reading_ids"]


@contextmanager
def reading_ids(file: Path, what: str) -> Iterator[None]:
    """Turns errors of making arrays from the queries or answers of a file into an error that names the file."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise BenchmarkError(f"{file}: its {what} are not all made of ids ({error})") from error
