"""RDF through pyoxigraph: IRIs and blank nodes are entities, literals are left out with a count or kept by option.

An IRI is its own name. A blank node is a name within one file only, and parsers invent names for those without one, so
all are numbered by first appearance: `_:b1` in the first file, `_:f2b1` in the second. A literal that is kept is named
as N-Triples writes it, `"1"^^<...>`. Literals of rdfs:label and skos:prefLabel are the labels of their subjects.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pathformer.errors import GraphFileError, MissingExtraError
from pathformer.files.source import Reader, open_bytes
from pathformer.kg.arrow import strings
from pathformer.kg.formats._cells import or_leave_out
from pathformer.kg.formats._registry import Batch, ReadOptions

__all__ = ["read_rdf"]

Parse = Callable[[Any], Iterator[Any]]  # bytes, or a file of them, to statements

_ROWS = 1 << 16  # statements a batch
_BYTES = 1 << 20  # of lines that are parsed at once
_LONGEST = 16 << 20  # bytes of a statement or a comment that the parser takes
_TOO_LONG = "a statement or a comment is longer than 16 MiB, the most that the parser takes: leave it out or cut it"
_CUT = 'the statement does not end on this line: if the file is Turtle, read it with --format turtle (format="turtle")'
_PLAINER = {  # the parser's own words, and ours
    "Triples must be followed by a dot": "the triple does not end with a dot: write ' .' after its object"
}
_LABELS = ("http://www.w3.org/2000/01/rdf-schema#label", "http://www.w3.org/2004/02/skos/core#prefLabel")


def read_rdf(path: Path, options: ReadOptions, syntax: str, *, by_line: bool) -> Iterator[Batch]:
    """The triples of an RDF file in one of pyoxigraph's formats; `by_line`: a statement is a line, and no more."""
    try:
        import pyoxigraph
    except ImportError as error:
        raise MissingExtraError("reading RDF", "pyoxigraph", "rdf") from error
    with open_bytes(path, options.encoding, options.advance) as stream:
        bad = _BadLines(path, options.skip_bad)
        parse: Parse = partial(pyoxigraph.parse, format=getattr(pyoxigraph.RdfFormat, syntax))
        names = _Names(options, pyoxigraph)
        for triple in _line_by_line(stream, parse, bad) if by_line else bad.skipped_over(parse(stream)):
            names.add(triple)
            if len(names.heads) == _ROWS:
                yield names.batch()
        yield names.batch(skipped=len(bad.lines), notes=bad.notes, labels=names.labels())


class _Names:
    """Turns statements into names until a batch is full."""

    def __init__(self, options: ReadOptions, rdf: Any) -> None:
        self._rdf, self._keep_literals = rdf, options.literals
        self._prefix = "_:b" if options.file == 1 else f"_:f{options.file}b"
        self._blanks: dict[str, str] = {}
        self._labels: dict[str, tuple[bool, str]] = {}  # whether it is in another language than English, and the label
        self._start()

    def _start(self) -> None:
        self.heads: list[str] = []
        self._relations: list[str] = []
        self._tails: list[str] = []
        self._literals = 0

    def add(self, triple: Any) -> None:
        """Takes one statement."""
        tail = self._name(triple.object)
        if isinstance(triple.object, self._rdf.Literal):
            self._label(triple)
        if tail is None:
            self._literals += 1
            return
        head = self._name(triple.subject)
        assert head is not None
        self.heads.append(head)
        self._relations.append(triple.predicate.value)
        self._tails.append(tail)

    def batch(self, **more: Any) -> Batch:
        """Returns the triples that were read since the last batch."""
        columns = [strings(column) for column in (self.heads, self._relations, self._tails)]
        batch = Batch(*columns, literals=self._literals, **more)
        self._start()
        return batch

    def labels(self) -> dict[str, str]:
        """The label of every subject that has one."""
        return {name: label for name, (_, label) in self._labels.items()}

    def _name(self, term: Any) -> str | None:
        if isinstance(term, self._rdf.NamedNode):
            return term.value  # type: ignore[no-any-return]
        if isinstance(term, self._rdf.BlankNode):
            return self._blanks.setdefault(term.value, f"{self._prefix}{len(self._blanks) + 1}")
        if isinstance(term, self._rdf.Literal) and self._keep_literals:
            return str(term)
        return None  # a literal, or a quoted triple

    def _label(self, triple: Any) -> None:
        if triple.predicate.value in _LABELS and triple.object.value:
            foreign = (triple.object.language or "en").partition("-")[0] != "en"
            name = self._name(triple.subject)
            assert name is not None
            if name not in self._labels or (self._labels[name][0] and not foreign):
                self._labels[name] = (foreign, triple.object.value)


class _BadLines:
    """Handles the lines that a parser refused: raises the first error, or counts them all."""

    def __init__(self, path: Path, skip: bool) -> None:
        self._path, self._skip = path, skip
        self.lines: set[int] = set()
        self.notes: tuple[str, ...] = ()

    def skipped_over(self, parser: Iterator[Any]) -> Iterator[Any]:
        """Yields the parser's triples; after an error it continues behind it."""
        while True:
            try:
                yield next(parser)
            except StopIteration:
                return
            except SyntaxError as error:
                problem = _problem(error)
                self.meet(error.lineno or 1, problem, fatal="UTF-8" in problem)
            except MemoryError:
                raise GraphFileError(_TOO_LONG, self._path) from None

    def meet(self, line: int, problem: str, *, fatal: bool = False) -> None:
        """A bad line; the parser cannot go on behind bytes that are not UTF-8."""
        if fatal or not self._skip:
            raise GraphFileError(or_leave_out(problem, self._skip), self._path, line)
        self.lines.add(line)
        self.notes = self.notes or (str(GraphFileError(problem, self._path, line)),)


def _line_by_line(stream: Reader, parse: Parse, bad: _BadLines) -> Iterator[Any]:
    """Yields the statements of a format with one statement a line: a bad line costs itself alone.

    Lines are parsed many at once, and one by one where that finds an error: the parser's own way on behind an error
    leads past lines that are good, and it misses a full stop on the line behind.
    """
    lines, number = io.BufferedReader(stream), 0
    while block := lines.read(_BYTES) + lines.readline(_LONGEST):
        if len(block) >= _LONGEST:
            bad.meet(number + block.count(b"\n") + 1, _TOO_LONG, fatal=True)
        try:
            yield from list(parse(block))  # all of them, or none
            number += block.count(b"\n")
        except (SyntaxError, MemoryError):
            for line in block.splitlines():
                number += 1
                yield from _statements(line, number, parse, bad)


def _statements(line: bytes, number: int, parse: Parse, bad: _BadLines) -> list[Any]:
    try:
        line.decode()
        return list(parse(line))
    except UnicodeDecodeError:
        bad.meet(number, "not UTF-8 text: say which encoding it is with --encoding (encoding=...)")
    except SyntaxError as error:
        problem = _problem(error)
        bad.meet(number, _CUT if problem.startswith("Unexpected end") else problem)
    except MemoryError:
        bad.meet(number, _TOO_LONG)
    return []


def _problem(error: SyntaxError) -> str:
    problem = re.sub(r"^Parser error [^:]*: ", "", error.msg)
    return _PLAINER.get(problem, problem)
