"""Asking where there is no torch: in a fresh process that cannot import it, as after `pip install pathformer`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.engines import FILMS

from pathformer.engine.engine import load
from pathformer.fitting.release import compress

WITHOUT = "import sys; sys.modules['torch'] = None; from pathformer.cli._main import main; main()"
DIRECTED = "?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)"


def pathformer(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs the program where torch cannot be imported."""
    command = [sys.executable, "-c", WITHOUT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def released(films_engine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compress(load(films_engine), "int8").save(tmp_path_factory.mktemp("released") / "films")


@pytest.mark.parametrize("form", ["full", "int8"])
@pytest.mark.parametrize("question", [DIRECTED, "SELECT ?x { :Fellini :directed/:stars ?x }"])
def test_an_engine_is_asked(question: str, form: str, films_engine: Path, released: Path) -> None:
    folder = films_engine if form == "full" else released
    done = pathformer("ask", folder, question, "--json", "--any-kind")
    assert done.returncode == 0, done.stderr
    found, expected = json.loads(done.stdout), json.loads(load(folder).ask(question, any_kind=True).to_json())
    assert found == expected


@pytest.mark.parametrize(
    "command",
    [("explain", DIRECTED), ("demo", "?c : borders(?c, France)"), ("import", "FILE", "--out", "OUT")],
    ids=lambda command: command[0],
)
def test_what_needs_no_model_runs(command: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "films.tsv"
    file.write_text("".join("\t".join(triple) + "\n" for triple in FILMS), "utf-8")
    places = {"FILE": file, "OUT": tmp_path / "graph"}
    done = pathformer(*(places.get(word, word) for word in command))
    assert done.returncode == 0, done.stderr


def test_an_index_is_shown_and_built_anew(films_engine: Path, tmp_path: Path) -> None:
    folder = load(films_engine).save(tmp_path / "films")
    assert pathformer("index", folder).returncode == 0
    done = pathformer("index", folder, "--backend", "lsh")
    assert done.returncode == 0, done.stderr
    assert load(folder).index.name == "lsh"


@pytest.mark.parametrize(
    ("command", "feature"),
    [
        (("fit", "world", "--out", "OUT"), "`pathformer fit`"),
        (("train", "run.toml"), "`pathformer train`"),
        (("release", "ENGINE", "OUT"), "`pathformer release`"),
        (("models", "pathformer"), "`pathformer models`"),
        (("ask", "OTHER", DIRECTED), "the method 'pathformer'"),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else "",
)
def test_what_needs_torch_says_so_in_one_sentence(
    command: tuple[str, ...], feature: str, films_engine: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    places = {"OUT": tmp_path / "out", "ENGINE": films_engine}
    if "OTHER" in command:  # an engine of a method that numpy does not know
        places["OTHER"] = request.getfixturevalue("engine").save(tmp_path / "other")
    done = pathformer(*(places.get(word, word) for word in command))
    assert done.returncode == 2
    assert done.stderr.strip() == f"error: {feature} needs torch: pip install 'pathformer[fit]'"
    assert not (tmp_path / "out").exists()


def test_python_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "import pathformer as pf\n"
        "try: pf.fit\n"
        "except pf.errors.InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.strip() == "pathformer.fit needs torch: pip install 'pathformer[fit]'", done.stderr
