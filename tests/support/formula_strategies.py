"""Random formulas as people write them, names of any kind, and what a formula means by definition."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product

from hypothesis import strategies as st

from pathformer.query.ast import And, Atom, Constant, Formula, Not, Or, Query, Variable, atoms, variables
from support.query_strategies import ENTITIES, RELATIONS, Edges

NAMES = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=8),
    st.text(st.sampled_from("ab?&|!()\"'\\.,:;-_ /%#<>{}[]∃∧∨¬é中\n\t\u200d\u2028"), min_size=1, max_size=6),
    st.sampled_from(["and", "or", "not", "AND", "Or", "http://example.org/a#b", "urn:x:y", "/film/film", "-r", "a:b"]),
    st.sampled_from(
        ["x:", "%41", ".", "New York", "St. John's", "O'Brien", "हिन्दी", "Æthelred ⅔", "_:b0", "a\\b", "<a>"]
    ),
    st.sampled_from(["urn:pathformer:graph:a", "urn:pathformer:graph:", "12", "http://", "a%20b"]),
)


def formulas(leaf: st.SearchStrategy[Formula], max_leaves: int = 8) -> st.SearchStrategy[Formula]:
    """Any nesting of and, or, not over given atoms."""

    def extend(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.one_of(st.builds(And, parts), st.builds(Or, parts), st.builds(Not, inner))

    return st.recursive(leaf, extend, max_leaves=max_leaves)


def named_formulas() -> st.SearchStrategy[Formula]:
    """Formulas with names of any kind; few of them can be asked, all can be written and read."""
    term = st.one_of(st.builds(Constant, NAMES), st.builds(Variable, st.sampled_from(["x", "v", "größe", "V_1"])))
    return formulas(st.builds(Atom, NAMES, term, term))


def bound_queries() -> st.SearchStrategy[Query]:
    """Bound queries over few entities, relations and variables: many of them can be asked."""
    constant = st.builds(Constant, st.integers(0, ENTITIES - 1))
    variable = st.builds(Variable, st.sampled_from("xxvvw"))
    relation = st.integers(0, RELATIONS // 2 - 1).map(lambda k: 2 * k)
    leaf = st.one_of(
        st.builds(Atom, relation, constant, variable),
        st.builds(Atom, relation, variable, constant),
        st.builds(Atom, relation, variable, variable),
    )
    x, v = Variable("x"), Variable("v")
    starts = st.sampled_from([(Atom(0, Constant(0), x),), (Atom(0, Constant(0), v), Atom(2, v, x))])
    started = st.builds(lambda start, rest: And((*start, rest)), starts, formulas(leaf, max_leaves=6))
    return st.builds(Query, st.just(x), st.one_of(started, started, formulas(leaf)))


def meaning(query: Query, edges: Edges) -> frozenset[int]:
    """The answers by the definition: each variable quantified at the smallest part that holds all its occurrences."""
    everywhere = Counter(name for atom in atoms(query.formula) for name in _names(atom))

    @cache
    def quantified(formula: Formula) -> frozenset[str]:
        names = variables(formula) - {query.answer.name}
        return frozenset(name for name in names if _smallest(formula, name, everywhere[name]))

    def holds(formula: Formula, values: dict[str, int]) -> bool:
        own = sorted(quantified(formula) - values.keys())
        if own:
            choices = product(range(ENTITIES), repeat=len(own))
            return any(holds(formula, values | dict(zip(own, choice, strict=True))) for choice in choices)
        match formula:
            case Atom(relation, subject, object_):
                ends = [values[t.name] if isinstance(t, Variable) else t.name for t in (subject, object_)]
                return (ends[0], relation, ends[1]) in edges
            case Not(part):
                return not holds(part, values)
            case And(parts):
                return all(holds(part, values) for part in parts)
            case Or(parts):
                return any(holds(part, values) for part in parts)

    return frozenset(x for x in range(ENTITIES) if holds(query.formula, {query.answer.name: x}))


def _names(atom: Atom) -> list[str]:
    return [term.name for term in (atom.subject, atom.object) if isinstance(term, Variable)]


def _count(formula: Formula, name: str) -> int:
    return sum(_names(atom).count(name) for atom in atoms(formula))


def _smallest(formula: Formula, name: str, total: int) -> bool:
    match formula:
        case Atom():
            parts: tuple[Formula, ...] = ()
        case Not(part):
            parts = (part,)
        case And(parts) | Or(parts):
            pass
    return _count(formula, name) == total and all(_count(part, name) < total for part in parts)
