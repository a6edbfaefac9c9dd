"""A space and a method are one file each: both are added from a folder outside, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support import training_toy as toy

from pathformer import plugins
from pathformer.errors import PluginError
from pathformer.index._base import build_for
from pathformer.models._base import build
from pathformer.models._contract import ENTITIES, RELATIONS, broken_rules
from pathformer.models._encoder import TorchEncoder
from pathformer.spaces._base import build as build_space
from pathformer.spaces._base import find as find_space
from pathformer.training.data import TrainingSet
from pathformer.training.settings import StepConfig
from pathformer.training.step import TrainingStep

SPACE = '''"""Queries and entities as points of R^d, under the squared Euclidean distance."""
from pathformer.spaces._base import Space


class Squared(Space):
    def __init__(self, dim, margin, power=2.0):
        super().__init__(dim, margin)
        self.power = power
        self.entity_width = self.relation_width = self.query_width = dim

    def distance(self, queries, entities):
        return (entities.float() - queries.float()).abs().pow(self.power).sum(dim=-1)


SPACE = Squared
'''
METHOD = '''"""A relation moves a point; branches meet in their mean."""
from dataclasses import dataclass

from pathformer.models._link_by_link import LinkModel
from pathformer.nn.combine import mean_branch
from pathformer.spaces._base import build


@dataclass(frozen=True, kw_only=True)
class Config:
    dim: int = 8


class Toy(LinkModel):
    name, config_type, negation = "toy", Config, False

    def __init__(self, config, entities, relations):
        super().__init__(config, entities, relations)
        self.space = build("squared", config.dim, 6.0, {})
        self.entities, self.relations = self.space.entity_table(entities), self.space.relation_table(relations)

    def project(self, rows, relations):
        return rows + relations

    def intersect(self, branches):
        return mean_branch(branches)


METHOD = Toy
'''


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("spaces/squared.py", SPACE), ("models/toy.py", METHOD), ("spaces/empty.py", "SPACE = 3\n")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("PATHFORMER_PLUGINS", str(tmp_path))


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("toy", {}),
        ("pathformer", {"dim": 8, "layers": 1, "heads": 2, "space": "squared", "space_settings": {"power": 1.5}}),
    ],
)
@pytest.mark.usefixtures("mine")
def test_both_keep_every_rule_are_trained_and_searched(method: str, settings: dict[str, object]) -> None:
    def made(seed: int) -> torch.nn.Module:
        torch.manual_seed(seed)
        return build(method, settings, entities=ENTITIES, relations=RELATIONS).eval()

    assert broken_rules(made) == {}  # type: ignore[arg-type]
    torch.manual_seed(0)
    model = build(method, settings, entities=toy.ENTITIES, relations=toy.RELATIONS)
    data = TrainingSet.of([q for q in toy.training_queries() if not q.structure.negated], toy.ENTITIES)
    step = TrainingStep(model, data, {"1p": 16, "2i": 16}, StepConfig(objective="softmax", rate=1e-2))
    early, late = toy.early_and_late(step, 60)
    assert sum(late.mean.values()) < sum(early.mean.values())
    nearest = build_for(TorchEncoder(model.eval())).nearest(model.entities.weight[:5].detach().numpy(), 1)
    assert nearest.ids[:, 0].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.usefixtures("mine")
def test_a_file_that_holds_no_space_is_named() -> None:
    with pytest.raises(PluginError, match=r"space 'empty' .*empty\.py\): expected SPACE"):
        find_space("empty")


def test_ten_spaces_are_found_by_their_files() -> None:
    names = plugins.names("spaces")
    assert len(names) == 10
    for name in names:
        space = build_space(name, 8, 24.0, {})
        assert space.entity_table(3).weight.shape == (3, space.entity_width)
        assert space.query_width == (8 + 8 * (space.parts - 1))
