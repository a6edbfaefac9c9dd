"""Every named lever is a change that its run accepts; what levers start from is trained once."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import levers
import pytest
from _levers import LEVERS, Lever, lever_of
from _levers_start import started, starts_of, with_start

from pathformer.experiments.settings import read_run
from pathformer.query.structures import EPFO

USUAL = ("start_minutes=none", "start_members=1")
WON = "fast-both"  # on NELL995, whose recipe has it since


def test_a_lever_that_won_on_one_graph_changes_the_recipe_of_another() -> None:
    settings = lever_of(WON, "fb15k-237").settings
    assert read_run("fast-fb15k-237", settings).plain() != read_run("fast-fb15k-237").plain()


@pytest.mark.parametrize("name", LEVERS)
def test_a_lever_changes_its_run(name: str) -> None:
    lever = lever_of(name, "nell995")
    assert lever.expected
    starts = starts_of(lever)
    firsts = [read_run(start[0], list(start[1:])) for start in starts]
    assert {(before.dataset, before.method) for before in firsts} <= {("nell995", "complex")}
    settings = started(lever, dict.fromkeys(starts, Path("there")))
    base = f"{LEVERS[name].on}-nell995"
    changed, usual = read_run(base, settings), read_run(base)
    assert (changed.plain() == usual.plain()) == (name in {"recipe", WON})
    assert changed.start == (",".join(["there"] * len(starts)) or usual.start)
    if starts and changed.model.space == "hermitian":  # type: ignore[attr-defined]
        assert changed.model.dim == sum(2 * before.model.rank for before in firsts)  # type: ignore[attr-defined]


def test_settings_of_ones_own_and_names_that_are_none() -> None:
    assert lever_of("mine:model.layers=1,training.batch=64", "any") == Lever(("model.layers=1", "training.batch=64"))
    with pytest.raises(SystemExit, match="no lever 'sofmax'; there are: recipe, margin"):
        lever_of("recipe+sofmax", "nell995")


def test_several_levers_at_once() -> None:
    both = lever_of("start+one-layer", "nell995")
    assert both.settings == ("start=complex-nell995", "model.layers=1")
    assert both.expected == "2 to 4 points on 1p alone, more on NELL995; model size against time"


def test_a_checkpoint_is_no_run_to_train_first() -> None:
    assert starts_of(Lever(("start=runs/links/best.safetensors",))) == []
    lever = Lever(("start=complex-nell995", "start.model.rank=8", "model.layers=1"))
    assert starts_of(lever) == [("complex-nell995", "model.rank=8")]
    found = started(lever, {("complex-nell995", "model.rank=8"): Path("there")})
    assert found == ["model.layers=1", "start=there", *USUAL]


def _works(place: Path) -> None:
    place.mkdir()
    line = {"step": 3, "seconds": 1.5, "queries_per_second": 10.0, "valid/mrr": 0.25}
    (place / "log.jsonl").write_text(json.dumps(line) + "\n")
    print("said by the task")


def _fails() -> None:
    raise RuntimeError("no such thing")


def test_tasks_side_by_side_have_logs_of_their_own_and_one_that_fails_stops_no_other(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tasks = {"bad": _fails, "one": partial(_works, tmp_path / "one"), "two": partial(_works, tmp_path / "two")}
    levers._side_by_side(tasks, tmp_path, jobs=2)
    told = capfd.readouterr().out
    assert "bad: started, 2 wait" in told
    assert "bad: FAILED (1): RuntimeError: no such thing" in told
    assert "two: done; step 3 after 2 s, 10 queries/s, validation MRR 25.00" in told
    assert (tmp_path / "one.log").read_text() == "said by the task\n"
    assert "said by the task" not in told


def test_a_run_that_starts_somewhere_has_its_levers_start_there() -> None:
    run = replace(read_run("scratch-nell995"), start="complex-nell995")
    assert with_start(Lever(("a=1",)), run).settings == ("a=1", "start=complex-nell995")
    assert with_start(Lever(("start=else",)), run).settings == ("start=else",)
    assert with_start(Lever(("a=1",)), replace(run, start="")).settings == ("a=1",)
    several = replace(run, start_minutes=2.0, start_members=2)
    assert with_start(Lever(("start=else",)), several).settings == ("start=else",)
    own = with_start(Lever(("start_members=3",)), several).settings
    assert own == ("start_members=3", "start=complex-nell995", "start_minutes=2.0")
    minute = with_start(Lever(()), replace(run, start_minutes=1.0))  # 1.0 == 1, which is usual of members only
    assert starts_of(minute) == [("complex-nell995", "training.minutes=1.0")]
    own_time = with_start(Lever(("start_minutes=none",)), several)
    assert starts_of(own_time) == [("complex-nell995", f"training.seed={n}") for n in range(2)]


def test_several_to_start_from_are_trained_once_each_and_all_are_named() -> None:
    """A run that takes what is trained already refuses their number and their time."""
    lever = Lever(("start=complex-fb15k-237", "start_minutes=2", "start_members=2", "start=complex-nell995", "a=1"))
    keys = starts_of(lever)
    assert keys == [("complex-nell995", "training.minutes=2", f"training.seed={n}") for n in range(2)]
    found = started(lever, {key: Path(f"there-{n}") for n, key in enumerate(keys)})
    assert found == ["a=1", "start=there-0,there-1", *USUAL]
    assert started(Lever(("start=runs/links", "a=1")), {}) == ["a=1", "start=runs/links", *USUAL]
    assert started(Lever(("a=1",)), {}) == ["a=1"]
    run = read_run("fast-nell995", ["start_minutes=2", "start_members=2", *found[1:]])
    assert (run.start, run.start_minutes, run.start_members) == ("there-0,there-1", None, 1)


def test_a_lever_keeps_every_validation_by_structure_and_is_written_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = [{"valid/mrr": mrr, **{f"valid/{name}": mrr for name in EPFO}} for mrr in (0.25, 0.5)]
    lines = [{"seconds": 9.0 * n, "queries_per_second": 10.0 * n, **look} for n, look in enumerate(looks, 1)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    row = levers._figures(SimpleNamespace(result=SimpleNamespace(step=7)), tmp_path)
    assert (row["steps"], row["EPFO"], row["2p"]) == (7, 50.0, 50.0)
    assert row["curve"] == [
        {"seconds": 9.0, **dict.fromkeys(EPFO, 25.0)},
        {"seconds": 18.0, **dict.fromkeys(EPFO, 50.0)},
    ]
    levers._keep(tmp_path / "lever.json", row)
    assert json.loads((tmp_path / "lever.json").read_text()) == row
    monkeypatch.setattr(Path, "replace", _fails_at)
    with pytest.raises(OSError, match="disk full"):
        levers._keep(tmp_path / "lever.json", {"half": 1})
    assert json.loads((tmp_path / "lever.json").read_text()) == row


@pytest.mark.parametrize("keep", [False, True])
def test_a_finished_lever_is_trained_once_and_leaves_its_weights_only_if_they_are_to_be_kept(
    keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = []

    def train(_: object, place: Path, **__: object) -> SimpleNamespace:
        place.mkdir(exist_ok=True)
        trained.append(place.name)
        for name in ("best.safetensors", "last.safetensors", "log.jsonl"):
            (place / name).touch()
        return SimpleNamespace()

    figures = {"steps": 3, "queries_per_second": 10.0, **dict.fromkeys(("EPFO", *EPFO), 1.0)}
    for name, value in (("train_run", train), ("_figures", lambda *_: figures), ("_ways", lambda *_: {})):
        monkeypatch.setattr(levers, name, value)
    monkeypatch.setattr(levers, "gather", lambda _: None)
    monkeypatch.setattr(levers, "_side_by_side", lambda tasks, *_: [task() for task in tasks.values()])
    for _ in range(2):
        levers.work("scratch-fb15k-237", 0.1, tmp_path, ["recipe", "one-layer"], 1, keep=keep)
    assert trained == ["recipe", "one-layer"]
    assert {path.name for path in (tmp_path / "recipe").glob("*.safetensors")} == (
        {"best.safetensors", "last.safetensors"} if keep else set()
    )
    assert (tmp_path / "recipe" / "log.jsonl").is_file()
    assert "| one-layer | 3 | 10 |" in (tmp_path / "levers.md").read_text()


def _fails_at(_: Path, __: Path) -> None:
    raise OSError("disk full")


def test_levers_that_are_finished_are_written_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"device": "processor", "steps": 1200, "queries_per_second": 3.0, "1p": 40.0, "expected": "more"}
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "lever.json").write_text(json.dumps({**row, "other_ways": {"smallest": {"2u": 9.96}}}))
    levers._write("fast-nell995", 2.5, tmp_path, ["mine:model.layers=1", "cut"], jobs=2)
    table = (tmp_path / "levers.md").read_text()
    assert "| mine | 1,200 | 3 | 40.0 | more |" in table
    assert "- mine: smallest 2u 10.0" in table
    figures = json.loads((tmp_path / "levers.json").read_text())["figures"]
    assert (figures["run"], figures["minutes"], figures["jobs"]) == ("fast-nell995", 2.5, 2)
    assert list(figures["levers"]) == ["mine:model.layers=1"]
    with pytest.raises(SystemExit, match="no lever was finished"):
        levers._write("fast-nell995", 2.5, tmp_path, ["cut"], jobs=2)
