"""How far an entity is from a point: the L1 norm, the angle, the inner product, or whatever a space says.

b points, N entities; e, q numbers of an entity, a point; f of both as they are compared.

L1 norm, angle and inner product have kernels and indexes of their own. Some spaces' distances are inner products of
vectors that are made of the entity and of the query, with a bias or a scale: Dist(e, q) = c(q) - <-g(q), features(e)>;
so are those of two spaces side by side that are angles or inner products.
Every other space is searched by its own `distance`. (Divergences of Beta and Gamma distributions are inner products as
well, but their vectors lie all on one side: of 5,000 made-up ones a graph of the largest products found a third of the
nearest at most, however broad the walk.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.errors import InputError
from pathformer.spaces._base import Space
from pathformer.spaces._beside import Beside
from pathformer.spaces._derived import Bilinear
from pathformer.spaces.fuzzy import Fuzzy
from pathformer.spaces.hermitian import Hermitian
from pathformer.spaces.inner import Inner
from pathformer.spaces.kernels.l1_rank import L1Table
from pathformer.spaces.point import Point
from pathformer.spaces.sphere import Sphere

__all__ = ["Measure", "Metric"]

Metric = Literal["l1", "cosine", "inner", "space"]


@dataclass(frozen=True)
class Measure:
    """A distance: `l1` is |p - e|_1, `cosine` is scale (1 - cos), `inner` is -<p, e>, `space` is a space's own."""

    metric: Metric
    scale: float = 1.0  # of cosine
    space: Space | None = None  # of space; of inner, where it says what is multiplied

    @classmethod
    def of(cls, metric: str | Space) -> Measure:
        """A metric by name, or that of a space: `l1` for points, `cosine` for the sphere, `inner`, or its own."""
        match metric:
            case Point():
                return cls("l1")
            case Sphere():
                return cls("cosine", scale=float(metric.log_scale.detach().float().exp()))
            case Hermitian():
                return cls("inner")
            case Inner() | Fuzzy():
                return cls("inner", space=metric)
            case Beside() if {cls.of(part).metric for part in metric.both} <= {"cosine", "inner"}:
                return cls("inner", space=metric)
            case Space():
                return cls("space", space=metric)
            case "l1" | "cosine" | "inner":
                return cls(metric)
        raise InputError(f"no metric {metric!r}; there are l1, cosine, inner, and any space")

    @property
    def facts(self) -> dict[str, Any]:
        """What a saved index says of it."""
        space = None if self.space is None else type(self.space).__name__
        return {"metric": self.metric, "scale": self.scale, "space": space}

    @classmethod
    def from_facts(cls, facts: dict[str, Any], space: Space | None) -> Measure:
        """What `facts` described; a distance that belongs to a space needs that space again."""
        if facts["space"] is None:
            return cls(facts["metric"], scale=facts["scale"])
        if space is None:
            raise InputError(f"this index measures by a model's {facts['space']} space: give the space to load it")
        if type(space).__name__ != facts["space"]:
            raise InputError(f"this index measures by a {facts['space']} space, not by a {type(space).__name__} one")
        return cls(facts["metric"], space=space)

    def check_vector_metric(self, backend: str) -> None:
        """Refuse a space whose distance is not that of two vectors, for a backend that knows nothing else."""
        if self.metric == "space":
            known = "the L1 norm, the cosine and inner products"
            raise InputError(f"{backend} knows {known}; {self.spoken} has its own distance: use exact")

    @property
    def spoken(self) -> str:
        """The space that it belongs to, for people; nothing where it belongs to none."""
        spaces = self.space.both if isinstance(self.space, Beside) else (self.space,)
        return " beside ".join(type(space).__name__ for space in spaces if space is not None)

    def entity_width(self, width: int) -> int:
        """Numbers of an entity as it is given, where its row has so many."""
        return width if self.space is None else self.space.entity_width

    def width(self, width: int) -> int:
        """Numbers of a point as it is given, where an entity's row has so many."""
        return width if self.space is None else self.space.query_width

    @property
    def _made(self) -> Bilinear | Beside | None:
        """The space that makes the vectors of an inner product, where one does."""
        return self.space if self.metric == "inner" and isinstance(self.space, Bilinear | Beside) else None

    def rows(self, entities: Tensor) -> Tensor:
        """Entities as they are compared: (N, e) -> (N, f), those of a vector metric as they are."""
        if self._made is None:
            return entities
        with torch.no_grad():
            return self._made.features(entities)

    def factors(self, rows: Tensor) -> Tensor | None:
        """What an inner product with a point is multiplied by: 1 / |e| makes it a cosine (N,); None for sums."""
        if self.metric == "inner":
            return torch.ones(len(rows))
        if self.metric != "cosine":
            return None
        lengths: Tensor = rows.float().norm(dim=-1)
        return lengths.clamp_min(1e-12).reciprocal()  # as torch's normalize: a zero row is at right angles

    def points(self, points: Tensor) -> Tensor:
        """Points as they are compared: (b, q) -> (b, f) in float32, of length one for cosine."""
        if self.metric == "cosine":
            return F.normalize(points.float(), dim=-1)
        if self._made is None:
            return points.float()
        with torch.no_grad():
            return -self._made.factors(points)[0]

    def constants(self, points: Tensor) -> Tensor | None:
        """What every distance of a point has beside the product: (b,); None for nothing."""
        if self._made is None:
            return None
        with torch.no_grad():
            return self._made.factors(points)[1]

    def from_products(self, negated: Tensor) -> Tensor:
        """The distance whose cosine is `-negated`; other distances are what they are."""
        return self.scale * (1.0 + negated) if self.metric == "cosine" else negated

    def to_all(self, points: Tensor, rows: Tensor) -> Tensor:
        """Distances of points as `points` gives them to rows as `rows` does, `constants` apart: (b, N) float32."""
        with torch.no_grad():
            match self.metric:
                case "l1":
                    return L1Table.of(rows).distances(points)
                case "cosine":
                    factors = self.factors(rows)
                    assert factors is not None
                    return self.from_products(-(points @ rows.float().t()) * factors)
                case "inner":
                    return -(points @ rows.float().t())
                case "space":
                    assert self.space is not None
                    return self.space.distance_to_all(points, rows).float()
