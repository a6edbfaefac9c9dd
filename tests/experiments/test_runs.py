"""Every run file reads, says what it differs in, and carries figures that agree with themselves."""

from __future__ import annotations

import pytest

from pathformer.config import to_toml
from pathformer.errors import ConfigError
from pathformer.experiments.settings import read_run, run_file, run_names
from pathformer.models import build
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

OF_THE_PAPER = [name for name in run_names() if read_run(name).paper.tables]


def test_the_rows_of_the_papers_tables_are_there() -> None:
    rows: dict[int, list[str]] = {}
    for name in run_names():
        for table in read_run(name).paper.tables:
            rows.setdefault(table, []).append(name)
    assert {table: len(names) for table, names in rows.items()} == {
        1: 2,  # FB15k-237, NELL995
        2: 2,
        3: 2,
        4: 4,  # two forks on two graphs
        5: 2,
        6: 3,
        7: 5,
        12: 4,
        14: 5,
    }
    assert len(OF_THE_PAPER) == 17


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_a_run_file_reads_and_its_figures_agree(name: str) -> None:
    run = read_run(name)
    mrr = run.paper.mrr
    assert run.method == "pathformer"
    assert run.model.dim == 800  # type: ignore[attr-defined]
    group, average = (EPFO, "avg") if run.trained == "epfo" else (NEGATION_STRUCTURES, "avg negation")
    if len(mrr) > 1:
        assert set(mrr) == {*group, average}
        # Figures are rounded to one decimal, the average was taken before.
        assert sum(mrr[s] for s in group) / len(group) == pytest.approx(mrr[average], abs=0.1)
    assert set(run.trained_structures).isdisjoint({"ip", "pi", "2u", "up"})


@pytest.mark.parametrize("name", [name for name in run_names() if read_run(name).paper.parameters is not None])
def test_sizes_are_those_of_table_7(name: str) -> None:
    run = read_run(name)
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
