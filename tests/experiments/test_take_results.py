"""Results are taken into a folder: what was replaced is said, and what no table could show is refused."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pathformer.experiments.records import Record, read_records
from pathformer.experiments.tables.tries import read_tries
from pathformer.query.structures import EPFO

SCRIPT = Path(__file__).parents[2] / "scripts" / "take_results.py"
Take = Callable[[Iterable[Path], Path, Path], Iterator[str]]


@pytest.fixture(scope="module")
def take() -> Take:
    found: Take = runpy.run_path(str(SCRIPT))["take"]
    return found


def made(run: str, value: float, minutes: float = 5.0, commit: str = "new", variant: str = "") -> Record:
    figures = {"last": dict.fromkeys(EPFO, value)}
    return Record(
        run=run, minutes=minutes, steps=1, seconds=1.0, queries="", trained_on="", mrr=figures, commit=commit,
        variant=variant,
    )  # fmt: skip


def test_a_result_takes_the_place_of_the_one_of_its_budget(take: Take, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    made("fb15k-237-layers-2", 10.0, commit="a").write(old)
    made("fb15k-237-layers-2", 21.0, minutes=17.0, commit="b").write(old)
    made("fb15k-237-epfo-mlp", 9.0, commit="c", variant="wide").write(old)
    made("fb15k-237-layers-2", 12.0).write(new)
    made("fb15k-237-epfo-mlp", 8.0, variant="wide").write(new)
    made("nell995-epfo-gqe", 7.0, minutes=1.5).write(new)
    assert list(take([new], old, tmp_path / "apart")) == [
        "fb15k-237-epfo-mlp@5min-wide.json: avg 9.0 at c, now avg 8.0 at new",
        "fb15k-237-layers-2@5min.json: avg 10.0 at a, now avg 12.0 at new; also there: 17 min",
        "nell995-epfo-gqe@90s.json: new, avg 7.0 at new",
    ]
    kept = {(record.file_name, record.commit) for record in read_records([old])}
    assert kept == {
        ("fb15k-237-layers-2@5min.json", "new"),
        ("fb15k-237-layers-2@17min.json", "b"),
        ("fb15k-237-epfo-mlp@5min-wide.json", "new"),
        ("nell995-epfo-gqe@90s.json", "new"),
    }
    assert not (tmp_path / "apart").exists()


@pytest.mark.parametrize(
    ("run", "validation", "beside", "shown", "words"),
    [
        ("fb15k-237-epfo-mlp", 6.0, 10, "new", "avg 9.0 at old, now avg 7.0 at new"),  # test figures do not count
        ("fb15k-237-epfo-mlp", 4.0, 10, "old", "avg 9.0 at old stays, laid apart: avg 7.0 at new"),
        ("fb15k-237-epfo-mlp", 6.0, 11, "old", "avg 9.0 at old stays, laid apart: avg 7.0 at new"),
        ("fast-fb15k-237", 4.0, 10, "new", "avg 9.0 at old, now avg 7.0 at new"),  # no row that compares methods
    ],
)
def test_of_two_tries_of_a_row_the_one_is_shown_that_the_rule_names(
    take: Take, tmp_path: Path, run: str, validation: float, beside: int, shown: str, words: str
) -> None:
    old, new, apart = (tmp_path / name for name in ("old", "new", "apart"))
    replace(made(run, 9.0, commit="old"), beside=10, curve=[{"seconds": 1.0, "1p": 5.0}]).write(old)
    replace(made(run, 7.0), beside=beside, curve=[{"seconds": 1.0, "1p": validation}]).write(new)
    assert list(take([new], old, apart)) == [f"{run}@5min.json: {words}"]
    assert [record.commit for record in read_records([old])] == [shown]
    other = {"old": "new", "new": "old"}[shown]
    laid = set() if run.startswith("fast-") else {f"{other}/{run}@5min.json"}
    assert {path.relative_to(apart).as_posix() for path in apart.rglob("*.json")} == laid


@pytest.mark.parametrize(("beside", "curve"), [(11, [{"seconds": 1.0, "1p": 5.0}]), (10, [])])
def test_of_two_tries_that_the_rule_does_not_name_the_older_is_kept_apart(
    take: Take, tmp_path: Path, beside: int, curve: list[dict[str, float]]
) -> None:
    """The newer one took its place, and the older was lost."""
    old, new, apart = (tmp_path / name for name in ("old", "new", "apart"))
    replace(made("fb15k-237-epfo-mlp", 9.0, commit="old"), beside=beside, curve=curve).write(old)
    replace(made("fb15k-237-epfo-mlp", 7.0), beside=beside, curve=curve).write(new)
    assert list(take([new], old, apart)) == ["fb15k-237-epfo-mlp@5min.json: avg 9.0 at old, now avg 7.0 at new"]
    assert [record.commit for record in read_records([old])] == ["new"]
    assert [record.commit for record in read_tries(apart)] == ["old"]


def test_what_is_taken_twice_is_one_try(take: Take, tmp_path: Path) -> None:
    """It was laid apart from itself, and the page told of a second try."""
    old, new, apart = (tmp_path / name for name in ("old", "new", "apart"))
    once = replace(made("fb15k-237-epfo-mlp", 9.0), beside=10, curve=[{"seconds": 1.0, "1p": 5.0}])
    once.write(new)
    assert list(take([new], old, apart)) == ["fb15k-237-epfo-mlp@5min.json: new, avg 9.0 at new"]
    assert list(take([new], old, apart)) == ["fb15k-237-epfo-mlp@5min.json: there already, avg 9.0 at new"]
    assert not apart.exists()
    for seconds in (3.0, 2.0, 3.0):  # of the same commit, each kept once
        replace(once, seconds=seconds, curve=[{"seconds": 1.0, "1p": 4.0}]).write(new)
        list(take([new], old, apart))
    laid = {path.parent.name: Record.read(path).seconds for path in apart.rglob("*.json")}
    assert laid == {"new": 3.0, "new-2": 2.0}
    assert [record.seconds for record in read_records([old])] == [1.0]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (made("fb15k-237-epfo-q2b", 1.0, commit="unknown"), "of an unknown commit: measure with --commit"),
        (made("nobody", 1.0), "no run file 'nobody'"),
    ],
)
def test_what_no_table_could_show_is_refused_before_anything_is_taken(
    take: Take, tmp_path: Path, wrong: Record, words: str
) -> None:
    made("fb15k-237-epfo", 12.0).write(tmp_path / "new")
    wrong.write(tmp_path / "new")
    with pytest.raises(SystemExit, match=words):
        list(take([tmp_path / "new"], tmp_path / "old", tmp_path / "apart"))
    assert not (tmp_path / "old").exists()


def test_a_folder_without_results_is_refused(take: Take, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"no results there \(RUN@BUDGET\.json\)"):
        list(take([tmp_path], tmp_path / "old", tmp_path / "apart"))


def test_the_scripts_that_write_the_docs_are_there() -> None:
    scripts = runpy.run_path(str(SCRIPT))["SCRIPTS"]
    assert [name for name in scripts if not SCRIPT.with_name(name).is_file()] == []
