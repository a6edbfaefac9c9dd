"""Write what was measured into `docs/tables.md` and the methods' pages, and its pictures into `docs/images`.

It all comes from the results that are in the package, and a test keeps it current: in `docs/tables.md` the tables below
the last marker, and between pairs of others what its budget bought each row, all tries of each row, and how far the
order of the methods is the paper's; on the page of a method its rows. Everything else is written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pathformer.experiments.records import Record, read_records
from pathformer.experiments.tables.agreement import agreement
from pathformer.experiments.tables.catalogue import CASES, MEASURED, TITLES
from pathformer.experiments.tables.chart import chart
from pathformer.experiments.tables.choice import Choice
from pathformer.experiments.tables.measured import grid
from pathformer.experiments.tables.render import to_markdown
from pathformer.experiments.tables.rows import bought, of_methods
from pathformer.experiments.tables.timed import running_time, speeds, speeds_of_runs
from pathformer.experiments.tables.tries import read_tries, tries
from pathformer.experiments.tables.view import Grid

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "tables.md"
MARKER = "<!-- Below: made by scripts/make_tables_docs.py from the results in the package. -->"
NOT_KEPT = Path(__file__).parents[1] / "benchmarks" / "runs" / "rows-not-kept"
METHODS = {  # pages -> the rows that are theirs, as the tables call them
    **{f"methods/{model.lower()}.md": (model,) for model in CASES if not model.startswith("Pathformer")},
    "methods/pathformer-spaces.md": ("Pathformer(1)+Box embedding", "Pathformer(1)+Beta embedding"),
}
DRAWN = 3  # rows with a result that a picture needs


def shown() -> Iterator[tuple[str, Grid]]:
    """Every table of runs with a result, by the variant that has most of its rows, with no word of its own if possible.

    Of a variant only rows with a result are shown. The name is for its picture.
    """
    records = read_records()
    for number in MEASURED:
        found = _results(number, records)
        sizes = {word: len({one.run for one in found if one.variant == word}) for word in _variants(found)}
        if not sizes:
            continue
        variant = max(sizes, key=lambda word: (sizes[word], not word))
        table = grid(number, records, Choice(variant=variant))
        if variant:
            table = replace(table, lines=tuple(line for line in table.lines if line.ours is not None))
        yield f"table-{number}{f'-{variant}' if variant else ''}", table


def pictures() -> dict[str, str]:
    """The text of every picture by the name of its file."""
    return {f"{name}.svg": chart(table) for name, table in shown() if _is_drawn(table)}


def page() -> str:
    """The whole page."""
    records = read_records()
    head = PAGE.read_text(encoding="utf-8").partition(MARKER)[0]
    made = {"Rows": bought(records), "Order": agreement(records), "Tries": tries(records, read_tries(NOT_KEPT))}
    for name, text in made.items():
        head = _between(head, name, text)
    empty = [number for number in MEASURED if not _results(number, records)]
    parts = [MARKER, ""]
    for name, table in shown():
        parts += [to_markdown(table), ""]
        if _is_drawn(table):
            parts += [f"![Table {table.number}: {TITLES[table.number]}, paper and ours](images/{name}.svg)", ""]
    parts += [to_markdown(running_time(speeds() or speeds_of_runs(records))), ""]
    if empty:
        parts += [f"Without any run yet: Tables {', '.join(map(str, empty))}.", ""]
    return head + "\n".join(parts)


def methods_pages() -> dict[str, str]:
    """The whole page of every method with rows, by its place under `docs`."""
    records = read_records()
    return {
        name: _between((DOCS / name).read_text(encoding="utf-8"), "Rows", of_methods(models, records))
        for name, models in METHODS.items()
    }


def _between(text: str, name: str, made: str) -> str:
    """The text with something else between the two markers of a name."""
    first = f"<!-- {name}: made by scripts/make_tables_docs.py from the results in the package. -->"
    last = f"<!-- {name}: end. -->"
    before, _, rest = text.partition(first)
    _, found, after = rest.partition(last)
    if not found:
        raise SystemExit(f"no {first!r} with {last!r} after it in a page that begins {text[:40]!r}")
    return f"{before}{first}\n\n{made}\n\n{last}{after}"


def _variants(records: list[Record]) -> list[str]:
    return sorted({record.variant for record in records})


def _results(number: int, records: list[Record]) -> list[Record]:
    runs = {place.run for place in MEASURED[number].places}
    return [record for record in records if record.run in runs]


def _is_drawn(table: Grid) -> bool:
    """Whether there is something to compare: several rows, and more than an average of each."""
    return len(table.columns) > 2 and sum(line.ours is not None for line in table.lines) >= DRAWN


def main() -> None:
    """Write them all; a picture that is no longer made is deleted."""
    made = pictures()
    for path in (DOCS / "images").glob("table-*.svg"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (DOCS / "images" / name).write_text(text, encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    for name, text in methods_pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
