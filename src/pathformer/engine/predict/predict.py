"""The missing links of relations, as a table or a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pathformer.engine.predict.find import Advance
from pathformer.engine.predict.parts import Parts, open_parts
from pathformer.engine.predict.table import make_tables
from pathformer.engine.predict.wanted import Wanted
from pathformer.engine.predict.write import write_tables
from pathformer.errors import EngineError
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.links.scorer import LinkScorer
from pathformer.text import counted

__all__ = ["notes", "to_table", "write_file"]


def to_table(wanted: Wanted, links: LinkScorer | None, kg: KnowledgeGraph) -> Any:
    """Returns what is wanted as one Arrow table."""
    import pyarrow as pa

    tables = make_tables(wanted, _there(links, kg), kg.vocabulary, Parts(), lambda stage, done, total: None)
    return pa.concat_tables(tables).unify_dictionaries()


def write_file(
    wanted: Wanted, links: LinkScorer | None, kg: KnowledgeGraph, out: Path, engine: str, advance: Advance
) -> int:
    """Writes what is wanted to a file and returns the number of rows; a call that was stopped goes on.

    engine: the id of its save; parts of another engine are not gone on with.
    """
    there = _there(links, kg)
    with open_parts(out, f"{engine} {wanted.digest()}") as parts:
        return write_tables(make_tables(wanted, there, kg.vocabulary, parts, advance), out)


def notes(wanted: Wanted, links: LinkScorer, kg: KnowledgeGraph) -> list[str]:
    """Returns what is to be said about the probabilities."""
    if not links.listing.fitted_on:
        return ["The probabilities were not measured: the graph was too small to hold facts back. Use the order alone."]
    held_out = len(kg.splits.get("valid", ())) / kg.triple_count
    told = [
        f"A probability says how often such a link was among the facts held back, {100 * held_out:.1f} % of the graph: "
        "if more is missing, links are likelier."
    ]
    if without := sum(ends.without for ends in wanted.ends):
        told.append(
            f"{counted(without, 'head')} of those asked for had no fact of the relation yet: "
            "no probability was measured on such heads."
        )
    return told


def _there(links: LinkScorer | None, kg: KnowledgeGraph) -> LinkScorer:
    if links is None:
        raise EngineError(
            f"the engine of {kg.name} has no evidence for single links, so it cannot list them: fit it again"
        )
    return links
