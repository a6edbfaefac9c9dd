"""Where the tables that compare methods agree with the paper in the order of the methods."""

from __future__ import annotations

from collections.abc import Sequence

from pathformer.experiments.records import Record
from pathformer.experiments.tables.catalogue import COMPARED, MEASURED
from pathformer.experiments.tables.choice import Choice
from pathformer.experiments.tables.measured import grid
from pathformer.experiments.tables.order import Order, orders
from pathformer.words import markdown_table

__all__ = ["agreement", "compared_orders"]

_HEADER = (
    "table", "dataset", "budget", "methods", "pairs as in the paper", "Kendall's tau", "turned by more than a point",
    "of them after fewer queries",
)  # fmt: skip
_RULE = ("--:", "---", "---", "--:", "--:", "--:", "--:", "--:")
_LEGEND = (
    "After fewer queries: pairs in which the method that the paper has above, and that is below here, was trained on "
    "fewer queries than the other in the same time. Which they are stands below each table."
)


def compared_orders(records: Sequence[Record], choice: Choice | None = None) -> list[tuple[int, Order]]:
    """The orders of these tables, for each dataset with two methods of one budget."""
    found = []
    for number in COMPARED:
        table, own = grid(number, records, choice), {place.run for place in MEASURED[number].places}
        average = next(column for column in table.columns if column.startswith("avg"))
        found += [(number, order) for order in orders([x for x in table.lines if x.run in own], average)]
    return found


def agreement(records: Sequence[Record], choice: Choice | None = None) -> str:
    """Them as Markdown."""
    found = compared_orders(records, choice)
    if not found:
        return "No table has two methods with one budget yet, so there is no order to compare."
    rows = (_cells(number, order) for number, order in found)
    return "\n".join([*markdown_table(_HEADER, rows, _RULE), "", _LEGEND])


def _cells(number: int, order: Order) -> tuple[str, ...]:
    wide = len(order.wide)
    return (
        str(number),
        order.dataset,
        order.budget,
        str(len(order.figures)),
        f"{order.kept} of {order.pairs}",
        f"{order.tau:.2f}",
        str(wide),
        f"{order.starved}" if wide else "",
    )
