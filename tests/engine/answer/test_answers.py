"""Answers as data: filters, cuts, tables, JSON, CSV, colours."""

from __future__ import annotations

import csv
import io
import json
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from pathformer.engine.answer.answers import COLUMNS, FORMAT, KNOWN, PREDICTED, Answer, Answers, to_csv
from pathformer.engine.answer.show import percent
from pathformer.engine.reasons.why import Link, Named, Why
from pathformer.errors import InputError, MissingExtraError

FILM = Named("8½", "Otto e mezzo")
REASON = Why({"f": FILM}, (Link(FILM, Named("stars", "stars"), Named("m", "Mastroianni <1>"), False, 3),))


def one(rank: int, name: str, known: bool, probability: float, why: Why | None = None) -> Answer:
    status = KNOWN if known else PREDICTED
    return Answer(rank, {"x": name}, {"x": name.title()}, status, probability, -float(rank), why)


def named(answer: Answer, name: str, label: str) -> Answer:
    return replace(answer, values={"x": name}, labels={"x": label})


@pytest.fixture
def answers() -> Answers:
    return Answers(
        "?x : r(a, ?x)",
        (
            one(1, "ada", True, 1.0),
            one(2, "bob", True, 1.0),
            one(3, "cleo", False, 0.95, REASON),
            one(4, "dan", False, 0.8),
            one(5, "eve", False, 0.4),
        ),
    )


def names(answers: Answers) -> list[str]:
    return [answer.entity for answer in answers]


def test_they_are_a_sequence(answers: Answers) -> None:
    assert len(answers) == 5
    assert answers[2].entity == "cleo"
    assert answers[2].predicted
    assert names(answers[1:3]) == ["bob", "cleo"]
    assert isinstance(answers[1:3], Answers)
    assert repr(answers) == "<Answers: 2 known, 3 predicted; ?x : r(a, ?x)>"


def test_filters(answers: Answers) -> None:
    assert names(answers.known) == ["ada", "bob"]
    assert names(answers.predicted) == ["cleo", "dan", "eve"]
    assert names(answers.at_least(0.8)) == ["ada", "bob", "cleo", "dan"]
    assert names(answers.where(lambda answer: "a" in answer.entity)) == ["ada", "dan"]
    assert answers.predicted[0].rank == 3
    with pytest.raises(InputError, match=r"probability.* 7$"):
        answers.at_least(7)
    with pytest.raises(InputError, match=r"precision.* None$"):
        answers.at_precision(None)


@pytest.mark.parametrize(
    ("precision", "kept"),
    [
        (1.0, 0),
        (0.95, 1),
        (0.9, 1),
        (0.875, 2),  # (0.95 + 0.8) / 2
        (0.8, 2),
        (0.716, 3),  # (0.95 + 0.8 + 0.4) / 3 = 0.7167
        (0.0, 3),
    ],
)
def test_a_cut_at_a_precision_expects_it_of_the_predicted_ones(answers: Answers, precision: float, kept: int) -> None:
    cut = answers.at_precision(precision)
    assert names(cut) == names(answers)[: 2 + kept]
    expected = [answer.probability for answer in cut.predicted]
    assert not expected or sum(expected) / len(expected) >= precision - 1e-9
    with pytest.raises(InputError, match=r"precision.* -0\.1$"):
        answers.at_precision(-0.1)


def test_a_cut_at_a_precision_leaves_out_what_nobody_has_measured(answers: Answers) -> None:
    marked = replace(answers, items=tuple(replace(a, calibrated=a.entity != "cleo") for a in answers))
    assert names(marked.at_precision(0.8)) == ["ada", "bob", "dan"]
    assert names(marked.at_precision(0.0)) == ["ada", "bob", "dan", "eve"]
    assert names(marked.at_least(0.8)) == ["ada", "bob", "cleo", "dan"]


