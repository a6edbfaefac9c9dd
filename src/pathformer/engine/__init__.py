"""FIT AND ASK: a graph, a trained model and an index behind one question."""

from __future__ import annotations

from pathformer.engine.candidates import Candidates
from pathformer.engine.engine import Engine

__all__ = ["Candidates", "Engine"]
