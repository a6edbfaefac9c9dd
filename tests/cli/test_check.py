"""`pathformer check`: reads everything, names what is not whole, and makes again what follows from the rest."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.command_line import refused, run
from typer.testing import CliRunner

import pathformer as pf
from pathformer.cli._main import app
from pathformer.errors import DamagedError

QUESTION = "?x : r1(e3, ?y) & r2(?y, ?x)"


@pytest.fixture
def folder(small_engine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_engine, tmp_path / "small"))


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def check(*arguments: object) -> tuple[int, list[str]]:
    done = CliRunner().invoke(app, ["check", *map(str, arguments)])
    return done.exit_code, done.stdout.splitlines()


def test_a_whole_folder(folder: Path) -> None:
    told = run("check", folder)
    assert told.startswith(f"{folder}: ")
    assert "all as they were saved (engine, saved 20" in told
    assert check(folder / "graph")[0] == 0


def test_every_damaged_file_is_named_with_what_to_do(folder: Path) -> None:
    damage(folder / "model.safetensors")
    damage(folder / "graph" / "entities.arrow")
    (folder / "index" / "alive.npy").unlink()
    code, told = check(folder)
    assert code == 1
    fit, again = "the engine is damaged: fit it again", f"`pathformer check {folder} --repair` makes it again"
    for file, remedy in (("model.safetensors", fit), ("graph/entities.arrow", fit), ("index/alive.npy", again)):
        assert sum(line.startswith(f"{folder / file} ") and remedy in line for line in told) == 1
    assert len(told) == 3
    with pytest.raises(DamagedError):
        pf.load(folder)
    assert "model.safetensors is not as it was saved" in refused("check", folder, "--repair")


@pytest.mark.parametrize("part", ["index/blocks.npy", "index/manifest.json"])
def test_an_index_is_made_again(part: str, folder: Path) -> None:
    before = pf.load(folder).ask(QUESTION, known=False)
    damage(folder / part)
    with pytest.raises(DamagedError, match=r"--repair` makes it again"):
        pf.load(folder)
    code, told = check(folder, "--repair")
    assert code == 0
    assert "all as they were saved" in told[-1]
    after = pf.load(folder).ask(QUESTION, known=False)
    assert [answer.entity for answer in after] == [answer.entity for answer in before]
    assert pf.load(folder).calibration.fitted


def test_probabilities_are_measured_again_where_facts_are_left_to_measure_on(folder: Path, tmp_path: Path) -> None:
    engine = pf.load(folder)
    damage(folder / "calibration.json")
    with pytest.raises(DamagedError, match=r"calibration\.json .* the engine is damaged: fit it again"):
        pf.load(folder)
    assert "none are left to measure probabilities on" in refused("check", folder, "--repair")
    bare = pf.Engine(engine.kg, engine.encoder, engine.index, engine.calibration).save(tmp_path / "bare")
    damage(bare / "calibration.json")
    code, told = check(bare, "--repair")
    assert code == 0, told
    assert pf.load(bare).calibration.fitted


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    assert "has no manifest.json" in refused("check", tmp_path)
    assert "has no manifest.json" in refused("check", tmp_path / "nowhere")
