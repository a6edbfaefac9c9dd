"""Negation as a matter of forks, against a loop over paths and forks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from pathformer.config import from_mapping
from pathformer.errors import ConfigError
from pathformer.models._base import build
from pathformer.models._batch import Batch
from pathformer.models.pathformer import Config, Pathformer
from pathformer.nn.fold import Complement
from pathformer.nn.packing import Packing, mean_pool
from pathformer.plan.build import build_plan
from pathformer.query.compile.paths import Fork, Path, to_paths
from pathformer.query.structures import NEGATION, NEGATION_STRUCTURES, structure

ENTITIES, RELATIONS = 9, 4
SHAPES = (
    *NEGATION_STRUCTURES,
    "1p",
    "3i",
    "(e,(r,n,r))",  # inside a path it stays
    "(e,(r,n))",  # no fork reads it
    "((e,(r,)),(e,(r,n,n)))",  # twice denied is not denied
    "((e,(r,)),(((e,(r,)),(e,(r,n))),(n,)))",  # a fork that is denied
    "(((e,(r,r,n)),(e,(r,)),(e,(r,n))),(r,n))",
)


def model(fork: str = "set") -> Pathformer:
    torch.manual_seed(0)
    settings = {"dim": 16, "layers": 1, "heads": 2, "space": "sphere", "fork": fork, "negate": "fork"}
    made = build("pathformer", settings, entities=ENTITIES, relations=RELATIONS)
    assert isinstance(made, Pathformer)
    return made.eval()


def read_path(made: Pathformer, query: Path, operators: tuple[int, ...]) -> Tensor:
    start = made.entities.weight[query.start] if isinstance(query.start, int) else read(made, query.start)
    rows = [RELATIONS if operator == NEGATION else operator for operator in operators]
    tokens = torch.stack([start, *(made.operators.weight[row] for row in rows)])
    packing = Packing.of(np.array([len(tokens)]), torch.device("cpu"))
    return mean_pool(made.paths(tokens, packing), packing)[0]


def read(made: Pathformer, query: Path | Fork) -> Tensor:
    if isinstance(query, Path):
        return read_path(made, query, query.operators)
    branches = []
    for branch in query.branches:
        assert isinstance(branch, Path)
        operators, denied = branch.operators, False
        while operators and operators[-1] == NEGATION:
            operators, denied = operators[:-1], not denied
        value = read_path(made, branch, operators)
        branches.append(made.complement(value[None]) if denied and made.complement is not None else value[None])
    found: Tensor = made.forks(branches)[0]
    return found


@pytest.mark.parametrize("fork", ["set", "both", "mlp"])
def test_a_mixed_batch_is_the_loop(fork: str) -> None:
    made, rng = model(fork), np.random.default_rng(0)
    tables, trees = [], []
    for name in SHAPES:
        shape = structure(name)
        highs = [ENTITIES if letter == "e" else RELATIONS for letter in shape.columns]
        tables.append((shape, np.stack([rng.integers(high, size=3) for high in highs], axis=1)))
        trees += [shape.tree(row) for row in tables[-1][1].tolist()]
    plan = build_plan(tables)
    with torch.no_grad():
        found = made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
        loop = torch.stack([read(made, to_paths(tree)) for tree in trees])
    torch.testing.assert_close(found, loop, rtol=1e-4, atol=1e-5)


def test_a_denied_branch_is_the_same_path_with_its_own_complement() -> None:
    torch.manual_seed(0)
    complement, rows = Complement(8), torch.randn(5, 8)
    torch.testing.assert_close(complement(rows), complement.more(rows) - 0.5 * rows)
    far = complement(rows) + 0.5 * rows  # what the network adds is small at first
    assert far.norm() < 0.2 * rows.norm()


def test_gradients_reach_it() -> None:
    made = model()
    plan = build_plan([(structure("pni"), np.array([[0, 1, 2, 3, 1]]))])
    made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids)).square().sum().backward()
    assert made.complement is not None
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in made.complement.parameters())


def test_the_papers_model_has_none_and_spaces_without_negation_refuse_it() -> None:
    assert build("pathformer", {"dim": 16, "heads": 2}, entities=4, relations=2).complement is None
    with pytest.raises(ConfigError, match="negate 'fork' is of points: in 'box' nothing is negated"):
        from_mapping(Config, {"space": "box", "negate": "fork"})
