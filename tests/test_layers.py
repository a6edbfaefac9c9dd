"""Imports point left: the drawing of the rooms, kept true by reading every import of the package.

What breaks a rule today stands in `layers.txt` beside this file, a line each. The list only shrinks: a new breach
fails, and so does a line that nothing breaks any more. `python tests/test_layers.py --list` prints today's breaches.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "pathformer"
ALLOWED = Path(__file__).with_name("layers.txt")

# A room imports only from rooms on lines above it; rooms on one line do not import each other.
COMMON = (
    ("text",),
    ("errors",),
    ("compiled", "plugins", "config", "limits"),
    ("files",),
    ("kg",),
    ("query",),
    ("symbolic",),
    ("querysets",),
    ("plan",),
)
ASKING = (("index",), ("encoders",), ("links",), ("search",), ("engine",), ("server",))
MAKING = (("nn",), ("spaces",), ("models",), ("evaluation",), ("training",), ("fitting",), ("experiments",))
ROOMS = (*COMMON, *ASKING, *MAKING, ("cli",))
# The same inside these rooms, where a file at the room's root counts as a room of its own.
INSIDE = {
    "query": (
        ("ast", "iris"),
        ("tree",),
        ("structures",),
        ("print",),
        ("compile",),
        ("syntax",),
        ("parse",),
        ("picture",),
        ("explain",),
    ),
    "engine": (("find",), ("calibrate",), ("reasons",), ("answer", "predict"), ("storage", "history"), ("engine",)),
}
WITHOUT_GRAPH = ("plan", "nn", "spaces", "models")  # a query becomes a point without one
NOT_FOR_ASKING = ("torch",)  # what importing everything of common and asking must not load
NOT_FOR_AN_ENGINE = (
    "torch",
    "pyarrow",
    "numba",
    "rich",
    "lark",
    "rdflib",
)  # nor its module these
NOT_FOR_CLI = ("torch", "numba", "pyarrow", "rdflib", "numpy")


def names(rooms: tuple[tuple[str, ...], ...]) -> dict[str, int]:
    """The line of each room in a drawing."""
    return {name: line for line, siblings in enumerate(rooms) for name in siblings}


def imports(source: str, module: str, *, package: bool = False) -> Iterator[str]:
    """The full name of everything that the source of `module` imports, at its top or inside functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: len(module.split(".")) - node.level + package] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def breach(module: str, imported: str) -> str | None:
    """What is wrong with this import, or None."""
    here, there = module.split(".")[1:], imported.split(".")[1:]
    if imported.split(".")[0] != "pathformer" or there == ["__version__"]:
        return None
    order, level = names(ROOMS), 0
    if here[:1] == there[:1] and here[0] in INSIDE:
        order, level = names(INSIDE[here[0]]), 1
    mine, theirs = "".join(here[level : level + 1]), "".join(there[level : level + 1])
    if mine == theirs or mine not in order:  # a room that is not drawn is a breach of its own
        return None
    if level == 0 and not (PACKAGE / theirs).is_dir() and not (PACKAGE / f"{theirs}.py").is_file():
        return f"{module} imports {imported}: name the module where it lives"
    if theirs in order and order[theirs] >= order[mine]:
        return (
            f"{module} imports {imported}: {'.'.join(there[: level + 1])} is not left of {'.'.join(here[: level + 1])}"
        )
    if level == 0 and mine in WITHOUT_GRAPH and theirs in ("kg", "symbolic"):
        return f"{module} imports {imported}: what makes a point of a query knows no graph"
    return None


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the package but its front doors, by name; a folder's `__init__` has the folder's name."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts not in (("__init__",), ("__main__",)):
            yield ".".join(["pathformer", *(part for part in parts if part != "__init__")]), path


def wrong_imports() -> Iterator[str]:
    for module, path in modules():
        for imported in imports(path.read_text(encoding="utf-8"), module, package=path.name == "__init__.py"):
            if found := breach(module, imported):
                yield found


def undrawn_rooms() -> Iterator[str]:
    for module, _path in modules():
        _, room, *rest = module.split(".")
        if room not in names(ROOMS):
            yield f"pathformer.{room} is not drawn"
        elif room in INSIDE and rest and rest[0] not in names(INSIDE[room]):
            yield f"pathformer.{room}.{rest[0]} is not drawn"


