"""T-norms and their unions: how the beliefs in two parts of a query become the belief in both, or in either.

a, b: beliefs between 0 and 1, arrays of one shape; xp: the array library that they belong to. All forms below are
arranged so that a certain part changes nothing, to the last bit: `both(a, 1)` is a, `either(a, 0)` is a and
`either(a, 1)` is 1. Known answers therefore score exactly 1, and small beliefs are not lost beside 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

__all__ = ["NORMS", "Goedel", "Lukasiewicz", "Norm", "Product"]

Array = Any  # of the array library


class Norm(ABC):
    """A t-norm, with the union that belongs to it by De Morgan's law: either(a, b) = 1 - both(1 - a, 1 - b)."""

    code: ClassVar[int]  # by which compiled loops know it

    @staticmethod
    @abstractmethod
    def both(xp: Any, a: Array, b: Array) -> Array:
        """Returns the belief in both parts."""

    @staticmethod
    @abstractmethod
    def either(xp: Any, a: Array, b: Array) -> Array:
        """Returns the belief in at least one part."""


class Product(Norm):
    """both = a b;  either = a + b - a b."""

    code = 0

    @staticmethod
    def both(xp: Any, a: Array, b: Array) -> Array:
        """Returns a b."""
        return a * b

    @staticmethod
    def either(xp: Any, a: Array, b: Array) -> Array:
        """Returns a + b - a b."""
        high = xp.maximum(a, b)
        return high + xp.minimum(a, b) * (1 - high)


class Goedel(Norm):
    """both = min(a, b);  either = max(a, b)."""

    code = 1

    @staticmethod
    def both(xp: Any, a: Array, b: Array) -> Array:
        """Returns min(a, b)."""
        return xp.minimum(a, b)

    @staticmethod
    def either(xp: Any, a: Array, b: Array) -> Array:
        """Returns max(a, b)."""
        return xp.maximum(a, b)


class Lukasiewicz(Norm):
    """both = max(0, a + b - 1);  either = min(1, a + b)."""

    code = 2

    @staticmethod
    def both(xp: Any, a: Array, b: Array) -> Array:
        """Returns max(0, a + b - 1)."""
        return xp.clip(xp.minimum(a, b) + (xp.maximum(a, b) - 1), 0, 1)

    @staticmethod
    def either(xp: Any, a: Array, b: Array) -> Array:
        """Returns min(1, a + b)."""
        return xp.clip(a + b, 0, 1)


NORMS: dict[str, type[Norm]] = {"product": Product, "goedel": Goedel, "lukasiewicz": Lukasiewicz}
