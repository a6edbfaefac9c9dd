"""Rewrites conjunctions so that every part shares one variable with the rest.

r(?v, ?x) & (p(a, ?v) | q(b, ?x))     an 'or' is distributed:     (r & p) | (r & q)
r(?v, ?x) & !(p(a, ?v) | q(b, ?x))    a denied 'or' splits:       r & !p & !q
r(?v, ?x) & !(p(a, ?v) & q(b, ?x))    a denied 'and' of parts that share no variable of their own:  r & (!p | !q)
r(a, ?v) & !s(?v, ?x)                 cannot be: s joins ?v and ?x under 'not', which is no complement of a projection
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import prod

from pathformer.errors import QuerySizeError, ScopeError
from pathformer.query.ast import Formula, Not, Or, all_of, any_of, atoms, conjuncts, map_variables, variables
from pathformer.query.compile.dnf import DISJUNCT_LIMIT, figure

__all__ = ["Rewriter", "as_written", "name_as_written", "shared_variables"]


@dataclass(frozen=True, slots=True)
class Rewriter:
    """Rewrites the conjunctions of one query; `spell` writes a formula for a message."""

    spell: Callable[[Formula], str]
    fresh: Iterator[int]

    @classmethod
    def of(cls, spell: Callable[[Formula], str]) -> Rewriter:
        """Makes one for one query: the variables it renames are numbered through."""
        return cls(spell, count(1))

    def alternatives(self, parts: Sequence[Formula], outside: frozenset[str], made: int = 1) -> list[list[Formula]]:
        """Conjunctions, one of which must hold, none with a part (atoms apart) that shares two variables or more.

        `outside` are the variables that mean something outside this conjunction; `made` counts the alternatives so far.
        """
        flat = self._deny(parts, outside)
        wide = [part for part, shared in shared_variables(flat, outside) if isinstance(part, Or) and len(shared) > 1]
        _guard(made * prod(len(part.parts) for part in wide))
        if not wide:
            return [flat]
        position = flat.index(wide[0])
        made *= len(wide[0].parts)
        return [
            alternative
            for option in wide[0].parts
            for alternative in self.alternatives([*flat[:position], option, *flat[position + 1 :]], outside, made)
        ]

    def _deny(self, parts: Sequence[Formula], outside: frozenset[str]) -> list[Formula]:
        """Replace every denied part that shares several variables by what it means, until there is none."""
        while True:
            flat = list(dict.fromkeys(inner for part in parts for inner in conjuncts(part)))
            parts = []
            for part, shared in shared_variables(flat, outside):
                wide = isinstance(part, Not) and len(shared) > 1
                parts.extend(self._complement(part.part, shared) if wide else [part])  # type: ignore[union-attr]
            if parts == flat:
                return flat

    def _complement(self, denied: Formula, shared: frozenset[str]) -> Iterator[Formula]:
        """!f, where f = f1 | f2 | ... and each fi a conjunction: the parts of !f1 & !f2 & ..."""
        for option in self.alternatives([denied], shared):
            groups = [self._rename(group, shared) for group in _groups(option, shared)]
            for group in groups:
                self._check(group, shared)
            yield any_of([Not(all_of(group)) for group in groups])

    def _check(self, group: list[Formula], shared: frozenset[str]) -> None:
        joined = sorted(variables(all_of(group)) & shared)
        if len(joined) < 2:
            return
        held = sorted(
            atoms(all_of(group)), key=lambda atom: -len(variables(atom) & shared)
        )  # stable: the first of the best
        at_fault = held[0]
        first, second = (f"?{name}" for name in joined[:2])
        raise ScopeError(
            f"{self.spell(at_fault)} is under 'not' and joins {first} to {second}, which both occur outside it too: "
            f"such a question cannot be answered. Deny a part that has only one of them, as in "
            f"!(r(a, ?v) & s(?v, ?x)), or rename the variable if another entity is meant"
        )

    def _rename(self, group: list[Formula], shared: frozenset[str]) -> list[Formula]:
        """Give a denied part's own variables names of their own: its neighbours may have had the same quantifier."""
        own = {
            name: f"{name_as_written(name)}~{next(self.fresh)}" for part in group for name in variables(part) - shared
        }
        return [map_variables(part, lambda name: own.get(name, name)) for part in group]


def as_written(formula: Formula) -> Formula:
    """A formula with the names that its variables had before any was renamed."""
    return map_variables(formula, name_as_written)


def name_as_written(name: str) -> str:
    """The name that a variable had before it was renamed."""
    return name.partition("~")[0]  # no name of a variable holds the sign


def shared_variables(parts: Sequence[Formula], outside: frozenset[str]) -> Iterator[tuple[Formula, frozenset[str]]]:
    """Each part with those of its variables that stand outside it."""
    held = [variables(part) for part in parts]
    times = Counter(name for names in held for name in names)
    for part, names in zip(parts, held, strict=True):
        yield part, frozenset(name for name in names if name in outside or times[name] > 1)


def _groups(parts: Sequence[Formula], shared: frozenset[str]) -> list[list[Formula]]:
    """Parts that are connected through variables that are not shared."""
    groups: dict[int, list[Formula]] = {}
    owner: dict[str, int] = {}
    for number, part in enumerate(parts):
        own = variables(part) - shared
        met = sorted({owner[name] for name in own if name in owner})
        groups[number] = [part for group in met for part in groups.pop(group)] + [part]
        moved = {name for part in groups[number] for name in variables(part) - shared} if met else own
        owner.update(dict.fromkeys(moved, number))
    return list(groups.values())


def _guard(alternatives: int) -> None:
    if alternatives > DISJUNCT_LIMIT:
        raise QuerySizeError(
            f"the 'or' parts that share several variables with their neighbours multiply to {figure(alternatives)} "
            f"disjuncts; the limit is {DISJUNCT_LIMIT:,}: use fewer of them"
        )