def full_inits() -> Iterator[str]:
    """An `__init__.py` holds a docstring; the package's own holds the public names too (`test_public`)."""
    for module, path in modules():
        if path.name == "__init__.py":
            body = ast.parse(path.read_text(encoding="utf-8")).body
            if any(not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)) for line in body):
                yield f"{module} has more than a docstring in its __init__.py"


def loads_torch() -> Iterator[str]:
    """The modules of common and asking that cannot be imported where there is no torch."""
    rooms = names((*COMMON, *ASKING))
    found = [name for name, path in modules() if name.split(".")[1] in rooms and path.name != "__main__.py"]
    program = (
        "import importlib, json, sys\n"
        f"for name in {NOT_FOR_ASKING!r}: sys.modules[name] = None\n"  # its import fails
        "broken = []\n"
        f"for name in {found!r}:\n"
        "    try: importlib.import_module(name)\n"
        "    except ImportError: broken.append(name)\n"
        "print(json.dumps(broken))\n"
    )
    yield from (f"{name} loads {NOT_FOR_ASKING[0]}" for name in json.loads(fresh(program)))


def loads_heavy() -> Iterator[str]:
    program = f"import sys, pathformer.engine.engine; print(*(n for n in {NOT_FOR_AN_ENGINE!r} if n in sys.modules))"
    yield from (f"`import pathformer.engine.engine` loads {name}" for name in fresh(program).split())


def fresh(program: str) -> str:
    """What the program prints in a process of its own."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


RULES = (wrong_imports, undrawn_rooms, full_inits, loads_torch, loads_heavy)


def breaches() -> list[str]:
    return sorted({found for rule in RULES for found in rule()})


def test_the_rules_hold_but_for_a_list_that_shrinks() -> None:
    allowed = set(ALLOWED.read_text(encoding="utf-8").split("\n")) - {""} if ALLOWED.exists() else set()
    found = set(breaches())
    new, gone = sorted(found - allowed), sorted(allowed - found)
    assert not new, "new breaches:\n" + "\n".join(new)
    assert not gone, "no breach any more, delete these lines of tests/layers.txt:\n" + "\n".join(gone)


@pytest.mark.parametrize(
    ("module", "source", "allowed"),
    [
        ("pathformer.query.compile.bind", "from pathformer.kg.vocab import Vocabulary", True),
        ("pathformer.kg.vocab", "from pathformer.query.ast import Atom", False),
        ("pathformer.kg.vocab", "def f():\n    import pathformer.query", False),
        ("pathformer.kg.vocab", "from ..query import ast", False),
        ("pathformer.kg.vocab", "from .graph import Graph", True),
        ("pathformer.plugins", "from pathformer import config", False),
        ("pathformer.engine.find.points", "from pathformer.models import encoder", False),
        ("pathformer.training.loop", "from pathformer.index import exact", True),
        ("pathformer.cli.ask", "from pathformer import KnowledgeGraph", False),
        ("pathformer.cli.ask", "from pathformer import __version__, plugins", True),
        ("pathformer.kg.vocab", "import numpy", True),
        ("pathformer.query.compile.dnf", "from pathformer.query.ast import Atom", True),
        ("pathformer.query.compile.dnf", "from pathformer.query.syntax import formula", False),
        ("pathformer.engine.reasons.proof", "from pathformer.engine.answer.pipeline import answer", False),
        ("pathformer.engine.engine", "from pathformer.engine.answer import pipeline", True),
        ("pathformer.spaces.box", "from pathformer.kg import graph", False),
    ],
)
def test_the_reader_sees_every_kind_of_import(module: str, source: str, allowed: bool) -> None:
    assert all(breach(module, imported) is None for imported in imports(source, module)) is allowed


def test_the_command_line_starts_light() -> None:
    every = [name for name, _ in modules() if name.split(".")[1] == "cli"]
    program = (
        f"import importlib, sys\nfor name in {every!r}: importlib.import_module(name)\n"
        f"print(*(name for name in {NOT_FOR_CLI!r} if name in sys.modules))"
    )
    assert every
    assert fresh(program).strip() == ""


def test_importing_the_package_loads_nothing() -> None:
    program = "import pathformer, sys; print(*(m for m in sys.modules if m.startswith('pathformer.') or m == 'numpy'))"
    assert fresh(program).strip() == ""


if __name__ == "__main__":
    assert sys.argv[1:] == ["--list"], "python tests/test_layers.py --list > tests/layers.txt"
    print("\n".join(breaches()))
