"""What is trained here is small: one thread, and UMLS where it is a graph."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.trials import trained_on

from pathformer.kg.datasets import load
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.querysets.queries import Queries


@pytest.fixture(autouse=True, scope="module")
def _one_thread(one_thread: None) -> None:
    """In every module of this folder."""


@pytest.fixture(scope="session")
def kg(data_dir: Path) -> KnowledgeGraph:
    """UMLS."""
    return load("umls", data_dir)


@pytest.fixture(scope="session")
def seen(kg: KnowledgeGraph) -> dict[str, Queries]:
    """What is trained on."""
    return trained_on(kg)
