"""Imports point left: the drawing of the layers, kept true by reading every import of the package."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pathformer

PACKAGE = Path(pathformer.__file__).parent

# Each imports only from those before it; names on one line do not import each other.
LAYERS = (
    ("errors", "loops", "toml", "words"),
    ("plugins", "config"),
    ("kg",),
    ("query",),
    ("symbolic",),
    ("plan",),
    ("nn",),
    ("spaces",),
    ("models",),
    ("index",),
    ("evaluation",),
    ("training",),
    ("engine",),
    ("experiments", "server"),
    ("cli",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
WITHOUT_GRAPH = ("plan", "nn", "spaces", "models")  # a query becomes a point without one
WITHOUT_TORCH = ("kg", "query", "symbolic", "plan", "cli")


def imports(source: str, module: str) -> Iterator[tuple[int, str]]:
    """Line and full name of everything that the source of `module` imports, at its top or inside functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def violations(source: str, module: str) -> Iterator[str]:
    """Every import of a `pathformer` module that does not point left."""
    here = module.split(".")[1]
    for line, name in imports(source, module):
        package, _, rest = name.partition(".")
        there = rest.partition(".")[0]
        if package != "pathformer" or there in ("__version__", here):
            continue
        if there not in RANK:
            yield f"{module}:{line} imports {name}: name the module it lives in"
        elif RANK[there] >= RANK[here]:
            yield f"{module}:{line} imports {name}: {here} stands before or beside {there}"


def modules() -> list[tuple[str, Path]]:
    return [
        (".".join(["pathformer", *path.relative_to(PACKAGE).with_suffix("").parts]), path)
        for path in sorted(PACKAGE.rglob("*.py"))
        if path not in (PACKAGE / "__init__.py", PACKAGE / "__main__.py")
    ]


def test_every_part_has_its_place_in_the_drawing() -> None:
    assert {name.split(".")[1] for name, _ in modules()} <= set(RANK)


def test_imports_point_left() -> None:
    found = [fault for name, path in modules() for fault in violations(path.read_text(encoding="utf-8"), name)]
    assert not found, "\n".join(found)


def test_what_makes_a_point_of_a_query_knows_no_graph() -> None:
    found = [
        f"{module}:{line} imports {name}"
        for module, path in modules()
        if module.split(".")[1] in WITHOUT_GRAPH
        for line, name in imports(path.read_text(encoding="utf-8"), module)
        if name.startswith(("pathformer.kg", "pathformer.symbolic"))
    ]
    assert not found, "\n".join(found)
    assert any(module == "pathformer.models.pathformer" for module, _ in modules())


@pytest.mark.parametrize(
    ("module", "source", "allowed"),
    [
        ("pathformer.query.bind", "from pathformer.kg.vocab import Vocabulary", True),
        ("pathformer.kg.vocab", "from pathformer.query.ast import Atom", False),
        ("pathformer.kg.vocab", "def f():\n    import pathformer.query", False),
        ("pathformer.kg.vocab", "from ..query import ast", False),
        ("pathformer.kg.vocab", "from .graph import Graph", True),
        ("pathformer.plugins", "from pathformer import config", False),
        ("pathformer.server.app", "from pathformer.experiments import run", False),
        ("pathformer.cli.ask", "from pathformer import KnowledgeGraph", False),
        ("pathformer.cli.__init__", "from pathformer import __version__, plugins", True),
        ("pathformer.kg.vocab", "import numpy", True),
    ],
)
def test_the_reader_sees_every_kind_of_import(module: str, source: str, allowed: bool) -> None:
    assert (not list(violations(source, module))) is allowed


def loaded_after(packages: tuple[str, ...], suspects: tuple[str, ...]) -> str:
    """Import every module of the packages in a fresh process; which of the suspects came along."""
    program = (
        "import importlib, pkgutil, sys\n"
        f"for name in {packages!r}:\n"
        "    package = importlib.import_module(f'pathformer.{name}')\n"
        "    for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        if not module.name.endswith('.make_world'):\n"
        "            importlib.import_module(module.name)\n"
        f"print(*(name for name in {suspects!r} if name in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_torch_stays_out_up_to_the_plan_and_in_the_command_line() -> None:
    here = tuple(name for name in WITHOUT_TORCH if (PACKAGE / name).is_dir())
    assert loaded_after(here, ("torch",)) == ""


def test_the_command_line_starts_light() -> None:
    assert loaded_after(("cli",), ("torch", "numba", "pyarrow", "rdflib", "numpy")) == ""


def test_importing_the_package_loads_nothing() -> None:
    program = "import pathformer, sys; print(*(m for m in sys.modules if m.startswith('pathformer.') or m == 'numpy'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == ""
