"""The closed-form linear recommender: an entity has a fact because others that share its facts have it.

After Steck 2019 (EASE), with entities as rows. N entities, P columns, one for each (relation, entity) that facts end
in, m_j members of column j; X (N, P) has a 1 where an entity has such a fact, lambda is the ridge. Predicting each
column from all others by ridge regression has the closed form

    G = (X X^T + lambda I)^-1        S = -(G X) (lambda + m)        (N, P)

The paper divides by d_j = (1 - (X^T G X)_jj) / lambda. Here d_j is 1 / (lambda + m_j), which it would be if the
members of j shared nothing else: that needs no G, and ranks CoDEx-S as well (41.6 and 42.0).

The score of (h, r, t) is S of row h and column (r, t) plus S of row t and column (inverse of r, h). The first is a sum
over the facts j' of h of (X^T G X)[j', j] (1 + m_j / lambda), so the part of each fact can be told.

A column (r, t) is the pair (t, inverse of r) of the graph, its members are the tails of that pair: X is the graph. Of
smaller graphs G is kept, one byte a number; of larger ones the products with G that a row needs are solved by conjugate
gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from pathformer.files.arrays import map_array
from pathformer.kg.graph import Graph
from pathformer.kg.vocabulary import Vocabulary
from pathformer.links.evidence._base import Evidence, Fact, Ids, Piece, Scores, spell_fact
from pathformer.plan.encoder import Encoder
from pathformer.text import counted

__all__ = ["DENSE", "EVIDENCE", "Linear", "Rounded"]

Floats = npt.NDArray[np.float32]

RIDGE = 30.0  # lambda; of 10 to 100 the best on CoDEx-S and FB15k-237
DENSE = 16_000  # most entities of a graph whose G is kept: 256 MB
_BLOCK = 512  # rows of a matrix that is inverted as it is
_TOGETHER = 64  # vectors that are solved for at once
_TOLERANCE, _ROUNDS = 1e-3, 200  # of conjugate gradients: of the residual, relative, and the most steps


class Linear(Evidence):
    """The recommender on one graph."""

    name: ClassVar[str] = "linear"
    sharpness: ClassVar[float] = 5.0

    def __init__(self, graph: Graph, inverse: Rounded | None, ridge: float = RIDGE) -> None:
        """inverse: G, (N, N), None where it is not kept."""
        self.graph, self.inverse, self.ridge = graph, inverse, ridge

    @classmethod
    def of(cls, graph: Graph, ridge: float = RIDGE, *, dense: int = DENSE) -> Self:
        """Computes the recommender of a graph; dense: most entities of a graph whose G is kept."""
        inverse = Rounded.of(_invert_gram(graph, ridge)) if graph.entities <= dense else None
        return cls(graph, inverse, ridge)

    def rows(self, heads: Ids, relation: int) -> Scores:
        """Returns the score of every entity as the tail of each head, (B, N)."""
        graph, count = self.graph, len(heads)
        members = [graph.tails_of(int(head), relation) for head in heads]
        solved = self._times_inverse([np.array([head]) for head in heads] + members)  # (2 B, N)
        columns = self._columns_into(relation)
        ends, sizes = self._heads[columns], np.diff(graph.pair_ptr)[columns].astype(np.float32)
        scores = np.zeros((count, graph.entities), np.float32)
        for row, own in enumerate(members):
            scores[row, ends] = -self._sums(columns, solved[row]) * (self.ridge + sizes)
            scores[row] -= solved[count + row] * (self.ridge + len(own))
        return scores

    def pieces(self, head: int, relation: int, tail: int, most: int = 3) -> tuple[Piece, ...]:
        """Returns the facts of the head and of the tail that bear most of the score.

        The detail of a piece: how many other entities have this fact, and how many of those have the link.
        """
        sides = (*self._parts(head, relation, tail), *self._parts(tail, relation ^ 1, head))
        strongest = sorted(sides, key=lambda piece: -piece.part)[:most]
        return tuple(piece for piece in strongest if piece.part > 0 and piece.detail[1])

    def say(self, piece: Piece, link: Fact, vocabulary: Vocabulary) -> str:
        """Says how many others that share the fact have the link, too."""
        (fact,), (others, right) = piece.facts, piece.detail
        shared, wanted = (spell_fact(one, vocabulary, without=fact[0]) for one in (fact, link))
        have = "has" if right == 1 else "have"
        return f"{shared} is shared with {counted(int(others), 'other')}, and {right:,} of them {have} {wanted}"

    def on(self, graph: Graph) -> Self:
        """Computes the recommender of another graph."""
        return self.of(graph, self.ridge)

    def save(self, folder: Path) -> None:
        """Writes the ridge and, where it is kept, G."""
        np.save(folder / "ridge.npy", np.array([self.ridge]))
        if self.inverse is not None:
            np.save(folder / "codes.npy", self.inverse.codes)
            np.save(folder / "steps.npy", self.inverse.steps)

    @classmethod
    def open(cls, folder: Path, graph: Graph, encoder: Encoder | None) -> Self:
        """Opens what `save` wrote; G is mapped, not read."""
        inverse = None
        if (folder / "codes.npy").is_file():
            size = graph.entities
            codes = map_array(folder / "codes.npy", (size, size), "i1")
            inverse = Rounded(codes, map_array(folder / "steps.npy", (2, size), "f4"))
        return cls(graph, inverse, float(map_array(folder / "ridge.npy")[0]))

    def _parts(self, entity: int, relation: int, other: int) -> list[Piece]:
        """Returns the part of each fact of `entity` in the score of its link to `other`, from this side."""
        graph, having = self.graph, self.graph.tails_of(other, relation ^ 1)
        if not len(having):
            return []
        solved = self._times_inverse([having])[0]
        found = []
        for own in graph.relations_of(entity).tolist():
            for tail in graph.tails_of(entity, own).tolist():
                sharing = graph.tails_of(tail, own ^ 1)
                part = float(solved[sharing].sum()) * (1.0 + len(having) / self.ridge)
                fact: Fact = (entity, own, tail)
                others = sharing[sharing != entity]
                right = int(np.isin(others, having, assume_unique=True).sum())
                found.append(Piece(self.name, (fact,), part, (len(others), right)))
        return found

    def _times_inverse(self, sets: list[npt.NDArray[np.integer]]) -> Floats:
        """Returns G times the indicator of each set of entities, (sets, N)."""
        if self.inverse is not None:
            return np.stack([self.inverse.sum_rows(chosen) for chosen in sets])
        found = np.empty((len(sets), self.graph.entities), np.float32)
        for first in range(0, len(sets), _TOGETHER):
            part = sets[first : first + _TOGETHER]
            indicators = np.zeros((self.graph.entities, len(part)), np.float32)
            for number, chosen in enumerate(part):
                indicators[chosen, number] = 1.0
            found[first : first + len(part)] = self._solve(indicators).T
        return found

    def _solve(self, right: Floats) -> Floats:
        """Solves (X X^T + lambda I) u = b for the columns b of `right` (N, B) by conjugate gradients."""
        diagonal = (self._diagonal + np.float32(self.ridge))[:, None]
        found, residual = np.zeros_like(right), right.copy()
        step = residual / diagonal
        direction, size = step.copy(), (residual * step).sum(axis=0)
        enough = _TOLERANCE**2 * np.maximum((right * right).sum(axis=0), 1e-30)
        for _ in range(_ROUNDS):
            image = self._gram(direction)
            length = size / np.maximum((direction * image).sum(axis=0), 1e-30)
            found += length * direction
            residual -= length * image
            if ((residual * residual).sum(axis=0) <= enough).all():
                break
            step = residual / diagonal
            before, size = size, (residual * step).sum(axis=0)
            direction = step + (size / np.maximum(before, 1e-30)) * direction
        return found

    def _gram(self, vectors: Floats) -> Floats:
        """Returns (X X^T + lambda I) times each column of `vectors` (N, B)."""
        from pathformer.links.kernels.gram import add_gram_product

        out = np.float32(self.ridge) * vectors
        add_gram_product(self.graph.pair_ptr, self.graph.tails, vectors, out)
        return out

    def _sums(self, columns: Ids, vector: Floats) -> Floats:
        """Returns the sum of a vector (N,) over the members of some columns, (n,)."""
        from pathformer.links.kernels.gram import column_sums

        out = np.empty(len(columns), np.float32)
        column_sums(self.graph.pair_ptr, self.graph.tails, columns, np.ascontiguousarray(vector), out)
        return out

    def _columns_into(self, relation: int) -> Ids:
        """Returns the columns (relation, entity) of one relation: the pairs of its inverse."""
        ordered, ptr = self._by_relation
        chosen: Ids = ordered[ptr[relation ^ 1] : ptr[(relation ^ 1) + 1]]
        return chosen

    @cached_property
    def _by_relation(self) -> tuple[Ids, Ids]:
        order = np.argsort(self.graph.pair_relation, kind="stable")
        ptr = np.searchsorted(self.graph.pair_relation[order], np.arange(self.graph.relations + 1))
        return order, ptr

    @cached_property
    def _heads(self) -> npt.NDArray[np.int32]:
        return self.graph.heads_of()

    @cached_property
    def _diagonal(self) -> Floats:
        """Returns the diagonal of X X^T, (N,): the number of facts of each entity."""
        from pathformer.links.kernels.gram import member_counts

        counts = np.zeros(self.graph.entities, np.float32)
        member_counts(self.graph.pair_ptr, self.graph.tails, counts)
        return counts


@dataclass(frozen=True, eq=False, slots=True)
class Rounded:
    """A matrix in one byte a number: the signed square root of each, in 127 steps of its row. The diagonal is apart.

    The square root keeps what is small: plain steps lose 0.4 of FB15k-237's 35.2 MRR, these nothing.
    """

    codes: npt.NDArray[np.int8]  # (N, N), 0 on the diagonal
    steps: Floats  # (2, N): the step of each row, and the diagonal

    @classmethod
    def of(cls, matrix: Floats) -> Self:
        """Rounds a matrix (N, N), which is used up."""
        diagonal = np.diagonal(matrix).copy()
        np.fill_diagonal(matrix, 0.0)
        codes, steps = np.empty(matrix.shape, np.int8), np.empty(len(matrix), np.float32)
        for number, row in enumerate(matrix):
            roots = np.copysign(np.sqrt(np.abs(row)), row)
            steps[number] = max(float(np.abs(roots).max(initial=0.0)) / 127, 1e-30)
            codes[number] = np.rint(roots / steps[number])
        return cls(codes, np.stack([steps, diagonal]))

    def sum_rows(self, chosen: npt.NDArray[np.integer]) -> Floats:
        """Returns the sum of some rows, (N,)."""
        from pathformer.links.kernels.gram import add_rounded_rows

        out = np.zeros(self.codes.shape[1], np.float32)
        add_rounded_rows(self.codes, self.steps, chosen, out)
        return out


def _invert_gram(graph: Graph, ridge: float) -> Floats:
    """Returns (X X^T + lambda I)^-1, (N, N)."""
    from pathformer.links.kernels.gram import add_gram

    matrix = np.zeros((graph.entities, graph.entities), np.float32)
    np.fill_diagonal(matrix, ridge)
    add_gram(graph.pair_ptr, graph.tails, matrix)
    _invert(matrix)
    return matrix


def _invert(matrix: Floats) -> None:
    """Inverts a symmetric positive definite matrix in its place, half by half.

    With blocks A, B, D and S = D - B^T A^-1 B the inverse has the blocks A^-1 + A^-1 B S^-1 B^T A^-1, -A^-1 B S^-1 and
    S^-1. That is all matrix products: half the time of a general inverse, and no second copy.
    """
    size = len(matrix)
    if size <= _BLOCK:
        matrix[:] = np.linalg.inv(matrix)
        return
    half = size // 2
    first, beside, last = matrix[:half, :half], matrix[:half, half:], matrix[half:, half:]
    _invert(first)
    solved = first @ beside  # A^-1 B
    last -= beside.T @ solved
    _invert(last)
    np.matmul(solved, last, out=beside)
    first += beside @ solved.T
    np.negative(beside, out=beside)
    matrix[half:, :half] = beside.T


EVIDENCE = Linear
