"""The base of all methods that follow a query link by link: one operator after the other along every path.

P paths, n rows that meet an operator, F forks, D disjuncts, I ids; e, r, q numbers of an entity, a relation, a query.

A method says what one operator does to many rows at once; here is the walk. At each place of the paths, relations and
negations are taken apart, each kind is one call, and the results go back to their paths; a path that has ended waits.
The index tensors belong to the batch, so nothing here depends on ids, and an update can be captured.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from torch import Tensor

from pathformer.models._base import Model
from pathformer.models._batch import Bank, Batch, Paths
from pathformer.models._path_walk import Walk, follow
from pathformer.nn.table import Reading, Table

__all__ = ["LinkModel"]


class LinkModel(Model):
    """A method made of operators: projection, intersection and, where it has them, negation and union."""

    relations: Table  # (R, r)

    @abstractmethod
    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        """Follows one relation from each query: rows (n, q), rows of the relations (n, r) -> (n, q)."""

    @abstractmethod
    def intersect(self, branches: Sequence[Tensor]) -> Tensor:
        """Intersects the branches of each fork: (n_1, q), (n_2, q), ... -> (F, q).

        Forks of most branches come first, so branch j (n_j, q) is that of the first n_j forks, and n_1 = n_2 = F.
        """

    def negate(self, rows: Tensor) -> Tensor:
        """Takes the complement of each query: rows (n, q) -> (n, q)."""
        raise AssertionError(f"{self.name} takes no negation, and yet one got past its check")

    def unite(self, branches: Sequence[Tensor]) -> Tensor:
        """Unites the branches of each fork, given as to `intersect`; for a method that is `native`."""
        raise AssertionError(f"{self.name} has no union of its own, and yet one got past its check")

    def enter(self, entities: Tensor, relations: Tensor) -> Tensor:
        """Follows the first relation of a path, from rows of the entity table (n, e); usually like any other."""
        return self.project(self.space.anchor(entities), relations)

    def embed(self, batch: Batch, ids: Tensor, entities: Reading) -> Tensor:
        """Walks level by level: paths from anchors, forks, paths from variables, ... (I,) -> (D, q)."""
        relations, bank = self.relations.read(), Bank()
        for step, walk in zip(batch.steps, batch.walks, strict=True):
            if isinstance(step, Paths):
                assert walk is not None
                chain = relations.rows(ids.index_select(0, walk.relation_sources))
                if walk.anchored:
                    starts = entities.rows(ids.index_select(0, step.entity_sources))  # (P, e)
                else:
                    starts = bank.take(step.variable_values)  # (P, q)
                bank.add(self._walk(walk, starts, chain))
            else:
                meet = self.unite if step.united else self.intersect
                bank.add(meet(bank.take(step.values).split(step.sizes)))
        return bank.take(batch.roots)

    def _walk(self, walk: Walk, starts: Tensor, chain: Tensor) -> Tensor:
        """Walks all paths of a step to their ends: starts (P, e or q), relations of all hops (., r) -> (P, q)."""
        first = (self.enter, self._negate_anchors) if walk.anchored else (self.project, self.negate)
        return follow(walk, starts, chain, first, (self.project, self.negate))

    def _negate_anchors(self, entities: Tensor) -> Tensor:
        return self.negate(self.space.anchor(entities))
