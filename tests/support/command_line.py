"""Runs `pathformer` commands in this process."""

from __future__ import annotations

from typer.testing import CliRunner

from pathformer.cli._main import app
from pathformer.errors import InputError


def run(*arguments: object, only_stdout: bool = False, columns: int | None = None) -> str:
    """Returns what a command prints; its errors are raised."""
    width = {} if columns is None else {"COLUMNS": str(columns)}
    done = CliRunner(env=width).invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout if only_stdout else done.output


def refused(*arguments: object) -> str:
    """Returns the message of a command that refuses its input."""
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert isinstance(done.exception, InputError), done.exception
    return str(done.exception)
