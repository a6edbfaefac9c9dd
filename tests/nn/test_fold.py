"""Networks that make one vector of several: the function that they are at first."""

from __future__ import annotations

import pytest
import torch

from pathformer.nn.combine import MLPPair, Start


@pytest.mark.parametrize(("hidden", "start"), [([64, 32], "mean"), ([64], "mean"), ([64], "sum")])
def test_a_pair_starts_near_the_mean_or_the_sum_of_its_inputs(hidden: list[int], start: Start) -> None:
    torch.manual_seed(0)
    left, right = 0.03 * torch.randn(40, 32), 0.03 * torch.randn(40, 32)
    expected = (left + right) / (2 if start == "mean" else 1)
    folded = MLPPair(32, hidden, start, reach=0.0325)(left, right)
    both = torch.stack([(each - each.mean(dim=0)).flatten() for each in (folded, expected)])  # the biases are small
    assert torch.corrcoef(both)[0, 1] > 0.95


def test_a_pair_that_cannot_start_as_a_mean_is_refused() -> None:
    with pytest.raises(ValueError, match="start as a mean"):
        MLPPair(32, [32], "mean")
