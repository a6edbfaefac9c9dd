"""Which id a name means: the order of the look-up, what is ambiguous, what is unknown, and inverse relations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.errors import AmbiguousNameError, UnknownNameError
from pathformer.kg import lookup
from pathformer.kg.names import Names
from pathformer.kg.vocabulary import Vocabulary

ENTITIES = ["Q1", "Paris", "PARIS", "rome", "Straße", "東京", 'the "x"']
LABELS = ["Rome", None, "Paris, Texas", "Roma", "street", "Tokyo", "Tokyo"]


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary.of(ENTITIES, ["born_in", "-odd", "Born_In_reverse", "likes_reverse", "likes"], LABELS)


def test_counts_and_names(vocabulary: Vocabulary) -> None:
    assert vocabulary.entity_count == 7
    assert vocabulary.relation_count == 10
    assert [vocabulary.entity(place) for place in range(7)] == ENTITIES
    assert vocabulary.label(0) == "Rome"
    assert vocabulary.label(1) == "Paris"
    assert [vocabulary.relation(place) for place in (0, 1, 2, 3)] == ["born_in", "born_in", "-odd", "-odd"]
    assert vocabulary.relation_label(1) == "born_in"


def test_a_label_that_is_shared_gives_way_to_the_name() -> None:
    names = ["Q1", "Q2", "Q3", "Q4", "Rome", "Oslo"]
    vocabulary = Vocabulary.of(
        names, ["P1", "P2", "P3"], ["Bern", "Bern", "Rome", "Kyiv", None, "Oslo"], ["r", "r", "s"]
    )
    assert [vocabulary.distinct_label(place) for place in range(6)] == ["Q1", "Q2", "Q3", "Kyiv", "Rome", "Oslo"]
    assert [vocabulary.distinct_relation_label(place) for place in (0, 1, 2, 4)] == ["P1", "P1", "P2", "s"]
    assert Vocabulary.of(names, ["P1"]).distinct_label(0) == "Q1"


def test_a_label_that_means_another_gives_way_to_the_name(vocabulary: Vocabulary) -> None:
    assert vocabulary.label(0) == "Rome"
    assert vocabulary.distinct_label(0) == "Q1"  # "Rome" is the name of `rome`, whatever its case


NAMES = st.lists(st.text("aA/:_", min_size=1, max_size=4) | st.just("a_reverse"), min_size=1, max_size=6, unique=True)


@given(NAMES, st.lists(st.text("aA/:", max_size=3), min_size=6, max_size=6))
def test_what_each_is_called_finds_it(names: list[str], labels: list[str]) -> None:
    given_labels = labels[: len(names)]
    vocabulary = Vocabulary.of(names, names, given_labels, given_labels)
    for place in range(len(names)):
        assert vocabulary.entity_id(vocabulary.distinct_label(place)) == place
        assert vocabulary.relation_id(vocabulary.distinct_relation_label(2 * place)) == 2 * place
        assert vocabulary.relation_id(vocabulary.short_relation_label(2 * place + 1)) == 2 * place


@pytest.mark.parametrize(
    ("name", "entity"),
    [
        ("Paris", 1),  # exact, though folded it is two
        ("PARIS", 2),
        ("q1", 0),  # folded
        ("ROME", 3),  # a folded name comes before a label
        ("Rome", 3),  # even before an exact label
        ("STRASSE", 4),  # folding is more than lower case
        ("Roma", 3),  # a label
        ("paris, TEXAS", 2),  # a folded label
        ("東京", 5),
        ('The "X"', 6),
    ],
)
def test_the_order_of_the_look_up(vocabulary: Vocabulary, name: str, entity: int) -> None:
    assert vocabulary.entity_id(name) == entity


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("paris", "'paris' means 2 entities: 'Paris', 'PARIS'; write the exact name of one"),
        ("tokyo", "'tokyo' means 2 entities: '東京', 'the \"x\"'; write the exact name of one"),
    ],
)
def test_several_are_an_error_that_lists_them(vocabulary: Vocabulary, name: str, message: str) -> None:
    with pytest.raises(AmbiguousNameError) as caught:
        vocabulary.entity_id(name)
    assert str(caught.value) == message
    assert len(caught.value.closest) == 2


def test_many_are_counted() -> None:
    vocabulary = Vocabulary.of([f"e{n}" for n in range(9)], [], ["same"] * 9)
    with pytest.raises(AmbiguousNameError, match="means 9 entities: 'e0', 'e1', 'e2', 'e3', 'e4' and 4 more; write"):
        vocabulary.entity_id("same")


def test_an_unknown_name_gives_the_closest(vocabulary: Vocabulary) -> None:
    with pytest.raises(UnknownNameError) as caught:
        vocabulary.entity_id("Streat")
    assert str(caught.value) == "no entity 'Streat'; closest: 'street', 'Straße'"


def test_where_none_is_close_all_are_told_if_they_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = Vocabulary.of(["a", "b", "c"], ["r", "s"], ["one", "same", "same"])
    cases = {
        "zzzzzz": "no entity 'zzzzzz'; the graph has 'one', 'b', 'c'",  # two that share a label by their names
        "": "no entity ''; the graph has 'one', 'b', 'c'",
        "On": "no entity 'On'; closest: 'one'",
    }
    for name, message in cases.items():
        with pytest.raises(UnknownNameError, match=f"^{message}$"):
            vocabulary.entity_id(name)
    with pytest.raises(UnknownNameError, match=r"^no relation 'likes'; the graph has 'r', 's'$"):
        vocabulary.relation_id("likes")
    iris = Vocabulary.of(["a"], ["http://x.org/age", "http://x.org/is", "http://y.org/is"])
    with pytest.raises(UnknownNameError, match=r"; the graph has 'age', 'http://x.org/is', 'http://y.org/is'$"):
        iris.relation_id("knows")
    monkeypatch.setattr(lookup, "_FEW", 2)
    with pytest.raises(UnknownNameError, match=r"^no entity 'zzzzzz'; no name or label is similar$"):
        vocabulary.entity_id("zzzzzz")


def test_an_inverse_is_told_how_it_is_written() -> None:
    vocabulary = Vocabulary.of(["a", "x⁻¹"], ["won", "stars"])
    round_about = "for the inverse, swap subject and object"
    for name in ("won⁻¹", "won^-1"):
        with pytest.raises(UnknownNameError) as caught:
            vocabulary.relation_id(name)
        assert str(caught.value) == f"no relation {name!r}; closest: 'won'; {round_about}"
    with pytest.raises(UnknownNameError) as caught:
        vocabulary.entity_id("y⁻¹")
    assert round_about not in str(caught.value)


IRIS = ["http://x.org/Person", "http://y.org#person", "http://x.org/person/Bob", "ex:Knows", "Persons", "red/white"]


def test_the_end_of_an_iri_is_looked_up_last() -> None:
    vocabulary = Vocabulary.of(
        IRIS, ["http://x.org/knows", "http://x.org/knows_of", "/people/person/nationality", "r#s"], [""] * 5 + ["bob"]
    )
    assert vocabulary.entity_id("KNOWS") == 3
    assert vocabulary.entity_id("person/bob") == 2
    assert vocabulary.entity_id("Bob") == 5  # a label comes before
    assert vocabulary.relation_id("knows") == 0
    assert vocabulary.relation_id("nationality") == 4
    assert vocabulary.relation_id("knows_reverse") == 1
    with pytest.raises(AmbiguousNameError) as caught:
        vocabulary.entity_id("Person")
    several = "'http://x.org/Person', 'http://y.org#person'"
    assert str(caught.value) == f"'Person' means 2 entities: {several}; write the exact name of one"


def test_the_inverse_of_a_relation_of_that_name_comes_before_the_end_of_an_iri() -> None:
    vocabulary = Vocabulary.of(["e"], ["knows", "http://x.org/knows_reverse", "http://x.org/likes_reverse"])
    assert vocabulary.relation_id("knows_reverse") == 1
    assert vocabulary.short_relation_label(2) == "http://x.org/knows_reverse"
    assert vocabulary.relation_id("likes_reverse") == 4


def test_half_a_sign_is_the_end_of_nothing() -> None:
    with pytest.raises(UnknownNameError, match="no entity"):
        Vocabulary.of(["http://x.org/?"], ["r"]).entity_id("\ud800")


def test_the_end_of_a_name_without_a_prefix_is_a_part_of_it() -> None:
    vocabulary = Vocabulary.of([*IRIS, "a b:c", "UTC+5:45"], ["r#s"])
    for name, closest in (("white", "red/white"), ("c", "a b:c"), ("45", "UTC+5:45")):
        with pytest.raises(UnknownNameError) as caught:
            vocabulary.entity_id(name)
        assert caught.value.closest == (closest,)
    with pytest.raises(UnknownNameError, match=r"no relation 's'; closest: 'r#s'$"):
        vocabulary.relation_id("s")
    with pytest.raises(UnknownNameError, match=r"no relation 'konws'; closest: 'knows'$"):
        Vocabulary.of(IRIS, ["http://xmlns.com/foaf/0.1/knows", "http://x.org/likes"]).relation_id("konws")


def test_a_relation_is_called_by_the_end_of_its_iri_where_that_finds_it() -> None:
    names = [
        "http://x.org/knows",
        "http://x.org/likes",
        "ex:likes",
        "/a/b/won",
        "won",
        "http://x.org/",
        "r#s",
        "ex:Age",
    ]
    vocabulary = Vocabulary.of(["e"], [*names, "http://x.org/led"], relation_labels=[""] * 8 + ["age"])
    told = [vocabulary.short_relation_label(2 * place) for place in range(9)]
    assert told == ["knows", *names[1:8], "age"]
    assert all(vocabulary.relation_id(text) == 2 * place for place, text in enumerate(told))


def test_names_are_scanned_once_for_the_end_of_a_relation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every reason tells its relations: with a scan for each, those of thousands of answers took four times as long."""
    vocabulary = Vocabulary.of(["e"], ["http://x.org/knows", "http://x.org/likes"])
    assert [vocabulary.short_relation_label(relation) for relation in range(4)] == ["knows", "knows", "likes", "likes"]
    monkeypatch.setattr(lookup, "_ending", lambda *_: pytest.fail("scanned again"))
    assert [vocabulary.short_relation_label(relation) for relation in range(4)] == ["knows", "knows", "likes", "likes"]


