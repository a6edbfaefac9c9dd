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

from pathformer.models._sequences import FlatSequences
from pathformer.models._walk import Walk
from pathformer.nn.packing import Packing
from pathformer.nn.table import Reading, assemble, take_once
from pathformer.plan.layout import ForkStep, Layout, PathStep, Token
from pathformer.plan.lift import lift_negations

__all__ = ["Bank", "Batch", "Forks", "Paths"]


@dataclass(frozen=True, eq=False)
class Paths:
    """A path step: its tokens by kind, each with its places among the T packed rows."""

    packing: Packing
    rows: int  # T
    entity_sources: Tensor  # (A,) places in the batch's ids
    entity_places: Tensor  # (A,)
    operator_sources: Tensor  # (O,) places in the batch's ids; 0 where negated
    operator_negated: Tensor  # (O,) bool
    operator_places: Tensor  # (O,)
    variable_values: Tensor  # (W,) numbers of values
    variable_places: Tensor  # (W,)
    order: Tensor  # (T,) the rank of each row among entity, operator, variable places one after the other

    @classmethod
    def of(cls, step: PathStep, device: torch.device) -> Paths:
        """The tensors of a step."""
        places = {token: np.flatnonzero(step.kinds == token) for token in (Token.ENTITY, Token.VARIABLE)}
        operators = np.flatnonzero((step.kinds == Token.RELATION) | (step.kinds == Token.NEGATION))
        entities, variables = places[Token.ENTITY], places[Token.VARIABLE]
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
        """Rows of the operators' table, whose last row is [Negation]: ids (I,) -> (O,)."""
        negation = len(table.weight) - 1
        return ids.index_select(0, self.operator_sources).masked_fill(self.operator_negated, negation)

    def tokens(self, ids: Tensor, entities: Reading, operators: Reading, values: Tensor | None) -> Tensor:
        """The start of each path, an anchor's row or a variable's value (W, d), then its operators' rows: (T, d)."""
        anchors = ids.index_select(0, self.entity_sources)
        parts = [
            (entities, anchors, self.entity_places),
            (operators, self.operators(ids, operators), self.operator_places),
        ]
        variables = None if values is None else (values, self.variable_places)
        return assemble(parts, variables, self.order, self.rows)


@dataclass(frozen=True, eq=False)
class Forks:
    """A fork step: the values of branch r of each fork that has one, forks of most branches first; or one of unions."""

    values: Tensor  # (n_1 + n_2 + ...,) branch 1 of every fork, then branch 2, ...
    sizes: tuple[int, ...]  # n_1, n_2, ...
    united: bool = False  # the union of the branches, not their intersection
    negated: Tensor | None = None  # places of the denied ones among `values`, where negations are lifted
    order: Tensor | None = None  # (n_1 + n_2 + ...,) with the denied ones once more after all values, what to read

    @classmethod
    def of(cls, step: ForkStep, device: torch.device, negated: npt.NDArray[np.bool_] | None = None) -> Forks:
        """The tensors of a step. negated: which values are denied (V,), where negations are lifted."""
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
        """Put a layout on a device."""
        place = torch.device(device)
        steps = tuple(
            Paths.of(step, place) if isinstance(step, PathStep) else Forks.of(step, place) for step in layout.steps
        )
        return cls(layout, steps, _tensor(layout.roots, place), _tensor(layout.owners, place))

    @cached_property
    def walks(self) -> tuple[Walk | None, ...]:
        """Its path steps one operator at a time, for link-by-link methods, which alone pay for it; None for forks."""
        return tuple(Walk.of(step, self.device) if isinstance(step, PathStep) else None for step in self.layout.steps)

    @cached_property
    def at_roots(self) -> tuple[Tensor, ...]:
        """Which values of each step stand for a disjunct and feed nothing else: (P,) or (F,) bool each."""
        numbers = [step.first + np.arange(len(step)) for step in self.layout.steps]
        return tuple(torch.from_numpy(np.isin(part, self.layout.roots)).to(self.device) for part in numbers)

    @cached_property
    def positive(self) -> Tensor:
        """1 for disjuncts of queries without a negation, 0 for the others: (D,) float32."""
        blocks = self.layout.blocks
        found = np.repeat([not block.structure.negated for block in blocks], [block.count for block in blocks])
        return torch.from_numpy(found[self.layout.owners].astype(np.float32)).to(self.device)

    @cached_property
    def sequences(self) -> FlatSequences:
        """One sequence a query, made on first use: for methods that read whole queries."""
        return FlatSequences.of(self.layout, self.device)

    @cached_property
    def lifted(self) -> Batch:
        """Its negations as a matter of forks (`plan.lift`), for methods whose forks take them."""
        layout, negated = lift_negations(self.layout)
        steps = tuple(
            Paths.of(step, self.device) if isinstance(step, PathStep) else Forks.of(step, self.device, negated)
            for step in layout.steps
        )
        return Batch(layout, steps, _tensor(layout.roots, self.device), self.owners)

    @property
    def device(self) -> torch.device:
        """Where its tensors lie."""
        return self.roots.device

    def smallest(self, distances: Tensor) -> Tensor:
        """The smallest distance over the disjuncts of each query. (D, K) -> (Q, K)."""
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
        """Append a step's values (n, q)."""
        self._parts.append(values)

    def take(self, numbers: Tensor) -> Tensor:
        """Values by number, (n,) -> (n, q)."""
        if len(self._parts) > 1:
            self._parts = [torch.cat(self._parts)]
        return take_once(self._parts[0], numbers)


def _tensor(values: npt.NDArray[np.int64], device: torch.device) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values)).to(device)
