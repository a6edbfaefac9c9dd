"""`pathformer models`: lists the methods and shows the settings of one."""

from __future__ import annotations

from typer.testing import CliRunner

from pathformer import plugins
from pathformer.cli import _main as cli
from pathformer.errors import UnknownPluginError
from pathformer.models._base import find


def test_models_are_listed_with_what_they_can() -> None:
    output = CliRunner().invoke(cli.app, ["models"]).output
    for name in plugins.names("models"):
        assert f"\n{name} " in output
    assert output.splitlines()[0].split() == ["name", "or", "not", "what", "it", "is"]
    ways = {find(name).union for name in plugins.names("models")}
    explained = output.splitlines()[-1].removeprefix("or: ").split(", ")
    assert {each.partition(" = ")[0] for each in explained} == ways
    row = next(line for line in output.splitlines() if line.startswith("gqe "))
    assert row.split()[:3] == ["gqe", "dnf", "no"]


def test_the_settings_of_one_model() -> None:
    output = CliRunner().invoke(cli.app, ["models", "pathformer"]).output
    assert output.startswith("pathformer: Pathformer: a transformer reads paths")
    assert "model.dim" in output
    wrong = CliRunner().invoke(cli.app, ["models", "pathfromer"])
    assert isinstance(wrong.exception, UnknownPluginError)
    assert "no model 'pathfromer'; closest: 'pathformer'" in str(wrong.exception)
