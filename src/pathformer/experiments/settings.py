"""A run file: what is trained on what, how, and what the paper got.

    dataset = "fb15k-237"     a known name, or a folder
    queries = "betae"         which queries: see `querysets.sources`
    trained = "epfo"          the five conjunctive structures; "efol": those and the five with negation; "links": 1p
    recipe = "fast"           a recipe of `training.recipes` that the rest of the file extends
    [model]                   the method's own settings, where they differ from the recipe or from its defaults
    [training]                the loop's settings, likewise
    [paper]                   the tables that this run belongs to, and their figures in percent

A file of `runs/` is meant by its name alone: `pathformer train fb15k-237-epfo`.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pathformer import config
from pathformer.config import flat
from pathformer.errors import ConfigError, UnknownPluginError
from pathformer.models._base import find
from pathformer.query.structures import EFOL_TRAINED, EPFO, EPFO_TRAINED, NEGATION_STRUCTURES
from pathformer.text import closest
from pathformer.training.recipes._base import find as find_recipe
from pathformer.training.settings import Training

__all__ = ["Paper", "Run", "flat", "read_run", "run_file", "run_names"]

_METHOD = "pathformer"
_RUNS = Path(__file__).parent / "runs"


@dataclass(frozen=True, kw_only=True)
class Paper:
    """The paper's figures for a run."""

    tables: tuple[int, ...] = ()
    row: str = ""  # as it is called there
    mrr: Mapping[str, float] = field(default_factory=dict)  # structure or "avg" -> percent
    parameters: float | None = None  # millions, tables of entities and relations not counted


@dataclass(frozen=True, kw_only=True)
class Run:
    """The settings of one training; `model` has the type of the method's settings."""

    dataset: str
    queries: str = "betae"
    trained: Literal["links", "epfo", "efol"] = "epfo"  # "EPFO figures come from the EPFO-trained model" (section V-A)
    method: str = "pathformer"
    recipe: str = ""  # the settings that the others here extend; empty: the paper's; ours
    many_entities: bool = False  # takes the recipe's form for graphs of more than 30,000 entities
    start: str = ""  # a checkpoint, or a run trained first, whose tables this one's start from; ours
    start_minutes: float | None = None  # of a run that is trained first, in place of its own
    second_model: str = ""  # a run trained after this one, whose points stand beside its own (`second_model`); ours
    second_model_settings: tuple[str, ...] = ()  # changes to that run, key=value
    second_model_weight: float = 0.6  # weight of its distances
    note: str = ""  # where the paper is silent
    valid_queries: int | None = 1000  # of a structure at each validation; none: all
    training: Training = field(default_factory=Training)
    paper: Paper = field(default_factory=Paper)

    def __post_init__(self) -> None:
        if not 0.0 < self.second_model_weight < float("inf"):
            raise ValueError(f"second_model_weight must be a positive finite number, got {self.second_model_weight}")

    @property
    def trained_structures(self) -> tuple[str, ...]:
        """The structures that the model is trained on; never ip, pi, 2u and up."""
        return {"links": ("1p",), "epfo": EPFO_TRAINED, "efol": EFOL_TRAINED}[self.trained]

    @property
    def evaluated_structures(self) -> tuple[str, ...]:
        """The structures that it is evaluated on."""
        return {"links": ("1p",), "epfo": EPFO, "efol": EPFO + NEGATION_STRUCTURES}[self.trained]

    @property
    def model_settings(self) -> dict[str, Any]:
        """The method's settings as plain values."""
        return dataclasses.asdict(self.model)  # type: ignore[attr-defined]

    def plain(self) -> dict[str, Any]:
        """All settings as plain values, as a checkpoint keeps them."""
        return dataclasses.asdict(self)


def read_run(
    file: str | Path | None = None, overrides: Sequence[str] = (), base: Mapping[str, Any] | None = None
) -> Run:
    """Reads a run from a file, a path or the name of one of `runs/`, then `key=value`; `base` stands in for a file."""
    path = None if file is None else run_file(file)
    if base is not None:
        run: Run = config.from_mapping(_type(str(base.get("method", _METHOD))), base)
        return run
    early = _early_settings(path, overrides)
    given = _recipe_settings(early)
    return config.read(_type(str(early.get("method", given.get("method", _METHOD)))), path, overrides, base=given)


def run_names() -> tuple[str, ...]:
    """Lists the run files that come with the package."""
    return tuple(sorted(path.stem for path in _RUNS.glob("*.toml")))


def run_file(file: str | Path) -> Path:
    """Finds a run file by its path or name."""
    path = Path(file)
    if path.is_file() or path.suffix == ".toml":
        return path  # whoever reads it says what is wrong with it
    if str(file) in run_names():
        return _RUNS / f"{file}.toml"
    near = closest(str(file), run_names())
    hint = f"; closest: {', '.join(map(repr, near))}" if near else f"; there are: {', '.join(run_names())}"
    raise ConfigError(f"no run file {str(file)!r}{hint}")


def _early_settings(path: Path | None, overrides: Sequence[str]) -> dict[str, Any]:
    """Reads the settings that decide which others there are, and what a recipe gives."""
    found: dict[str, Any] = {}
    if path is not None and path.is_file():
        with suppress(tomllib.TOMLDecodeError, UnicodeDecodeError):  # `config.read` tells, with the line
            found = tomllib.loads(path.read_text(encoding="utf-8"))
    for override in overrides:
        key, _, value = (part.strip() for part in override.partition("="))
        if key in ("method", "recipe", "dataset", "trained", "many_entities"):
            found[key] = value == "true" if key == "many_entities" else value.strip("'\"")
    return found


def _recipe_settings(early: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings of the recipe that a run names, in the form for what it trains."""
    if not early.get("recipe"):
        return {}
    many, negation = early.get("many_entities") is True, early.get("trained") == "efol"
    try:
        recipe = find_recipe(str(early["recipe"]))(negation=negation, many_entities=many)
    except UnknownPluginError as error:
        raise ConfigError(str(error)) from None
    return recipe.as_run(str(early.get("dataset", "")))


def _type(method: str) -> type[Run]:
    settings = find(method).config_type
    fields = [("model", settings, field(default_factory=settings))]
    made: type[Run] = dataclasses.make_dataclass("Run", fields, bases=(Run,), frozen=True, kw_only=True)
    return made
