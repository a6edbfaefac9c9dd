"""The part of SPARQL that asks for a set of entities.

SELECT of one variable; triple patterns; UNION; FILTER NOT EXISTS and MINUS; the property paths `/ ^ |`; PREFIX, BASE,
DISTINCT, LIMIT. Anything else is refused by name. rdflib parses; `_sparql_algebra` reads its algebra.

`write` prints from the computation tree, so that any SPARQL engine gives the same answers. A union with a complement in
it, `p(a, ?v) | !q(b, ?v)`, has no SPARQL of its own, since a side of UNION knows nothing of ?v: it is denied twice, and
NOT EXISTS brings ?v in.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, TypeVar

from pathformer.errors import QuerySizeError, QuerySyntaxError, UnsupportedQueryError
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import Query, Request, check_depth
from pathformer.query.compile.bind import bind, own_vocabulary
from pathformer.query.compile.safety import unsafe_part
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.iris import Naming, iri_of, local_of
from pathformer.query.syntax._sparql_mistakes import mistake, refusal
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union

__all__ = ["parse", "recognises", "request", "write"]

_UPDATES = "INSERT|DELETE|WITH|LOAD|CLEAR|CREATE|DROP|COPY|MOVE|ADD"
_FORMS = "PREFIX|BASE|SELECT|ASK|CONSTRUCT|DESCRIBE"
_START = re.compile(rf"\s*(?:#[^\n]*\n\s*)*(?:{_FORMS}|{_UPDATES})[\s{{*?$<]", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z0-9_]+")  # names that SPARQL and the formula language both take
_UPDATE = re.compile(rf"\s*({_UPDATES})\s", re.IGNORECASE)
_SIGNS = re.compile(r"<[^\s<>]*>|\w+|[^\w\s]")
_MOST = 10_000  # signs and words, which the parser reads in a few seconds
_CLAUSES = {
    "datasetClause": "FROM",
    "groupby": "GROUP BY",
    "having": "HAVING",
    "orderby": "ORDER BY",
    "valuesClause": "VALUES",
}


def recognises(text: str) -> bool:
    """Whether the text starts as SPARQL does."""
    return bool(_START.match(text))


def parse(text: str, naming: Naming | None = None) -> Query:
    """Read a query; LIMIT and DISTINCT are read by `request`."""
    return request(text, naming).query


def request(text: str, naming: Naming | None = None) -> Request:
    """Read a query with its LIMIT and DISTINCT; names are IRIs, under the namespace of `naming` or of their own."""
    namespace = (naming or Naming()).namespace
    if next(islice(_SIGNS.finditer(text), _MOST, None), None) is not None:
        raise QuerySizeError(
            f"the SPARQL query has more than {_MOST:,} signs and words, and its parser is slow: write it as a formula"
        )
    try:
        return _read(text, namespace)
    except RecursionError:  # a hundred triples are enough for rdflib's parser
        return _read_deep(text, namespace)


def write(query: Query, naming: Naming | None = None) -> str:
    """Print a query; the tree must be one that can be asked."""
    naming = naming or Naming()
    vocabulary = naming.vocabulary or own_vocabulary(query)
    tree = to_tree(bind(query, vocabulary), vocabulary)
    answer = f"?{query.answer.name}" if _VARIABLE.fullmatch(query.answer.name) else "?x"
    body = "\n".join(_Writer.of(naming, vocabulary, answer).lines(tree, answer, "  "))
    return f"PREFIX : <{naming.namespace}>\nSELECT DISTINCT {answer} WHERE {{\n{body}\n}}"


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes a computation tree as the body of a query."""

    namespace: str
    vocabulary: Vocabulary
    fresh: Iterator[str]

    @classmethod
    def of(cls, naming: Naming, vocabulary: Vocabulary, answer: str) -> _Writer:
        """A writer whose fresh variables do not meet the answer."""
        return cls(naming.namespace, vocabulary, (f"?v{n}" for n in count(1) if f"?v{n}" != answer))

    def lines(self, tree: Tree, at: str, indent: str) -> Iterator[str]:
        """The patterns that hold `at` in the set of a tree."""
        match tree:
            case Projection(relation, Anchor(entity)):
                yield indent + self._triple(relation, self._iri(self.vocabulary.entity(entity)), at)
            case Projection(relation, of):
                via = next(self.fresh)
                yield from self.lines(of, via, indent)
                yield indent + self._triple(relation, via, at)
            case Intersection(branches):
                for branch in branches:
                    yield from self.lines(branch, at, indent)
            case Negation(of):
                yield from self._not_exists([*self.lines(of, at, indent + "  ")], indent)
            case Union(branches) if any(unsafe_part(branch) is not None for branch in branches):
                inner = [*self._union(branches, at, indent + "    ")]
                yield from self._not_exists([*self._not_exists(inner, indent + "  ")], indent)
            case Union(branches):
                yield from self._union(branches, at, indent)
            case Anchor(entity):
                raise UnsupportedQueryError(f"a pattern cannot say that {at} is entity {entity} itself")

    def _union(self, branches: tuple[Tree, ...], at: str, indent: str) -> Iterator[str]:
        for number, branch in enumerate(branches):
            yield f"{indent}{{" if number == 0 else f"{indent}}} UNION {{"
            yield from self.lines(branch, at, indent + "  ")
        yield f"{indent}}}"

    def _not_exists(self, inner: list[str], indent: str) -> Iterator[str]:
        if len(inner) == 1:
            yield f"{indent}FILTER NOT EXISTS {{ {inner[0].strip()} }}"
        else:
            yield from (f"{indent}FILTER NOT EXISTS {{", *inner, f"{indent}}}")

    def _triple(self, relation: int, source: str, target: str) -> str:
        subject, object_ = (source, target) if relation % 2 == 0 else (target, source)
        return f"{subject} {self._iri(self.vocabulary.relation(relation))} {object_} ."

    def _iri(self, name: str) -> str:
        iri = iri_of(name, self.namespace)
        return f":{local_of(name)}" if iri.startswith(self.namespace) else f"<{iri}>"


