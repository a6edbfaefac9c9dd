"""A small graph with splits, its benchmark, and the released query folders."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from pathformer.kg import KnowledgeGraph
from pathformer.symbolic.benchmark import Benchmark, sample_benchmark
from pathformer.symbolic.protocol import Protocol


@pytest.fixture(scope="session")
def small_graph(small_graph_triples: dict[str, list[tuple[str, str, str]]]) -> KnowledgeGraph:
    parts = small_graph_triples
    return KnowledgeGraph.from_triples(parts["train"], parts["valid"], parts["test"], name="small")


@pytest.fixture(scope="session")
def small_benchmark(small_graph: KnowledgeGraph) -> Benchmark:
    return sample_benchmark(small_graph, Protocol(evaluated=30, train=80, limit=25))


@pytest.fixture(scope="session")
def released(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archives of released queries, unpacked."""
    folder = tmp_path_factory.mktemp("released")
    for name in ("wn18rr-qa", "fb15k-237-q2b", "nell-q2b"):
        with tarfile.open(data_dir / f"{name}.tar.xz") as archive:
            archive.extractall(folder, filter="data")
    return folder
