"""`pathformer train`: trains the model of a run file and ranks the test queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pathformer.cli._options import Data, Device

__all__ = ["command"]


def command(
    run: Annotated[str, typer.Argument(help="A run file, or the name of one that comes with the package.")],
    settings: Annotated[
        list[str] | None, typer.Argument(help="Settings to change: key=value.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder of the run; by default runs/NAME.", show_default=False),
    ] = None,
    data: Data = None,
    device: Device = "auto",
    fresh: Annotated[bool, typer.Option("--fresh", help="Delete what the folder holds and start over.")] = False,
    test: Annotated[bool, typer.Option(help="Rank the test queries at the end.")] = True,
) -> None:
    """Train a model, or continue where it was interrupted; at the end rank the test queries.

    A run file names a dataset, queries, a method and its settings; any of them can be changed with key=value. After
    Ctrl-C, a kill or a crash the same command continues the run in its folder, to the same result. A time budget
    (training.minutes=9) takes the place of a number of steps, and the learning rate follows it.

    Examples:

        $ pathformer train fb15k-237-epfo

        $ pathformer train fb15k-237-epfo training.minutes=9 --out runs/short

        $ pathformer train my.toml model.layers=2 training.schedule=cosine training.update.rate=3e-4 --device cuda:1
    """
    from rich.console import Console

    from pathformer.experiments.run import start_anew, train_run
    from pathformer.experiments.settings import read_run
    from pathformer.text import counted, duration
    from pathformer.training.display import Display

    chosen = read_run(run, settings or ())
    folder = out or Path("runs") / Path(run).stem
    if fresh:
        start_anew(folder)
    console = Console(stderr=True)
    outcome = train_run(chosen, folder, data=data, device=device, test=test, display=Display(console))
    result = outcome.result
    if not result.finished:
        raise typer.Exit(130)
    summary = f"{counted(result.step, 'step')} in {duration(result.seconds)}; weights in {folder}"
    console.print(summary, highlight=False, markup=False)
    shown = dict(outcome.reports)
    if "best" in shown and shown["best"].scores == shown["last"].scores:
        del shown["last"]  # the last weights are the best ones
    for report in shown.values():
        Console().print(report.table())
