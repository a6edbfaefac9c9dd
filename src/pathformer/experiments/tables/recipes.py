"""Our own recipe below the paper's rows: which result is shown, what other seeds gave, and where there is none yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pathformer.experiments.records import Record
from pathformer.experiments.tables.catalogue import EXTRAS, Place

__all__ = ["recipe_notes", "recipe_rows"]

_SEED = "training.seed"


def recipe_rows(number: int, records: Sequence[Record], variant: str) -> dict[Place, tuple[Record, str]]:
    """The rows of a table that are no row of the paper: a record, and the run whose figures it is compared with.

    Of several the longest; seeds are kept as variants of their own, so the run file's own seed is the one shown.
    """
    found = {}
    for place, like in EXTRAS.get(number, ()):
        own = [record for record in records if (record.run, record.variant) == (place.run, variant)]
        if own:
            found[place] = max(own, key=lambda record: record.seconds), like
    return found


def recipe_notes(
    number: int, records: Sequence[Record], rows: Mapping[Place, tuple[Record, str]], column: str, weights: str
) -> list[str]:
    """That the paper's rows are by its own recipe and where ours stands; of several seeds, all averages."""
    if number not in EXTRAS:
        return []
    missing = [place.dataset for place, _ in EXTRAS[number] if place not in rows]
    name = EXTRAS[number][0][0].model
    lacking = f"; no result of it here for {', '.join(missing)}" if missing else ""
    theirs = "Rows of the paper have its recipe but for settings named above"
    told = [f"{theirs}; {name!r} is our own (docs/recipe.md){lacking}."]
    for place, (shown, _) in rows.items():
        seeds = {
            int(one.settings[_SEED]): one.figures(weights)[column]
            for one in records
            if one.run == place.run and one.minutes == shown.minutes and _SEED in one.settings and _alike(one, shown)
            if column in one.figures(weights)
        }
        if len(seeds) > 1:
            words = ", ".join(f"{value:.1f} (seed {seed})" for seed, value in sorted(seeds.items()))
            told.append(f"{place.dataset}, {name}, {column}: {words}.")
    return told


def _alike(one: Record, other: Record) -> bool:
    """Whether two records differ in their seed alone."""
    mine, yours = ({key: value for key, value in each.changes.items() if key != _SEED} for each in (one, other))
    return mine == yours