def _read_deep(text: str, namespace: str) -> Request:
    try:
        return _run_deep(lambda: _read(text, namespace))
    except RecursionError:
        raise QuerySizeError("the SPARQL query is too long or too deep to be read: write it as a formula") from None


def _read(text: str, namespace: str) -> Request:
    from pyparsing import ParseBaseException
    from rdflib.plugins.sparql.algebra import translateQuery
    from rdflib.plugins.sparql.parser import parseQuery

    from pathformer.query.syntax._sparql_algebra import AlgebraReader, in_pieces

    if update := _UPDATE.match(text):
        raise refusal(update[1].upper())
    try:
        parsed = parseQuery(text)
        answer, limit, distinct = _head(parsed[1])
    except ParseBaseException as error:
        raise mistake(text, namespace, error.found, error.loc) from None
    except ValueError as error:  # a sign beyond Unicode, a number of more digits than Python reads
        raise QuerySyntaxError(_reason(str(error)), text) from None
    try:
        parsed[1] = in_pieces(parsed[1])
        algebra = translateQuery(parsed, initNs={"": namespace}).algebra
    except RecursionError:
        raise
    except Exception as error:  # rdflib raises a plain Exception for an unknown prefix, among others
        raise QuerySyntaxError(_reason(str(error)), text) from None
    while algebra.name in {"SelectQuery", "Slice", "Distinct", "Project"}:
        algebra = algebra.p
    query = AlgebraReader(namespace).read(answer, algebra)
    check_depth(query.formula)
    return Request(query, limit, distinct)


def _reason(problem: str) -> str:
    found = re.match(r"Unknown namespace prefix : (.*)", problem)
    if found:
        return f"the prefix {found[1]}: is not declared: write PREFIX {found[1]}: <...> before SELECT"
    return f"this is not valid SPARQL: {problem}"


def _head(query: Any) -> tuple[str, int | None, bool]:
    """Returns the answer's name, LIMIT and DISTINCT; refuses anything else around the pattern."""
    if query.name != "SelectQuery":
        raise refusal(query.name.removesuffix("Query").upper())
    for clause, name in _CLAUSES.items():
        if clause in query:
            raise refusal(name)
    modifier = query.modifier if "modifier" in query else ""
    if modifier == "REDUCED":
        raise refusal("REDUCED")
    if "projection" not in query:
        raise refusal("SELECT *")
    if len(query.projection) > 1:
        raise refusal(f"SELECT of {len(query.projection)} variables")
    if "var" not in query.projection[0]:
        raise refusal("an expression or aggregate in SELECT")
    limit = None
    if "limitoffset" in query:
        if "offset" in query.limitoffset:
            raise refusal("OFFSET")
        limit = int(query.limitoffset.limit)
    return str(query.projection[0].var), limit, modifier == "DISTINCT"


Result = TypeVar("Result")

_CALLS = 20_000
_STACK = 512 << 20  # bytes of address space, of which a short query touches little
_ONE_AT_A_TIME = threading.Lock()  # the limits are the process's


def _run_deep(function: Callable[[], Result]) -> Result:
    """Runs a function in a thread of its own, where 20,000 calls may nest; what it raises is raised here."""
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:  # handed on below
            errors.append(error)

    with _ONE_AT_A_TIME:
        calls, stack = sys.getrecursionlimit(), threading.stack_size(_STACK)
        sys.setrecursionlimit(max(calls, _CALLS))
        try:
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        finally:
            sys.setrecursionlimit(calls)
            threading.stack_size(stack)
    if errors:
        raise errors[0]
    return results[0]
