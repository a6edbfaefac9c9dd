"""`pathformer ask` and `pathformer models` as people meet them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support.engines import engine_over
from typer.testing import CliRunner, Result

from pathformer.cli import _main as cli
from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.calibrate.curve import Curve
from pathformer.engine.engine import Engine
from pathformer.engine.engine import load as load_engine
from pathformer.errors import EngineError, InputError, UnknownNameError
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build

TWO_HOPS = "?x : directed(Fellini, ?f) & stars(?f, ?x)"
UNMEASURED = "No precision can be promised"


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of an engine whose model was never trained."""
    triples = [("Fellini", "directed", "8½"), ("Fellini", "directed", "Amarcord"), ("8½", "stars", "Mastroianni")]
    kg = KnowledgeGraph.from_triples(
        [*triples, ("Leone", "directed", "West"), ("West", "stars", "[Fonda]")], name="films"
    )
    torch.manual_seed(0)
    model = build(
        "pathformer",
        {"dim": 8, "layers": 1, "heads": 2},
        entities=kg.vocabulary.entity_count,
        relations=kg.vocabulary.relation_count,
    )
    engine = engine_over(kg, model)
    return str(engine.save(tmp_path_factory.mktemp("engines") / "films"))


def ask(*arguments: str, error: type[Exception] | None = None, text: str = "") -> Result:
    result = CliRunner().invoke(cli.app, ["ask", *arguments], input=text or None)
    if error is None:
        assert result.exit_code == 0, result.exception
    else:
        assert isinstance(result.exception, error)
    return result


def test_known_answers_stand_before_predicted_ones(films: str) -> None:
    lines = ask(films, TWO_HOPS, "--top", "2", "--any-kind").output.splitlines()
    assert lines[0].split() == ["1", "Mastroianni", "known", "100", "%"]
    assert lines[1].strip() == "?f = 8½; directed(Fellini, 8½) & stars(8½, Mastroianni)"
    assert sum("predicted" in line for line in lines) == 2
    assert "assuming" in "".join(lines)
    plain = ask(films, TWO_HOPS, "--top", "2", "--no-why").output
    assert "directed" not in plain


def test_what_is_piped_is_not_folded(films: str) -> None:
    question = "?x : " + " & ".join(["directed(Fellini, ?f)", "stars(?f, ?y)", "stars(?g, ?y)", "directed(?x, ?g)"])
    lines = ask(films, question, "--known").output.splitlines()
    assert len(lines) == 2
    assert len(lines[1]) > 80
    assert lines[1] == lines[1].rstrip()


def test_names_that_look_like_markup_are_printed_as_they_are(films: str) -> None:
    assert "[Fonda]" in ask(films, "?x : directed(Leone, ?f) & stars(?f, ?x)", "--known").output


def test_json_is_one_object(films: str) -> None:
    read = json.loads(ask(films, TWO_HOPS, "--json", "--top", "1", "--any-kind").output)
    assert [answer["known"] for answer in read["answers"]] == [True, False]
    assert read["answers"][0]["values"] == {"x": read["answers"][0]["entity"]}
    assert read["answers"][1]["reason"]["links"]


def test_json_of_several_questions_is_an_object_a_line(films: str) -> None:
    lines = ask(films, TWO_HOPS, "?x : directed(Fellini, ?x)", "--json").output.splitlines()
    assert [json.loads(line)["question"] for line in lines] == [TWO_HOPS, "?x : directed(Fellini, ?x)"]


def test_csv(films: str) -> None:
    rows = list(csv.DictReader(io.StringIO(ask(films, TWO_HOPS, "--csv", "--known").output)))
    assert [row["entity"] for row in rows] == ["Mastroianni"]
    several = list(csv.DictReader(io.StringIO(ask(films, TWO_HOPS, TWO_HOPS, "--csv", "--known").output)))
    assert [row["question"] for row in several] == [TWO_HOPS] * 2


def test_csv_tells_on_stderr_what_a_table_says_below(films: str) -> None:
    empty, engine = "?x : stars(Leone, ?x)", load_engine(films)
    answers = engine.ask(empty, top=1, any_kind=True)
    one = ask(films, empty, "--csv", "--top", "1", "--any-kind")
    assert one.stderr == f"{answers.note}\n{answers.doubt}\n"
    rows = list(csv.DictReader(io.StringIO(one.stdout)))
    assert [(row["status"], row["calibrated"]) for row in rows] == [("predicted", "False")]
    assert ask(films, TWO_HOPS, "--csv", "--known").stderr == ""
    several = ask(films, TWO_HOPS, empty, "--csv", "--top", "1", "--any-kind").stderr
    assert several == f"{TWO_HOPS}: {answers.doubt}\n{empty}: {answers.note}\n{empty}: {answers.doubt}\n"


