"""`pathformer split`: in place or to a new folder, with what was reached; and `pathformer datasets`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest
from support import command_line

from pathformer.cli._main import main
from pathformer.errors import InputError
from pathformer.kg.knowledge import KnowledgeGraph

run = partial(command_line.run, columns=200)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    triples = [(f"e{n}", f"r{n % 3}", f"e{m}") for n in range(10) for m in range(10)]
    return KnowledgeGraph.from_triples(triples, name="grid").save(tmp_path / "grid")


def sizes(folder: Path) -> dict[str, int]:
    return {split: len(part) for split, part in KnowledgeGraph.open(folder).splits.items()}


def test_in_place(folder: Path) -> None:
    assert run("split", folder, "--valid", 0.2, "--test", 0.1, "--seed", 7) == (
        "grid: 100 triples, seed 7\n"
        "  train           70   70.0 %\n"
        "  valid           20   20.0 %\n"
        "  test            10   10.0 %\n"
        f"saved to {folder}\n"
    )
    assert sizes(folder) == {"train": 70, "valid": 20, "test": 10}
    with pytest.raises(InputError, match=r"has splits already \(train, valid, test\).* --force"):
        run("split", folder)
    run("split", folder, "--force", "--test", 0)
    assert sizes(folder) == {"train": 90, "valid": 10}


def test_to_a_new_folder(folder: Path, tmp_path: Path) -> None:
    assert f"saved to {tmp_path}/new\n" in run("split", folder, "--out", tmp_path / "new")
    assert sizes(folder) == {"train": 100}
    assert sizes(tmp_path / "new") == {"train": 80, "valid": 10, "test": 10}
    with pytest.raises(InputError, match="new exists already"):
        run("split", folder, "--out", tmp_path / "new")
    run("split", folder, "--out", tmp_path / "new", "--force")


def test_a_graph_that_cannot_spare_as_many_says_so(tmp_path: Path) -> None:
    chain = KnowledgeGraph.from_triples((f"e{n}", "r", f"e{n + 1}") for n in range(0, 40, 2))
    output = run("split", chain.save(tmp_path / "chain"))
    assert "  valid            0    0.0 %  (fewer than you asked for" in output


def test_what_states_the_same_is_moved_together_and_named(tmp_path: Path) -> None:
    facts = [(f"a{n % 20}", f"b{n // 20}") for n in range(0, 1200, 3) if n // 20 % 3]
    triples = [triple for a, b in facts for triple in ((a, "won", b), (b, "won_by", a))]
    output = run("split", KnowledgeGraph.from_triples(triples, name="twice").save(tmp_path / "twice"))
    assert output.endswith(
        "  valid           52   10.0 %\n"
        "  test            52   10.0 %\n"
        "  1 relation repeats other facts (`won_by` states the inverse of `won` in 100 % of its facts):\n"
        "  104 triples left train together with those that state the same\n"
        f"saved to {tmp_path / 'twice'}\n"
    )


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--valid", "nan", "fractions valid=nan and test=0.1: expected each from 0, together between 0 and 1"),
        ("--seed", "-5", "seed -5: expected a whole number from 0, below 2^64"),
    ],
)
def test_what_makes_no_sense_is_refused_and_leaves_the_graph(
    option: str,
    value: str,
    message: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["pathformer", "split", str(folder), option, value])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert capsys.readouterr() == ("", f"error: {message}\n")
    assert sizes(folder) == {"train": 100}
