"""What the pages `docs/methods/add-*.md` add is found when an installed package brings it, through an entry point.

The pages themselves are run by `test_docs`, where a folder of the user's brings the same files.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pathformer import plugins

PAGES = sorted((Path(__file__).parents[1] / "docs" / "methods").glob("add-*.md"))
FILE = re.compile(r'^```python title="mine/(\w+)/(\w+)\.py"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
GIVES = {"models": "METHOD", "spaces": "SPACE", "syntaxes": "parse", "indexes": "INDEX", "formats": "FORMAT"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_package_adds_it(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = FILE.search(page.read_text(encoding="utf-8"))
    assert found is not None
    group, name, code = found.groups()
    package, about = tmp_path / f"pathformer_{name}", tmp_path / f"pathformer_{name}-1.0.dist-info"
    package.mkdir()
    about.mkdir()
    (package / "__init__.py").touch()
    (package / "added.py").write_text(code, encoding="utf-8")
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: pathformer-{name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[pathformer.{group}]\n{name} = pathformer_{name}.added\n")
    assert name not in plugins.names(group)
    monkeypatch.syspath_prepend(tmp_path)
    assert name in plugins.names(group)
    assert hasattr(plugins.load(group, name), GIVES[group])


def test_every_page_is_for_another_registry() -> None:
    groups = [found[1] for page in PAGES if (found := FILE.search(page.read_text(encoding="utf-8")))]
    assert sorted(groups) == sorted(GIVES)
    assert set(groups) <= set(plugins.GROUPS)
