"""The rules of the contract see what is wrong: for each, a method that breaks it, and the command that says so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from typer.testing import CliRunner

from pathformer import plugins
from pathformer.cli import _main as cli
from pathformer.errors import InputError, PluginError
from pathformer.models._base import Model, find
from pathformer.models._contract import ENTITIES, RELATIONS, RULES, Build, broken_rules
from pathformer.models.gqe import GQE, Config
from pathformer.spaces.point import Point

BATCHED, NEIGHBOURS, SAVED, GRADIENTS, ROWS, MEASURED, PRECISION, READ = RULES


class SeesItsBatch(GQE):
    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        return rows + relations - rows.mean(dim=0)


class SeesItsPlace(GQE):
    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        return rows + relations + torch.arange(len(rows))[:, None]


class HasASecret(GQE):
    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        self.secret = torch.randn(config.dim)

    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        return rows + relations + self.secret


class HasAnIdleWeight(GQE):
    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        self.idle = nn.Parameter(torch.ones(3))


class HasADeadWeight(HasAnIdleWeight):
    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        return rows + relations + 0.0 * self.idle.sum()


class AsksForAValue(GQE):
    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        return rows + relations if rows.sum() > 0 else relations + rows


class PicksByValue(GQE):
    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        moved = rows + relations
        moved[moved > 1e9] = 0.0
        return moved


class Divides(GQE):
    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        return rows / (relations - relations)


class MiscountedPoint(Point):
    def __init__(self, dim: int, margin: float) -> None:
        super().__init__(dim, margin)
        self.query_width = dim + 1


class TwoFacedPoint(Point):
    def distance_to_all(self, queries: Tensor, entities: Tensor, chunk: int = 1 << 26) -> Tensor:
        return super().distance_to_all(queries, entities, chunk) * 1.01


class RoundingPoint(Point):
    def distance(self, queries: Tensor, entities: Tensor) -> Tensor:
        far = 1e4
        return ((entities + far) - (queries + far)).abs().sum(dim=-1)


def of_space(space: type[Point]) -> type[GQE]:
    class OfSpace(GQE):
        def __init__(self, config: Config, entities: int, relations: int) -> None:
            super().__init__(config, entities, relations)
            self.space = space(config.dim, config.margin)

    return OfSpace


def build(method: type[GQE]) -> Build:
    def made(seed: int) -> Model:
        torch.manual_seed(seed)
        return method(Config(dim=8), ENTITIES, RELATIONS).eval()

    return made


@pytest.mark.parametrize(
    ("method", "rule", "seen"),
    [
        (SeesItsBatch, BATCHED, "Tensor-likes are not close"),
        (Divides, BATCHED, "some distances are not finite"),
        (SeesItsPlace, NEIGHBOURS, "Tensor-likes are not close"),
        (HasASecret, SAVED, "the same weights give other distances"),
        (HasAnIdleWeight, GRADIENTS, "idle has no gradient"),
        (HasADeadWeight, GRADIENTS, "the gradient of idle is always 0"),
        (of_space(MiscountedPoint), ROWS, "queries have shape (24, 8), expected (24, 9)"),
        (of_space(TwoFacedPoint), MEASURED, "Tensor-likes are not close"),
        (of_space(RoundingPoint), PRECISION, "distances in bfloat16 lie"),
        (AsksForAValue, READ, "cannot be recorded as a CUDA graph: _local_scalar_dense"),
        (PicksByValue, READ, "cannot be recorded as a CUDA graph: index_put_"),
    ],
)
def test_what_breaks_a_rule_is_seen_by_it(method: type[GQE], rule: str, seen: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(seen)):
        RULES[rule](build(method))
    RULES[rule](build(GQE))


def test_all_broken_rules_are_found_and_no_others() -> None:
    assert set(broken_rules(build(HasASecret))) == {SAVED}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "models").mkdir()
    monkeypatch.setenv(plugins.FOLDERS, str(tmp_path))
    return tmp_path / "models"


GOOD = "from pathformer.models.gqe import GQE, Config\nclass Mine(GQE):\n    name = 'mine'\nMETHOD = Mine\n"


def test_a_users_method_is_checked_by_command(folder: Path) -> None:
    (folder / "mine.py").write_text(GOOD)
    kept = CliRunner().invoke(cli.app, ["models", "mine", "--check", "dim=8"])
    assert kept.exit_code == 0
    assert kept.output.splitlines() == [*(f"kept: {rule}" for rule in RULES), "8 of 8 kept"]
    assert "mine" in CliRunner().invoke(cli.app, ["models"]).output


def test_a_command_tells_what_is_broken(folder: Path) -> None:
    worse = GOOD.replace(
        "    name = 'mine'", "    name = 'worse'\n    def project(self, q, r): return q + r - q.mean(0)"
    )
    (folder / "worse.py").write_text(worse)
    told = CliRunner().invoke(cli.app, ["models", "worse", "--check", "dim=8"])
    assert told.exit_code != 0
    assert f"BROKEN: {BATCHED}\n" in told.output
    assert f"kept: {GRADIENTS}\n" in told.output
    assert told.output.splitlines()[-1] == "6 of 8 kept"
    assert isinstance(told.exception, InputError)
    assert str(told.exception).startswith(f"worse breaks 2 of 8 rules\n{BATCHED}:\nTensor-likes are not close")


@pytest.mark.parametrize(("text", "found"), [("METHOD = 3\n", "3"), ("Model = 1\n", "None")])
def test_a_file_without_a_method_is_named(folder: Path, text: str, found: str) -> None:
    (folder / "mine.py").write_text(text)
    with pytest.raises(PluginError, match=rf"method 'mine' \(.*mine.py\): expected METHOD = .*, found {found}$"):
        find("mine")


@pytest.mark.parametrize(("arguments", "named"), [(["gqe", "dim=8"], "'dim=8'"), (["--check"], "--check")])
def test_what_belongs_to_a_check_is_not_left_unread(arguments: list[str], named: str) -> None:
    refused = CliRunner().invoke(cli.app, ["models", *arguments])
    assert isinstance(refused.exception, InputError)
    assert named in str(refused.exception)
