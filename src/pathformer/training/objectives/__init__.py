"""WHAT IS MINIMISED: one file an objective, from a drawn batch to one loss a query."""

from pathformer.training.objectives._base import Needs, Objective, build

__all__ = ["Needs", "Objective", "build"]
