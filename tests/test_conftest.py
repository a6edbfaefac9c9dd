"""A test that needs the data: skipped with a reason where they are absent, failed where they are required."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TEST = """
import pytest

@pytest.mark.data
def test_needs_the_data(data_dir):
    assert (data_dir / "file").exists()

@pytest.mark.data
def test_needs_a_file(data_dir):
    pytest.skip("no such file")

def test_skips_for_another_reason():
    pytest.skip("another reason")
"""


def run(folder: Path, **environment: str) -> tuple[int, str]:
    """Run the tests above beside a copy of our conftest."""
    (folder / "checkout" / "tests").mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("conftest.py"), folder / "checkout" / "tests")
    (folder / "checkout" / "tests" / "test_it.py").write_text(TEST)
    (folder / "checkout" / "pytest.ini").write_text("[pytest]\nmarkers = data\n")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PATHFORMER_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider"],
        cwd=folder / "checkout",
        env=clean | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_absent_data_skip_with_a_reason(tmp_path: Path) -> None:
    code, output = run(tmp_path)
    assert code == 0
    assert "3 skipped" in output
    assert f"no benchmark data at {tmp_path / 'shared' / 'data'}; set PATHFORMER_DATA" in output


def test_data_beside_the_checkout_are_found(tmp_path: Path) -> None:
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "shared" / "data" / "file").touch()
    assert "1 passed, 2 skipped" in run(tmp_path)[1]


def test_the_variable_comes_first(tmp_path: Path) -> None:
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").touch()
    assert "1 passed" in run(tmp_path, PATHFORMER_DATA=str(tmp_path / "elsewhere"))[1]


@pytest.mark.parametrize("present", [True, False])
def test_where_data_are_required_a_skip_is_a_failure(tmp_path: Path, present: bool) -> None:
    if present:
        (tmp_path / "shared" / "data").mkdir(parents=True)
        (tmp_path / "shared" / "data" / "file").touch()
    code, output = run(tmp_path, PATHFORMER_REQUIRE_DATA="1")
    assert code == 1
    assert ("1 failed, 1 passed, 1 skipped" if present else "1 skipped, 2 errors") in output
    assert "a test that needs the data was skipped although they are required" in output
