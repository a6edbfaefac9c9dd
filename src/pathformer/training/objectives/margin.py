"""The paper's objective: an answer nearer than the margin, the query's own non-answers farther (Eq. 6)."""

from __future__ import annotations

from torch import Tensor

from pathformer.models._base import Model
from pathformer.models._batch import Batch
from pathformer.training.data import Drawn
from pathformer.training.objectives._base import Needs, Objective, margin_loss

__all__ = ["OBJECTIVE", "Margin"]


class Margin(Objective):
    """Eq. 6, halved as in the reference code, which takes the mean of its two terms."""

    @property
    def needs(self) -> Needs:
        """u entities a query."""
        return Needs(negatives=self.config.negatives, filtered=self.config.filtered)

    def losses(self, network: Model, batch: Batch, drawn: Drawn) -> Tensor:
        """One loss a query, (B,)."""
        distances = network.distances(batch, drawn.ids, drawn.candidates)  # (B, 1 + u)
        return margin_loss(distances[:, 0], distances[:, 1:], network.space.margin) / 2


OBJECTIVE = Margin
