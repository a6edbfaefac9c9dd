"""Sets of entities on two nested graphs at once, as the compiled code keeps them.

A set is a segment of a stack: entity ids with two membership bits each (1: in the set on the smaller graph, 2: on the
larger), and one `rest` value for every entity that is not listed: 0, or BOTH for a complement. So a negation costs
nothing until something is projected from it, and one traversal yields easy, hard and vanished answers together.

Membership in a segment is looked up with a sparse set (Briggs and Torczon 1993): `where[e]` may hold anything, and is
believed only if it points into the segment at an entry that holds `e`. Nothing is ever cleared.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

__all__ = ["BOTH", "ENDLESS", "LARGE", "SMALL", "Edges", "Workspace", "workspace"]

SMALL, LARGE, BOTH = np.uint8(1), np.uint8(2), np.uint8(3)
ENDLESS = np.int64(2**62)

# The arrays of a graph pair (see `kg.graph` for the first four). bits (E): BOTH for an edge of the smaller graph,
# LARGE for one that only the larger has. The same pairs grouped by relation: those of relation r are relation_ptr[r]
# : relation_ptr[r + 1] of relation_head (P) and relation_pair (P).
Edges = namedtuple("Edges", "head_ptr pair_relation pair_ptr tails bits relation_ptr relation_head relation_pair")

# ids, bits: the stack. Two sparse sets (N): where for the set that is looked up, seen for the tails of a projection.
# start, rest: a row for each set on the stack.
Workspace = namedtuple("Workspace", "ids bits where seen start rest")


def workspace(entities: int, depth: int) -> Workspace:
    """Room for the deepest program: each set holds at most all entities, and a projection writes beside its source.

    The memory is reserved, not touched: a query pays for the pages it uses.
    """
    room = (depth + 1) * entities + 1
    if room >= 2**31:
        raise MemoryError(f"{depth} sets of {entities:,} entities are more than places of 32 bits can tell apart")
    return Workspace(
        ids=np.empty(room, np.int32),
        bits=np.empty(room, np.uint8),
        where=np.empty(entities, np.int32),
        seen=np.empty(entities, np.int32),
        start=np.zeros(depth + 2, np.int64),
        rest=np.zeros(depth + 2, np.uint8),
    )
