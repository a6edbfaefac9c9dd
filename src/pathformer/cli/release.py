"""`pathformer release`: makes a trained engine, or a run of `pathformer train`, small enough to pass on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathformer.cli._options import Data

if TYPE_CHECKING:
    from rich.status import Status
    from rich.table import Table

    from pathformer.engine.engine import Engine
    from pathformer.fitting.compare import Cost

__all__ = ["command"]


def command(
    source: Annotated[
        Path, typer.Argument(help="An engine of `pathformer fit`, or the folder or a checkpoint of `pathformer train`.")
    ],
    out: Annotated[Path | None, typer.Argument(help="The folder to make.", show_default=False)] = None,
    out_: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder to make, as an option.", show_default=False)
    ] = None,
    form: Annotated[str, typer.Option(help="int8 (a quarter of the size) or bf16 (half of it).")] = "int8",
    measure: Annotated[
        bool,
        typer.Option(
            "--measure/--no-measure", help="Whether to rank held-out questions before and after, to measure the loss."
        ),
    ] = True,
    queries: Annotated[
        int, typer.Option(help="How many held-out questions of each structure are ranked.", min=1)
    ] = 200,
    data: Data = None,
    device: Annotated[str, typer.Option(help="The device that measures: cuda, cuda:1, cpu, or auto.")] = "cpu",
    force: Annotated[bool, typer.Option("--force", help="Replace the engine that is there.")] = False,
) -> None:
    """Make a trained engine small: weights in int8 or bf16, no copy of them in the index, and a model card beside it.

    The folder is an engine like any other: `pathformer ask` opens it. Held-out questions are ranked with the weights
    before and after, and the difference is shown and saved. A run of `pathformer train` becomes an engine over its own
    dataset, with probabilities fitted on validation questions.

    Examples:

        $ pathformer release films films-small

        $ pathformer release films films-half --form bf16 --queries 500

        $ pathformer release runs/fast-fb15k-237 fb15k-237

        $ pathformer ask fb15k-237 '?x : ...'
    """
    from rich.console import Console

    from pathformer.engine.storage import HEADER
    from pathformer.files.atomic import check_target
    from pathformer.fitting.release import add_measured_loss, check_source, compress
    from pathformer.plan.encoder import FULL

    console = Console(highlight=False)
    out = _target(out, out_)
    check_target(out, HEADER, force=force)
    check_source(FULL, form)
    with Console(stderr=True).status("reading") as status:
        engine = _open(source, data, device)
        status.update(f"rounding to {form}")
        small = compress(engine, form)
        measured = measure and engine.encoder.form == FULL  # a release cannot be compared with what it was
        cost = _cost(engine, small, queries, status) if measured else None
        if cost is not None:
            console.print(cost.sentence(), markup=False, soft_wrap=True)
            small = add_measured_loss(small, cost)
        status.update("writing")
        small.save(out, force=force)
    if engine.encoder.form != FULL:
        before = engine.encoder.form
        sentence = f"{source} is already a release in {before}: its card says what that cost, if it was measured."
        console.print(sentence, markup=False, soft_wrap=True)
    elif measure and cost is None:
        console.print("This graph has no held-out facts, so the loss cannot be measured.", soft_wrap=True)
    console.print(_sizes(source, out))
    console.print(f"The engine is in {out}, with its card ({out}/MODEL_CARD.md).", markup=False, soft_wrap=True)


def _target(argument: Path | None, option: Path | None) -> Path:
    """Returns the folder to make, which is given as an argument or as an option."""
    from pathformer.errors import InputError

    if argument and option:
        raise InputError(f"two output folders are given, {argument} and --out {option}: leave one out")
    out = argument or option
    if out is None:
        raise InputError("no output folder is given: write `pathformer release SOURCE OUT`")
    return out


def _open(source: Path, data: Path | None, device: str) -> Engine:
    """Opens an engine, or makes one of a run."""
    from pathformer.engine.engine import Engine
    from pathformer.engine.storage import is_engine, open_parts
    from pathformer.models._encoder import TorchEncoder
    from pathformer.nn.device import choose_device

    device = str(choose_device(device))
    if is_engine(source) or (source.is_file() and source.suffix != ".safetensors"):
        return Engine.of(open_parts(source, device, opened_by=TorchEncoder))  # its error says what a file is instead
    from pathformer.experiments.make_engine import make_engine

    return make_engine(source, data=data, device=device)


def _cost(engine: Engine, small: Engine, queries: int, status: Status) -> Cost | None:
    """Measures what the form costs on held-out questions; returns None if nothing was held out."""
    from pathformer.fitting.compare import measure_cost, sample_held_out

    judged = engine.about.get("evaluated")  # the structures of a run; None, and so all, for a fitted engine
    held = sample_held_out(engine, queries, judged)
    if not held:
        return None
    status.update(f"ranking {sum(map(len, held.values())):,} held-out questions twice")
    return measure_cost(engine, small, held)


def _sizes(source: Path, out: Path) -> Table:
    """Compares the sizes of both, part by part."""
    from pathformer.evaluation.report import ruled_table

    table = ruled_table(["on disk", str(source), str(out)])
    for part in ("weights", "index", "graph", "all"):
        sizes = [sum(path.stat().st_size for path in _files(folder, part)) for folder in (source, out)]
        shown = [f"{size / 1e6:,.1f} MB" if size else "none" for size in sizes]
        table.add_row(part, *shown, style="bold" if part == "all" else None)
    return table


def _files(folder: Path, part: str) -> list[Path]:
    """Returns the files of one part of an engine or of a run."""
    from pathformer.experiments.evaluate_run import find_checkpoint

    own = folder / "model.safetensors"
    if folder.is_file() or part == "weights":
        return [own if own.is_file() else find_checkpoint(folder)] if part in ("weights", "all") else []
    pattern = {"index": "index/*", "graph": "graph/**/*", "all": "**/*"}[part]
    return [path for path in folder.glob(pattern) if path.is_file()]
