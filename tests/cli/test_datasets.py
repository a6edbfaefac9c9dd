"""`pathformer datasets`: lists the known graphs, what lies on this machine, and where to get the others."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from support import command_line
from typer.testing import CliRunner

from pathformer.cli._main import app

run = partial(command_line.run, columns=200)


def test_the_list_of_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATHFORMER_DATA", raising=False)
    output = run("datasets")
    assert "set $PATHFORMER_DATA, or give --data" in output
    table, absent, licences, _ = output.split("\n\n")
    lines = {line.split()[0]: line for line in table.splitlines()}
    assert "14,505" in lines["fb15k-237"]
    assert "310,079" in lines["fb15k-237"]
    assert lines["fb15k-237"].rstrip().endswith("not here")
    assert lines["world"].rstrip().endswith("bundled")
    assert absent.startswith("not on this machine; get them from:\n")
    assert "world" not in absent
    assert "  world      CC BY 4.0 (GeoNames, www.geonames.org; changed), " in licences
    assert "  nell995    none is stated by the edition" in licences.splitlines()


def test_a_data_folder_that_is_none_is_told(tmp_path: Path) -> None:
    assert run("datasets", "--data", str(tmp_path)).endswith(f"looked under {tmp_path}\n")
    nowhere = tmp_path / "nowhere"
    assert run("datasets", "--data", str(nowhere)).endswith(f"looked under {nowhere}, which does not exist\n")


def test_paths_and_addresses_are_whole_in_a_narrow_terminal(tmp_path: Path) -> None:
    umls = tmp_path / ("a-long-name" * 10) / "umls"
    umls.mkdir(parents=True)
    done = CliRunner().invoke(app, ["datasets", "--data", str(umls.parent)], env={"COLUMNS": "80"})
    assert "…" not in done.output
    _, there, absent, _, looked = done.output.split("\n\n")
    assert there == f"on this machine:\n  umls  {umls}"
    assert "  wn18rr-qa  github.com/nelsonhuangzijian/WN18RR-QA" in absent.splitlines()
    assert "umls" not in absent
    assert looked == f"looked under {umls.parent}\n"
