"""How `benchmarks/boxes.py` reads its arguments."""

from __future__ import annotations

import boxes
import pytest


def test_a_run_with_minutes_a_variant_and_settings() -> None:
    words = "fast-fb15k-237@6#seed1,training.seed=1"
    (box,) = boxes.boxes(words, 5.0, ["valid_queries=1000"], "all")
    assert (box.run, box.minutes, box.variant) == ("fast-fb15k-237", 6.0, "seed1")
    assert box.settings == ("valid_queries=1000", "training.seed=1")
    assert box.file_name == "fast-fb15k-237@6min-seed1.json"


def test_what_is_not_given_is_everybody_s() -> None:
    (box,) = boxes.boxes("fb15k-237-epfo+fb15k-237-q2b", 5.0, [], "all")
    assert (box.run, box.also, box.minutes, box.variant) == ("fb15k-237-epfo", ("fb15k-237-q2b",), 5.0, "all")


def test_the_rows_of_a_table() -> None:
    rows = boxes.boxes("table:8:nell995", 5.0, [], "")
    assert [box.run for box in rows][-2:] == ["nell995-epfo-betae", "nell995-beta"]
    with pytest.raises(SystemExit, match="no dataset 'wn18' in table 8"):
        boxes.boxes("table:8:wn18", 5.0, [], "")
    for wrong in ("9", "x", "99"):
        with pytest.raises(SystemExit, match=f"no table '{wrong}' is made of runs; those are 1, 2, 3, 4, 5"):
            boxes.boxes(f"table:{wrong}", 5.0, [], "")


def test_minutes_in_the_word_of_a_variant_are_told() -> None:
    """They were part of the word, and the row had everybody's minutes."""
    with pytest.raises(SystemExit, match="minutes come before the variant, RUN@MINUTES#WORD"):
        boxes.boxes("fast-fb15k-237#seed1@6", 5.0, [], "")
