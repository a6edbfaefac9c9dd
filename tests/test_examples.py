"""The examples run: quickly with a small fit, and (slow) as their readers run them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import pathformer as pf
from pathformer.fitting.fit import fit
from pathformer.fitting.settings import settings_for

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
Script = Callable[[str], ModuleType]
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "notebook")


def quick_fit(kg: pf.KnowledgeGraph, minutes: float | None = None, **options: Any) -> pf.Engine:
    """A fit that draws little and trains for a second."""
    scale = settings_for(entities=kg.vocabulary.entity_count, triples=kg.triple_count, minutes=0.02)
    small = replace(
        scale, trained_per_structure=200, held_out_per_structure=20, training=replace(scale.training, validations=0)
    )
    return fit(kg, settings=small, **{**options, "progress": False})


def test_there_are_as_many_as_promised() -> None:
    assert SCRIPTS == ["films", "medicines"]
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(
        f"[{path.name}]({path.name})" in listed for path in EXAMPLES.iterdir() if path.suffix in (".tsv", ".ipynb")
    )
    assert all(f"[{name}.py]({name}.py)" in listed for name in SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs(
    name: str, script: Script, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pathformer.fitting.fit.fit", quick_fit)
    example = script(f"examples/{name}.py")
    example.main()
    printed = " ".join(capsys.readouterr().out.split())
    assert all(words in printed for words in example.QUESTIONS)
    assert "known 100 %" in printed
    assert "predicted" in printed


def test_the_films_know_the_paper_s_answers(script: Script) -> None:
    """Exact answers need no model: actors of Fellini's ten films without an Oscar, by the file itself."""
    from pathformer.engine.answer.read import read_question
    from pathformer.symbolic.answer import answer

    rows = [line.split("\t") for line in (EXAMPLES / "films.tsv").read_text(encoding="utf-8").splitlines()]
    awarded = {head for head, relation, tail in rows if (relation, tail) == ("won", "Oscar")}
    films = {tail for head, relation, tail in rows if (head, relation) == ("Fellini", "directed")} - awarded
    actors = {tail for head, relation, tail in rows if relation == "stars" and head in films}
    kg = pf.KnowledgeGraph.read(EXAMPLES / "films.tsv")
    asked = read_question(next(iter(script("examples/films.py").QUESTIONS.values())), kg)
    assert {kg.vocabulary.entity(int(e)) for e in answer(asked.tree, kg.graph())} == actors
    assert len(films) == 10
    assert len(rows) == len({tuple(row) for row in rows}) == 347


def test_what_is_left_out_is_not_there() -> None:
    text = (EXAMPLES / "medicines.tsv").read_text(encoding="utf-8")
    assert "telmisartan\ttreats" in text
    for line in ("telmisartan\ttargets\t", "pravastatin\ttargets\t", "paroxetine\ttreats\tdepression"):
        assert line not in text
    films = (EXAMPLES / "films.tsv").read_text(encoding="utf-8")
    for line in ("composed\tAmarcord", "composed\tSandra", "Intervista\tstars\tMarcello Mastroianni"):
        assert line not in films


def test_the_notebook_is_made_from_its_source_and_runs(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = script("scripts/make_notebook.py")
    text = (EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8")
    assert text == made.text(), "run: python scripts/make_notebook.py"
    (tmp_path / "films.tsv").write_bytes((EXAMPLES / "films.tsv").read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pathformer.fitting.fit.fit", quick_fit)
    pytest.importorskip("pandas")
    namespace: dict[str, Any] = {}
    cells = json.loads(text)["cells"]
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(cell["source"], namespace)
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code"] * 7
    assert "<table>" in namespace["answers"]._repr_html_()
    assert "Once Upon a Time in the West known" in capsys.readouterr().out


@pytest.mark.slow
def test_as_a_reader_runs_it() -> None:
    """After half a minute of training the composer that the graph lacks is found."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / "films.py"], capture_output=True, text=True, timeout=600, check=True, cwd=ROOT
    )
    part = done.stdout[done.stdout.index("Amarcord") :]
    assert "Nino Rota" in part[: part.index("Visconti")]
