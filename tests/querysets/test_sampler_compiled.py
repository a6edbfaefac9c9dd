"""Whether the sampler must be compiled is known before it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.caching import CompileResultCacheImpl

from pathformer.compiled import compiled
from pathformer.querysets.sampler import is_sampler_compiled

ASK = "from pathformer.querysets.sampler import is_sampler_compiled as asked; print(asked())"
PLACE = (
    "from pathformer.symbolic.kernels.walk import draw; from pathlib import Path; place = Path(draw.stats.cache_path); "
    "place.mkdir(parents=True, exist_ok=True); (place / 'walk.draw-1.py3.nbi').touch(); "
)


@pytest.mark.parametrize(
    ("first", "more", "answer"),
    [("", {}, "False"), (PLACE, {}, "True"), ("", {"NUMBA_DISABLE_JIT": "1"}, "True")],
    ids=["never", "before", "not at all"],
)
def test_the_folder_of_compiled_code_tells(tmp_path: Path, first: str, more: dict[str, str], answer: str) -> None:
    given = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **more}
    done = subprocess.run([sys.executable, "-c", first + ASK], env=given, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == answer


def test_where_nothing_can_be_kept_loops_are_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba refuses to compile then: nothing could be asked in a container whose user has no home."""
    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])

    def more(x: int) -> int:
        return x + 1

    with pytest.raises(RuntimeError, match="cannot cache function"):
        numba.njit(cache=True)(more)
    loop = compiled(more)
    monkeypatch.setattr("pathformer.symbolic.kernels.walk.draw", loop)
    assert not is_sampler_compiled()
    assert loop(2) == 3
    assert is_sampler_compiled()


def test_a_user_without_a_home_has_compiled_loops() -> None:
    without = "from pathlib import Path\ndef none(): raise RuntimeError('no home')\nPath.home = none\n"
    given = {name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    done = subprocess.run(
        [sys.executable, "-c", f"{without}from pathformer.symbolic.kernels import walk; print(walk.draw)"],
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "draw" in done.stdout


def test_what_this_process_has_compiled_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loop:
        signatures = ("of some arguments",)
        stats = None  # not looked at

    monkeypatch.setattr("pathformer.symbolic.kernels.walk.draw", Loop)
    assert is_sampler_compiled()
