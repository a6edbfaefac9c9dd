"""Ask an incomplete knowledge graph questions of several hops, with and, or, not.

The names below load on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0.dev0"

_HOMES: dict[str, str] = {
    "Answer": "pathformer.engine.answer.answers",
    "Answers": "pathformer.engine.answer.answers",
    "Engine": "pathformer.engine.engine",
    "KnowledgeGraph": "pathformer.kg.knowledge",
    "fit": "pathformer.fitting.fit",
    "load": "pathformer.engine.engine",
    "update": "pathformer.fitting.update",
}

__all__ = ["Answer", "Answers", "Engine", "KnowledgeGraph", "__version__", "fit", "load", "update"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pathformer' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_HOMES[name]), name)
    except ModuleNotFoundError:
        from pathformer.errors import needs_torch

        with needs_torch(f"pathformer.{name}"):
            raise


def __dir__() -> list[str]:
    return sorted(__all__)