def test_json_has_the_fields_that_are_promised(answers: Answers) -> None:
    read = json.loads(answers.to_json())
    assert (read["format"], read["question"]) == (FORMAT, "?x : r(a, ?x)")
    names = {"rank", "values", "entity", "label", "status", "known", "probability", "calibrated", "score", "reason"}
    assert [set(answer) for answer in read["answers"]] == [names] * 5
    assert read["answers"][0]["values"] == {"x": "ada"}
    assert [answer["status"] for answer in read["answers"]] == ["known", "known", *["predicted"] * 3]
    assert read["answers"][0]["reason"] is None
    assert read["answers"][2]["reason"] == {
        "text": '?f = Otto e mezzo; assuming stars("Otto e mezzo", "Mastroianni <1>")',
        "bindings": {"f": {"entity": "8½", "label": "Otto e mezzo"}},
        "links": [
            {
                "subject": "8½",
                "relation": "stars",
                "object": "m",
                "text": 'stars("Otto e mezzo", "Mastroianni <1>")',
                "stated": False,
                "rank": 3,
                "probability": None,
            }
        ],
        "absent": [],
        "contrary": [],
        "evidence": [],
    }
    assert "\n" not in answers.to_json(indent=None)


def test_answers_print_as_the_table_that_the_command_shows(answers: Answers) -> None:
    lines = str(answers).splitlines()
    assert lines[0].split() == ["1", "Ada", "(ada)", "known", "100", "%"]
    assert f"     {REASON}" in lines
    assert "\x1b" not in str(answers)
    long = named(answers[0], "e" * 500, "e" * 500)
    assert "e" * 500 in str(replace(answers, items=(long,)))
    assert str(replace(answers[:0], note="The graph is small.")) == "No answer. The graph is small."
    assert str(answers[:0]) == "No answer."


def test_an_answer_is_found_among_them_by_name_and_by_label(answers: Answers) -> None:
    first = answers[0]
    labelled = replace(answers, items=(named(first, "ada", "Ada Lovelace"), *answers[1:]))
    assert all(name in labelled for name in ("ada", "Ada Lovelace", "bob"))
    assert "zed" not in labelled
    assert "Ada Lovelace" not in answers
    assert first in answers
    assert first not in answers[1:]


def test_answers_can_be_members_of_a_set(answers: Answers) -> None:
    assert {*answers, *answers[:2]} == set(answers.items)
    assert len({answers, answers[:], answers[:2]}) == 2


def test_csv(answers: Answers) -> None:
    rows = list(csv.DictReader(io.StringIO(answers.to_csv())))
    assert list(rows[0]) == list(COLUMNS)
    assert [row["entity"] for row in rows] == names(answers)
    assert rows[2]["reason"] == str(REASON)
    several = list(csv.DictReader(io.StringIO(to_csv([answers, answers[:1]]))))
    assert [row["entity"] for row in several] == [*names(answers), "ada"]
    assert {row["question"] for row in several} == {"?x : r(a, ?x)"}


def test_tables_of_other_libraries(answers: Answers) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = answers.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(COLUMNS)
    assert frame["status"].tolist() == ["known", "known", *["predicted"] * 3]
    table = answers.to_polars()
    assert isinstance(table, polars.DataFrame)
    assert table.columns == list(COLUMNS)
    assert table["probability"].to_list() == [1.0, 1.0, 0.95, 0.8, 0.4]
    assert answers[:0].to_polars().schema == table.schema
    assert list(answers[:0].to_pandas().columns) == list(COLUMNS)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_missing_is_named(answers: Answers, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        MissingExtraError, match=rf"to_{library} needs {library}: pip install 'pathformer\[{library}\]'"
    ):
        getattr(answers, f"to_{library}")()


def printed(answers: Answers, colour: bool = False, width: int = 100, **options: bool) -> str:
    console = Console(
        width=width, file=io.StringIO(), force_terminal=colour, color_system="standard" if colour else None
    )
    console.print(answers.table(**options))
    return console.file.getvalue()


def test_the_terminal_shows_known_and_predicted_in_different_colours(answers: Answers) -> None:
    green, yellow = "\x1b[32m", "\x1b[33m"
    lines = printed(answers, colour=True, why=False).splitlines()
    assert [green in line for line in lines] == [True, True, False, False, False]
    assert [yellow in line for line in lines] == [False, False, True, True, True]


def test_the_terminal_is_not_steered_by_names(answers: Answers) -> None:
    """Colours, titles, line ends and directions of writing are spelled out; joiners are a part of names."""
    steering = "\x1b]0;title\x07 \x1b[31mred\u202edne\nbelow\x9b"
    names = (steering, "می\u200cخواهم")
    shown = [replace(named(answers.items[0], name, name), reason=None) for name in names]
    text = printed(Answers(answers.question, tuple(shown), "", ""), width=200)
    assert r"\x1b]0;title\x07 \x1b[31mred\u202edne\nbelow\x9b  " in text
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)
    assert "می\u200cخواهم" in text
    assert len(text.splitlines()) == 2


