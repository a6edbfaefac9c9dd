"""Archives of datasets, unpacked once into the user's cache."""

from __future__ import annotations

import hashlib
import lzma
import tarfile
import zlib
from pathlib import Path
from typing import Any

from pathformer.compiled import cache_folder
from pathformer.errors import GraphFileError
from pathformer.files.atomic import new_folder
from pathformer.limits import limit, too_much

__all__ = ["ARCHIVE_SUFFIXES", "unpack"]

ARCHIVE_SUFFIXES = (".tar.xz", ".tar.gz", ".tgz", ".tar.bz2", ".tar")

_MARKER = ".unpacked"
_FREE = 64 << 20  # bytes that an archive may unpack to, whatever its size
_DAMAGE = (tarfile.TarError, EOFError, OSError, ValueError, lzma.LZMAError, zlib.error)


def unpack(archive: Path) -> Path:
    """Returns the folder in an archive, unpacked on first use; a changed archive is unpacked anew.

    Members that would land outside of the folder, links to elsewhere and devices are refused.
    """
    try:
        with archive.open("rb") as opened:
            digest = hashlib.file_digest(opened, lambda: hashlib.blake2b(digest_size=8)).hexdigest()
    except OSError as error:
        raise GraphFileError(f"cannot be read ({error.strerror})", archive) from error
    stem = archive.name
    for suffix in ARCHIVE_SUFFIXES:
        stem = stem.removesuffix(suffix)
    target = cache_folder() / f"{stem}-{digest}"
    if not (target / _MARKER).is_file():
        with new_folder(target, _MARKER, force=True) as folder:
            _extract(archive, folder)
            (folder / _MARKER).touch()
    inner = [path for path in target.iterdir() if path.name != _MARKER]
    return inner[0] if len(inner) == 1 and inner[0].is_dir() else target


def _extract(archive: Path, folder: Path) -> None:
    try:
        with tarfile.open(archive) as tar:
            most, size = max(_FREE, limit("unpacked") * archive.stat().st_size), 0
            for member in tar:
                size += member.size
                if size > most:
                    seen = f"the archive unpacks to more than {most:,} bytes"
                    raise GraphFileError(too_much("unpacked", seen), archive)
                tar.extract(member, folder, filter="data")
            packed: Any = tar.fileobj
            while packed.read(1 << 20):  # a packer's checksum stands behind its data, where no member is
                pass
    except _DAMAGE as error:
        raise GraphFileError(f"the archive cannot be unpacked ({error})", archive) from error
