"""A plain per-query sampler, kept to be timed against: dicts and sets, one query at a time, as the field's scripts do.

Every step is the obvious one: a start drawn from the list of all entities, an answer set grown entity by entity, and
only then the limit.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from pathformer.query.structures import Structure, is_chain

Index = dict[int, dict[int, set[int]]]


class Twin:
    """Draws training queries of any structure with at most `limit` answers."""

    def __init__(self, triples: Iterable[tuple[int, int, int]], limit: int, seed: int = 0) -> None:
        self.out: Index = defaultdict(lambda: defaultdict(set))
        self.into: Index = defaultdict(lambda: defaultdict(set))
        for head, relation, tail in triples:
            for h, r, t in ((head, relation, tail), (tail, relation ^ 1, head)):
                self.out[h][r].add(t)
                self.into[t][r].add(h)
        self.entities = set(self.out)
        self.limit, self.random = limit, random.Random(seed)

    def draw(self, structure: Structure, seen: dict[Any, set[int]]) -> None:
        """Adds one new query with its answers to `seen`."""
        while True:
            query = self._ground(structure.shape, self.random.choice(list(self.into)))
            if query is None:
                continue
            answers = self._answer(query)
            if 0 < len(answers) <= self.limit and query not in seen:
                seen[query] = answers
                return

    def _ground(self, shape: Any, entity: int) -> Any:
        if not is_chain(shape):
            branches = []
            for branch in shape:
                branches.append((-1,) if branch == ("u",) else self._ground(branch, entity))
                if branches[-1] is None or branches[-1] in branches[:-1]:
                    return None
            return tuple(branches)
        start, operators = shape
        chosen: list[int] = []
        relation = -1
        for operator in reversed(operators):
            if operator == "n":
                chosen.append(-2)
                continue
            for _ in range(40):
                candidate = self.random.choice(list(self.into[entity]))
                if candidate // 2 != relation // 2 or candidate == relation:
                    break
            else:
                return None
            relation = candidate
            chosen.append(relation)
            entity = self.random.choice(list(self.into[entity][relation]))
        beginning = entity if start == "e" else self._ground(start, entity)
        return None if beginning is None else (beginning, tuple(reversed(chosen)))

    def _answer(self, query: Any) -> set[int]:
        if not is_chain(query):
            parts = [self._answer(branch) for branch in query if branch != (-1,)]
            return set.union(*parts) if query[-1] == (-1,) else set.intersection(*parts)
        start, operators = query
        found = self._answer(start) if isinstance(start, tuple) else {start}
        for operator in operators:
            if operator == -2:
                found = self.entities - found
                continue
            tails: set[int] = set()
            for entity in found:
                tails = tails.union(self.out[entity][operator])
            found = tails
        return found
