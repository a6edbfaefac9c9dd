"""What a benchmark cannot measure is said before it measures anything."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

import pytest


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
    assert told == "no case 'twins'; there are: twin, benchmark, bulk, large\n"