@given(st.lists(st.text("a/Æ", max_size=6), max_size=12), st.text("a/Æ", min_size=1, max_size=3))
def test_the_names_of_an_ending_are_found(names: list[str], ending: str) -> None:
    found = [place for place, name in enumerate(names) if name.endswith(ending)]
    assert lookup._ending(ending, Names.of(names)) == found


def test_an_unknown_name_of_megabytes_is_shortened(vocabulary: Vocabulary) -> None:
    name = "a" * 100 + "b" * 1_000_000 + "c" * 100
    with pytest.raises(UnknownNameError) as caught:
        vocabulary.entity_id(name)
    assert str(caught.value) == f"no entity '{'a' * 40}...{'c' * 40}'; the graph has 'Q1', 'Paris', " + (
        "'Paris, Texas', 'Roma', 'street', '東京', 'the \"x\"'"
    )
    assert caught.value.name == name
    with pytest.raises(UnknownNameError, match=r"^no entity 'd'; the graph has 'a{40}\.\.\.c{40}'$"):
        Vocabulary.of([name], []).entity_id("d")


def test_a_close_name_of_pages_is_shortened_where_it_is_told() -> None:
    long = "a" * 5000
    with pytest.raises(UnknownNameError) as caught:
        Vocabulary.of([f"{long}b"], ["r"]).entity_id(f"{long}c")
    told = "'" + 40 * "a" + "..." + 39 * "a"
    assert str(caught.value) == f"no entity {told}c'; closest: {told}b'"
    assert caught.value.closest == (f"{long}b",)


