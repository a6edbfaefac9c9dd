"""The messages that users read, each with the input that brings it about; `make golden` rewrites them all."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import golden

MESSAGES = sorted((golden.FOLDER / "messages").glob("*.txt"))


@pytest.mark.parametrize("file", MESSAGES, ids=lambda file: file.stem)
def test_messages_are_as_they_were_reviewed(file: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    script = file.read_text(encoding="utf-8")
    if " films" in script:  # an engine that somebody asks
        (tmp_path / "films").symlink_to(request.getfixturevalue("films_engine"))
    golden.check_text(f"messages/{file.name}", golden.play(script, tmp_path))
