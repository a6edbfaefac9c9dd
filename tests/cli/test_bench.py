"""`pathformer bench`: lists the benchmarks of a checkout and runs one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.command_line import refused, run


def test_the_benchmarks_are_listed_by_plain_sentences() -> None:
    folder = Path(__file__).parents[2] / "benchmarks"
    listed = dict(line.split("  ", 1) for line in run("bench", "--folder", folder).splitlines())
    assert {"ask", "l1_rank", "train"} <= set(listed)
    for name, summary in listed.items():
        assert summary.endswith((".", "?")), name
        assert "`" not in summary, name
        assert "benchmarks/" not in summary, name


def test_bench_lists_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "run this from the root of a checkout" in refused("bench")
    (tmp_path / "benchmarks").mkdir()
    hop = '"""One hop."""\nimport sys\nfrom _record import record\nrecord("hopped", sys.argv[1:])\n'
    (tmp_path / "benchmarks" / "hop.py").write_text(hop)
    (tmp_path / "benchmarks" / "_record.py").write_text("record = print\n")
    (tmp_path / "benchmarks" / "compare.py").write_text('"""Keeps no figures."""\nprint("compared")\n')
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.delitem(sys.modules, "_record", raising=False)
    assert run("bench") == "hop  One hop.\n"
    assert "hopped ['--far']" in run("bench", "hop", "--", "--far")
    assert "compared" in run("bench", "compare")
    assert refused("bench", "hip") == "no benchmark 'hip'; closest: 'hop'"
    assert refused("bench", "_twin") == "no benchmark '_twin'; there are hop"
    monkeypatch.delitem(sys.modules, "_record")
