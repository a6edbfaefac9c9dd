"""The file formats of graphs, one file each; the folder is the registry.

A format is a module with a `FORMAT`: a `FileFormat` reads one file of named triples, a `FolderFormat` a whole folder.
"""

from __future__ import annotations

from pathlib import Path

from pathformer import plugins
from pathformer.errors import GraphFileError
from pathformer.files.source import plain_name
from pathformer.kg.formats._format import Batch, FileFormat, FolderFormat, ReadOptions

__all__ = ["Batch", "FileFormat", "FolderFormat", "ReadOptions", "file_format", "folder_format", "formats"]


def formats() -> dict[str, FileFormat | FolderFormat]:
    """Every format by name."""
    return {name: plugins.load("formats", name).FORMAT for name in plugins.names("formats")}


def file_format(path: Path, name: str | None = None) -> FileFormat:
    """The format of that name, or the one that the file's suffix tells."""
    known = {n: f for n, f in formats().items() if isinstance(f, FileFormat)}
    if name is not None:
        if name not in known:
            raise GraphFileError(f"no file format {name!r}: expected one of {', '.join(known)}", path)
        return known[name]
    suffix = Path(plain_name(path)).suffix.lower()
    for candidate in known.values():
        if suffix in candidate.suffixes:
            return candidate
    endings = ", ".join(ending for candidate in known.values() for ending in candidate.suffixes)
    found = f"the ending {suffix!r} names no format" if suffix else "the name has no ending that names a format"
    raise GraphFileError(
        f"{found} ({endings}): say which it is with --format (format=...), one of {', '.join(known)}", path
    )


def folder_format(folder: Path) -> FolderFormat | None:
    """The format that a folder is in, by the files that mark it; None when no format knows it."""
    for candidate in formats().values():
        if isinstance(candidate, FolderFormat) and candidate.matches(folder):
            return candidate
    return None
