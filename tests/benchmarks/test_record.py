"""A figure is kept with its machine, versions and commit, and two runs can be compared."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def record(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("benchmarks/_record.py")


def compare(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, BENCHMARKS / "compare.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_record_says_what_it_was_measured_on(record: ModuleType, tmp_path: Path) -> None:
    path = record.record("sampler", {"2p": {"rate": 10.0, "baseline": 2.0}}, tmp_path)
    entry = json.loads(path.read_text())
    assert path == tmp_path / "sampler.json"
    assert entry["figures"] == {"2p": {"rate": 10.0, "baseline": 2.0}}
    assert entry["machine"]["cores"] >= 1
    assert entry["machine"]["memory_gb"] > 0
    assert entry["machine"]["cpu"]
    assert entry["libraries"]["numpy"]
    assert entry["python"] == sys.version.split()[0]
    assert entry["date"].endswith("+00:00")
    assert entry["commit"]


def test_two_folders_compare_figure_by_figure(record: ModuleType, tmp_path: Path) -> None:
    record.record("sampler", {"2p": {"rate": 10.0}, "gone": 1, "note": "words"}, tmp_path / "old")
    record.record("sampler", {"2p": {"rate": 25.0}, "fresh": 1, "note": "words"}, tmp_path / "new")
    done = compare(tmp_path / "old", tmp_path / "new")
    assert done.returncode == 0
    assert "2p.rate" in done.stdout
    assert "2.50" in done.stdout
    assert not {"gone", "fresh", "note"} & set(done.stdout.split())


def test_two_files_of_different_names_compare_too(record: ModuleType, tmp_path: Path) -> None:
    old = record.record("before", {"rate": 4}, tmp_path)
    new = record.record("after", {"rate": 2}, tmp_path)
    assert "0.50" in compare(old, new).stdout


def test_different_machines_are_pointed_out(record: ModuleType, tmp_path: Path) -> None:
    old, new = (record.record(name, {"rate": 4}, tmp_path) for name in ("a", "b"))
    entry = json.loads(old.read_text())
    entry["machine"]["cpu"] = "another"
    old.write_text(json.dumps(entry))
    assert "measured on different machines" in compare(old, new).stdout


def test_usage() -> None:
    assert compare().returncode == 2
    assert "compare.py OLD NEW" in compare().stderr
