"""`__all__` is honest: every name in it exists, everything public is in it, and it is sorted."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest

import pathformer

SCRIPTS = {"pathformer.kg.datasets.world.make_world"}  # run by hand, needs packages that are not installed
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(pathformer.__path__, "pathformer.")
    if m.name not in SCRIPTS and not m.name.rpartition(".")[2].startswith("_")
)


def module_tree(name: str) -> ast.Module:
    file = importlib.import_module(name).__file__
    assert file is not None
    return ast.parse(Path(file).read_text(encoding="utf-8"))


def defined(tree: ast.Module) -> set[str]:
    """The public functions and classes that a module defines itself."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")}


def is_empty(tree: ast.Module) -> bool:
    """Nothing but a docstring: a package that only holds its files."""
    return all(isinstance(node, ast.Expr) for node in tree.body)


def test_the_modules_are_found() -> None:
    assert {"pathformer.errors", "pathformer.kg.graph", "pathformer.cli"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_all_is_honest(name: str) -> None:
    module, tree = importlib.import_module(name), module_tree(name)
    if is_empty(tree):
        return
    assert hasattr(module, "__all__"), "a public module lists its names in __all__"
    names = module.__all__
    assert [n for n in names if not hasattr(module, n)] == [], "names that do not exist"
    assert defined(tree) - set(names) == set(), "public names outside __all__"
    assert len(names) == len(set(names)), "a name twice"


def test_the_package_offers_what_it_lists() -> None:
    assert [name for name in pathformer.__all__ if not hasattr(pathformer, name)] == []
    assert dir(pathformer) == sorted(pathformer.__all__)
    assert set(pathformer._HOMES) | {"__version__"} == set(pathformer.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'pathformer' has no attribute 'Grahp'"):
        _ = pathformer.Grahp
