"""Every method at a small size, in every variant of its settings, and what contract tests ask of it.

A new method needs one line in SMALL: its settings for a model that a test can afford.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pathformer.models import Batch, Model, build
from pathformer.plan import Plan, build_plan
from pathformer.query.structures import STRUCTURES, Structure, structure

ENTITIES, RELATIONS = 25, 6

SMALL: dict[str, dict[str, Any]] = {
    "betae": {"dim": 8, "hidden": 16},
    "biqe": {"dim": 16, "layers": 1, "heads": 2},
    "complex": {"rank": 64},
    "cone": {"dim": 8, "hidden": 16},
    "fuzzqe": {"dim": 12, "bases": 4},
    "gammae": {"dim": 8, "hidden": 16},
    "gqe": {"dim": 12},
    "mlp": {"dim": 12},
    "mlp-mixer": {"dim": 12},
    "pathformer": {"dim": 24, "layers": 2, "heads": 4},
    "q2b": {"dim": 12},
    "q2p": {"dim": 8},
}
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "betae": [{}, {"union": "demorgan"}],
    "cone": [{}, {"union": "demorgan"}],
    "fuzzqe": [{}, {"logic": "product", "regularizer": "clamp"}, {"logic": "lukasiewicz"}],
    "pathformer": [
        {},
        {"positions": "relative"},
        {"positions": "none"},
        {"attention": "causal"},
        {"norm": "post"},
        {"bias": False, "scale": False, "gain": "one"},
        {"fork": "mixer"},
        {"fork": "mlp2vector"},
        {"fork": "set"},
        {"layers": 1, "fork_hidden": (2,)},
        {"space": "box", "layers": 1, "margin": 30.0},
        {"space": "beta", "layers": 1, "margin": 60.0},
        {"space": "sphere"},
    ],
}
ONLY = {"complex": ("1p", "2u")}  # structures of methods that take no others, and say so
CASES = [(name, variant) for name in SMALL for variant in VARIANTS.get(name, [{}])]
IDS = [" ".join([name, *(f"{key}={value}" for key, value in variant.items())]) for name, variant in CASES]

# beyond the benchmark: four branches, a fork of forks, a negated fork, long paths
DEEP = "(((((e,(r,)),(e,(r,))),(r,r)),(e,(r,)),(e,(r,r)),(e,(r,))),(r,))"
DEEP_NEGATED = "(((((e,(r,)),(e,(r,n))),(r,r)),(((e,(r,)),(e,(r,)),(e,(r,)),(e,(r,r))),(n,)),(e,(r,))),(r,n,r))"


def make(name: str, variant: Mapping[str, Any], seed: int = 0) -> Model:
    torch.manual_seed(seed)
    return build(name, {**SMALL[name], **variant}, entities=ENTITIES, relations=RELATIONS).eval()


def shapes(made: Model) -> list[Structure]:
    every = [*STRUCTURES.values(), structure(DEEP), structure(DEEP_NEGATED)]
    return [shape for shape in every if takes(made, shape)]


def takes(made: Model, shape: Structure) -> bool:
    return shape.name in ONLY.get(made.name, (shape.name,)) and (made.negation or not shape.negated)


def tables(made: Model, count: int = 2) -> list[tuple[Structure, np.ndarray]]:
    rng = np.random.default_rng(1)
    high = {"e": ENTITIES, "r": RELATIONS}
    return [
        (shape, np.stack([rng.integers(high[letter], size=count) for letter in shape.columns], axis=1))
        for shape in shapes(made)
    ]


def planned(made: Model, parts: Sequence[tuple[Structure, np.ndarray]]) -> Plan:
    return build_plan(parts, made.union)


def distances(made: Model, plan: Plan) -> Tensor:
    candidates = torch.arange(ENTITIES, dtype=torch.int32).repeat(plan.layout.queries, 1)
    return made.distances(Batch.of(plan.layout), torch.from_numpy(plan.ids), candidates)
