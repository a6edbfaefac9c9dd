"""Golden files: what a user sees, kept as text; `make golden` rewrites them and a review reads the difference.

A file of messages holds inputs at the left margin and, indented below each, what came of it:

    # a comment
    file bad.tsv 'a\\tr\\n'               a file that the next commands find, its content as Python spells it
    $ pathformer import bad.tsv --out g   a command line; both outputs, and an exit code that is not expected
    >>> pf.load("nowhere")                an expression; its value, or the error's class and message, and warnings
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import math
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pathformer as pf
from pathformer.cli._main import main

FOLDER = Path(__file__).resolve().parents[1] / "golden"
INDENT = "    "
VARYING = (
    (re.compile(r"\b\d+(\.\d+)? (s|ms|min)\b"), r"N \2"),  # durations
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
)


def is_rewriting() -> bool:
    return os.environ.get("GOLDEN") == "rewrite"


def play(script: str, folder: Path) -> str:
    """Returns the script with today's outputs; commands and expressions run in the folder."""
    lines: list[str] = []
    with _in_folder(folder):
        for line in script.splitlines():
            if line.startswith(INDENT) or not line:
                continue
            if lines and lines[-1].startswith(INDENT):
                lines.append("")
            lines.append(line)
            if line.startswith("file "):
                _, name, content = line.split(" ", 2)
                _write(Path(name), ast.literal_eval(content))
            elif line.startswith(("$ ", ">>> ")):
                shown = run(line[2:]) if line[0] == "$" else evaluate(line[4:])
                lines += [f"{INDENT}{each}" if each else "" for each in tidy(shown).splitlines()] or [
                    f"{INDENT}(nothing)"
                ]
            else:
                assert line.startswith("#"), f"what is this line? {line}"
    return "\n".join(lines) + "\n"


def _write(file: Path, content: str | bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)


def tidy(text: str) -> str:
    for pattern, instead in VARYING:
        text = pattern.sub(instead, text)
    return text.replace(str(Path.cwd()), "HERE").strip("\n")


def run(line: str) -> str:
    """Returns both outputs of a command line, and its exit code unless it is 0, or 2 after an error."""
    out, code = io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", shlex.split(line)),
        mock.patch.object(sys.modules["__main__"], "__package__", None),  # else click shows `python -m pytest`
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    shown = out.getvalue().rstrip("\n")
    is_usual = code == 0 or (code == 2 and "error: " in shown)  # wrong input: one sentence and exit code 2
    return shown if is_usual else f"{shown}\n(exit {code})"


def evaluate(expression: str) -> str:
    """Returns the value of a Python expression, or its error, after its warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            value = eval(expression, {"pf": pf})
            shown = "" if value is None else str(value)
        except Exception as error:
            shown = f"{type(error).__name__}: {error}"
    return "\n".join([*(f"{each.category.__name__}: {each.message}" for each in seen), shown])


@contextlib.contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    """Runs in the folder with the bundled data alone, without colours, with lines of one width."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PATHFORMER_", "FORCE_COLOR"))}
    settings = {"COLUMNS": "110", "NO_COLOR": "1", "PATHFORMER_DATA": "no-data"}
    with contextlib.chdir(folder), mock.patch.dict(os.environ, kept | settings, clear=True):
        yield


def check_text(name: str, today: str) -> None:
    """Compares with a golden file of text, or rewrites it."""
    file = FOLDER / name
    if is_rewriting():
        _write(file, today)
    assert file.exists(), f"no golden file {name}: `make golden` writes it"
    assert today == file.read_text(encoding="utf-8"), (
        f"{name} differs: if it is meant, `make golden`, and read the diff"
    )


def check_values(name: str, today: Any, *, relative: float = 1e-4, absolute: float = 1e-6) -> None:
    """Compares plain values with a golden JSON file, numbers within a tolerance, or rewrites it."""
    file = FOLDER / name
    today = json.loads(json.dumps(today))
    if is_rewriting() and not (file.exists() and not _differences(_read(file), today, relative, absolute)):
        _write(file, json.dumps(today, indent=1, ensure_ascii=False) + "\n")
    assert file.exists(), f"no golden file {name}: `make golden` writes it"
    found = list(_differences(_read(file), today, relative, absolute))
    assert not found, f"{name} differs: if it is meant, `make golden`, and read the diff\n" + "\n".join(found[:20])


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _differences(kept: Any, today: Any, relative: float, absolute: float, path: str = "") -> list[str]:
    """Lists the differences of two plain values."""
    if isinstance(kept, dict) and isinstance(today, dict) and kept.keys() == today.keys():
        return [d for key in kept for d in _differences(kept[key], today[key], relative, absolute, f"{path}.{key}")]
    if isinstance(kept, list) and isinstance(today, list) and len(kept) == len(today):
        pairs = enumerate(zip(kept, today, strict=True))
        return [d for i, (a, b) in pairs for d in _differences(a, b, relative, absolute, f"{path}[{i}]")]
    if isinstance(kept, float) and isinstance(today, int | float) and not isinstance(today, bool):
        return [] if math.isclose(kept, today, rel_tol=relative, abs_tol=absolute) else [f"{path}: {kept} -> {today}"]
    return [] if kept == today else [f"{path}: {kept!r} -> {today!r}"]
