"""Nothing that we saved lies: a seeded tenth of the harness here, the whole of it marked `slow`.

The counts of a full run stand on the page `docs/reference/when.md`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from damage.rows import COMMANDS, READS_ONLY, ROWS

from pathformer import plugins
from pathformer.files.manifest import KINDS

HARNESS = Path(__file__).with_name("harness.py")


def harness(*runs: tuple[object, ...]) -> list[dict[str, Any]]:
    """What the harness reports of runs side by side, in processes of their own, without our threads."""
    started = [
        subprocess.Popen(
            [sys.executable, str(HARNESS), *map(str, run)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for run in runs
    ]
    reports = []
    for process in started:
        told, errors = process.communicate()
        assert process.returncode == 0, errors[-3000:]
        reports.append(json.loads(told))
    return reports


def total(report: dict[str, Any], outcome: str) -> int:
    return sum(counts.get(outcome, 0) for counts in report["counts"].values())


def test_every_kind_of_save_and_every_command_has_a_row() -> None:
    assert {row.kind for row in ROWS.values()} == set(KINDS)
    assert set(COMMANDS) | READS_ONLY == set(plugins.names("commands")) - {"serve", "mcp"}
    assert not set(COMMANDS) & READS_ONLY


def test_a_seeded_tenth() -> None:
    reports = harness(
        ("--seed", 1, "--rows", "graph,engine", "--damages", 60, "--kills", 5, "--signals", 5, "--full-disk"),
        ("--seed", 2, "--rows", "graph,index,queries,queries for others", "--damages", 140, "--opens", 24),
    )
    assert [report["wrong"] for report in reports] == [[], []]
    assert sum(total(report, "our exception") for report in reports) > 150


@pytest.mark.slow
def test_everything() -> None:
    (report,) = harness(
        ("--seed", 2026, "--damages", 1800, "--large", 200, "--kills", 100, "--signals", 30, "--opens", 3000,
         "--full-disk"),
    )  # fmt: skip
    assert report["wrong"] == []
    assert report["large"]["wrong"] == []
