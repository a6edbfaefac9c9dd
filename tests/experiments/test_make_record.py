"""What a run's folder says of it: its run file, and how long the runs were trained that it starts from."""

from __future__ import annotations

from pathlib import Path

from pathformer.experiments.records import run_of, seconds_before
from pathformer.experiments.settings import read_run, run_names
from pathformer.training import checkpoint


def test_the_time_of_what_a_run_starts_from_is_found(tmp_path: Path) -> None:
    assert seconds_before(tmp_path, "") == 0.0
    assert seconds_before(tmp_path, "complex-fb15k-237") is None
    checkpoint.write(tmp_path / "start" / "last.safetensors", {"seconds": 61.04}, {})
    assert seconds_before(tmp_path, "complex-fb15k-237") == 61.0
    assert seconds_before(tmp_path / "other", str(tmp_path / "start")) == 61.0
    assert seconds_before(tmp_path / "other", str(tmp_path / "start" / "last.safetensors")) == 61.0
    best = tmp_path / "best"  # a folder without last weights: a run starts from its best ones, and so says their time
    checkpoint.write(best / "best.safetensors", {"seconds": 20.0}, {})
    assert seconds_before(tmp_path / "other", str(best)) == 20.0
    assert seconds_before(tmp_path / "other", str(best / "best.safetensors")) == 20.0


def test_a_run_is_known_by_the_run_file_nearest_to_it() -> None:
    twins = [name for name in run_names() if name.endswith("-fb15k-237") and not read_run(name).paper.mrr]
    assert "fast-fb15k-237" in twins
    for name in twins:
        assert run_of(read_run(name, ["training.minutes=3", "training.seed=5"])) == name
