"""Whether the sampler must be compiled is known before it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pathformer.symbolic.compiled import is_compiled

ASK = "from pathformer.symbolic.compiled import is_compiled; print(is_compiled())"
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


def test_what_this_process_has_compiled_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loop:
        signatures = ("of some arguments",)
        stats = None  # not looked at

    monkeypatch.setattr("pathformer.symbolic.kernels.walk.draw", Loop)
    assert is_compiled()
