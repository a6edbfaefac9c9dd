"""What other people's files hold in place of ids, told with the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pathformer.errors import BenchmarkError

__all__ = ["reading_ids"]


@contextmanager
def reading_ids(file: Path, what: str) -> Iterator[None]:
    """Inside, queries or answers of a file are made arrays: what has no place in one is an error of the file."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise BenchmarkError(f"{file}: its {what} are not all made of ids ({error})") from error
