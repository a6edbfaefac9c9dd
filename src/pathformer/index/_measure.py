"""How far an entity is from a point: the L1 norm, the angle, or whatever a space says.

b points, N entities, K candidates; e, q numbers of an entity, a point.

The L1 norm and the angle have kernels and indexes of their own; every other space is searched by its own `distance`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.errors import InputError
from pathformer.nn.kernels.l1_rank import L1Table
from pathformer.spaces import Space
from pathformer.spaces.point import Point
from pathformer.spaces.sphere import Sphere

__all__ = ["Measure", "Metric"]

Metric = Literal["l1", "cosine", "space"]


@dataclass(frozen=True)
class Measure:
    """A distance: `l1` is |p - e|_1, `cosine` is scale (1 - cos), `space` is a space's own."""

    metric: Metric
    scale: float = 1.0  # of cosine
    space: Space | None = None  # of space

    @classmethod
    def of(cls, metric: str | Space) -> Measure:
        """A metric by name, or that of a space: `l1` for points, `cosine` for the sphere, else its own."""
        match metric:
            case Point():
                return cls("l1")
            case Sphere():
                return cls("cosine", scale=float(metric.log_scale.detach().float().exp()))
            case Space():
                return cls("space", space=metric)
            case "l1" | "cosine":
                return cls(metric)
        raise InputError(f"no metric {metric!r}; there are l1, cosine, and any space")

    @property
    def facts(self) -> dict[str, Any]:
        """What a saved index says of it."""
        space = None if self.space is None else type(self.space).__name__
        return {"metric": self.metric, "scale": self.scale, "space": space}

    @classmethod
    def from_facts(cls, facts: dict[str, Any], space: Space | None) -> Measure:
        """What `facts` described; a distance that belongs to a space needs that space again."""
        if facts["metric"] != "space":
            return cls(facts["metric"], scale=facts["scale"])
        if space is None:
            raise InputError(f"this index measures by a model's {facts['space']} space: give the space to load it")
        return cls("space", space=space)

    def check_vector_metric(self, backend: str) -> None:
        """Refuse a space whose distance is not that of two vectors, for a backend that knows nothing else."""
        if self.space is not None:
            name = type(self.space).__name__
            raise InputError(f"{backend} knows the L1 norm and the cosine only; {name} has its own distance: use exact")

    def width(self, entity_width: int) -> int:
        """Numbers of a point."""
        return entity_width if self.space is None else self.space.query_width

    def factors(self, rows: Tensor) -> Tensor | None:
        """What an inner product with a unit point is multiplied by to be a cosine: 1 / |e| (N,); None for others."""
        if self.metric != "cosine":
            return None
        lengths: Tensor = rows.float().norm(dim=-1)
        return lengths.clamp_min(1e-12).reciprocal()  # as torch's normalize: a zero row is at right angles

    def points(self, points: Tensor) -> Tensor:
        """Points as they are compared: in float32, of length one for cosine."""
        return F.normalize(points.float(), dim=-1) if self.metric == "cosine" else points.float()

    def from_products(self, negated: Tensor) -> Tensor:
        """The distance whose cosine is `-negated`; other distances are what they are."""
        return self.scale * (1.0 + negated) if self.metric == "cosine" else negated

    def to_all(self, points: Tensor, rows: Tensor) -> Tensor:
        """Distances of points (b, q), as `points` gives them, to all rows (N, e): (b, N) float32."""
        with torch.no_grad():
            match self.metric:
                case "l1":
                    return L1Table.of(rows).distances(points)
                case "cosine":
                    factors = self.factors(rows)
                    assert factors is not None
                    return self.from_products(-(points @ rows.float().t()) * factors)
                case "space":
                    assert self.space is not None
                    return self.space.distance_to_all(points, rows).float()
