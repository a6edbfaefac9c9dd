"""Every run file reads, says what it differs in, and carries figures that agree with themselves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support import training_toy as toy

from pathformer import plugins
from pathformer.config import to_toml
from pathformer.errors import ConfigError, UnsupportedQueryError
from pathformer.experiments.checks import check_method
from pathformer.experiments.run import train_run
from pathformer.experiments.settings import read_run, run_file, run_names
from pathformer.experiments.tables.catalogue import MEASURED
from pathformer.models._base import build
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

RUNS = {name: read_run(name) for name in run_names()}
OF_THE_PAPER = [name for name, run in RUNS.items() if run.paper.tables]

ZERO_SHOT = {"ip", "pi", "2u", "up"}

# Averages of the paper that are not those of their rows, beyond rounding: 5.1 7.4 10.2 3.3 3.4 have the mean 5.88.
PAPERS_OWN = {"nell995-efol-q2p": 6.0}


def test_every_row_of_every_table_has_one_run_and_every_run_its_rows() -> None:
    rows = {table.number: Counter(place.run for place in table.places) for table in MEASURED.values()}
    assert {number: len(runs) for number, runs in rows.items()} == {
        1: 20, 2: 4, 3: 14, 4: 4, 5: 2, 6: 3, 7: 6, 8: 8, 12: 4, 13: 8, 14: 6,
    }  # fmt: skip
    for number, runs in rows.items():
        assert set(runs.values()) == {1}
        assert set(runs) == {name for name in OF_THE_PAPER if number in RUNS[name].paper.tables}, number


def test_every_method_of_the_paper_has_a_run() -> None:
    methods = {RUNS[name].method for name in OF_THE_PAPER}
    assert methods == {
        "pathformer", "gqe", "q2b", "betae", "cone", "mlp", "mlp-mixer", "fuzzqe", "gammae", "q2p", "biqe",
    }  # fmt: skip
    assert methods <= set(plugins.names("models"))


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_a_run_file_reads_and_its_figures_agree(name: str) -> None:
    run = RUNS[name]
    mrr = run.paper.mrr
    group, average = (EPFO, "avg") if run.trained == "epfo" else (NEGATION_STRUCTURES, "avg negation")
    assert all(0 < value < 100 for value in mrr.values())
    if len(mrr) > 1:
        assert set(mrr) == {*group, average}
        mean = sum(mrr[s] for s in group) / len(group)
        # Figures are rounded to one decimal, the average was taken before.
        assert (abs(mean - mrr[average]) > 0.1001) == (name in PAPERS_OWN)
    assert name.startswith(run.dataset)
    assert ("efol" in name) == (run.trained == "efol")


@pytest.mark.parametrize("name", RUNS)
def test_no_run_trains_what_is_to_be_answered_unseen(name: str) -> None:
    run = RUNS[name]
    assert ZERO_SHOT.isdisjoint(run.trained_structures)
    assert ZERO_SHOT.isdisjoint(run.training.mix)
    if run.start:  # what its tables start from sees no more
        assert ZERO_SHOT.isdisjoint(RUNS[run.start].trained_structures)
    assert set(run.evaluated_structures) >= ZERO_SHOT or run.trained == "links"


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_the_model_of_a_run_builds_at_a_tiny_size(name: str) -> None:
    run = RUNS[name]
    model = build(run.method, toy.tiny(run.model_settings), entities=7, relations=4)
    assert model.name == run.method
    assert model.negation or run.trained == "epfo"
    composition = run.training.composition(run.trained_structures)
    assert tuple(composition) == run.trained_structures


@pytest.mark.parametrize("name", RUNS)
def test_the_method_of_a_run_takes_what_it_is_trained_and_ranked_on(name: str) -> None:
    check_method(RUNS[name])


def test_a_run_that_its_method_cannot_take_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    told = r"^gqe cannot take a negation \(in 2in, 3in, inp, pin, pni\); methods that can: betae, composed, cone, "
    with pytest.raises(UnsupportedQueryError, match=told):
        train_run(read_run("fb15k-237-epfo-gqe", ["trained=efol"]), tmp_path / "out", data=tmp_path / "no-such-folder")
    assert not (tmp_path / "out").exists()
    with pytest.raises(UnsupportedQueryError, match=r"^pathformer with these settings cannot take a negation"):
        check_method(read_run("fb15k-237-box", ["trained=efol"]))


@pytest.mark.parametrize("name", [name for name in OF_THE_PAPER if RUNS[name].paper.parameters is not None])
def test_sizes_are_those_of_table_7(name: str) -> None:
    run = RUNS[name]
    model = build(run.method, run.model_settings, entities=3, relations=2)
    assert model.sizes()["network"] / 1e6 == pytest.approx(run.paper.parameters, abs=0.1)


def test_a_setting_can_be_changed_and_a_wrong_one_is_told() -> None:
    run = read_run("fb15k-237-epfo", ["model.layers=2", "training.minutes=9", "training.update.rate=3e-4"])
    assert (run.model.layers, run.training.minutes, run.training.update.rate) == (2, 9.0, 3e-4)  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match=r"no setting 'model\.layrs'; closest: 'model\.layers'"):
        read_run("fb15k-237-epfo", ["model.layrs=2"])
    with pytest.raises(ConfigError, match="no run file 'fb15k-237-epof'; closest: 'fb15k-237-epfo'"):
        read_run("fb15k-237-epof")
    with pytest.raises(ConfigError, match=r"gone\.toml: no such file"):
        read_run("gone.toml")


def test_settings_written_beside_a_checkpoint_read_back(tmp_path) -> None:  # type: ignore[no-untyped-def]
    run = read_run("fb15k-237-relative", ["training.minutes=2"])
    (tmp_path / "settings.toml").write_text(to_toml(run))
    again = read_run(tmp_path / "settings.toml")
    assert again.plain() == run.plain()


def test_a_run_file_is_found_by_name_or_path() -> None:
    assert run_file("nell995-q2b").name == "nell995-q2b.toml"
    assert run_file(run_file("nell995-q2b")) == run_file("nell995-q2b")
