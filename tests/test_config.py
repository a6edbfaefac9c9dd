"""Settings: what reads, what is refused and with which words, and that writing is the inverse of reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer import config
from pathformer.config import to_toml
from pathformer.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Model:
    layers: int = 6
    dropout: float = 0.1
    norm: Literal["pre", "post"] = "pre"
    heads: tuple[int, ...] = (8,)
    window: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.layers < 1:
            raise ValueError(f"layers must be at least 1, found {self.layers}")


@dataclass(frozen=True, kw_only=True)
class Run:
    name: str
    seed: int | None = 0
    fast: bool = False
    out: Path = Path("runs")
    weights: Mapping[str, float] = field(default_factory=dict)
    model: Model = field(default_factory=Model)


def write(folder: Path, text: str) -> Path:
    path = folder / "run.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_then_file_then_overrides(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "a"\nseed = 3\n[model]\nlayers = 2\ndropout = 1\n')
    run = config.read(Run, path, ["model.layers=4", "out=elsewhere"])
    assert run == Run(name="a", seed=3, out=Path("elsewhere"), model=Model(layers=4, dropout=1.0))
    assert isinstance(run.model.dropout, float)


@pytest.mark.parametrize(
    ("override", "key", "value"),
    [
        ("name=6", "name", "6"),
        ("name='quoted'", "name", "quoted"),
        ("name = spaced out ", "name", "spaced out"),
        ("name=a=b", "name", "a=b"),
        ("seed=none", "seed", None),
        ("seed=7", "seed", 7),
        ("fast=true", "fast", True),
        ("weights.2p=0.5", "weights", {"2p": 0.5}),
    ],
)
def test_overrides_read_as_the_field_wants(override: str, key: str, value: object) -> None:
    assert getattr(config.read(Run, overrides=["name=x", override]), key) == value


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.layrs=2", "no setting 'model.layrs'; closest: 'model.layers'"),
        ("layers=2", "no setting 'layers'; closest: 'model.layers'"),
        ("sede=2", "no setting 'sede'; closest: 'seed'"),
        ("model.layers=six", "setting 'model.layers' must be an integer, found 'six'"),
        ("model.layers=2.5", "setting 'model.layers' must be an integer, found 2.5"),
        ("model.layers=true", "setting 'model.layers' must be an integer, found True"),
        ("model.dropout=false", "setting 'model.dropout' must be a number, found False"),
        ("model.norm=middle", "setting 'model.norm' must be one of 'pre', 'post', found 'middle'"),
        ("model.heads=[1, 'x']", "setting 'model.heads[1]' must be an integer, found 'x'"),
        (
            "model.window=[1]",
            "setting 'model.window' must be a list of 2 values: an integer, an integer, found 1 values",
        ),
        ("model.window=7", "must be a list of 2 values: an integer, an integer or none, found 7"),
        ("fast=1", "setting 'fast' must be true or false, found 1"),
        ("name.first=x", "setting 'name' has no settings inside it, found 'name.first'"),
        ("model=3", "setting 'model' must be a table, found 3"),
        ("weights.2p=much", "setting 'weights.2p' must be a number, found 'much'"),
        ("model.layers=0", "model: layers must be at least 1, found 0"),
        (f"model.dropout={9**420}", f"setting 'model.dropout' must be a number, found {9**420}"),  # no float holds it
        (f"model.layers={'9' * 5000}", "setting 'model.layers' must be an integer, found '999"),
        (f"model.heads={'[' * 5000}", "setting 'model.heads' must be a list of an integer, found '[[["),
        ("fast", "expected key=value"),
        ("=3", "found '=3'"),
    ],
)
def test_refusals_say_what_was_expected(override: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        config.read(Run, overrides=["name=x", override])
    assert message in str(error.value)


@pytest.mark.parametrize(("table", "found"), [("model=3", "3"), ("weights=[1]", "[1]")])
def test_a_key_inside_what_is_no_table_is_told_of_the_table(table: str, found: str) -> None:
    key = table.partition("=")[0]
    with pytest.raises(ConfigError) as error:
        config.read(Run, overrides=["name=x", table, f"{key}.layers=2"])
    assert str(error.value) == f"setting {key!r} must be a table, found {found}"


def test_a_key_inside_takes_the_place_of_none() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Outer:
        inner: Model | None = Model()

    assert config.read(Outer, overrides=["inner=none"]).inner is None
    assert config.read(Outer, overrides=["inner=none", "inner.layers=2"]).inner == Model(layers=2)


def test_a_setting_without_default_is_asked_for() -> None:
    with pytest.raises(ConfigError, match="setting 'name' is missing: give it a value"):
        config.read(Run)


def test_a_file_may_leave_it_to_an_override(tmp_path: Path) -> None:
    assert config.read(Run, write(tmp_path, "seed = 1"), ["name=x"]).seed == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model]\nlayrs = 2", "no setting 'model.layrs'; closest: 'model.layers'"),
        ("seed = 'x'", "setting 'seed' must be an integer or none, found 'x'"),
        ("seed = ", "not valid TOML: Invalid value (at end of document)"),
    ],
)
def test_errors_in_a_file_name_the_file(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as error:
        config.read(Run, path, ["name=x"])
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: no such file$"):
        config.read(Run, tmp_path / "none.toml")


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_bytes('name = "é"'.encode("latin-1"))
    with pytest.raises(ConfigError, match="not UTF-8 text: save the file as UTF-8"):
        config.read(Run, tmp_path / "run.toml")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Is a directory"):
        config.read(Run, tmp_path)


texts = st.text(st.characters(blacklist_categories=["Cs"])).filter(lambda text: text != "none")
models = st.builds(
    Model,
    layers=st.integers(1, 99),
    dropout=st.floats(allow_nan=False),
    norm=st.sampled_from(["pre", "post"]),
    heads=st.lists(st.integers()).map(tuple),
    window=st.none() | st.tuples(st.integers(), st.integers()),
)
runs = st.builds(
    Run,
    name=texts,
    seed=st.none() | st.integers(-(2**63), 2**63 - 1),
    fast=st.booleans(),
    out=texts.map(lambda text: Path(text.replace("\0", ""))),
    weights=st.dictionaries(texts, st.floats(allow_nan=False)),
    model=models,
)


@given(runs)
def test_what_is_written_reads_back_equal(run: Run) -> None:
    import tomllib

    assert config.from_mapping(Run, tomllib.loads(to_toml(run))) == run


def test_toml_is_meant_for_people() -> None:
    assert to_toml(Run(name="a", seed=None)) == (
        'name = "a"\nseed = "none"\nfast = false\nout = "runs"\nweights = {}\n'
        '\n[model]\nlayers = 6\ndropout = 0.1\nnorm = "pre"\nheads = [8]\n'
    )
