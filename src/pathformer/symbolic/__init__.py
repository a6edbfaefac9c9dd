"""WHAT FOLLOWS EXACTLY: answers by traversal, benchmark queries by sampling."""

from __future__ import annotations

from pathformer.symbolic.answer import answer, answer_rows
from pathformer.symbolic.benchmark import Benchmark, graph_pair, read_folder, sample_benchmark
from pathformer.symbolic.pairs import GraphPair
from pathformer.symbolic.protocol import Protocol, protocol_for
from pathformer.symbolic.queries import Queries, Ragged
from pathformer.symbolic.sample import Rules, sample
from pathformer.symbolic.verify import verify

__all__ = [
    "Benchmark",
    "GraphPair",
    "Protocol",
    "Queries",
    "Ragged",
    "Rules",
    "answer",
    "answer_rows",
    "graph_pair",
    "protocol_for",
    "read_folder",
    "sample",
    "sample_benchmark",
    "verify",
]
