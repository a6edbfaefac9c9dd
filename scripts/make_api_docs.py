"""Write `docs/reference/api.md` from signatures and docstrings; a test keeps the page current."""

from __future__ import annotations

import importlib
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "api.md"

# What is shown, in order: the public names, then what they give back.
SECTIONS = (
    ("pathformer", ("KnowledgeGraph", "fit", "update", "load", "Engine", "Answers", "Answer")),
    ("pathformer.engine.reasons.why", ("Why", "Link", "Named")),
    ("pathformer.query.parse", ("parse", "request", "write")),
    ("pathformer.query.compile.bind", ("bind",)),
    ("pathformer.query.compile.to_tree", ("to_tree",)),
    ("pathformer.query.explain", ("explain",)),
    ("pathformer.symbolic.answer", ("answer",)),
    ("pathformer.querysets.protocol", ("sample_benchmark",)),
    ("pathformer.querysets.query_sets", ("read_folder", "read_query_sets")),
    ("pathformer.querysets.verify", ("verify",)),
)
HEAD = """# The API

<!-- Made by scripts/make_api_docs.py; edit the docstrings instead. -->

`import pathformer as pf` gives the names of the first section; they load when first used, so that the import itself
costs nothing. What is wrong with an input is said in a sentence, by `pathformer.errors.InputError` or one of its kinds.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for module, names in SECTIONS:
        parts.append(f"## {module}\n")
        for name in names:
            parts += entry(name, getattr(importlib.import_module(module), name))
    return "\n".join(parts).rstrip() + "\n"


def entry(name: str, thing: Any) -> Iterator[str]:
    """A function, or a class with its public members."""
    yield f"### {name}\n"
    yield from described(name, thing)
    if inspect.isclass(thing):
        for member, value in members(thing):
            yield f"#### {name}.{member}\n"
            yield from described(f"{name}.{member}", value)


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class itself defines, in the order of its source."""
    for name, value in vars(kind).items():
        if name.startswith("_") or not inspect.getdoc(getattr(kind, name)):
            continue
        if isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value):
            yield name, value


def described(name: str, thing: Any) -> Iterator[str]:
    """Signature and docstring."""
    inner = thing.__func__ if isinstance(thing, classmethod | staticmethod) else thing
    if isinstance(inner, property):
        yield "*property*\n"
    else:
        yield f"```text\n{signature(name, inner)}\n```\n"
    yield paragraphs(inspect.getdoc(inner) or "")


def signature(name: str, thing: Any) -> str:
    """One line where it fits, else one parameter a line."""
    found = inspect.signature(thing)
    shown = [p for p in found.parameters.values() if p.name not in ("self", "cls")]
    parts = [*_parameters(shown)]
    gives = "" if inspect.isclass(thing) or found.return_annotation is found.empty else f" -> {found.return_annotation}"
    line = f"{name}({', '.join(parts)}){gives}"
    if len(line) <= 100:
        return line
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){gives}"])


def _parameters(parameters: list[inspect.Parameter]) -> Iterator[str]:
    starred = False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        typed = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        yield f"{parameter.name}{typed}{default}"


def paragraphs(text: str) -> str:
    """A docstring as Markdown: lines `name: meaning` become a list."""
    done = []
    for part in textwrap.dedent(text).split("\n\n"):
        lines = part.split("\n")
        named = [line for line in lines if _is_entry(line)]
        if len(named) > 0 and _is_entry(lines[0]) and not part.startswith("    "):
            joined: list[str] = []
            for line in lines:
                if _is_entry(line):
                    names, _, meaning = line.partition(": ")
                    joined.append(f"- `{names}`: {meaning}")
                else:
                    joined[-1] += f" {line.strip()}"
            done.append("\n".join(joined))
        elif part.startswith("    "):
            done.append(f"```text\n{textwrap.dedent(part)}\n```")
        else:
            done.append(part)
    return "\n\n".join(done) + "\n"


def _is_entry(line: str) -> bool:
    names, colon, _ = line.partition(": ")
    return bool(colon) and all(name.strip().isidentifier() for name in names.split(","))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
