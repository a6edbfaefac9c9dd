"""Where to compute: names that are none are refused in a sentence."""

from __future__ import annotations

import time

import pytest
import torch

from pathformer.errors import InputError
from pathformer.nn import device
from pathformer.nn.device import busy_elsewhere, choose_device, free_threads


def test_auto_is_a_card_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device().type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device() == torch.device("cuda")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device("cuda:1") == torch.device("cuda:1")


def test_what_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"no device is called 'cud'; use auto, cpu, cuda, or cuda:1"):
        choose_device("cud")
    for other in ("meta", "mps", ""):  # known to torch, and nothing to train on
        with pytest.raises(InputError, match=rf"no device is called '{other}'; use auto, cpu, cuda"):
            choose_device(other)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="this machine has no CUDA device"):
        choose_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(InputError, match="device 'cuda:2': the last CUDA device of this machine is cuda:1"):
        choose_device("cuda:2")


class Machine:
    """A machine of which this process and others keep so many cores busy while it sleeps."""

    def __init__(self, patch: pytest.MonkeyPatch, *, load: float, own: float, others: float, cores: int = 2) -> None:
        self.clock, self.own, self.others = 0.0, own, others
        patch.setattr("os.sched_getaffinity", lambda _: set(range(cores)), raising=False)
        patch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
        patch.setattr("time.monotonic", lambda: self.clock)
        patch.setattr("time.process_time", lambda: own * self.clock)
        patch.setattr("time.sleep", self.pass_by)
        patch.setattr(device, "_seconds_worked", lambda: 1000.0 + (own + others) * self.clock)

    def pass_by(self, seconds: float) -> None:
        self.clock += seconds


@pytest.mark.parametrize(
    ("load", "own", "others", "threads"),
    [
        (0.1, 0.0, 0.0, 2),  # nobody
        (1.0, 1.0, 0.0, 2),  # this process read a graph: it is no neighbour of its own
        (1.0, 0.0, 1.0, 1),  # a neighbour
        (2.0, 1.0, 1.0, 1),  # both
        (2.3, 1.0, 0.1, 2),  # two that have just ended
        (0.3, 0.0, 1.0, 2),  # a neighbour for a moment
        (8.0, 0.0, 2.0, 1),  # no core is idle
    ],
)
def test_threads_are_as_many_as_cores_that_others_leave(
    load: float, own: float, others: float, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(monkeypatch, load=load, own=own, others=others)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with free_threads() as found:
            assert found == torch.get_num_threads() == threads
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("cores", "told", "others", "threads"),
    [
        (16, 2, 3.0, 2),  # torch was told to take two of sixteen cores: three busy ones leave more than enough
        (16, 16, 3.0, 13),
        (16, 2, 15.0, 1),
        (2, 8, 1.0, 1),  # more threads than cores: one core is idle, not seven
        (2, 8, 0.0, 2),
        (1, 1, 4.0, 1),  # one at the least
    ],
)
def test_cores_are_counted_and_not_torch_s_threads(
    cores: int, told: int, others: float, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(monkeypatch, load=16.0, own=0.0, others=others, cores=cores)
    before = torch.get_num_threads()
    torch.set_num_threads(told)
    try:
        with free_threads() as found:
            assert found == torch.get_num_threads() == threads
        assert torch.get_num_threads() == told
    finally:
        torch.set_num_threads(before)


def test_where_processors_tell_nothing_the_load_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (1.7, 0.0, 0.0))
    monkeypatch.setattr(device, "_seconds_worked", lambda: None)
    assert busy_elsewhere() == 1.7


def test_what_processors_did_grows_by_what_this_process_does() -> None:
    before = device._seconds_worked()
    if before is None:
        pytest.skip("this system has no /proc/stat")
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    after = device._seconds_worked()
    assert after is not None
    assert after - before > 0.05
