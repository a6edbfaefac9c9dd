"""`pathformer predict`: the missing links of relations, ranked, as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["command"]


def command(
    engine: Annotated[Path, typer.Argument(help="The folder that `pathformer fit` made.", show_default=False)],
    relations: Annotated[
        list[str], typer.Argument(help="The relations whose missing links you want.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="The file to write: its ending is .parquet, .csv or .tsv.", show_default=False
        ),
    ],
    top: Annotated[
        int | None,
        typer.Option(help="How many links to list; 1000, unless --min-probability is given.", show_default=False),
    ] = None,
    min_probability: Annotated[
        float | None, typer.Option(help="Leave out links that are less likely than this, 0 to 1.", show_default=False)
    ] = None,
    heads: Annotated[
        str | None,
        typer.Option(
            help="The heads: a file with a name on each line, or a relation whose heads are meant; by default the "
            "entities that are heads of the relation itself.",
            show_default=False,
        ),
    ] = None,
    tails: Annotated[str | None, typer.Option(help="The tails, in the same way.", show_default=False)] = None,
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Write a score for every head and tail instead of a list, as Parquet.")
    ] = False,
    why: Annotated[
        bool, typer.Option(help="Name the strongest evidence of each link, which takes longer than finding it.")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace the file that is there.")] = False,
) -> None:
    """Write the missing links of relations to a file: the likeliest first, with probability and strongest evidence.

    A probability says how often such a link was among the facts that `fit` held back, over all heads, most of which
    miss nothing. It is lower than what `ask` says of the same link, since `ask` takes for granted that an answer is
    missing: that one is in the column `probability_if_missing`. If your graph misses more than `fit` held back, links
    are likelier than the file says.

    In a CSV file, a text that begins with = + - or @ gets an apostrophe in front, so that no spreadsheet runs it as a
    formula. Parquet and TSV hold every name as it is.

    A command that was stopped goes on when it is given again.

    Examples:

        $ pathformer predict films directed stars --out links.csv

        $ pathformer predict films stars --min-probability 0.1 --no-why --out links.parquet

        $ pathformer predict films stars --heads directors.txt --tails stars --all-pairs --out pairs.parquet
    """
    import time

    from pathformer.engine.engine import load
    from pathformer.engine.predict.predict import notes, write_file
    from pathformer.engine.predict.wanted import read_wanted
    from pathformer.engine.predict.write import check_out
    from pathformer.files.manifest import read_manifest
    from pathformer.kg.schema import RelationSchema
    from pathformer.text import counted, duration, visible

    check_out(out, all_pairs=all_pairs, force=force)
    opened = load(engine)
    wanted = read_wanted(
        relations,
        opened.kg,
        RelationSchema(opened.kg.graph()),
        heads=heads,
        tails=tails,
        top=top,
        min_probability=min_probability,
        why=why,
        all_pairs=all_pairs,
    )
    save, start = read_manifest(engine, "fit it again").id, time.monotonic()
    with _progress() as advance:
        rows = write_file(wanted, opened.links, opened.kg, out, save, advance)
    took = duration(time.monotonic() - start)
    what = counted(rows, "pair" if all_pairs else "link")
    typer.echo(visible(f"wrote {what} to {out} in {took}{_memory()}"))
    if opened.links is not None:
        for note in notes(wanted, opened.links, opened.kg):
            typer.echo(note)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Yields a function that shows on a terminal how far a stage is."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda stage, done, total: bar.update(task, description=stage, completed=done, total=total)


def _memory() -> str:
    """Returns the most memory that the process has had, where the system tells it."""
    import sys

    if sys.platform == "win32":
        return ""
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return f", with {most / 2**20:,.0f} MB of memory at most"
