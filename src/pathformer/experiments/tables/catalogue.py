"""The fifteen tables of the paper: what each is called, its columns, and which run stands for which of its rows.

The figures themselves are in the run files (`[paper]`), or in `paper` for what is no run; a run stands in several
tables, under the name that each of them gives it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

__all__ = [
    "CASES",
    "COMPARED",
    "COUNTED",
    "DATASETS",
    "EXTRAS",
    "MEASURED",
    "TIMED",
    "TITLES",
    "Layout",
    "Place",
    "TableOptions",
]

DATASETS = {"fb15k-237": "FB15k-237", "nell995": "NELL995"}  # as the paper writes them
COUNTED = (9, 10, 11)  # out of the data alone
TIMED = (15,)  # out of a benchmark of speed
COMPARED = (1, 2, 3, 8)  # those in which methods stand beside each other

TITLES = {
    1: "MRR in % on queries without negation",
    2: "MRR in % on queries without negation, Query2box sets",
    3: "MRR in % on queries with negation",
    4: "mean MRR in % of Pathformer's variants, without negation",
    5: "mean MRR in % with and without future context, without negation",
    6: "mean MRR in % by positions, without negation",
    7: "mean MRR in % by layers, without negation; parameters in millions",
    8: "mean MRR in % of Pathformer in other spaces, without negation",
    9: "statistics of the graphs",
    10: "numbers of queries",
    11: "mean hard answers a test query",
    12: "MRR in % of Pathformer's variants, without negation",
    13: "MRR in % of Pathformer in other spaces, without negation",
    14: "MRR in % by layers, without negation; parameters in millions",
    15: "seconds for 100 training steps",
}


CASES = {  # as the tables call them -> a run with the method's settings; the paper times the first four
    "BetaE": "fb15k-237-epfo-betae",
    "MLP": "fb15k-237-epfo-mlp",
    "GammaE": "fb15k-237-epfo-gammae",
    "Pathformer": "fb15k-237-layers-1",
    "Pathformer, 6 layers": "fb15k-237-epfo",
    "Pathformer + Box": "fb15k-237-box",
    "Pathformer + Beta": "fb15k-237-beta",
    "GQE": "fb15k-237-epfo-gqe",
    "Q2B": "fb15k-237-epfo-q2b",
    "ConE": "fb15k-237-epfo-cone",
    "MLP-Mixer": "fb15k-237-epfo-mlp-mixer",
    "FuzzQE": "fb15k-237-epfo-fuzzqe",
    "Q2P": "fb15k-237-epfo-q2p",
    "BIQE": "fb15k-237-q2b-biqe",
}


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What the rows of a table are to show."""

    weights: str = "last"  # "last", as the reference code reports, or "best" on validation
    minutes: float | None = None  # the budget; None: the one that most rows have
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A row of a table."""

    dataset: str  # as the table writes it
    model: str  # likewise
    run: str  # the run file


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a table of MRR, and its rows in the paper's order."""

    number: int
    columns: tuple[str, ...]  # structures, "avg" or "avg negation", "Parameters"
    places: tuple[Place, ...]


_FULL = (*EPFO, "avg")
_METHODS = ("GQE", "Q2B", "BetaE", "Q2P", "ConE", "MLP", "MLP-Mixer", "FuzzQE", "GammaE", "Pathformer")
_NEGATING = ("BetaE", "Q2P", "ConE", "MLP", "FuzzQE", "GammaE", "Pathformer")
_VARIANTS = {"Pathformer-Mixer": "mixer", "Pathformer-MLP2vector": "mlp2vector"}
_SPACES = {
    "Q2B": "epfo-q2b",
    "Pathformer(1)+Box embedding": "box",
    "BetaE": "epfo-betae",
    "Pathformer(1)+Beta embedding": "beta",
}
_LAYERS = {"MLP": "epfo-mlp", "Pathformer(1)": "layers-1", "Pathformer(2)": "layers-2", "Pathformer(4)": "layers-4"}
_LAYERS |= {"Pathformer(6)": "epfo", "Pathformer(8)": "layers-8"}
_FUTURE = {"Pathformer(No future context)(1)": "no-future", "Pathformer(1)": "layers-1"}
_POSITIONS = {"Pathformer": "epfo", "Pathformer w/o PE": "no-positions", "Pathformer w/ RPE": "relative"}


def _own(kind: str, methods: tuple[str, ...]) -> dict[str, str]:
    """Names the runs of methods trained on one set of structures; Pathformer's run is the set's own name."""
    return {name: kind if name == "Pathformer" else f"{kind}-{name.lower()}" for name in methods}


def _places(runs: dict[str, str], datasets: dict[str, str]) -> tuple[Place, ...]:
    return tuple(
        Place(words, model, f"{name}-{run}") for name, words in datasets.items() for model, run in runs.items()
    )


_FB = {"fb15k-237": "FB15k-237"}
_Q2B_SETS = {"fb15k-237": "FB237-Q2B", "nell995": "NELL-Q2B"}

MEASURED: dict[int, Layout] = {
    table.number: table
    for table in (
        Layout(1, _FULL, _places(_own("epfo", _METHODS), DATASETS)),
        Layout(2, _FULL, _places({"BIQE": "q2b-biqe", "Pathformer": "q2b"}, _Q2B_SETS)),
        Layout(3, (*NEGATION_STRUCTURES, "avg negation"), _places(_own("efol", _NEGATING), DATASETS)),
        Layout(4, ("avg",), _places(_VARIANTS, DATASETS)),
        Layout(5, ("avg",), _places(_FUTURE, _FB)),
        Layout(6, ("avg",), _places(_POSITIONS, _FB)),
        Layout(7, ("avg", "Parameters"), _places(_LAYERS, _FB)),
        Layout(8, ("avg",), _places(_SPACES, DATASETS)),
        Layout(12, _FULL, _places(_VARIANTS, DATASETS)),
        Layout(13, _FULL, _places(_SPACES, DATASETS)),
        Layout(14, (*_FULL, "Parameters"), _places(_LAYERS, _FB)),
    )
}

# Runs that are no row of the paper, shown below the row that they are compared with where they have a result.
_RECIPE = "Pathformer, recipe fast"
EXTRAS: dict[int, tuple[tuple[Place, str], ...]] = {
    number: tuple((Place(words, _RECIPE, f"fast-{name}{ending}"), f"{name}-{kind}") for name, words in datasets.items())
    for number, ending, kind, datasets in (
        (1, "", "epfo", DATASETS),
        (2, "-q2b", "q2b", _Q2B_SETS),
        (3, "-efol", "efol", DATASETS),
    )
}
