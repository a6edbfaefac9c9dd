"""Odd situations of a shell and odd input: one sentence each, never a traceback."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from support.command_line import refused, run

import pathformer as pf
from pathformer.errors import ConfigError, InputError, QueryError, QuerySizeError, QuerySyntaxError
from pathformer.limits import LIMITS, limit
from pathformer.query.ast import And, Atom, Constant, Not, Or, Query, Variable
from pathformer.query.compile.scope import write_scopes
from pathformer.query.parse import parse
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Union

PROGRAM = [sys.executable, "-m", "pathformer"]


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of a shell; $P is the program."""
    given = {**os.environ, "P": " ".join(PROGRAM), **environment}
    return subprocess.run(line, shell=True, env=given, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("$P import - --format tsv --out g <&-", 2, "error: -: nothing came out of the pipe\n"),
        ("$P explain '?x : r(a, ?x)' >&-", 0, ""),
        ("$P explain '?x : r(a, ?x)' <&- >&- 2>&-", 0, ""),
        ("$P explain $(printf '?x:r(a\\377,?x)')", 2, "is half of a surrogate pair"),
        ("printf 'a\\tr\\tb\\n' | $P import - --format tsv --out g --name $(printf '\\377')", 2, "cannot be called"),
    ],
)
def test_streams_and_signs(line: str, code: int, told: str, tmp_path: Path) -> None:
    done = shell(f"cd {tmp_path}; {line}")
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not any(tmp_path.iterdir())


def test_names_of_any_script_in_a_locale_of_ascii() -> None:
    done = shell("$P explain '?x : kennt(\"Müller 李\", ?x)'", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 0
    assert "Müller 李" in done.stdout


def test_a_closed_terminal_saves_as_a_polite_kill_does(tmp_path: Path) -> None:
    """Training stops between two updates, saves, and the same command goes on; `nohup` is not disturbed."""
    from support import training_toy as toy

    graph = toy.save_graph(tmp_path / "toy")
    few = ["model.dim=8", "model.layers=1", "model.heads=2", "training.steps=100000"]
    (tmp_path / "run.toml").write_text(f'method = "pathformer"\ndataset = "{graph}"\nqueries = "drawn"\n')
    out = tmp_path / "out"
    line = [*PROGRAM, "train", str(tmp_path / "run.toml"), *few, "--out", str(out), "--device", "cpu"]
    process = subprocess.Popen(
        line,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # the tests themselves may run under nohup
    )
    deadline = time.monotonic() + 100
    while not (out / "log.jsonl").is_file() or not (out / "log.jsonl").stat().st_size:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.1)
    process.send_signal(signal.SIGHUP)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert (out / "last.safetensors").is_file()
    assert "Traceback" not in told


def test_a_pipe_without_a_writer_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "pipe.tsv"
    os.mkfifo(pipe)
    writer = threading.Timer(3.0, lambda: pipe.write_bytes(b"a\tr\tb\n"))
    writer.start()
    assert pf.KnowledgeGraph.read(pipe).triple_count == 1
    writer.join()
    assert capfd.readouterr().err == f"{pipe}: waiting for another program to write to this pipe\n"


def bad_text() -> pa.Array:
    """Text in Arrow that is not UTF-8, which only its maker could know."""
    return pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], "i4")), pa.py_buffer(b"a\xff")]
    )


@pytest.mark.parametrize("packed", [False, True])
def test_parquet_text_that_is_none(packed: bool, tmp_path: Path) -> None:
    heads = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), bad_text()) if packed else bad_text()
    parquet.write_table(pa.table({"h": heads, "r": ["r", "r"], "t": ["b", "c"]}), tmp_path / "x.parquet")
    told = refused("import", tmp_path / "x.parquet", "--out", tmp_path / "g")
    assert "x.parquet:2: the head is not text in this encoding (byte 0xff)" in told
    assert not (tmp_path / "g").exists()
    assert "1 bad line" in run("import", tmp_path / "x.parquet", "--skip-bad", "--out", tmp_path / "g")


@pytest.mark.parametrize("name", ["x.nt", "x.ttl"])
@pytest.mark.parametrize("text", ["# {}\n<http://a> <http://b> <http://c> .\n", '<http://a> <http://b> "{}" .\n'])
def test_an_rdf_statement_or_comment_beyond_what_the_parser_takes(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text.format("x" * (17 << 20)))
    told = refused("import", tmp_path / name, "--out", tmp_path / "g")
    assert "a statement or a comment is longer than 16 MiB" in told


