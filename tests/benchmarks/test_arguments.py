"""What a benchmark cannot measure is said before it measures anything."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import pytest
import torch


def refused(
    module: ModuleType, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    monkeypatch.setattr(sys, "argv", ["benchmark", *arguments])
    monkeypatch.setattr(module, "record", lambda *_: pytest.fail("something was measured"))
    with pytest.raises(SystemExit, match=r"^2$"):
        module.main()
    return capsys.readouterr().err.partition("error: ")[2]


def test_a_case_of_the_sampler_that_is_none(
    script: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = script("benchmarks/sampler.py")
    monkeypatch.setitem(module.CASES, "bulk", lambda _: pytest.fail("bulk was measured"))
    told = refused(module, ["--cases", "bulk,twins"], monkeypatch, capsys)
    assert told == "no case 'twins'; there are: twin, compile, benchmark, bulk, large\n"


@pytest.mark.usefixtures("one_thread")
def test_embeddings_of_another_size_than_the_engine_that_is_made_up(
    script: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = script("benchmarks/ask.py")
    monkeypatch.setattr(module, "read", lambda _: SimpleNamespace(entities=torch.empty(63_361, 256)))
    monkeypatch.setattr(module, "made_up_engine", lambda *_: pytest.fail("an engine was made"))
    told = refused(module, ["--threads", "1", "--embeddings", "runs/there"], monkeypatch, capsys)
    assert told == "runs/there holds 63,361 entities of 256, not 63,361 of 800: see --dim\n"
