"""The commit of a checkout, and of nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pathformer.training.machine import commit


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    return subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("1")
    (tmp_path / "notes").write_text("1")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "x")
    return tmp_path


def test_a_change_of_the_package_is_marked_and_of_notes_is_not(checkout: Path) -> None:
    made = git(checkout, "rev-parse", "HEAD")[:12]
    assert commit(checkout) == made
    (checkout / "notes").write_text("2")
    assert commit(checkout) == made
    (checkout / "src" / "a.py").write_text("2")
    assert commit(checkout) == f"{made}+"


def test_a_folder_below_somebody_s_own_repository_has_no_commit(checkout: Path, tmp_path: Path) -> None:
    inside = checkout / "lib" / "python3"
    inside.mkdir(parents=True)
    assert commit(inside) == "unknown"


def test_without_git_it_is_unknown(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert commit(checkout) == "unknown"
