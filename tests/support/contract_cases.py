"""Every method at a small size, in every variant of its settings.

A new method needs one line in SMALL: its settings for a model that a test can afford.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from pathformer.models._base import Model, build
from pathformer.models._contract import ENTITIES, RELATIONS

SMALL: dict[str, dict[str, Any]] = {
    "betae": {"dim": 8, "hidden": 16},
    "biqe": {"dim": 16, "layers": 1, "heads": 2},
    "complex": {"rank": 64},
    "composed": {"dim": 24, "heads": 4},
    "cone": {"dim": 8, "hidden": 16},
    "fuzzqe": {"dim": 12, "bases": 4},
    "gammae": {"dim": 8, "hidden": 16},
    "gqe": {"dim": 12},
    "mlp": {"dim": 12},
    "mlp-mixer": {"dim": 12},
    "pair": {
        "one": {"dim": 16, "heads": 2},
        "other": {"dim": 12, "layers": 1, "heads": 2, "space": "sphere", "fork": "set"},
    },
    "pathformer": {"dim": 24, "layers": 2, "heads": 4},
    "q2b": {"dim": 12},
    "q2p": {"dim": 8},
}
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "betae": [{}, {"union": "demorgan"}],
    "biqe": [{}, {"norm": "post"}],
    "composed": [
        {},
        {"domains": False, "add_to": "paths", "bare_path_length": 0},
        {"fork": "network", "deny_in": "fork"},
    ],
    "cone": [{}, {"union": "demorgan"}, {"start": "reference"}],
    "mlp": [{}, {"start": "random"}],
    "mlp-mixer": [{}, {"start": "reference"}],
    "fuzzqe": [
        {},
        {"logic": "product", "regularizer": "clamp"},
        {"logic": "lukasiewicz"},
        {"union": "dnf"},
        {"union": "demorgan"},
    ],
    "pair": [{}, {"denies": False}],
    "pathformer": [
        {},
        {"positions": "relative"},
        {"positions": "none"},
        {"attention": "causal"},
        {"norm": "post"},
        {"bias": False, "scale": False, "gain": "one"},
        {"residual_start": 1.0, "fork_start": "random"},
        {"fork": "mixer"},
        {"fork": "mlp2vector"},
        {"fork": "set"},
        {"layers": 1, "fork_hidden": (2,)},
        {"space": "box", "layers": 1, "margin": 30.0},
        {"space": "beta", "layers": 1, "margin": 60.0},
        {"space": "sphere"},
        {"space": "sphere", "expected_variables": True},
        {"space": "hermitian"},
    ],
}
ONLY = {"complex": ("1p", "2u")}  # structures of methods that take no others, and say so
CASES = [(name, variant) for name in SMALL for variant in VARIANTS.get(name, [{}])]
IDS = [" ".join([name, *(f"{key}={value}" for key, value in variant.items())]) for name, variant in CASES]


def make(name: str, variant: Mapping[str, Any], seed: int = 0) -> Model:
    torch.manual_seed(seed)
    return build(name, {**SMALL[name], **variant}, entities=ENTITIES, relations=RELATIONS).eval()
