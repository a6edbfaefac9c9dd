"""Settings that cannot be meant are refused before anything is trained, in a sentence that names them."""

from __future__ import annotations

import pytest

from pathformer.errors import ConfigError
from pathformer.training.settings import StepConfig, Training


def test_the_ends_of_what_can_be_meant_are_not() -> None:
    update = StepConfig(negatives=1, table_rate=0.0, domain_rate=0.0, weight_decay=0.0, betas=(0.0, 0.999))
    assert Training(warmup=0.0, floor=1.0, validations=0, update=update).update is update


def test_a_batch_that_does_not_go_round_is_told_like_any_other_setting() -> None:
    assert Training(batch=3, batch_per="step").composition(("1p", "2p", "2i")) == {"1p": 1, "2p": 1, "2i": 1}
    with pytest.raises(ConfigError, match="batch is 2, but 3 structures need"):
        Training(batch=2, batch_per="step").composition(("1p", "2p", "2i"))
