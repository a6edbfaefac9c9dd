"""A query and how it is asked: what a syntax may say beside the query itself."""

from __future__ import annotations

from dataclasses import dataclass

from pathformer.query.ast import Query

__all__ = ["Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """A query, with SPARQL's LIMIT and DISTINCT, which belong to asking; answers are sets whether or not it is said."""

    query: Query
    limit: int | None = None
    distinct: bool = False
