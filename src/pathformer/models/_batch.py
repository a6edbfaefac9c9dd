"""A layout on a device: the index tensors that its steps need, made once and used for every batch of ids.

Q queries, I ids, D disjuncts, V values; in a path step P paths, T tokens: A of entities, O of operators, W of
variables; in a fork step F forks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pathformer.models._path_walk import Walk
from pathformer.models._sequences import FlatSequences
from pathformer.nn.packing import Packing
from pathformer.nn.table import Reading, assemble, take_once
from pathformer.plan.layout import ForkStep, Layout, PathStep, Token
from pathformer.plan.lift_negations import lift_negations

__all__ = ["Bank", "Batch", "Forks", "Paths"]


@dataclass(frozen=True, eq=False)
class Paths:
    """A path step: its tokens by kind, each with their positions among the T packed rows."""

    packing: Packing
    rows: int  # T
    entity_sources: Tensor  # (A,) positions in the batch's ids
    entity_positions: Tensor  # (A,)
    operator_sources: Tensor  # (O,) positions in the batch's ids; 0 where negated
    operator_negated: Tensor  # (O,) bool
    operator_positions: Tensor  # (O,)
    variable_values: Tensor  # (W,) numbers of values
    variable_positions: Tensor  # (W,)
    order: Tensor  # (T,) the rank of each row among the positions of entities, operators, variables

    @classmethod
    def of(cls, step: PathStep, device: torch.device) -> Paths:
        """Makes the tensors of a step."""
        positions = {token: np.flatnonzero(step.kinds == token) for token in (Token.ENTITY, Token.VARIABLE)}
        operators = np.flatnonzero((step.kinds == Token.RELATION) | (step.kinds == Token.NEGATION))
        entities, variables = positions[Token.ENTITY], positions[Token.VARIABLE]
        order = np.empty(step.tokens, np.int64)
        order[np.concatenate([entities, operators, variables])] = np.arange(step.tokens)
        return cls(
            Packing.of(step.lengths, device),
            step.tokens,
            _tensor(step.sources[entities], device),
            _tensor(entities, device),
            _tensor(step.sources[operators], device),
            torch.from_numpy(step.kinds[operators] == Token.NEGATION).to(device),
            _tensor(operators, device),
            _tensor(step.sources[variables], device),
            _tensor(variables, device),
            _tensor(order, device),
        )

    def operators(self, ids: Tensor, table: Reading) -> Tensor:
        """Returns the row numbers of operators in their table, whose last row is [Negation]: ids (I,) -> (O,)."""
        negation = len(table.weight) - 1
        return ids.index_select(0, self.operator_sources).masked_fill(self.operator_negated, negation)

    def tokens(self, ids: Tensor, entities: Reading, operators: Reading, values: Tensor | None) -> Tensor:
        """Reads each path's start, an anchor's row or a variable's value (W, d), and its operators' rows: (T, d)."""
        anchors = ids.index_select(0, self.entity_sources)
        parts = [
            (entities, anchors, self.entity_positions),
            (operators, self.operators(ids, operators), self.operator_positions),
        ]
        variables = None if values is None else (values, self.variable_positions)
        return assemble(parts, variables, self.order, self.rows)


@dataclass(frozen=True, eq=False)
class Forks:
    """A step of forks, or of unions: the values of branch r of each fork that has one, forks of most branches first."""

    values: Tensor  # (n_1 + n_2 + ...,) branch 1 of every fork, then branch 2, ...
    sizes: tuple[int, ...]  # n_1, n_2, ...
    united: bool = False  # whether branches are united, not intersected
    negated: Tensor | None = None  # positions of denied values among `values`, where negations are lifted
    order: Tensor | None = None  # (n_1 + n_2 + ...,) rows to read, where denied values follow all values

    @classmethod
    def of(cls, step: ForkStep, device: torch.device, negated: npt.NDArray[np.bool_] | None = None) -> Forks:
        """Makes the tensors of a step. negated: which values are denied (V,), where negations are lifted."""
        values = np.concatenate(step.branches)
        made = cls(_tensor(values, device), tuple(map(len, step.branches)), step.united)
        denied = np.flatnonzero(negated[values]) if negated is not None else np.empty(0, np.int64)
        if not len(denied):
            return made
        order = np.arange(len(values))
        order[denied] = len(values) + np.arange(len(denied))
        return replace(made, negated=_tensor(denied, device), order=_tensor(order, device))


@dataclass(frozen=True, eq=False)
class Batch:
    """A layout and its index tensors."""

    layout: Layout
    steps: tuple[Paths | Forks, ...]
    roots: Tensor  # (D,)
    owners: Tensor  # (D,)

    @classmethod
    def of(cls, layout: Layout, device: torch.device | str = "cpu") -> Batch:
        """Puts a layout on a device."""
        target = torch.device(device)
        steps = tuple(
            Paths.of(step, target) if isinstance(step, PathStep) else Forks.of(step, target) for step in layout.steps
        )
        return cls(layout, steps, _tensor(layout.roots, target), _tensor(layout.owners, target))

    @cached_property
    def walks(self) -> tuple[Walk | None, ...]:
        """The path steps one operator at a time, made on first use: for link-by-link methods; None for forks."""
        return tuple(Walk.of(step, self.device) if isinstance(step, PathStep) else None for step in self.layout.steps)

    @cached_property
    def at_roots(self) -> tuple[Tensor, ...]:
        """Marks the values of each step that stand for a disjunct and feed nothing else: (P,) or (F,) bool each."""
        numbers = [step.first + np.arange(len(step)) for step in self.layout.steps]
        return tuple(torch.from_numpy(np.isin(part, self.layout.roots)).to(self.device) for part in numbers)

    @cached_property
    def positive(self) -> Tensor:
        """Marks disjuncts of queries without a negation with 1, others with 0: (D,) float32."""
        blocks = self.layout.blocks
        found = np.repeat([not block.structure.negated for block in blocks], [block.count for block in blocks])
        return torch.from_numpy(found[self.layout.owners].astype(np.float32)).to(self.device)

    @cached_property
    def sequences(self) -> FlatSequences:
        """One sequence a query, made on first use: for methods that read whole queries."""
        return FlatSequences.of(self.layout, self.device)

    @cached_property
    def lifted(self) -> Batch:
        """This batch with negations moved into forks (`plan.lift_negations`), for methods whose forks take them."""
        layout, negated = lift_negations(self.layout)
        steps = tuple(
            Paths.of(step, self.device) if isinstance(step, PathStep) else Forks.of(step, self.device, negated)
            for step in layout.steps
        )
        return Batch(layout, steps, _tensor(layout.roots, self.device), self.owners)

    @property
    def device(self) -> torch.device:
        """The device of its tensors."""
        return self.roots.device

    def smallest(self, distances: Tensor) -> Tensor:
        """Takes the smallest distance over the disjuncts of each query: (D, K) -> (Q, K)."""
        if not self.layout.united:
            return distances
        owners = self.owners[:, None].expand_as(distances)
        far = distances.new_full((self.layout.queries, distances.shape[1]), torch.inf)
        return far.scatter_reduce(0, owners, distances, "amin")


class Bank:
    """The values that the steps of a batch have written so far; each is read once, by a later step or as a root."""

    def __init__(self) -> None:
        self._parts: list[Tensor] = []

    def add(self, values: Tensor) -> None:
        """Appends a step's values (n, q)."""
        self._parts.append(values)

    def take(self, numbers: Tensor) -> Tensor:
        """Returns values by number: (n,) -> (n, q)."""
        if len(self._parts) > 1:
            self._parts = [torch.cat(self._parts)]
        return take_once(self._parts[0], numbers)


def _tensor(values: npt.NDArray[np.int64], device: torch.device) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values)).to(device)
