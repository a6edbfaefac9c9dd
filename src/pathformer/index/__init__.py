"""THE NEAREST ENTITIES: one file a backend; build, search, add, remove, save, load."""

from pathformer.index._base import Found, Index, build, find, load
from pathformer.index._measure import Measure, Metric

__all__ = ["Found", "Index", "Measure", "Metric", "build", "find", "load"]
