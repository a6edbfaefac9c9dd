"""What every method keeps to, found by its file, in every variant of its settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from support.contract_cases import CASES, IDS, ONLY, SMALL, VARIANTS, make
from torch import Tensor

from pathformer import plugins
from pathformer.config import from_mapping
from pathformer.errors import UnknownPluginError, UnsupportedQueryError
from pathformer.models._base import Model, find
from pathformer.models._batch import Batch
from pathformer.models._contract import ENTITIES, RELATIONS, RULES, distances, make_plan, shapes, tables
from pathformer.nn.table import Reading, Table
from pathformer.plan.build import build_plan
from pathformer.query.structures import STRUCTURES

every_variant = pytest.mark.parametrize(("name", "variant"), CASES, ids=IDS)


def test_every_method_is_under_contract() -> None:
    assert set(plugins.names("models")) == set(SMALL)
    assert set(VARIANTS) <= set(SMALL)
    for name in SMALL:
        assert find(name).name == name


@pytest.mark.parametrize("name", SMALL)
def test_every_choice_of_a_setting_is_under_contract(name: str) -> None:
    """A new choice needs a variant; what `combine` chooses only rankers read (tests/evaluation)."""
    kind = find(name).config_type
    configs = [from_mapping(kind, {**SMALL[name], **variant}) for variant in VARIANTS.get(name, [{}])]
    for setting, type_ in get_type_hints(kind).items():
        if get_origin(type_) is Literal and setting != "combine":
            tried = {getattr(config, setting) for config in configs}
            assert tried == set(get_args(type_)), f"{name}: {setting}"


def test_every_method_has_a_page_that_the_overview_names() -> None:
    docs = Path(__file__).parents[2] / "docs"
    overview = (docs / "methods" / "index.md").read_text(encoding="utf-8")
    for name in SMALL:
        assert f"`{name}`" in overview, name
        if name not in ("pathformer", "complex", "composed", "pair"):  # "The model", and no methods of the paper
            assert (docs / "methods" / f"{name}.md").is_file(), name


@pytest.mark.parametrize("rule", RULES)
@every_variant
def test_it_keeps_every_rule(name: str, variant: dict[str, Any], rule: str) -> None:
    RULES[rule](lambda seed: make(name, variant, seed))


@every_variant
def test_it_takes_all_structures_but_those_that_it_says_it_does_not(name: str, variant: dict[str, Any]) -> None:
    made = make(name, variant)
    expected = [
        s for s in STRUCTURES.values() if s.name in ONLY.get(name, (s.name,)) and (made.negation or not s.negated)
    ]
    assert [s for s in shapes(made) if s.name in STRUCTURES] == expected
    assert len(shapes(made)) - len(expected) == (0 if name in ONLY else 1 + made.negation)


@every_variant
def test_its_weights_go_through_a_file(name: str, variant: dict[str, Any], tmp_path: Path) -> None:
    made, other = make(name, variant), make(name, variant, seed=1)
    plan = make_plan(made, tables(made))
    save_file({k: v.contiguous() for k, v in made.state_dict().items()}, tmp_path / "model.safetensors")
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert torch.equal(distances(made, plan), distances(other, plan))


@pytest.mark.parametrize("name", [name for name in SMALL if not find(name).negation])
def test_a_method_without_negation_refuses_it_by_name(name: str) -> None:
    made, able = make(name, {}), [other for other in SMALL if find(other).negation]
    plan = build_plan([(STRUCTURES["2p"], np.zeros((1, 3), np.int32)), (STRUCTURES["2in"], np.zeros((1, 4), np.int32))])
    with pytest.raises(UnsupportedQueryError) as refused:
        made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    assert str(refused.value) == f"{name} cannot take a negation (in 2in); methods that can: {', '.join(sorted(able))}"


@pytest.mark.parametrize("space", ["box", "beta"])
def test_a_setting_may_take_negation_away(space: str) -> None:
    made = make("pathformer", {"space": space})
    plan = build_plan([(STRUCTURES["pni"], np.zeros((1, 5), np.int32))])
    with pytest.raises(UnsupportedQueryError) as refused:
        made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    assert str(refused.value) == (
        "pathformer with these settings cannot take a negation (in pni); methods that can: "
        "betae, composed, cone, fuzzqe, gammae, mlp, pair, pathformer with its default settings, q2p"
    )
    assert make("pathformer", {}).negation


@pytest.mark.parametrize("name", [name for name in SMALL if not find(name).native])
def test_a_method_without_a_union_of_its_own_refuses_one_by_name(name: str) -> None:
    made, able = make(name, {}), [other for other in SMALL if find(other).native]
    plan = build_plan([(STRUCTURES["up"], np.zeros((1, 5), np.int32))], "native")
    with pytest.raises(UnsupportedQueryError) as refused:
        made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    assert str(refused.value).startswith(f"{name} cannot take a union as it is")
    assert str(refused.value).endswith(f"(in up); methods that can: {', '.join(sorted(able))}")


class Positive(Model):
    """A method that knows no negation."""

    name: ClassVar[str] = "positive"
    negation = False

    def __init__(self) -> None:
        super().__init__(None, ENTITIES, RELATIONS)
        self.entities = Table(ENTITIES, 1, 0.0, 1.0)

    def embed(self, batch: Batch, ids: Tensor, entities: Reading) -> Tensor:
        return torch.zeros(len(batch.roots), 1)


def test_what_a_method_cannot_express_is_named_structure_by_structure() -> None:
    made = Positive()
    names = ("2p", "2in", "pni")
    parts = [(STRUCTURES[name], np.zeros((1, len(STRUCTURES[name].columns)), np.int32)) for name in names]
    plan = build_plan(parts)
    with pytest.raises(UnsupportedQueryError, match=r"positive cannot take a negation \(in 2in, pni\); methods that"):
        made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    positive = build_plan(parts[:1])
    assert len(made.encode(Batch.of(positive.layout), torch.from_numpy(positive.ids))) == 1


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(UnknownPluginError, match="pathformr"):
        find("pathformr")
