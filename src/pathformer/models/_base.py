"""The base of every method: two tables, a space, and a way from a batch of queries to rows of that space.

Q queries, I ids, D disjuncts, K candidates, q numbers of a query in the space.

A method's file holds a frozen `Config` and one class, named by `METHOD = ...`. The class says how it takes unions and
whether it can take a negation; what it cannot take is refused by name, together with the methods that can.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NoReturn

from torch import Tensor, nn

from pathformer import plugins
from pathformer.config import from_mapping
from pathformer.errors import PluginError, UnsupportedQueryError
from pathformer.models._batch import Batch
from pathformer.nn.table import Reading, Table
from pathformer.plan.build import build_layout
from pathformer.plan.encoder import Combine
from pathformer.plan.layout import Block, Layout, UnionWay
from pathformer.query.structures import Structure
from pathformer.spaces._base import Space

__all__ = ["Combine", "Model", "ParameterGroup", "build", "find"]

ParameterGroup = Literal["table", "domain", "network"]  # each has its own learning rate; tables do not decay


class Model(nn.Module, ABC):
    """A query embedding method over one graph."""

    name: ClassVar[str]
    config_type: ClassVar[type[Any]]
    objective: ClassVar[str] = "margin"  # a file of training.objectives, used if a run names none
    native: ClassVar[bool] = False  # whether it has its own union
    any_length: ClassVar[bool] = True  # whether it takes paths of any length

    negation: bool = True  # whether it takes negations
    union: UnionWay = "dnf"  # how unions are rewritten before `encode`; some methods have it as a setting
    combine: Combine = "smallest"  # how distances to the disjuncts are combined; some methods have it as a setting

    space: Space
    entities: Table  # (N, e)
    row_parts: Mapping[str, tuple[int, ...]] = MappingProxyType({})  # widths of joined rows, by tensor

    def __init__(self, config: Any, entities: int, relations: int) -> None:
        super().__init__()
        self.config, self.entity_count, self.relation_count = config, entities, relations

    @abstractmethod
    def embed(self, batch: Batch, ids: Tensor, entities: Reading) -> Tensor:
        """Encodes queries as rows of the space: ids (I,) -> (D, q); `entities` is the open entity table."""

    def encode(self, batch: Batch, ids: Tensor) -> Tensor:
        """Encodes queries as rows of the space, one a disjunct: ids (I,) -> (D, q)."""
        return self.points(batch, ids)[0]

    def points(self, batch: Batch, ids: Tensor) -> tuple[Tensor, Reading]:
        """Encodes queries, and returns the open entity table with them, so that one pass writes its gradient once."""
        self.check(batch.layout)
        entities = self.entities.read()
        return self.embed(batch, ids, entities), entities

    def distances(self, batch: Batch, ids: Tensor, candidates: Tensor) -> Tensor:
        """Measures each query's candidates, smallest Dist over its disjuncts: (I,), (Q, K) -> (Q, K) float32.

        The entity table is opened once for anchors and candidates, so that its gradient is written once.
        """
        return self.distances_from(batch, *self.points(batch, ids), candidates)

    def distances_from(self, batch: Batch, queries: Tensor, entities: Reading, candidates: Tensor) -> Tensor:
        """Measures candidates as `distances` does, from the result of `points`."""
        if batch.layout.united:
            candidates = candidates.index_select(0, batch.owners)
        return batch.smallest(self.space.distance_to(queries, entities, candidates).float())

    def check(self, layout: Layout) -> None:
        """Refuses a layout with parts that this method cannot express."""
        if layout.negated and not self.negation:
            self._refuse("take a negation", layout, lambda part: part.negated, lambda method: method.negation)
        if layout.native and not self.native:
            what = "take a union as it is, only as union='dnf'"
            self._refuse(what, layout, lambda part: part.native, lambda method: method.native)

    def takes(self, structure: Structure) -> bool:
        """Whether this method does not refuse queries of a structure."""
        try:
            self.check(build_layout([Block(structure, 1)], self.union))
        except UnsupportedQueryError:
            return False
        return True

    def _refuse(
        self, what: str, layout: Layout, at_fault: Callable[[Layout], bool], able: Callable[[type[Model]], bool]
    ) -> NoReturn:
        """Raises an error that names what cannot be done, in which structures, and which methods can.

        If a setting took it away (Pathformer among boxes has no negation), the method itself is one of them.
        """
        alone = {
            str(block.structure): build_layout([Block(block.structure, 1)], layout.union) for block in layout.blocks
        }
        names = ", ".join(sorted(name for name, part in alone.items() if at_fault(part)))
        own = " with these settings" if able(type(self)) else ""
        others = ", ".join(
            f"{name}{' with its default settings' if name == self.name else ''}"
            for name in plugins.names("models")
            if able(find(name))
        )
        raise UnsupportedQueryError(f"{self.name}{own} cannot {what} (in {names}); methods that can: {others}")

    def parameter_groups(self) -> dict[str, ParameterGroup]:
        """The group of each parameter, by name: rows of a table, or the network.

        A model overrides it for a table that a link predictor does not have: "domain".
        """
        tables = {f"{name}.weight" for name, module in self.named_modules() if isinstance(module, Table)}
        return {name: "table" if name in tables else "network" for name, _ in self.named_parameters()}

    def link_tables(self) -> dict[str, Table]:
        """The tables that can start as those of a link predictor: "entities" and, where it has them, "relations"."""
        return {"entities": self.entities}

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Inside, the model runs without dropout, for ranking and answering; afterwards it is as it was."""
        training = self.training
        self.eval()
        try:
            yield
        finally:
            self.train(training)

    def sizes(self) -> dict[str, int]:
        """Counts trainable numbers: in the tables, and in the network, which the paper's Table 7 counts."""
        tables = sum(t.weight.numel() for t in self.modules() if isinstance(t, Table))
        return {"tables": tables, "network": sum(p.numel() for p in self.parameters()) - tables}


def find(name: str) -> type[Model]:
    """Finds the class of a method by its file's name."""
    module = plugins.load("models", name)
    method = getattr(module, "METHOD", None)
    if not (isinstance(method, type) and issubclass(method, Model)):
        raise PluginError(
            f"method {name!r} ({module.__file__}): expected METHOD = the class of a Model, found {method!r}"
        )
    return method


def build(name: str, settings: Mapping[str, Any], *, entities: int, relations: int) -> Model:
    """Makes a model of a method for a graph of `entities` and `relations` (directed); checks its settings."""
    method = find(name)
    return method(from_mapping(method.config_type, settings), entities, relations)
