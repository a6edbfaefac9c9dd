"""Names of a tree's variables: the first map that a recursion finds, in questions short and long."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pathformer.engine.engine import Engine
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import Atom, Constant, Variable
from pathformer.query.compile.bind import bind
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.compile.variables import _match, variable_names
from pathformer.query.parse import parse

VOCABULARY = Vocabulary.of(["a", "b"], ["r", "s"])
Names = dict[str, str]


def named(text: str) -> Names:
    query = bind(parse(text), VOCABULARY)
    return {str(place): name for place, name in variable_names(to_tree(query, VOCABULARY), query).items()}


def test_variables_have_the_names_that_the_question_gave_them() -> None:
    assert list(named("?x : r(a, ?film) & s(?film, ?x)").values()) == ["film"]
    two = "?x : r(a, ?one) & s(?one, ?x) & r(a, ?other) & s(?other, ?x)"
    assert named(two) == {"(0, 0)": "one", "(1, 0)": "other"}  # though ?one would do for both


def test_where_an_atom_fits_nothing_fresh_names_stay() -> None:
    x, u, v = map(Variable, "xuv")
    assert _match([Atom(0, v, x)], [Atom(2, u, x)], "x") == {}
    assert _match([Atom(0, Constant(0), v), Atom(2, v, x)], [Atom(0, Constant(0), u), Atom(2, u, u)], "x") == {}


def slowly(wanted: list[Atom], given: list[Atom], names: Names) -> Names | None:
    """The first map in depth-first order, a call an atom: options whose new names are taken least often come first."""
    if not wanted:
        return names
    options = []
    for atom in given:
        fitting = dict(names)
        pairs = [(wanted[0].subject, atom.subject), (wanted[0].object, atom.object)]
        if wanted[0].relation == atom.relation and all(
            fitting.setdefault(one.name, other.name) == other.name
            if isinstance(one, Variable) and isinstance(other, Variable)
            else one == other
            for one, other in pairs
        ):
            options.append(fitting)
    taken = set(names.values())
    options.sort(key=lambda fitting: len(taken & {fitting[name] for name in fitting.keys() - names.keys()}))
    found = (slowly(wanted[1:], given, fitting) for fitting in options)
    return next((names for names in found if names is not None), None)


def atoms(letters: str) -> st.SearchStrategy[list[Atom]]:
    terms = st.one_of(st.sampled_from(letters).map(Variable), st.sampled_from([Constant(0), Constant(1)]))
    return st.lists(st.builds(Atom, st.sampled_from([0, 2]), terms, terms), min_size=1, max_size=5)


def chain(*letters: str) -> list[Atom]:
    return [Atom(0, Variable(one), Variable(other)) for one, other in letters]


@given(wanted=atoms("xvw"), offered=atoms("xpqs"))
@example(wanted=chain("vw", "wx"), offered=chain("pq", "qs", "sx"))  # the first atom must be taken back, and again
def test_the_map_is_the_one_that_a_recursion_finds(wanted: list[Atom], offered: list[Atom]) -> None:
    assert _match(wanted, offered, "x") == (slowly(wanted, offered, {"x": "x"}) or {})


@pytest.mark.parametrize(
    ("part", "joined"),
    [
        ("directed(Fellini, ?f{0}) & stars(?f{0}, ?x)", " & "),
        ("!(directed(Visconti, ?f{0}) & stars(?f{0}, ?x))", " & "),
        ("directed(Fellini, ?f{0}) & stars(?f{0}, ?x)", " | "),
    ],
    ids=["and", "not", "or"],
)
def test_a_flat_question_may_have_hundreds_of_variables(engine: Engine, part: str, joined: str) -> None:
    parts = [part.format(number) for number in range(600)]
    first = engine.ask(f"?x : stars(La_Strada, ?x){joined}{joined.join(parts)}", top=1)[0]
    assert first.known
    assert first.entity in ("Masina", "Quinn", "Mastroianni", "Cardinale", "Noël")
    if joined == " & ":
        assert "?f599" in str(first.why)
