"""What is generated in the docs is as it would be generated now; a message says which script to run."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import pathformer
from pathformer import plugins

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def run_script(name: str) -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "scripts" / f"{name}.py"))


def test_the_page_of_the_command_line() -> None:
    program = "import sys; sys.path.insert(0, 'scripts'); import make_cli_docs; print(make_cli_docs.page(), end='')"
    environment = os.environ | {"COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert page == done.stdout, "run: python scripts/make_cli_docs.py"
    assert sorted(re.findall(r"^## (\S+)$", page, re.MULTILINE)) == sorted(plugins.names("commands"))


@pytest.fixture(scope="module")
def api(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("scripts/make_api_docs.py")


def test_the_page_of_the_api(api: ModuleType) -> None:
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    assert page == api.page(), "run: python scripts/make_api_docs.py"
    for name in set(pathformer.__all__) - {"__version__"}:
        assert f"\n### {name}\n" in page
    for kind in (pathformer.Engine, pathformer.Answers, pathformer.KnowledgeGraph):
        fields = getattr(kind, "__dataclass_fields__", {})
        public = [name for name in vars(kind) if not name.startswith("_") and name not in fields]
        assert public
        assert [name for name in public if f"\n#### {kind.__name__}.{name}\n" not in page] == []


def test_docstrings_become_markdown(api: ModuleType) -> None:
    def ask(question: str, *, top: int = 10) -> str:
        """Ask.

        question: any,
            of any length.
        top: how many.

            an example
        """
        return question * top

    assert api.signature("ask", ask) == "ask(question: str, *, top: int = 10) -> str"
    assert list(api.described("ask", ask))[1] == (
        "Ask.\n\n- `question`: any, of any length.\n- `top`: how many.\n\n```text\nan example\n```\n"
    )


def test_figures_are_those_of_the_records() -> None:
    made = run_script("make_figures_docs")
    used = set()
    for path in made["pages"]():
        text = path.read_text(encoding="utf-8")
        used |= {name for _, name, _ in made["MARKED"].findall(text)}
        assert text == made["filled"](text), f"{path.name}: run: python scripts/make_figures_docs.py"
    assert used == set(made["MAKERS"]), "a figure that no page shows"


def test_learning_curves_are_those_of_the_records() -> None:
    for name, text in run_script("draw_results")["figures"]().items():
        assert (DOCS / "images" / name).read_text(encoding="utf-8") == text, "run: python scripts/draw_results.py"


def test_the_layout_is_that_of_the_imports() -> None:
    made, text = run_script("make_layout_docs"), (DOCS / "reference" / "layout.md").read_text(encoding="utf-8")
    assert text == made["page"](text), "run: python scripts/make_layout_docs.py"
    assert made["PICTURE"].read_text(encoding="utf-8") == made["picture"](), "run: python scripts/make_layout_docs.py"
    named = made["named_files"](text)
    assert len(named) > 100
    gone = [name for name in named if not (made["PACKAGE"] / name).is_file()]
    assert not gone, f"the walks name {gone}: run: python scripts/make_layout_docs.py --walks"


def test_the_layout_knows_every_room() -> None:
    made = run_script("make_layout_docs")
    assert set(made["imports"]()) <= {room for rooms in made["ROOMS"].values() for room in rooms}


def test_pages_that_the_source_names_exist() -> None:
    for folder in ("src", "scripts", "benchmarks", "tests"):
        for path in (ROOT / folder).rglob("*.[pt][yo]*"):
            if path.suffix in (".py", ".toml"):
                for page in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text(encoding="utf-8")):
                    assert (ROOT / page).is_file(), f"{path.relative_to(ROOT)} names {page}"


def test_files_that_pages_name_exist() -> None:
    """A path in backticks is one of the checkout or of the package; what a command makes is named without a folder."""
    for page in [ROOT / "README.md", *sorted(DOCS.glob("**/*.md"))]:
        for name in re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|md|toml|txt|svg))`", page.read_text(encoding="utf-8")):
            there = [root / name for root in (ROOT, ROOT / "src", ROOT / "src" / "pathformer", DOCS, page.parent)]
            made = name.startswith(("films/", "runs/"))
            assert made or any(path.exists() for path in there), f"{page.name} names {name}"
