"""Compiled code is never stale; one thread here, the usual number everywhere else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
import torch
from threadpoolctl import ThreadpoolController

from pathformer.compiled import one_blas_thread, one_thread

USUAL = 3


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(USUAL)
    yield
    torch.set_num_threads(before)


def test_code_is_compiled_anew_when_a_file_beside_it_changes(tmp_path: Path) -> None:
    """Numba alone would go on using the helper as it was when its caller was compiled."""
    helper = "from pathformer.compiled import compiled\n@compiled\ndef add(x):\n    return x + {}\n"
    (tmp_path / "caller.py").write_text(
        "from pathformer.compiled import compiled\nfrom helper import add\n@compiled\ndef call(x):\n    return add(x)\n"
    )
    program = "import caller; print(caller.call(1), sum(caller.call.stats.cache_hits.values()))"
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "NUMBA_CACHE_DIR": ""}
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *sys.path])
    printed = []
    for added in (1, 1, 2):
        (tmp_path / "helper.py").write_text(helper.format(added))
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
        printed.append(done.stdout.split())
    assert printed == [["2", "0"], ["2", "1"], ["3", "0"]]


def elsewhere() -> int:
    """What a thread that starts now is given."""
    with ThreadPoolExecutor(1) as fresh:
        return fresh.submit(torch.get_num_threads).result()


def test_other_threads_keep_their_number_and_new_ones_get_the_usual_one() -> None:
    with ThreadPoolExecutor(1) as other:
        assert other.submit(torch.get_num_threads).result() == USUAL
        with one_thread():
            assert torch.get_num_threads() == 1
            assert other.submit(torch.get_num_threads).result() == USUAL
            assert elsewhere() == USUAL
            with one_thread():
                assert torch.get_num_threads() == 1
            assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == USUAL
    assert elsewhere() == USUAL


def test_blocks_that_overlap_leave_nothing_behind() -> None:
    """The second begins in a new thread while the first is inside, and ends after it."""
    both, first_left = Barrier(2, timeout=30), Barrier(2, timeout=30)

    def second() -> tuple[int, int]:
        with one_thread():
            both.wait()
            first_left.wait()
            inside = torch.get_num_threads()
        return inside, torch.get_num_threads()

    with ThreadPoolExecutor(1) as other:
        with one_thread():
            running = other.submit(second)
            both.wait()
        first_left.wait()
        assert running.result(30) == (1, USUAL)
    assert torch.get_num_threads() == USUAL
    assert elsewhere() == USUAL


def test_products_are_of_one_thread_until_the_last_block_ends() -> None:
    """The number belongs to the process: of blocks that overlap none may take the 1 for the usual number."""
    blas = ThreadpoolController().select(user_api="blas")
    inside, first_out = Barrier(2), Barrier(2)

    def numbers() -> set[int]:
        return {library.get_num_threads() for library in blas.lib_controllers}

    def first() -> None:
        with one_blas_thread():
            inside.wait()
        first_out.wait()

    def second() -> set[int]:
        with one_blas_thread(), one_blas_thread():
            inside.wait()
            first_out.wait()
            return numbers()

    with blas.limit(limits=USUAL), ThreadPoolExecutor(2) as threads:
        usual = numbers()
        ended = threads.submit(first)
        assert threads.submit(second).result() == {1}
        ended.result()
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            1 / 0  # noqa: B018
        assert numbers() == usual


def test_an_error_inside_gives_the_number_back() -> None:
    with pytest.raises(ValueError, match="inside"), one_thread():
        raise ValueError("inside")
    assert torch.get_num_threads() == USUAL


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_can_enter() -> None:
    with one_thread():
        pass  # its threads are there now
    child = os.fork()
    if not child:
        signal.alarm(30)
        with one_thread():
            os._exit(0 if torch.get_num_threads() == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
