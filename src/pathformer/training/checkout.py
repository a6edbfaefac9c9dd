"""The commit that made something, where the package is used from a checkout of its repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

__all__ = ["commit"]

_ROOT = Path(__file__).parents[3]


def commit(root: Path = _ROOT) -> str:
    """The commit of a checkout, with `+` after it when package or benchmarks differ from it; "unknown" outside one.

    A package that is installed below somebody's own repository is no checkout of this one.
    """
    if not (root / ".git").exists():
        return "unknown"
    hash_ = _git(root, "rev-parse", "--short=12", "HEAD")
    changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", "src", "benchmarks/*.py")
    return f"{hash_ or 'unknown'}{'+' if changed else ''}"


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    except OSError:  # a bare node has no git
        return ""
    return done.stdout.strip()
