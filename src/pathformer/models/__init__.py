"""HOW A QUERY BECOMES A POINT: one file a method."""

from pathformer.models._base import Combine, Model, build, find
from pathformer.models._batch import Batch

__all__ = ["Batch", "Combine", "Model", "build", "find"]
