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
    own, text, _ = _write(query.formula, total)
    return f"?{query.answer.name} : {_quantifiers(own)}{text}"


def _write(formula: Formula, total: Counter[str]) -> tuple[list[str], str, Counter[str]]:
    """The variables quantified at this part, in order, the part without them, and how often each occurs in it.

    Each part is counted once, so a long chain takes time in proportion to its length.
    """
    if isinstance(formula, Atom):
        here = _count(formula)
        return [name for name in here if here[name] == total[name]], text_of(formula), here
    texts, here, within = [], Counter[str](), set[str]()
    for part in (formula.part,) if isinstance(formula, Not) else formula.parts:
        text, counts = _operand(part, type(formula), total)
        texts.append(text)
        here.update(counts)
        within.update(name for name in counts if counts[name] == total[name])  # quantified there
    own = [name for name in here if here[name] == total[name] and name not in within]
    match formula:
        case Not():
            return own, f"!{texts[0]}", here
        case And():
            return own, " & ".join(texts), here
        case Or():
            return own, " | ".join(texts), here


def _operand(part: Formula, inside: type[Formula], total: Counter[str]) -> tuple[str, Counter[str]]:
    own, text, counts = _write(part, total)
    wrapped = (Or,) if inside is Or else (And, Or)
    needs_parentheses = isinstance(part, wrapped) or (own and (inside is Not or isinstance(part, And)))
    return f"{_quantifiers(own)}{f'({text})' if needs_parentheses else text}", counts


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