@given(st.lists(st.text("abÆ", max_size=6), max_size=12), st.text("abÆ", min_size=1, max_size=3))
def test_the_names_that_hold_a_piece_are_found_in_one_scan(names: list[str], piece: str) -> None:
    """All of them but where pieces overlap across the end of a name, and no other."""
    found = list(lookup._holding(piece, Names.of(names)))
    holding = [place for place, name in enumerate(names) if piece in name]
    assert found == sorted(set(found))
    assert set(found) <= set(holding)
    if len(piece) == 1:
        assert found == holding


def test_an_empty_name_is_close_to_none_in_a_large_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "_ALL", 1)
    monkeypatch.setattr(lookup, "_FEW", 1)
    with pytest.raises(UnknownNameError, match=r"^no entity ''; no name or label is similar$"):
        Vocabulary.of(["Fellini", "Oscar"], ["won"]).entity_id("")


def test_in_a_large_graph_the_closest_share_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "_ALL", 3)
    vocabulary = Vocabulary.of(["Amsterdam", "Rotterdam", "Rotherham", "Berlin", "Œuvre"], ["r"])
    with pytest.raises(UnknownNameError) as caught:
        vocabulary.entity_id("rotterdan")
    assert caught.value.closest == ("Rotterdam",)  # Rotherham shares neither beginning nor end
    with pytest.raises(UnknownNameError, match="closest: 'Œuvre'"):
        vocabulary.entity_id("œuvres")


