"""Compiled sums over columns: which entities share a fact, without the matrix of it.

N entities, P columns, B vectors side by side. A column is a pair (relation, entity) that facts end in, its members are
the entities that have such a fact: `members[ptr[p] : ptr[p + 1]]`. X (N, P) has a 1 where an entity is a member.

    (X X^T u)[e] = sum over the columns p of e of sum over the members f of p of u[f]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pathformer.compiled import compiled

__all__ = ["add_gram", "add_gram_product", "add_rounded_rows", "column_sums", "member_counts"]


@compiled
def add_gram_product(ptr: Any, members: Any, vectors: Any, out: Any) -> None:
    """Adds X X^T u for every column u of `vectors` (N, B) to `out` (N, B)."""
    width = vectors.shape[1]
    total = np.empty(width, vectors.dtype)
    for p in range(len(ptr) - 1):
        first, last = ptr[p], ptr[p + 1]
        if last - first == 1:
            e = members[first]
            for b in range(width):
                out[e, b] += vectors[e, b]
            continue
        total[:] = 0
        for i in range(first, last):
            e = members[i]
            for b in range(width):
                total[b] += vectors[e, b]
        for i in range(first, last):
            e = members[i]
            for b in range(width):
                out[e, b] += total[b]


@compiled
def column_sums(ptr: Any, members: Any, columns: Any, vector: Any, out: Any) -> None:
    """Writes the sum of `vector` (N,) over the members of each of the chosen columns (n,) into `out` (n,)."""
    for n in range(len(columns)):
        p = columns[n]
        total = 0.0
        for i in range(ptr[p], ptr[p + 1]):
            total += vector[members[i]]
        out[n] = total


@compiled
def add_gram(ptr: Any, members: Any, out: Any) -> None:
    """Adds X X^T to `out` (N, N)."""
    for p in range(len(ptr) - 1):
        for i in range(ptr[p], ptr[p + 1]):
            row = out[members[i]]
            for j in range(ptr[p], ptr[p + 1]):
                row[members[j]] += 1


@compiled
def add_rounded_rows(codes: Any, steps: Any, chosen: Any, out: Any) -> None:
    """Adds some rows of a rounded matrix to `out` (N,); steps (2, N): of each row, and the diagonal."""
    for n in range(len(chosen)):
        row = chosen[n]
        square = steps[0, row] * steps[0, row]
        for i in range(len(out)):
            code = np.float32(codes[row, i])
            out[i] += code * abs(code) * square
        out[row] += steps[1, row]


@compiled
def member_counts(ptr: Any, members: Any, out: Any) -> None:
    """Writes the number of columns of each entity into `out` (N,): the diagonal of X X^T."""
    for i in range(ptr[-1]):
        out[members[i]] += 1
