"""`benchmarks/rerun.py` trains run files one after the other and writes a record of each."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from support import training_toy as toy

from pathformer.experiments.records import read_records


@pytest.fixture
def rerun(script: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def call(*arguments: object) -> None:
        monkeypatch.setattr(sys, "argv", ["rerun.py", *map(str, arguments)])
        script("benchmarks/rerun.py").main()

    return call


def test_each_run_leaves_its_record_and_one_that_fails_stops_no_other(
    rerun: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy.save_graph(tmp_path / "graph")
    for method in ("gqe", "q2b"):
        toy.save_run(tmp_path / f"{method}.toml", tmp_path / "graph", method, "epfo")
    settings = ("--set", "training.steps=3", "--set", "training.minutes=5", "--device", "cpu", "--commit", "abc")
    runs = (tmp_path / "gqe.toml", tmp_path / "none.toml", tmp_path / "q2b.toml")
    out = tmp_path / "out"
    with pytest.raises(SystemExit, match=r"failed: .*none\.toml"):
        rerun("--out", out, *settings, *runs)
    records = read_records(out)
    assert [record.file_name for record in records] == ["gqe@5min.json", "q2b@5min.json"]
    assert {(record.steps, record.commit) for record in records} == {(3, "abc")}
    assert not list(out.rglob("*.safetensors"))
    capsys.readouterr()
    rerun("--out", out, *settings, runs[0])
    assert "gqe@5min.json is there already" in capsys.readouterr().out