def test_nor_by_names_in_reasons_and_notes(answers: Answers) -> None:
    red = Named("red", "\x1b[31mred")
    why = Why({"v": red}, (Link(red, red, red, stated=True),), ())
    shown = Answers(answers.question, (replace(answers.items[0], reason=why),), "\x1b[31mred is the subject of no r")
    text = printed(shown, width=200)
    assert "\x1b" not in text
    assert r"?v = \x1b[31mred; " in text
    assert text.endswith("\\x1b[31mred is the subject of no r\n")


def test_the_terminal_shows_reasons_and_notes(answers: Answers) -> None:
    text = printed(answers)
    assert "3  Cleo (cleo)  predicted    95 %" in text
    assert '     ?f = Otto e mezzo; assuming stars("Otto e mezzo", "Mastroianni <1>")' in text
    assert "?f" not in printed(answers, why=False)
    noted = Answers(answers.question, answers.items, "Nothing there.", "Not measured.")
    assert not noted.calibrated
    assert answers.calibrated
    assert "Nothing there.\nNot measured." in printed(noted)
    assert "measured" not in printed(noted.known)
    assert printed(answers[:0]).strip() == ""


def test_a_long_name_is_folded_within_its_own_column(answers: Answers) -> None:
    long = named(answers[1], "T124", "neuroreactive substance or biogenic amine")
    lines = printed(replace(answers, items=(answers[0], long)), why=False, width=50).splitlines()
    assert lines == [
        "1  Ada (ada)                     known       100 %",
        "2  neuroreactive substance or    known       100 %",
        "   biogenic amine (T124)",
    ]
    assert all(len(line) <= 50 for line in lines)
    whole = printed(replace(answers, items=(named(long, "T124", "x" * 90),)), why=False, width=1000)
    assert whole == f"2  {'x' * 90} (T124)  known       100 %\n"
    nameless = printed(replace(answers, items=(named(long, "", ""),)), why=False)
    assert nameless.split() == ["2", "known", "100", "%"]


def test_a_name_that_is_its_label_but_for_blanks_is_not_repeated(answers: Answers) -> None:
    one = named(answers[0], "medical_device", "medical device")
    assert printed(replace(answers, items=(one,))).split("  ")[1] == "medical device"
    other = named(one, "Medical_device", "medical device")
    assert "medical device (Medical_device)" in printed(replace(answers, items=(other,)))


def test_a_probability_that_was_not_measured_has_a_question_mark(answers: Answers) -> None:
    odd = replace(answers[2], calibrated=False)
    assert percent(odd) == "95 %?"
    assert percent(replace(odd, probability=0.001)) == "< 1 %?"
    mixed = replace(answers, items=(answers[0], odd, answers[3]))
    text = printed(mixed, why=False)
    assert text.splitlines()[:3] == [
        "1  Ada (ada)    known        100 %",
        "3  Cleo (cleo)  predicted    95 %?",
        "4  Dan (dan)    predicted     80 %",
    ]
    assert "not measured" in text
    assert "?" not in printed(answers, why=False)
    assert "95 %?" in mixed._repr_html_()
    assert [row["calibrated"] for row in csv.DictReader(io.StringIO(mixed.to_csv()))] == ["True", "False", "True"]


def test_a_notebook_shows_a_table_with_every_sign_escaped(answers: Answers) -> None:
    html = answers._repr_html_()
    assert html.count("<tr>") == 6
    assert "Mastroianni &lt;1&gt;" in html
    assert "<1>" not in html
    assert html.count("#1a7f37") == 4  # name and kind of two known answers
    assert "<code>?x : r(a, ?x)</code>" in html


@pytest.mark.parametrize(
    ("known", "probability", "text"),
    [
        (True, 1.0, "100 %"),
        (False, 1.0, "> 99 %"),
        (False, 0.993, "> 99 %"),
        (False, 0.5, "50 %"),
        (False, 0.0, "< 1 %"),
    ],
)
def test_a_prediction_is_never_shown_as_certain(known: bool, probability: float, text: str) -> None:
    assert percent(one(1, "a", known, probability)) == text
