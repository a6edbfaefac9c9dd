"""Write `docs/reference/cli.md` from the command line itself; a test keeps the page current."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["TYPER_USE_RICH"] = "0"  # help records without terminal markup

import typer

from pathformer.cli._main import app

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"


def page() -> str:
    """The whole page."""
    group = typer.main.get_command(app)
    with group.make_context("pathformer", ["--help"], resilient_parsing=True) as context:
        names = group.list_commands(context)
        commands = {name: group.get_command(context, name) for name in names}
        head = [
            "# The command line",
            "",
            "<!-- Made by scripts/make_cli_docs.py; edit the subcommand's docstring instead. -->",
            "",
            "`pathformer --help` lists the subcommands, `pathformer NAME --help` shows one. Wrong input is one",
            "sentence on stderr and exit code 2. Ctrl-C and a polite kill (SIGTERM) are exit code 130 both: nothing",
            "temporary is left, and the same command goes on or begins again.",
            "",
            "| command | what it does |",
            "|---|---|",
            *(f"| [`{name}`](#{name}) | {summary(command)} |" for name, command in commands.items()),
        ]
        sections = (line for name, command in commands.items() for line in section(name, command, context))
        return "\n".join([*head, *sections]) + "\n"


def summary(command: Any) -> str:
    """The first line of a command's help."""
    return " ".join(str(command.help).partition("\n\n")[0].split())


def section(name: str, command: Any, parent: Any) -> Iterator[str]:
    """One command: usage, its help as written, and its parameters."""
    with command.make_context(name, [], parent=parent, resilient_parsing=True) as context:
        usage = " ".join(["pathformer", name, *command.collect_usage_pieces(context)])
        yield from ("", f"## {name}", "", "```text", usage, "```", "", str(command.help).strip(), "")
        records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    yield from ("| parameter | meaning |", "|---|---|")
    yield from (_row(*record) for record in records if record is not None)


def _row(name: str, meaning: str) -> str:
    safe = " ".join(meaning.split()).replace("|", "\\|").replace("[", "\\[")
    return f"| `{name}` | {safe} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
