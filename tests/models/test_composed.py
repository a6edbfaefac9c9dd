"""Composed against a recursion over paths and forks, one query at a time; what its settings change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from support.recursion import DEEP, assert_recursive
from torch import Tensor, nn

from pathformer.config import from_mapping
from pathformer.errors import ConfigError
from pathformer.models._base import build
from pathformer.models._batch import Batch
from pathformer.models.composed import Composed, Config
from pathformer.nn.combine import Complement
from pathformer.nn.packing import Packing
from pathformer.plan.build import build_plan
from pathformer.query.compile.paths import Fork, Path, to_paths
from pathformer.query.structures import NEGATION, STRUCTURES, structure
from pathformer.training.start import start_tables

ENTITIES, RELATIONS = 30, 30
SHAPES = (
    *STRUCTURES.values(),
    *map(
        structure,
        (
            DEEP,
            "(e,(r,n,r))",  # inside a path it stays
            "(e,(r,n))",  # no fork reads it
            "((e,(r,)),(e,(r,n,n)))",  # twice denied is not denied
            "((e,(r,)),(((e,(r,)),(e,(r,n))),(n,)))",  # a fork that is denied
            "(((e,(r,r,n)),(e,(r,)),(e,(r,n))),(r,n))",
        ),
    ),
)


def model(**settings: object) -> Composed:
    """A small model whose encoder and domains, which hardly count at first, are easy to see."""
    torch.manual_seed(3)
    made = Composed(Config(**{"dim": 24, "layers": 2, "heads": 4, **settings}), ENTITIES, RELATIONS).eval()  # type: ignore[arg-type]
    nn.init.ones_(made.paths.final.weight)
    if made.domains is not None:
        nn.init.normal_(made.domains.weight)
    return made


def encode(made: Composed, query: Path | Fork, root: bool = True) -> Tensor:
    """The equations of the module, recursively: a vector (d,)."""
    if isinstance(query, Fork):
        return made.forks([branch(made, part)[None] for part in query.branches])[0]
    return path(made, query, query.operators, root)


def branch(made: Composed, query: Path | Fork) -> Tensor:
    """A branch of a fork, which takes negations at its end off where they are a matter of the fork."""
    if made.complement is None or isinstance(query, Fork):
        return encode(made, query, False)
    operators, denied = query.operators, False
    while operators and operators[-1] == NEGATION:
        operators, denied = operators[:-1], not denied
    value = path(made, query, operators, False)
    return made.complement(value[None])[0] if denied else value


def path(made: Composed, query: Path, operators: Sequence[int], root: bool) -> Tensor:
    if isinstance(query.start, int):
        start = made.entities.weight[query.start]
    else:
        start = encode(made, query.start, False)
        if not operators:
            return start
        start = expected(made, start, operators[0])
    base = product(made, start, operators)
    if len(operators) <= made.config.bare_path_length or (made.config.add_to == "answers" and not root):
        return base
    tokens = torch.stack([start, *(made.operators.weight[RELATIONS if o == NEGATION else o] for o in operators)])
    return base + made.paths(tokens, Packing.of([len(tokens)])).mean(dim=0)


def expected(made: Composed, value: Tensor, following: int) -> Tensor:
    """The mean of all entities' rows, each as often as exp(-s Dist) and as it is likely to have what follows."""
    sizes = [torch.exp(-made.config.sharpness * made.space.distance(value, row)) for row in made.entities.weight]
    if made.domains is not None and following != NEGATION:
        domain = made.domains.weight[following]
        sizes = [size * torch.exp(domain @ row) for size, row in zip(sizes, made.entities.weight, strict=True)]
    rows = [size * row for size, row in zip(sizes, made.entities.weight, strict=True)]
    return torch.stack(rows).sum(dim=0) / torch.stack(sizes).sum()


def product(made: Composed, value: Tensor, operators: Sequence[int]) -> Tensor:
    """Complex numbers multiplied by Python's own rules, one operator after the other."""
    for place, operator in enumerate(operators):
        if operator == NEGATION:
            value = value * made.negation_factor
            continue
        if place:
            value = expected(made, value, operator)
        numbers = torch.complex(*value.chunk(2)) * torch.complex(*made.operators.weight[operator].chunk(2))
        value = torch.cat([numbers.real, numbers.imag])
    return value


SETTINGS: list[dict[str, object]] = [
    {},
    {"domains": False, "add_to": "paths"},
    {"bare_path_length": 0, "add_to": "paths", "sharpness": 1.0},
    {"bare_path_length": 2, "fork": "network"},
    {"bare_path_length": 9, "domains": False, "sharpness": 3.0},
    {"fork": "network", "deny_in": "fork"},
    {"deny_in": "fork", "add_to": "paths"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: "-".join(map(str, settings.values())) or "default")
def test_every_structure_is_the_recursion(settings: dict[str, object]) -> None:
    made, rng = model(**settings), np.random.default_rng(0)
    trees = [shape.tree(rng.permutation(30)[: len(shape.columns)].tolist()) for shape in SHAPES for _ in range(2)]
    assert_recursive(made, trees, lambda part: encode(made, to_paths(part)))


@pytest.mark.parametrize(("name", "reads"), [("1p", False), ("2p", True), ("2i", False), ("ip", True)])
def test_domains_count_where_an_entity_is_expected_before_a_relation(name: str, reads: bool) -> None:
    plain, drawn, first = model(domains=False), model(), model()
    for made in (drawn, first):
        made.load_state_dict(plain.state_dict(), strict=False)
    assert first.domains is not None
    nn.init.zeros_(first.domains.weight)  # as they are at first
    plan = build_plan([(STRUCTURES[name], np.arange(1, 1 + len(STRUCTURES[name].columns))[None])])
    without, unmoved, moved = (
        made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids)) for made in (plain, first, drawn)
    )
    torch.testing.assert_close(unmoved, without)
    assert torch.allclose(moved, without, atol=1e-4) != reads


def test_at_first_a_link_has_the_score_of_the_link_predictor_it_starts_from() -> None:
    torch.manual_seed(0)
    source = build("complex", {"rank": 12}, entities=ENTITIES, relations=RELATIONS)
    plan = build_plan([(STRUCTURES["1p"], np.array([[1, 2], [3, 4]]))])
    batch, ids = Batch.of(plan.layout), torch.from_numpy(plan.ids)
    exact = source.encode(batch, ids)
    for bare, tolerance in ((1, 0.0), (0, 0.05)):
        settings = {"dim": 24, "heads": 4, "bare_path_length": bare}
        made = build("composed", settings, entities=ENTITIES, relations=RELATIONS).eval()
        assert not torch.allclose(made.encode(batch, ids), exact, rtol=0.1, atol=0.05)
        start_tables(made, source)
        torch.testing.assert_close(made.encode(batch, ids), exact, rtol=0, atol=tolerance)


def test_a_denied_branch_is_the_same_path_with_its_own_complement() -> None:
    torch.manual_seed(0)
    complement, rows = Complement(8), torch.randn(5, 8)
    torch.testing.assert_close(complement(rows), complement.more(rows) - 0.5 * rows)
    far = complement(rows) + 0.5 * rows  # what the network adds is small at first
    assert far.norm() < 0.2 * rows.norm()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"dim": 15, "heads": 5}, "dim must be even"),
        ({"dim": 100}, "dim 100 does not divide into 8 heads"),
        ({"layers": 0}, "at least 1"),
        ({"fork_dropout": -0.1}, "fork_dropout must be"),
        ({"sharpness": 0.0}, "sharpness must be"),
        ({"bare_path_length": -1}, "bare_path_length must be"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        from_mapping(Config, settings)
