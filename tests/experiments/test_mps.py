"""NVIDIA's multi-process service is started, tried, and ended again; where it does not work, that is said."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from pathformer.experiments import mps
from pathformer.experiments.mps import PROGRAM, Service

PIPE = "CUDA_MPS_PIPE_DIRECTORY"


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv(PIPE, raising=False)


def daemon(folder: Path, start: str = "exit 0") -> None:
    """A program that notes what it was told, and where."""
    file = folder / PROGRAM
    file.write_text(
        f'#!/bin/sh\nif [ "$1" = -d ]; then echo "start ${PIPE}" >> {folder}/told; {start}; fi\n'
        f'read words; echo "$words" >> {folder}/told; [ "$words" = get_server_list ] && echo 4711; exit 0\n'
    )
    file.chmod(0o755)


def told(folder: Path) -> list[str]:
    return (folder / "told").read_text().splitlines()


def use() -> None:
    """A trial that works only where the service is known."""
    assert PIPE in os.environ


def refuse() -> None:
    os._exit(3)


def test_it_is_there_while_entered(tmp_path: Path) -> None:
    daemon(tmp_path)
    said: list[str] = []
    with Service(said.append, use) as service:
        service.settle()
        service.settle()  # every row asks
        place = os.environ[PIPE]
        assert Path(place).is_dir()
    assert said == ["MPS is on (servers: 4711)"]
    assert told(tmp_path) == [f"start {place}", "get_server_list", "quit -t 5"]
    assert PIPE not in os.environ
    assert not Path(place).exists()


def test_one_that_refuses_programs_is_ended(tmp_path: Path) -> None:
    daemon(tmp_path)
    said: list[str] = []
    with Service(said.append, refuse) as service:
        service.settle()
        assert PIPE not in os.environ
    assert said == ["no MPS: a process that tried it ended with 3; rows take turns on the device"]
    assert told(tmp_path)[1:] == ["quit -t 5"]


def test_one_that_does_not_start_is_told(tmp_path: Path) -> None:
    daemon(tmp_path, start="echo no card is there >&2; exit 1")
    said: list[str] = []
    with Service(said.append, use) as service:
        service.settle()
        assert PIPE not in os.environ
    assert said == ["no MPS: no card is there; rows take turns on the device"]


def sleep() -> None:
    time.sleep(60)


def test_one_that_never_answers_is_ended_and_its_trial_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon(tmp_path)
    monkeypatch.setattr(mps, "_TRY", 0.1)
    said: list[str] = []
    with Service(said.append, sleep) as service:
        trial = service._trying
        assert trial is not None
        service.settle()
        trial.join(10)
        assert trial.exitcode == -signal.SIGKILL
        assert PIPE not in os.environ
    assert said == ["no MPS: no answer to a trial; rows take turns on the device"]
    assert told(tmp_path)[1:] == ["quit -t 5"]


def test_one_whose_start_takes_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon(tmp_path, start="exec sleep 60")
    monkeypatch.setattr(mps, "_START", 0.2)
    said: list[str] = []
    with Service(said.append, refuse) as service:
        service.settle()
        assert PIPE not in os.environ
    assert len(said) == 1
    assert said[0].startswith("no MPS: Command '['")
    assert said[0].endswith("timed out after 0.2 seconds; rows take turns on the device")


def test_a_daemon_that_is_gone_has_no_answer(tmp_path: Path) -> None:
    daemon(tmp_path)
    said: list[str] = []
    with Service(said.append, use) as service:
        (tmp_path / PROGRAM).unlink()
        service.settle()
        place = os.environ[PIPE]
    assert said == ["MPS is on (servers: none told)"]
    assert PIPE not in os.environ
    assert not Path(place).exists()


def test_without_the_program_nothing_is_done() -> None:
    said: list[str] = []
    with Service(said.append, refuse) as service:
        service.settle()
    assert said == [f"no MPS: there is no {PROGRAM}; rows take turns on the device"]


def test_the_service_of_somebody_else_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon(tmp_path)
    monkeypatch.setenv(PIPE, "/elsewhere")
    said: list[str] = []
    with Service(said.append, refuse) as service:
        service.settle()
    assert said == ["MPS: the service of /elsewhere is used"]
    assert os.environ[PIPE] == "/elsewhere"
    assert not (tmp_path / "told").exists()
