"""WHAT IS ASKED: text to formula to computation tree to paths and forks.

text ─parse→ Query ─bind→ ids ─to_tree→ Tree ─to_dnf→ union-free Trees ─to_paths→ Path, Fork
"""

from pathformer.query.ast import Query
from pathformer.query.bind import bind
from pathformer.query.computation import Tree, canonical
from pathformer.query.dnf import to_demorgan, to_dnf
from pathformer.query.explain import explain
from pathformer.query.from_tree import to_query
from pathformer.query.naming import Naming, namespace_of
from pathformer.query.parse import parse, request, syntaxes, write
from pathformer.query.paths import Fork, Path, to_paths
from pathformer.query.request import Request
from pathformer.query.same import same
from pathformer.query.tree import to_tree

__all__ = [
    "Fork",
    "Naming",
    "Path",
    "Query",
    "Request",
    "Tree",
    "bind",
    "canonical",
    "explain",
    "namespace_of",
    "parse",
    "request",
    "same",
    "syntaxes",
    "to_demorgan",
    "to_dnf",
    "to_paths",
    "to_query",
    "to_tree",
    "write",
]
