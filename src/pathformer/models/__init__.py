"""HOW A QUERY BECOMES A POINT: one file a method."""

from pathformer.models._base import Combine, Model, build, find
from pathformer.models._batch import Batch
from pathformer.models._contract import RULES, broken_rules
from pathformer.models._links import LinkModel

__all__ = ["RULES", "Batch", "Combine", "LinkModel", "Model", "broken_rules", "build", "find"]
