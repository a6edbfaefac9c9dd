"""Where to compute: names that are none are refused in a sentence."""

from __future__ import annotations

import pytest
import torch

from pathformer.errors import InputError
from pathformer.training.device import choose_device


def test_auto_is_a_card_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device().type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device() == torch.device("cuda")
    assert choose_device("cuda:1") == torch.device("cuda:1")


def test_what_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"no device is called 'cud': there are auto, cpu, cuda, and cuda:1"):
        choose_device("cud")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="no CUDA device is there: take cpu or auto"):
        choose_device("cuda")
