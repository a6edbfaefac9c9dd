"""Settings that cannot be meant are refused before anything is trained, in a sentence that names them."""

from __future__ import annotations

from typing import Any

import pytest

from pathformer.config import from_mapping
from pathformer.errors import ConfigError
from pathformer.training.options import StepConfig
from pathformer.training.task import Training


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"warmup": 1.0}, "warmup 1.0 and floor 0.0 are shares, and something follows a warm-up"),
        ({"warmup": -0.1}, "warmup -0.1 and floor 0.0 are shares"),
        ({"floor": 1.5}, "warmup 0.0 and floor 1.5 are shares"),
        ({"validations": -1}, "validations -1 is how many there are: 0 or more"),
        ({"share": "step", "mix": {"1p": 2.0, "9p": 1.0}}, "mix names no structure with 9p; there are: 1p, 2p, 3p, 2i"),
        ({"update": {"negatives": 0}}, "negatives 0 leaves a query nothing to tell its answers from"),
        ({"update": {"rate": -1e-4}}, "rate, table_rate, token_rate and decay are 0 or more"),
        ({"update": {"table_rate": -1.0}}, "rate, table_rate, token_rate and decay are 0 or more"),
        ({"update": {"token_rate": -1.0}}, "rate, table_rate, token_rate and decay are 0 or more"),
        ({"update": {"decay": -0.1}}, "rate, table_rate, token_rate and decay are 0 or more"),
        ({"update": {"betas": [0.9, 1.0]}}, r"betas \(0.9, 1.0\) are in \[0, 1\), and epsilon 1e-08 is above 0"),
        ({"update": {"epsilon": 0.0}}, "and epsilon 0.0 is above 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        from_mapping(Training, settings)


def test_the_ends_of_what_can_be_meant_are_not() -> None:
    update = StepConfig(negatives=1, table_rate=0.0, token_rate=0.0, decay=0.0, betas=(0.0, 0.999))
    assert Training(warmup=0.0, floor=1.0, validations=0, update=update).update is update


def test_a_batch_that_does_not_go_round_is_told_like_any_other_setting() -> None:
    assert Training(batch=3, share="step").composition(("1p", "2p", "2i")) == {"1p": 1, "2p": 1, "2i": 1}
    with pytest.raises(ConfigError, match="batch 2 does not go round 3 structures"):
        Training(batch=2, share="step").composition(("1p", "2p", "2i"))
