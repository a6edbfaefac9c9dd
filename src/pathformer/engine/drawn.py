"""Questions of a fit that lie in its folder.

How many were drawn in time depends on the clock, so that drawing them again would not give the same ones. Ids alone are
kept; answers follow from the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pathformer.engine.heldout import Questions
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import STRUCTURES
from pathformer.symbolic.answer import answer_rows
from pathformer.symbolic.benchmark import graph_pair
from pathformer.symbolic.queries import Queries

__all__ = ["drawn_once"]

_FILE = "questions.npz"
_EVERYDAY = "everyday "


def drawn_once(folder: Path, kg: KnowledgeGraph, draw: Callable[[], Questions]) -> Questions:
    """The questions that an earlier sitting in this folder drew, else those of `draw`, which are kept there."""
    file = folder / _FILE
    if file.is_file():
        return _read(file, kg)
    questions = draw()
    new = file.with_suffix(".part.npz")
    np.savez(new, **_rows(questions))  # type: ignore[arg-type]  # its other keyword is not meant
    new.rename(file)
    return questions


def _rows(questions: Questions) -> dict[str, npt.NDArray[np.int32]]:
    parts = {"train": questions.train, "valid": questions.valid, "test": questions.test}
    parts |= {_EVERYDAY + split: asked for split, asked in questions.everyday.items()}
    return {f"{part}/{name}": asked.ids for part, queries in parts.items() for name, asked in queries.items()}


def _read(file: Path, kg: KnowledgeGraph) -> Questions:
    parts: dict[str, dict[str, Queries]] = {"train": {}, "valid": {}, "test": {}}
    with np.load(file, allow_pickle=False) as stored:
        for key in stored.files:
            part, name = key.split("/")
            structure, rows = STRUCTURES[name], stored[key]
            graphs = graph_pair(kg, part.removeprefix(_EVERYDAY))
            parts.setdefault(part, {})[name] = Queries(structure, rows, *answer_rows(structure, rows, graphs))
    everyday = {part.removeprefix(_EVERYDAY): found for part, found in parts.items() if part.startswith(_EVERYDAY)}
    return Questions(parts["train"], parts["valid"], parts["test"], everyday)
