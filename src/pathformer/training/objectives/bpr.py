"""FuzzQE's objective: an answer nearer than each of the query's own non-answers, by how much does not matter."""

from __future__ import annotations

from torch import Tensor

from pathformer.models._base import Model
from pathformer.models._batch import Batch
from pathformer.training.data import Drawn
from pathformer.training.objectives._base import Needs, Objective, pairwise_loss

__all__ = ["BPR", "OBJECTIVE"]


class BPR(Objective):
    """Bayesian personalised ranking (Rendle et al.) over u negatives a query."""

    @property
    def needs(self) -> Needs:
        """u entities a query."""
        return Needs(negatives=self.config.negatives, filtered=self.config.filtered)

    def losses(self, network: Model, batch: Batch, drawn: Drawn) -> Tensor:
        """One loss a query, (B,)."""
        distances = network.distances(batch, drawn.ids, drawn.candidates)  # (B, 1 + u)
        return pairwise_loss(distances[:, 0], distances[:, 1:])


OBJECTIVE = BPR
