"""The scope rule written out, and whether two queries ask the same.

A variable but the answer is existential at the smallest part of the formula that holds all its occurrences. What is
printed here reads back as the same query, since a written `∃v.` changes nothing.

Two queries ask the same if they are equal up to the names of variables, the order of branches and repeats.
"""

from __future__ import annotations

from collections import Counter

from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import And, Atom, Formula, Not, Or, Query, Variable
from pathformer.query.compile.bind import bind, own_vocabulary
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.print import text_of
from pathformer.query.tree import canonical

__all__ = ["ask_the_same", "write_scopes"]


def write_scopes(query: Query) -> str:
    """Writes a query with every quantifier in its place: `?x : r(b, ?x) & !∃v. (r(a, ?v) & s(?v, ?x))`."""
    total = _count(query.formula)
    total[query.answer.name] = -1  # never quantified
    own, text = _write(query.formula, total)
    return f"?{query.answer.name} : {_quantifiers(own)}{text}"


def _write(formula: Formula, total: Counter[str]) -> tuple[list[str], str]:
    """The variables quantified at this part, in order, and the part without them."""
    if isinstance(formula, Atom):
        return _own(formula, [], total), text_of(formula)
    parts = (formula.part,) if isinstance(formula, Not) else formula.parts
    own = _own(formula, [_count(part) for part in parts], total)
    texts = [_operand(part, type(formula), total) for part in parts]
    match formula:
        case Not():
            return own, f"!{texts[0]}"
        case And():
            return own, " & ".join(texts)
        case Or():
            return own, " | ".join(texts)


def _operand(part: Formula, inside: type[Formula], total: Counter[str]) -> str:
    own, text = _write(part, total)
    wrapped = (Or,) if inside is Or else (And, Or)
    needs_parentheses = isinstance(part, wrapped) or (own and (inside is Not or isinstance(part, And)))
    return f"{_quantifiers(own)}{f'({text})' if needs_parentheses else text}"


def _own(formula: Formula, parts: list[Counter[str]], total: Counter[str]) -> list[str]:
    here = _count(formula)
    return [name for name in here if here[name] == total[name] and all(part[name] < total[name] for part in parts)]


def _quantifiers(names: list[str]) -> str:
    return "".join(f"∃{name}. " for name in names)


def _count(formula: Formula) -> Counter[str]:
    """Counts the occurrences of each variable, in order of the first."""
    match formula:
        case Atom(_, subject, object_):
            return Counter(term.name for term in (subject, object_) if isinstance(term, Variable))
        case Not(part):
            return _count(part)
        case And(parts) | Or(parts):
            found: Counter[str] = Counter()
            for part in parts:
                found.update(_count(part))
            return found


def ask_the_same(first: Query, second: Query, vocabulary: Vocabulary | None = None) -> bool:
    """Whether two queries have equal computation trees; names are a vocabulary's, else compared as written."""
    names = vocabulary or own_vocabulary(first, second)
    one, other = (canonical(to_tree(bind(query, names), names)) for query in (first, second))
    return one == other
