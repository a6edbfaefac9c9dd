"""The command line: one file a subcommand.

A file of this folder holds a function `command`, annotated for typer, whose docstring is the help and ends in examples;
its name is the subcommand's (`plugins`), and `CONTEXT`, where there is one, holds click's settings for it. Files are
imported when asked for and import what is heavy inside `command`, so that help and `explain` start at once.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pathformer import __version__, plugins
from pathformer.cli._shell import open_closed_streams, speak_utf8, stop_on_signals, without_python
from pathformer.errors import InputError, needs_torch

__all__ = ["app", "main"]

# The order of a working day, as `design` lists them; a plugin of somebody else comes after, by name.
# fmt: off
_ORDER = (
    "demo", "import", "split", "fit", "ask", "predict", "explain", "serve", "mcp", "sample", "verify",
    "train", "evaluate", "check", "release", "tables", "models", "datasets", "index", "bench",
)
# fmt: on
_SERVING = ("serve", "mcp")  # Ctrl-C is their usual end


class _Commands(TyperGroup):
    """Offers the files of this folder as commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        place = {name: number for number, name in enumerate(_ORDER)}
        return sorted(plugins.names("commands"), key=lambda name: (place.get(name, len(place)), name))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        single = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        module = plugins.load("commands", cmd_name)
        single.command(name=cmd_name, context_settings=vars(module).get("CONTEXT"))(module.command)
        return typer.main.get_command(single)

    def invoke(self, ctx: Any) -> Any:
        """Runs a command; an interruption prints one line and ends with exit code 130."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError:
            with needs_torch(f"`pathformer {ctx.invoked_subcommand}`"):
                raise
        except KeyboardInterrupt as stop:
            if ctx.invoked_subcommand not in _SERVING:
                typer.echo(str(stop) or "stopped: run the same command again to finish", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pathformer {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Ask an incomplete knowledge graph questions of several hops, with and, or, not."""


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Spells letters that an encoding lacks as JSON does."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _write_any_letter() -> None:
    """Lets names of any script be written to an output of any encoding, such as a Windows pipe."""
    codecs.register_error("pathformer.escaped", _escaped)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="pathformer.escaped")


def main() -> None:
    """Runs the command line; wrong input gives one sentence on stderr and exit code 2, an interruption gives 130."""
    speak_utf8()
    open_closed_streams()
    _write_any_letter()
    try:
        with stop_on_signals():
            app()
    except InputError as error:
        typer.secho(f"error: {without_python(str(error))}", fg=typer.colors.RED, err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # `head` or another reader of the pipe has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # a disk that is full, a path that the system does not take
        from pathformer.files.atomic import reason_of

        place = f"{error.filename}: " if error.filename is not None else ""
        typer.secho(f"error: {place}{reason_of(error)}", fg=typer.colors.RED, err=True)
        sys.exit(1)
