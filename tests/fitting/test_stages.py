"""Stages: what an interruption is told to lead to."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from pathformer.fitting.stages import Stages


def stages() -> tuple[Stages, io.StringIO]:
    written = io.StringIO()
    return Stages(Console(file=written, width=400), count=2), written


@pytest.mark.parametrize(
    ("stage", "kept", "words"),
    [
        ("drawing questions", True, "the same command repeats this stage and keeps the stages before it"),
        ("training", True, "the same command continues it"),
        ("training", False, "nothing was kept, the same command starts over"),
    ],
)
def test_an_interruption_says_where_it_came_and_what_follows(stage: str, kept: bool, words: str) -> None:
    shown, _ = stages()
    with pytest.raises(KeyboardInterrupt) as stop, shown.stoppable(kept=kept), shown.stage(stage):
        raise KeyboardInterrupt
    assert str(stop.value) == f"stopped while {stage}: {words}"


@pytest.mark.parametrize("total", [None, 2])
def test_every_stage_is_seen_at_work_on_a_terminal(total: int | None) -> None:
    written = io.StringIO()
    shown = Stages(Console(file=written, width=100, force_terminal=True), count=2)
    with shown.stage("writing", total) as advance:
        advance("part")
        assert "1/2 writing" in written.getvalue()
        assert "━" in written.getvalue()
        assert ("-:--" in written.getvalue()) is (total is not None)  # the time left, where it can be known
    piped, text = stages()
    with piped.stage("writing", total):
        assert text.getvalue() == ""  # what is no terminal gets whole lines alone
    assert text.getvalue() == "1/2 writing: 0 s\n"


def test_another_error_stays_as_it_is() -> None:
    shown, _ = stages()
    with pytest.raises(ValueError, match=r"^mine$"), shown.stoppable(kept=True), shown.stage("writing"):
        raise ValueError("mine")


def test_times_of_several_sessions_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 5))  # every look at it is 5 s later
    monkeypatch.setattr("pathformer.fitting.stages.time.monotonic", lambda: next(clock))
    first, _ = stages()
    first.keep(tmp_path)
    with first.training():
        pass
    with pytest.raises(KeyboardInterrupt), first.training("writing"):
        raise KeyboardInterrupt
    assert first.seconds == {"training": 5, "writing": 5}
    second, written = stages()
    with second.training("joining"):
        pass
    second.keep(tmp_path)
    with second.training():
        pass
    assert second.seconds == {"training": 10, "writing": 5, "joining": 5}
    assert json.loads((tmp_path / "times.json").read_text()) == second.seconds
    assert written.getvalue() == "1/2 joining\n2/2 training\n"


@pytest.mark.parametrize(
    "content",
    [b"{", b"\xff\xfe", b"[5]", b"5", b'{"training": "long"}', b'{"training": NaN}', b'{"training": -5}', b"[" * 9999],
    ids=["cut", "no text", "list", "number", "word", "nan", "negative", "deep"],
)
def test_times_that_cannot_be_read_are_lost_and_no_more(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "times.json"
    file.write_bytes(content)
    work, written = stages()
    work.seconds = {"joining": 5.0}
    work.keep(tmp_path)
    assert written.getvalue() == f"{file} is damaged: the report will lack the times of earlier sessions\n"
    with work.training():
        pass
    assert work.seconds.keys() == {"joining", "training"}
    again, nothing = stages()
    again.keep(tmp_path)
    assert again.seconds == work.seconds
    assert nothing.getvalue() == ""


def test_training_names_its_two_parts() -> None:
    shown, written = stages()
    with shown.training() as display:
        display.for_part("single links").say("step 3 after 1 s")
        assert display.for_part("questions").after_stop == ""
    assert written.getvalue() == "1/2 training\nsingle links: step 3 after 1 s\n"


@pytest.mark.parametrize("compiled", [True, False])
def test_what_drawing_waits_for_is_told_where_it_must(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pathformer.fitting.stages.is_sampler_compiled", lambda: compiled)
    work, written = stages()
    work.say_compiling()
    assert written.getvalue() == ("" if compiled else "compiling the sampler, once on this machine\n")


@pytest.mark.parametrize("terminal", [False, True])
def test_a_line_is_folded_on_a_terminal_alone(terminal: bool) -> None:
    out = io.StringIO()
    Stages(Console(file=out, width=40, force_terminal=terminal)).say("word " * 20 + "end")
    assert len(out.getvalue().splitlines()) == (3 if terminal else 1)
