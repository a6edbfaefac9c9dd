"""Tables of figures for the terminal, all of one look."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import HORIZONTALS
from rich.markup import escape
from rich.table import Table

__all__ = ["ruled_table"]


def ruled_table(header: Sequence[str], caption: str | None = None) -> Table:
    """A table without rows yet, words to the left in its first column, figures to the right in the others.

    Header and caption name folders and graphs: brackets in them are no markup.
    """
    below = None if caption is None else escape(caption)
    table = Table(box=HORIZONTALS, pad_edge=False, padding=(0, 1, 0, 0), caption=below, caption_justify="left")
    for place, column in enumerate(header):
        table.add_column(escape(column), justify="right" if place else "left")
    return table
