"""What is said in a shell, where the library speaks to Python as well."""

from __future__ import annotations

import re

__all__ = ["in_shell"]


def in_shell(message: str) -> str:
    """A message without Python's spelling of an option that stands beside the shell's.

    >>> in_shell("replace it with --force (force=True)")
    'replace it with --force'
    >>> in_shell("--quote '' (quote=\\"\\") reads them so")
    "--quote '' reads them so"
    >>> in_shell('--format ntriples (format="ntriples") reads it so')
    '--format ntriples reads it so'
    """
    return re.sub(r"""(--[a-z-]+(?: \S+)?) \([a-z_]+=(True|\.\.\.|"[a-z]*")\)""", r"\1", message)
