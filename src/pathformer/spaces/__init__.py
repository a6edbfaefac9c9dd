"""WHERE POINTS LIVE: one file a space, its parameters, their initial range and its distance."""

from pathformer.spaces._base import Space

__all__ = ["Space"]
