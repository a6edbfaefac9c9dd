"""The page of the API is current and complete."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import pathformer

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def maker(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("scripts/make_api_docs.py")


def test_the_page_is_current(maker: ModuleType) -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert page == maker.page(), "run: python scripts/make_api_docs.py"


def test_every_public_name_has_its_entry(maker: ModuleType) -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for name in set(pathformer.__all__) - {"__version__"}:
        assert f"\n### {name}\n" in page
    for kind in (pathformer.Engine, pathformer.Answers, pathformer.KnowledgeGraph):
        fields = getattr(kind, "__dataclass_fields__", {})
        own = [name for name, _ in inspect.getmembers(kind) if name in vars(kind) and name not in fields]
        public = [name for name in own if not name.startswith("_")]
        assert public
        assert [name for name in public if f"\n#### {kind.__name__}.{name}\n" not in page] == []


def test_docstrings_become_markdown(maker: ModuleType) -> None:
    def ask(question: str, *, top: int = 10) -> str:
        """Ask.

        question: any,
            of any length.
        top: how many.

            an example
        """
        return question * top

    assert maker.signature("ask", ask) == "ask(question: str, *, top: int = 10) -> str"
    assert list(maker.described("ask", ask))[1] == (
        "Ask.\n\n- `question`: any, of any length.\n- `top`: how many.\n\n```text\nan example\n```\n"
    )
