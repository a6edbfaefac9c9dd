"""`__all__` is honest: every name in it exists, everything public is in it. Read from the source, nothing imported."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import pathformer

PACKAGE = Path(pathformer.__file__).parent
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if (path.stem == "__init__" or not path.stem.startswith("_"))]


def listed(tree: ast.Module) -> list[str] | None:
    """The names in `__all__`, None when there is no such list."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and [t.id for t in node.targets if isinstance(t, ast.Name)] == ["__all__"]:
            names: list[str] = ast.literal_eval(node.value)
            return names
    return None


def defined(tree: ast.Module) -> set[str]:
    """Functions and classes of a module."""
    return {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


def bound(tree: ast.Module) -> set[str]:
    """Everything that has a name at the top of a module, imports and values included."""
    names = defined(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    return names


def faults(source: str) -> list[str]:
    """What is wrong with the `__all__` of a source."""
    tree = ast.parse(source)
    if all(isinstance(node, ast.Expr) for node in tree.body):
        return []  # a package that only holds its files
    names = listed(tree)
    if names is None:
        return ["a public module lists its names in __all__"]
    public = {name for name in defined(tree) if not name.startswith("_")}
    return [
        *(f"{name!r} does not exist" for name in sorted(set(names) - bound(tree))),
        *(f"{name!r} is public and not in __all__" for name in sorted(public - set(names))),
        *(["a name twice"] if len(set(names)) < len(names) else []),
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_all_is_honest(path: Path) -> None:
    if path != PACKAGE / "__init__.py":  # its names are lazy, see below
        assert faults(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""Only words."""', []),
        ('__all__ = ["f"]\ndef f(): ...\ndef _g(): ...', []),
        ('from x import f\n__all__ = ["f"]', []),
        ("def f(): ...", ["a public module lists its names in __all__"]),
        ('__all__ = ["g"]\ndef g(): ...\nclass F: ...', ["'F' is public and not in __all__"]),
        ('__all__ = ["g"]', ["'g' does not exist"]),
        ('__all__ = ["g", "g"]\ng = 1', ["a name twice"]),
    ],
)
def test_the_reader_finds_every_fault(source: str, expected: list[str]) -> None:
    assert faults(source) == expected


def test_the_package_offers_what_it_lists() -> None:
    assert [name for name in pathformer.__all__ if not hasattr(pathformer, name)] == []
    assert dir(pathformer) == sorted(pathformer.__all__)
    assert set(pathformer._HOMES) | {"__version__"} == set(pathformer.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'pathformer' has no attribute 'Grahp'"):
        _ = pathformer.Grahp