def test_labels_nested_deeply(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("a\tr\tb\n")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    told = refused("import", tmp_path / "x.tsv", "--names", tmp_path / "deep.json", "--out", tmp_path / "g")
    assert "deep.json: too many levels within each other" in told


@pytest.mark.parametrize(
    ("name", "content", "problem", "raised"),
    [
        ("x.tsv", b"\t" * 20_000 + b"\n", "1: the line has 20,001 columns, and the limit is 10,000", "columns=30000"),
        ("x.tsv", b"a" * 3000 + b"\n", "1: the line has more than 2,000 signs", "line=4000"),
        ("x.tsv.gz", gzip.compress(b"a\tr\tb\n" * 12_000_000, 9), "unpacks to more than 200 times", "unpacked=2000"),
    ],
    ids=["columns", "line", "unpacked"],
)
def test_sizes_are_bounded_before_memory_is_taken(
    name: str, content: bytes, problem: str, raised: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_bytes(content)
    if "signs" in problem:
        monkeypatch.setenv("PATHFORMER_LIMITS", "line=2000")
    told = refused("import", tmp_path / name, "--out", tmp_path / "g")
    assert problem in told
    assert f"raise it with PATHFORMER_LIMITS={raised.partition('=')[0]}=..." in told
    monkeypatch.setenv("PATHFORMER_LIMITS", raised)
    if name.endswith(".gz"):
        assert "1 triple" in run("import", tmp_path / name, "--out", tmp_path / "g")
    else:
        assert (
            "found 1 column" in (told := refused("import", tmp_path / name, "--out", tmp_path / "g")) or "20001" in told
        )


def test_a_file_of_json_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.tsv").write_text("a\tr\tb\n")
    (tmp_path / "names.json").write_text(json.dumps({"a": "A" * 1000}))
    monkeypatch.setenv("PATHFORMER_LIMITS", "json=100")
    told = refused("import", tmp_path / "x.tsv", "--names", tmp_path / "names.json", "--out", tmp_path / "g")
    assert "the file has more than 100 bytes, and the limit is 100: raise it with PATHFORMER_LIMITS=json=..." in told


@pytest.mark.parametrize(
    ("given", "problem"),
    [("lines=3", "no limit 'lines'; closest: 'line'"), ("line=x", "takes a whole number above 0, found 'x'"),
     ("line=" + "9" * 30, "takes a whole number above 0")],
)  # fmt: skip
def test_limits_are_set_by_name(given: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATHFORMER_LIMITS", given)
    with pytest.raises(ConfigError, match=problem):
        limit("line")
    monkeypatch.setenv("PATHFORMER_LIMITS", "line=7, json=8")
    assert (limit("line"), limit("json"), limit("columns")) == (7, 8, LIMITS["columns"][0])


def test_messages_quote_what_is_short(films_engine: Path) -> None:
    engine, long = pf.load(films_engine), "x" * 1_000_000
    for question in (
        f'?x : directed("{long[:900_000]}", ?x)',
        f"?x : {long[:900_000]} directed",
        f"({'9' * 900_000},)",
    ):
        with pytest.raises(QueryError) as caught:
            engine.ask(question)
        assert len(str(caught.value)) < 1000
    with pytest.raises(QuerySizeError, match=r"the question has 1,000,005 signs, and the limit is 1,000,000"):
        engine.ask(f"?x : {long}")


@pytest.mark.parametrize("text", ["?x : r(a\ud800, ?x)", "SELECT ?x { :a\udcff :r ?x }"])
def test_half_a_sign_in_a_question(text: str) -> None:
    with pytest.raises(QuerySyntaxError, match="is half of a surrogate pair, and no text") as caught:
        parse(text)
    str(caught.value).encode()


@pytest.mark.parametrize("instance", [(10**5000, (0,)), (0, (10**5000,)), ((0, (-(10**5000),)),)])
def test_numbers_that_cannot_be_printed(instance: tuple[object, ...], films_engine: Path) -> None:
    with pytest.raises(QuerySyntaxError, match="digits is no id"):
        pf.load(films_engine).ask(instance)


R, A, X = "r", Constant("a"), Variable("x")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Anchor(None), lambda: Anchor("Fellini"), lambda: Anchor(True), lambda: Projection(None, Anchor(0)),
        lambda: Projection(0, None), lambda: Projection(0, 3), lambda: Union(()), lambda: Union((Anchor(0),)),
        lambda: Union([Anchor(0), Anchor(1)]), lambda: Intersection((Anchor(0), None)), lambda: Intersection(None),
        lambda: Negation(0), lambda: Variable(None), lambda: Constant(None), lambda: Atom(None, A, X),
        lambda: Atom(R, "a", X), lambda: And(()), lambda: Or([Atom(R, A, X)]), lambda: Not(None),
        lambda: Query("x", Atom(R, A, X)), lambda: Query(X, A),
    ],
)  # fmt: skip
def test_trees_and_queries_made_by_hand_check_their_parts(make: object) -> None:
    with pytest.raises(QueryError, match=r"not "):
        make()  # type: ignore[operator]


def test_numpy_ids_are_ids() -> None:
    assert Projection(np.int64(2), Anchor(np.int32(1))) == Projection(2, Anchor(1))


def test_the_scopes_of_a_long_chain_are_written_at_once() -> None:
    """They took a minute when each part was counted for each variable."""
    hops = 20_000
    links = " & ".join(f"r(?v{i}, ?v{i + 1})" for i in range(hops))
    query = parse(f"?x : r(a, ?v0) & {links} & r(?v{hops}, ?x)")
    start = time.process_time()
    text = write_scopes(query)
    assert time.process_time() - start < 10
    assert text.count("∃") == hops + 1


def test_a_folder_that_is_read_only_is_not_updated(
    films_engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = pf.load(films_engine)
    engine.save(tmp_path / "films")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(InputError, match="films is read-only, so it is not replaced"):
        engine.save(tmp_path / "films", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["films"]