@pytest.mark.parametrize(
    ("name", "relation"),
    [
        ("born_in", 0),
        ("+born_in", 0),
        ("-born_in", 1),
        ("born_in_reverse", 4),  # the graph has a relation that is called so, but for its case
        ("-odd", 2),  # its own name, not the inverse of "odd"
        ("--odd", 3),
        ("likes_reverse", 6),
        ("-likes_reverse", 7),
        ("likes", 8),
        ("-LIKES", 9),
    ],
)
def test_relations_and_their_inverses(vocabulary: Vocabulary, name: str, relation: int) -> None:
    assert vocabulary.relation_id(name) == relation


def test_the_endings_of_released_files() -> None:
    vocabulary = Vocabulary.of(["e"], ["concept:plays"], relation_labels=["plays"])
    assert vocabulary.relation_id("concept:plays_reverse") == 1
    assert vocabulary.relation_id("plays") == 0
    assert vocabulary.relation_label(1) == "plays"


def test_an_unknown_relation(vocabulary: Vocabulary) -> None:
    with pytest.raises(UnknownNameError, match="no relation 'born_inn'; closest: 'born_in'"):
        vocabulary.relation_id("born_inn")
    with pytest.raises(UnknownNameError, match="no relation '-'"):
        vocabulary.relation_id("-")


def test_the_fingerprint_is_of_names_in_order() -> None:
    base = Vocabulary.of(["a", "b"], ["r"])
    assert base.fingerprint() == Vocabulary.of(["a", "b"], ["r"], ["x", "y"]).fingerprint()
    others = [
        Vocabulary.of(["b", "a"], ["r"]),
        Vocabulary.of(["ab", ""], ["r"]),
        Vocabulary.of(["a"], ["b", "r"]),
        Vocabulary.of(["a", "b"], ["s"]),
    ]
    assert len({base.fingerprint(), *(other.fingerprint() for other in others)}) == 5


def test_an_accent_may_be_a_sign_of_its_own_or_a_part_of_its_letter() -> None:
    apart, joined = "Zoe\u0308", "Zo\u00eb"
    for written, asked in ((apart, joined), (joined, apart), (apart, joined.upper())):
        assert Vocabulary.of(["x", written], []).entity_id(asked) == 1
    both = Vocabulary.of([apart, joined], [])
    assert (both.entity_id(apart), both.entity_id(joined)) == (0, 1)  # as they are written comes first


def test_a_letter_of_another_script_that_looks_the_same_is_told() -> None:
    with pytest.raises(UnknownNameError) as caught:
        Vocabulary.of(["Paris", "Rome"], []).entity_id("P\u0430ris")
    assert str(caught.value) == "no entity 'P\u0430ris'; closest: 'Paris'; its '\u0430' is a CYRILLIC SMALL LETTER A"
    for name in ("Moskau", "\u041c\u043e\u0441\u043a\u0432\u0430", "Rome \u6771\u4eac"):  # one script, or none alike
        with pytest.raises(UnknownNameError) as caught:
            Vocabulary.of(["Paris"], []).entity_id(name)
        assert " is a " not in str(caught.value)
