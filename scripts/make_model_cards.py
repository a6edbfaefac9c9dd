"""Write `docs/model-cards.md`: a card of every recorded run, and the learning curves; a test keeps the page current."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

from pathformer.experiments.cards import card_of_record
from pathformer.experiments.records import Record, read_records
from pathformer.experiments.settings import read_run

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "model-cards.md"
HEAD = """# Model cards

<!-- Made by scripts/make_model_cards.py from the records in the package; nothing on this page is written by hand. -->

Cards of the main runs, those of the paper's recipe and of ours, as far as they are recorded; other methods, variants
and shorter boxes stand in [the tables](tables.md). `pathformer train` writes the same card into a run's folder, and
[`pathformer release`](release.md) into the engine that it makes of it. Weights are not part of the package: the command
of a card makes them.
"""
MAIN = {
    f"{recipe}{dataset}{queries}"
    for dataset in ("fb15k-237", "nell995")
    for recipe, kinds in (
        ("", ("-epfo", "-efol", "-q2b")),
        ("fast-", ("", "-efol", "-q2b")),
        ("scratch-", ("", "-efol")),
    )
    for queries in kinds
} | {"fast-nell995-pair"}
RACES = {
    "recipe-race.svg": "FB15k-237 without negation: the paper's recipe and ours",
    "recipe-race-negation.svg": "FB15k-237, structures with negation: the paper's recipe and ours",
    "recipe-race-nell995.svg": "NELL995 without negation: the paper's recipe and ours",
    "recipe-race-nell995-negation.svg": "NELL995, structures with negation: the paper's recipe and ours",
}


def page() -> str:
    """The whole page."""
    drawn = runpy.run_path(str(Path(__file__).with_name("draw_results.py")))["figures"]()
    parts = [HEAD, *_races(drawn), *(_card(record, drawn) for record in recorded())]
    return "\n".join(parts)


def recorded() -> list[Record]:
    """Of each main run the longest that is no variant; our recipe's first, then as the run files are called."""
    own = [record for record in read_records() if record.run in MAIN and not record.variant]
    longest = {record.run: record for record in sorted(own, key=lambda record: record.seconds)}.values()
    return sorted(longest, key=lambda record: (bool(read_run(record.run).paper.mrr), record.run))


def _races(drawn: dict[str, str]) -> Iterator[str]:
    yield "## Learning curves\n"
    yield "Mean validation MRR in percent over the time of training, validations included, by its logarithm.\n"
    for name, words in RACES.items():
        if name in drawn:
            yield f"**{words}**\n\n![{words}: MRR over time](images/{name})\n"


def _card(record: Record, drawn: dict[str, str]) -> str:
    card = card_of_record(record).markdown(level=2)
    name = f"{record.run}.svg"
    if not record.curve or name not in drawn:
        return card
    return f"{card}\n![Validation MRR of {record.run} over minutes, a panel a structure](images/{name})\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
