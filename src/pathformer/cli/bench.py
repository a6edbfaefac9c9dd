"""`pathformer bench`: the benchmarks of a checkout."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["CONTEXT", "command"]

CONTEXT = {"ignore_unknown_options": True}  # they are the benchmark's own


def command(
    case: Annotated[str | None, typer.Argument(help="The benchmark to run; without it, all are listed.")] = None,
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Arguments and options of the benchmark.", show_default=False)
    ] = None,
    folder: Annotated[Path, typer.Option(help="The folder of benchmarks.")] = Path("benchmarks"),
) -> None:
    """Run a benchmark of a checkout, or list all; figures go to its `results` folder.

    Benchmarks are files beside the package, not in it: run this from the root of a checkout.

    Examples:

        $ pathformer bench

        $ pathformer bench sampler

        $ pathformer bench speed --model MLP

        $ pathformer bench sampler -- --help
    """
    import runpy
    import sys

    from pathformer.errors import InputError
    from pathformer.text import closest

    cases = {path.stem: path for path in sorted(folder.glob("[a-z]*.py"))}
    measuring = {name: path for name, path in cases.items() if _measures(path)}
    if not measuring:
        raise InputError(
            f"there are no benchmarks in {folder.resolve()}: run this from the root of a checkout, or give --folder"
        )
    if case is None:
        width = max(map(len, measuring))
        for name, path in measuring.items():
            typer.echo(f"{name:{width}}  {_summary(path)}")
        return
    if case not in cases:
        near = closest(case, cases)
        hint = f"closest: {', '.join(map(repr, near))}" if near else f"there are {', '.join(measuring)}"
        raise InputError(f"no benchmark {case!r}; {hint}")
    sys.argv = [f"pathformer bench {case}", *(arguments or [])]
    sys.path.insert(0, str(folder))
    runpy.run_path(str(cases[case]), run_name="__main__")


def _measures(path: Path) -> bool:
    """Whether a file measures something; `compare` and `rerun` are tools and import neither helper."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return any(isinstance(node, ast.ImportFrom) and node.module in ("_record", "_made_up") for node in nodes)


def _summary(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]
