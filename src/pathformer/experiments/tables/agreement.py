"""Where the tables that compare methods agree with the paper: the order of the methods, and the share of its 1p."""

from __future__ import annotations

from collections.abc import Sequence

from pathformer.experiments.records import Record
from pathformer.experiments.tables.catalogue import MEASURED
from pathformer.experiments.tables.measured import Choice, grid, one_hop
from pathformer.experiments.tables.order import Order, orders
from pathformer.experiments.tables.shares import BAR, shares

__all__ = ["COMPARED", "agreement", "compared_orders"]

COMPARED = (1, 2, 3, 8)  # tables in which methods stand beside each other


def compared_orders(records: Sequence[Record], choice: Choice | None = None) -> list[tuple[int, Order]]:
    """The orders of these tables, for each dataset with two methods of one budget."""
    found = []
    for number in COMPARED:
        table, own = grid(number, records, choice), {place.run for place in MEASURED[number].places}
        average = next(column for column in table.columns if column.startswith("avg"))
        found += [(number, order) for order in orders([x for x in table.lines if x.run in own], average)]
    return found


def agreement(records: Sequence[Record], choice: Choice | None = None) -> str:
    """Both as Markdown."""
    return "\n\n".join([_order_table(compared_orders(records, choice)), _share_table(records, choice or Choice())])


def _order_table(found: Sequence[tuple[int, Order]]) -> str:
    if not found:
        return "No table has two methods with one budget yet, so there is no order to compare."
    rows = [
        "| table | dataset | budget | methods | pairs as in the paper | Kendall's tau | turned by more than a point |"
    ]
    rows.append("| --: | --- | --- | --: | --: | --: | --- |")
    for number, order in found:
        kept = f"{order.kept} of {order.pairs}"
        wide = ", ".join(map(str, order.wide)) or "none"
        cells = (str(number), order.dataset, order.budget, str(len(order.figures)), kept, f"{order.tau:.2f}", wide)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*rows, "", 'A pair is written as the paper has it: "A above B (its two figures, here ours)".'])


def _share_table(records: Sequence[Record], choice: Choice) -> str:
    rows: dict[tuple[str, str], float] = {}
    for number in (1, 2, 8):
        for dataset, reached in shares(one_hop(number, records, choice)).items():
            rows |= {(dataset, model): share for model, share in reached.items()}
    if not rows:
        return "No method has a run on FB15k-237 yet."
    lines = ["| dataset | method | share of the paper's 1p MRR |  |", "| --- | --- | --: | --- |"]
    for (dataset, model), share in rows.items():
        lines.append(f"| {dataset} | {model} | {100 * share:.0f} % | {'' if share >= BAR else f'below {BAR:.0%}'} |")
    return "\n".join(lines)
