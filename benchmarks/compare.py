"""`python benchmarks/compare.py OLD NEW`: two result files, or two folders of them, figure by figure.

What a benchmark has kept as a list (a curve, quarters of a run) is compared place by place. Other JSON files of a
folder, such as the speeds that `pathformer tables 15` reads, are passed over.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


def numbers(figures: Any, prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yields every number of nested figures with its dotted name."""
    if isinstance(figures, dict):
        for key, value in figures.items():
            yield from numbers(value, f"{prefix}.{key}" if prefix else key)
    elif isinstance(figures, list):
        for place, value in enumerate(figures):
            yield from numbers(value, f"{prefix}.{place}")
    elif isinstance(figures, int | float) and not isinstance(figures, bool):
        yield prefix, float(figures)


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Reads one result file, or all of a folder, by name."""
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not path.exists():
        raise SystemExit(f"{path}: no such file or folder")
    found = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}
    results = {name: entry for name, entry in found.items() if "figures" in entry}
    if not results:
        raise SystemExit(f"{path}: no result of a benchmark there")
    return results


def compare(old: dict[str, Any], new: dict[str, Any]) -> Table:
    """Makes a table old | new | ratio of the figures that both have."""
    table = Table(title=f"{new['name']}: {old['commit']} → {new['commit']}", title_justify="left")
    for column in ("figure", "old", "new", "new / old"):
        table.add_column(column, justify="left" if column == "figure" else "right")
    before = dict(numbers(old["figures"]))
    for name, now in numbers(new["figures"]):
        if name in before:
            ratio = f"{now / before[name]:.2f}" if before[name] else "-"
            table.add_row(name, f"{before[name]:,.4g}", f"{now:,.4g}", ratio)
    return table


def main(old: str, new: str) -> None:
    """Prints the comparison of every benchmark that both sides have."""
    before, after = read(Path(old)), read(Path(new))
    console = Console()
    if Path(old).is_file() and Path(new).is_file():
        after = dict(zip(before, after.values(), strict=True))
    both = [name for name in before if name in after]
    if not both:
        raise SystemExit(f"nothing to compare: {old} has {', '.join(before)}, {new} has {', '.join(after)}")
    for name in both:
        if before[name]["machine"] != after[name]["machine"]:
            console.print(f"{name}: measured on different machines, ratios tell little", style="yellow")
        console.print(compare(before[name], after[name]))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(*sys.argv[1:])
