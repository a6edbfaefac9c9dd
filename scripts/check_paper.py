"""Compare the figures of the run files with the paper's LaTeX source, table by table: a second, independent reading.

    python scripts/check_paper.py PAPER.tex

Prints what differs, and where the paper does not agree with itself: an average that is not that of its row, a best or
second-best mark on the wrong figure. Ends with 1 if a figure of ours differs from the source.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from pathformer.experiments.tables import paper
from pathformer.experiments.tables.catalogue import DATASETS, MEASURED
from pathformer.experiments.tables.measured import figures_of_paper

MARKS = re.compile(r"\\(textbf|underline)\{([^{}]*)\}")


def source_tables(text: str) -> list[list[list[str]]]:
    """The rows of every table of the source, in order, as cells."""
    found = []
    for body in re.findall(r"\\begin\{tabular\}\{[^}]*\}(.*?)\\end\{tabular\}", text, re.DOTALL):
        plain = re.sub(r"%[^\n]*", "", body)
        plain = re.sub(r"\\(toprule|midrule|bottomrule|cmidrule\{[^}]*\})", "", plain)
        plain = re.sub(
            r"\\multi(?:row|column)\{[^}]*\}(?:\[[^]]*\])?\{[^}]*\}\{((?:[^{}]|\{[^{}]*\})*)\}", r"\1", plain
        )
        found.append([[cell.strip() for cell in row.split("&")] for row in plain.split(r"\\") if row.strip()])
    return found


def bare(cell: str) -> str:
    """A cell without its marks."""
    return MARKS.sub(r"\2", cell).strip()


def number(cell: str) -> float | None:
    """The figure of a cell; "85s" is 85."""
    try:
        return float(bare(cell).replace(",", "").removesuffix("s"))
    except ValueError:
        return None


def measured(number_: int, rows: list[list[str]]) -> Iterator[str]:
    """Differences of a table of MRR."""
    table = MEASURED[number_]
    by_dataset = number_ in (4, 8)  # a column a dataset
    lines = {}
    dataset = next(iter(dict.fromkeys(place.dataset for place in table.places)))
    for row in rows:
        names = [bare(cell) for cell in row if number(cell) is None and bare(cell)]
        figures = [value for cell in row if (value := number(cell)) is not None]
        if not figures or not names:
            continue
        dataset = names[0] if len(names) > 1 else dataset
        if by_dataset:
            lines.update({(name, names[-1]): [value] for name, value in zip(DATASETS.values(), figures, strict=True)})
        else:
            lines[dataset, names[-1]] = figures
    expected = {(place.dataset, place.model): place.run for place in table.places}
    if lines.keys() != expected.keys():
        yield f"Table {number_}: rows differ: {sorted(lines.keys() ^ expected.keys())}"
    for key, run in expected.items():
        ours = [figures_of_paper(run)[column] for column in table.columns]
        if key in lines and ours != lines[key]:
            yield f"Table {number_}, {' '.join(key)}: the run file has {ours}, the source {lines[key]}"


def others(tables: list[list[list[str]]]) -> Iterator[str]:
    """Differences of Tables 9, 10, 11 and 15."""
    for number_, known in ((9, paper.STATISTICS), (10, paper.QUERY_COUNTS), (11, paper.MEAN_ANSWERS)):
        rows = {bare(row[0]): [number(cell) for cell in row[1:]] for row in tables[number_ - 1]}
        for name, words in DATASETS.items():
            if list(known[name].values()) != rows[words]:
                yield f"Table {number_}, {words}: {known[name]} against {rows[words]}"
    rows = {bare(row[0]): [number(cell) for cell in row[1:]] for row in tables[14]}
    for model, known in paper.RUNNING_TIME.items():
        if list(known.values()) != rows[model]:
            yield f"Table 15, {model}: {known} against {rows[model]}"


def averages() -> Iterator[str]:
    """Averages of the paper that are further from those of their rows than rounding allows."""
    for number_, table in MEASURED.items():
        average = next(column for column in table.columns if column.startswith("avg"))
        structures = [column for column in table.columns if column not in (average, "Parameters")]
        for place in table.places:
            figures = figures_of_paper(place.run)
            if structures:
                mean = sum(figures[name] for name in structures) / len(structures)
                if abs(mean - figures[average]) > 0.1001:  # each figure is off by 0.05 at most, and so is their mean
                    words = f"its row's mean is {mean:.2f}"
                    yield f"Table {number_}, {place.dataset} {place.model}: avg {figures[average]}, {words}"


def marks(number_: int, rows: list[list[str]]) -> Iterator[str]:
    """Best and second-best marks that are not on the best and second-best figures of a dataset's column."""
    groups: list[list[list[str]]] = []
    for row in rows[1:]:
        if bare(row[0]) or not groups:
            groups.append([])
        groups[-1].append(row[2:])
    for group, words in zip(groups, dict.fromkeys(place.dataset for place in MEASURED[number_].places), strict=True):
        for place, column in enumerate(MEASURED[number_].columns):
            values = sorted({number(row[place]) or 0.0 for row in group}, reverse=True)
            for kind, value in zip(("textbf", "underline"), values, strict=False):
                marked = {number(row[place]) for row in group if f"\\{kind}" in row[place]}
                wrong = kind == "textbf" or number_ != 2
                if wrong and marked != {value}:
                    yield f"Table {number_}, {words} {column}: {kind} on {sorted(map(str, marked))}, due on {value}"


def main(path: str) -> None:
    """Print all of it."""
    tables = source_tables(Path(path).read_text(encoding="utf-8"))
    wrong = [line for number_ in MEASURED for line in measured(number_, tables[number_ - 1])] + list(others(tables))
    figures = sum(len(table.columns) * len(table.places) for table in MEASURED.values())
    print(f"{len(tables)} tables in the source; {figures} figures of runs and those of Tables 9, 10, 11, 15 compared")
    print("\n".join(wrong) or "no figure differs")
    own = [*averages(), *(line for number_ in (1, 2, 3) for line in marks(number_, tables[number_ - 1]))]
    print("the paper against itself:")
    print("\n".join(own) or "nothing")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
