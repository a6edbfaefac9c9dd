"""A computation tree as the body of a SPARQL query, such that any engine gives the tree's answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from pathformer.errors import UnsupportedQueryError
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.compile.safety import unsafe_part
from pathformer.query.naming import Naming, iri_of, local_of
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union

__all__ = ["SparqlText"]


@dataclass(frozen=True, slots=True)
class SparqlText:
    """Writes one query."""

    namespace: str
    vocabulary: Vocabulary
    fresh: Iterator[str]

    @classmethod
    def of(cls, naming: Naming, vocabulary: Vocabulary, answer: str) -> SparqlText:
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
