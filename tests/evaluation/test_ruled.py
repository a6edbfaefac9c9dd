"""Tables for the terminal: what their header and caption name is shown as it is."""

from __future__ import annotations

import io

from rich.console import Console

from pathformer.evaluation.report import ruled_table


def test_brackets_of_folders_and_graphs_are_shown() -> None:
    table = ruled_table(["on disk", "runs/a[/b]", "[red]"], "dataset: [seed1] of x[/y]")
    table.add_row("weights", "1.0 MB", "0.5 MB")
    out = io.StringIO()
    Console(file=out, width=100).print(table)
    _, header, _, row, _, caption = out.getvalue().splitlines()
    assert header.split() == ["on", "disk", "runs/a[/b]", "[red]"]
    assert row.split() == ["weights", "1.0", "MB", "0.5", "MB"]
    assert caption.rstrip() == "dataset: [seed1] of x[/y]"


def test_a_table_needs_no_caption() -> None:
    assert ruled_table(["structure"]).caption is None