def test_a_file_of_questions(films: str, tmp_path: Path) -> None:
    file = tmp_path / "questions.txt"
    file.write_text(f"# two\n{TWO_HOPS}\n\n  ?x : directed(Leone, ?x)\n", encoding="utf-8")
    output = ask(films, "--file", str(file), "--known").output
    assert TWO_HOPS in output
    assert output.index("Mastroianni") < output.index("?x : directed(Leone, ?x)") < output.index("West")
    assert ask(films, "--file", "-", "--known", text=file.read_text(encoding="utf-8")).output == output
    query = tmp_path / "one.rq"
    query.write_text("SELECT ?x\n{ :Fellini :directed/:stars ?x }\n")
    assert "Mastroianni" in ask(films, "--file", str(query), "--known").output


def test_a_file_of_questions_may_start_with_a_mark_of_its_encoding(films: str, tmp_path: Path) -> None:
    file = tmp_path / "questions.txt"
    file.write_bytes(b"\xef\xbb\xbf" + f"{TWO_HOPS}\r\n".encode())
    assert ask(films, "--file", str(file), "--known").output == ask(films, TWO_HOPS, "--known").output


def test_a_query_of_several_lines_is_one_question(films: str, tmp_path: Path) -> None:
    query = "# which films?\nPREFIX : <urn:pathformer:films:>\nselect ?x\nwhere { :Fellini :directed ?x }\n"
    (tmp_path / "films.RQ").write_text("\ufeff" + query)
    options = ("--known", "--no-why")
    expected = ask(films, "?x : directed(Fellini, ?x)", *options).output
    assert "Amarcord" in expected
    assert ask(films, "--file", "-", *options, text="\ufeff" + query).output == expected
    assert ask(films, "--file", str(tmp_path / "films.RQ"), *options).output == expected
    line = "SELECT ?x { :Fellini :directed ?x }\n"
    assert ask(films, "--file", "-", *options, text=2 * line).output.count(expected) == 2


def test_predicted_alone_and_cuts(films: str) -> None:
    assert "known" not in ask(films, TWO_HOPS, "--predicted", "--no-why").output
    for cut, told in (
        (("--min-probability", "0.995"), "6 predictions are left out"),
        (
            ("--min-probability", "0.5", "--top", "1"),
            "1 prediction is left out",
        ),
        (("--precision", "0.9"), UNMEASURED),
        (("--top", "0"), "No predictions were asked for"),
    ):
        assert ask(films, TWO_HOPS, "--predicted", "--any-kind", *cut).output.startswith(f"No answer. {told}")


def test_where_known_answers_alone_are_left_the_predictions_that_were_cut_are_told(films: str) -> None:
    for cut, told in (
        (("--min-probability", "0.995"), "6 predictions are left out"),
        (("--precision", "0.9"), UNMEASURED),
    ):
        first, below = ask(films, TWO_HOPS, *cut, "--no-why", "--any-kind").output.splitlines()
        assert first.split() == ["1", "Mastroianni", "known", "100", "%"]
        assert below.startswith(told)
        assert json.loads(ask(films, TWO_HOPS, *cut, "--json", "--any-kind").output)["note"] == below
    for nothing_cut in (("--known",), ("--known", "--precision", "0.9"), ("--top", "0"), ("--min-probability", "0")):
        assert json.loads(ask(films, TWO_HOPS, *nothing_cut, "--json").output)["note"] == ""


def test_an_empty_result_says_which_branch_is_empty(films: str) -> None:
    output = ask(films, "?x : directed(Fellini, ?f) & stars(?f, ?g) & stars(?g, ?x)", "--known").output
    assert output.startswith("No answer. ")
    assert "directed(Fellini, ?f) & stars(?f, ?g) is never the subject of `stars`" in " ".join(output.split())


def test_a_precision_that_no_measured_prediction_reaches_is_told_with_the_best_of_them(
    films: str, tmp_path: Path
) -> None:
    bare = load_engine(films)
    measured = Calibration({"all": replace(Curve.none(), predictions=100)})
    folder = str(Engine(bare.kg, bare.encoder, bare.index, measured).save(tmp_path / "measured"))
    first = ask(folder, TWO_HOPS, "--predicted", "--no-why", "--any-kind").output.splitlines()[0]
    assert first.split()[1:] == ["Amarcord", "predicted", "10", "%?"]  # a film that is to star: nobody measured that
    cut = ask(folder, TWO_HOPS, "--predicted", "--precision", "0.9").output
    assert "a precision of 90 % (best measured: 10.0 %)" in cut
    (line,) = ask(folder, TWO_HOPS, "--predicted", "--no-why", "--precision", "0.01").output.splitlines()
    assert line.split()[1:] == ["[Fonda]", "predicted", "10", "%"]  # as likely as the first of those that fit


