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


def test_places_of_a_list_compare(record: ModuleType, tmp_path: Path) -> None:
    """As `floor` keeps the quarters of a run: they were passed over."""
    for name, values in (("old", (2, 4)), ("new", (2, 12))):
        record.record("floor", {"betae 3": [{"updates": value} for value in values]}, tmp_path / name)
    lines = [line.split() for line in compare(tmp_path / "old", tmp_path / "new").stdout.splitlines()]
    assert [line[-2] for line in lines if "3.1.updates" in line] == ["3.00"]
    assert [line[-2] for line in lines if "3.0.updates" in line] == ["1.00"]


def test_a_folder_is_compared_in_order_and_other_files_are_passed_over(record: ModuleType, tmp_path: Path) -> None:
    for folder in ("old", "new"):
        for name in ("floor", "ask", "train", "index"):
            record.record(name, {"rate": 1}, tmp_path / folder)
        (tmp_path / folder / "speed-card.json").write_text('{"methods": {}}')
    done = compare(tmp_path / "old", tmp_path / "new")
    assert done.returncode == 0, done.stderr
    titles = [line.partition(":")[0] for line in done.stdout.splitlines() if "→" in line]
    assert titles == ["ask", "floor", "index", "train"]


def test_where_there_is_nothing_to_compare_it_says_so(record: ModuleType, tmp_path: Path) -> None:
    record.record("ask", {"rate": 1}, tmp_path / "old")
    record.record("train", {"rate": 1}, tmp_path / "new")
    (tmp_path / "none").mkdir()
    for right, words in (
        ("new", f"nothing to compare: {tmp_path / 'old'} has ask, {tmp_path / 'new'} has train"),
        ("none", f"{tmp_path / 'none'}: no result of a benchmark there"),
        ("lost", f"{tmp_path / 'lost'}: no such file or folder"),
    ):
        done = compare(tmp_path / "old", tmp_path / right)
        assert (done.returncode, done.stderr) == (1, f"{words}\n")


def test_different_machines_are_pointed_out(record: ModuleType, tmp_path: Path) -> None:
    old, new = (record.record(name, {"rate": 4}, tmp_path) for name in ("a", "b"))
    entry = json.loads(old.read_text())
    entry["machine"]["cpu"] = "another"
    old.write_text(json.dumps(entry))
    assert "measured on different machines" in compare(old, new).stdout


def test_usage() -> None:
    assert compare().returncode == 2
    assert "compare.py OLD NEW" in compare().stderr
