"""The command line's shell: its list, its version, its errors and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from typer.testing import CliRunner

import pathformer
from pathformer import plugins
from pathformer.cli import _main as cli
from pathformer.errors import ConfigError

SCRIPT = Path(sysconfig.get_path("scripts")) / "pathformer"


def shell(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, timeout=60, check=False)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["pathformer", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return stop.value.code


def with_command(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """A subcommand `break` that raises."""

    class Broken:
        @staticmethod
        def command() -> None:
            raise error

    monkeypatch.setattr(plugins, "names", lambda package: ("break",))
    monkeypatch.setattr(plugins, "load", lambda package, name: Broken)


def test_version() -> None:
    assert shell("--version").stdout == f"pathformer {pathformer.__version__}\n"


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pathformer", "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"pathformer {pathformer.__version__}\n")


def test_help_lists_every_file_in_the_order_of_a_working_day() -> None:
    text = CliRunner().invoke(cli.app, ["--help"]).output
    names = [name for name in cli._ORDER if name in plugins.names("commands")]
    places = [text.index(f"│ {name} ") for name in names]
    assert places == sorted(places)
    assert set(plugins.names("commands")) <= set(cli._ORDER)


def test_alone_it_shows_its_help() -> None:
    assert "Usage: pathformer [OPTIONS] COMMAND" in shell().stdout


@pytest.mark.parametrize("name", plugins.names("commands"))
def test_every_subcommand_has_help_with_a_summary_and_an_example(name: str) -> None:
    command = plugins.load("commands", name).command
    assert command.__doc__, f"{name} says nothing about itself"
    assert command.__doc__.strip().splitlines()[0].endswith("."), "the first line is the summary"
    assert f"$ pathformer {name}" in command.__doc__, "help ends in examples"
    assert CliRunner().invoke(cli.app, [name, "--help"]).exit_code == 0


def test_an_unknown_command_is_answered_with_the_closest() -> None:
    done = shell("dmeo")
    assert done.returncode == 2
    assert done.stderr == "error: no command 'dmeo'; closest: 'demo'\n"


def test_wrong_input_is_one_sentence_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_command(monkeypatch, ConfigError("no setting 'x'"))
    assert run(monkeypatch, "break") == 2
    assert capsys.readouterr() == ("", "error: no setting 'x'\n")


def test_a_shell_is_not_told_python(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with_command(monkeypatch, ConfigError("f(x=True): --skip-bad (skip_bad=True) skips it, --columns (columns=...)"))
    assert run(monkeypatch, "break") == 2
    assert capsys.readouterr().err == "error: f(x=True): --skip-bad skips it, --columns\n"


def test_an_interruption_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with_command(monkeypatch, KeyboardInterrupt())
    assert run(monkeypatch, "break") == 130
    assert capsys.readouterr().err == "stopped: run the same command again to finish\n"


def test_an_interruption_that_says_what_follows_is_repeated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_command(monkeypatch, KeyboardInterrupt("stopped while writing: the same command starts over"))
    assert run(monkeypatch, "break") == 130
    assert capsys.readouterr().err == "stopped while writing: the same command starts over\n"


def test_our_own_bugs_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    with_command(monkeypatch, ZeroDivisionError("ours"))
    monkeypatch.setattr(sys, "argv", ["pathformer", "break"])
    with pytest.raises(ZeroDivisionError):
        cli.main()


def test_a_reader_that_leaves_is_no_error() -> None:
    process = subprocess.Popen([SCRIPT, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait(60)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError(36, "File name too long", "x"), "x: File name too long"),
        (OSError("4 requested and 0 written"), "the disk is full"),
    ],
)
def test_what_the_system_refuses_is_one_sentence(
    error: OSError, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_command(monkeypatch, error)
    assert run(monkeypatch, "break") == 1
    assert capsys.readouterr() == ("", f"error: {words}\n")


def test_names_of_any_script_are_written_on_an_output_of_any_encoding() -> None:
    """They were a traceback; as escapes they are JSON still."""
    query = '?x : kennt("Müller 李 😀", ?x)'
    done = subprocess.run(
        [SCRIPT, "explain", query],
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb'kennt("M' + b"\xfc" + rb'ller \u674e \ud83d\ude00", ?x)' in done.stdout
    cli._write_any_letter()
    text = json.dumps(query, ensure_ascii=False)
    assert json.loads(text.encode("ascii", "pathformer.escaped")) == query
