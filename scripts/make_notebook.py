"""Make examples/notebook.ipynb from examples/notebook.py: `python scripts/make_notebook.py`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"


def notebook(source: str) -> dict[str, Any]:
    """A notebook without outputs whose cells are the parts after `# %%`; `[markdown]` parts are comments."""
    cells = []
    for number, part in enumerate(re.split(r"^# %%", source, flags=re.MULTILINE)[1:]):
        kind, _, body = part.partition("\n")
        lines = body.strip("\n").split("\n")
        cell: dict[str, Any] = {"id": f"cell-{number}", "metadata": {}}
        if kind.strip() == "[markdown]":
            text = [line.removeprefix("#").removeprefix(" ") for line in lines]
            cell |= {"cell_type": "markdown", "source": "\n".join(text)}
        else:
            cell |= {"cell_type": "code", "execution_count": None, "outputs": [], "source": "\n".join(lines)}
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def text() -> str:
    """What the file holds."""
    made = notebook((EXAMPLES / "notebook.py").read_text(encoding="utf-8"))
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    (EXAMPLES / "notebook.ipynb").write_text(text(), encoding="utf-8")