def test_predictions_that_the_options_hide_are_told(films: str) -> None:
    empty = "?x : directed(Fellini, ?f) & stars(?f, ?g) & stars(?g, ?x)"
    hidden = " ".join(ask(films, empty, "--min-probability", "0.99", "--any-kind").output.split())
    assert "is never the subject of `stars`. 7 predictions are left out" in hidden
    cut = ask(films, empty, "--precision", "0.9").output
    assert f"is never the subject of `stars`. {UNMEASURED}" in cut
    assert " ".join(ask(films, empty, "--top", "0").output.split()).endswith(" No predictions were asked for.")


def test_implausible_predictions_are_hidden_and_counted(films: str) -> None:
    output = ask(films, TWO_HOPS, "--no-why").output.splitlines()
    assert [line.split()[1] for line in output[:2]] == ["Mastroianni", "[Fonda]"]
    assert output[2].startswith("5 predictions are hidden")
    every = ask(films, TWO_HOPS, "--no-why", "--any-kind").output
    assert "hidden" not in every
    assert sum(" predicted " in line for line in every.splitlines()) == 6
    assert ask(films, TWO_HOPS, "--csv").stderr.splitlines()[0] == output[2]
    assert len(json.loads(ask(films, TWO_HOPS, "--json").output)["hidden"]) == 5
    assert "hidden" not in ask(films, TWO_HOPS, "--known").output
    asked = "?x : directed(?x, Leone) & stars(Leone, ?x)"  # nothing directs and plays here
    nothing = ask(films, asked, "--top", "2").output
    assert nothing.startswith("No answer. The graph states nothing for ")
    assert "2 predictions are hidden" in nothing
    cut = ask(films, asked, "--top", "2", "--precision", "0.5").output
    assert UNMEASURED in cut


def test_explain_shows_how_the_question_is_read(films: str) -> None:
    output = ask(films, TWO_HOPS, "--explain").output
    assert "computation tree: 2p" in output
    assert output.index("└─ Fellini") < output.index("Mastroianni")


def test_errors_are_sentences(films: str, tmp_path: Path) -> None:
    unknown = ask(films, "?x : directed(Felini, ?x)", error=UnknownNameError)
    assert str(unknown.exception) == "no entity 'Felini'; closest: 'Fellini'"
    far = ask(films, "?x : zzzzqqq(Fellini, ?x)", error=UnknownNameError)
    assert str(far.exception) == "no relation 'zzzzqqq'; the graph has 'directed', 'stars'"
    assert "\n" not in str(ask(films, "", error=InputError).exception)
    second = ask(films, TWO_HOPS, "?x : directd(Fellini, ?x)", error=InputError)
    assert str(second.exception) == (
        "question 2, ?x : directd(Fellini, ?x): no relation 'directd'; closest: 'directed'"
    )
    asked = tmp_path / "asked.txt"
    asked.write_text(f"# two\n\n{TWO_HOPS}\n?x : directd(Fellini, ?x)\n", "utf-8")
    third = ask(films, "--file", str(asked), error=InputError)
    assert str(third.exception).startswith(f"{asked}:4, ?x : directd(Fellini, ?x): no relation 'directd'")
    assert "asked.txt is a file, not an engine: make an engine from it" in str(
        ask(str(asked), TWO_HOPS, error=EngineError).exception
    )
    assert "make one with `pathformer fit" in str(ask(str(tmp_path), TWO_HOPS, error=EngineError).exception)
    (tmp_path / "empty.txt").write_text("# none yet\n\n", "utf-8")
    for arguments, message in (
        ((films,), "write one after the engine"),
        ((films, "--file", str(tmp_path / "empty.txt")), "empty.txt"),
        ((films, TWO_HOPS, "--file", str(tmp_path / "empty.txt")), "empty.txt"),
        ((films, "--file", "-"), "the input"),
        ((films, TWO_HOPS, "--known", "--predicted"), "--known and --predicted"),
        ((films, TWO_HOPS, "--json", "--csv"), "--json and --csv"),
        ((films, TWO_HOPS, "--json", "--explain"), "--explain"),
        ((films, "--file", str(tmp_path / "none.txt")), "none.txt"),
    ):
        assert message in str(ask(*arguments, error=InputError).exception)
