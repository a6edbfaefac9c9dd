"""The engine: a graph and what was learned about it, ready to answer questions.

engine = Engine.open("films")
engine.ask("?x : directed(Fellini, ?f) & stars(?f, ?x)", top=10)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

from pathformer.engine.answer.answers import Answers
from pathformer.engine.answer.pipeline import Resources, ask
from pathformer.engine.answer.read import Question
from pathformer.engine.answer.select import Options
from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.find.candidates import Candidates
from pathformer.engine.find.finders import Finders
from pathformer.engine.find.nearest import find_nearest
from pathformer.engine.predict.predict import to_table
from pathformer.engine.predict.wanted import End, read_wanted
from pathformer.engine.storage import Parts, open_parts, save_parts
from pathformer.errors import EngineError
from pathformer.index._base import Index
from pathformer.kg.graph import Graph
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.schema import RelationSchema
from pathformer.links.scorer import LinkScorer
from pathformer.plan.encoder import Encoder
from pathformer.query.tree import Tree

__all__ = ["Engine", "load"]


class Engine:
    """Answers questions about one graph: with what it states, and with what it lacks."""

    def __init__(
        self,
        kg: KnowledgeGraph,
        encoder: Encoder | None = None,
        index: Index | None = None,
        calibration: Calibration | None = None,
        about: Mapping[str, Any] | None = None,
        files: Mapping[str, bytes] | None = None,
        links: LinkScorer | None = None,
    ) -> None:
        """Checks that the parts belong together.

        encoder, index: for questions of any structure; links: for single links; without them the engine answers what
        the graph states. about: how the engine was trained, in plain values; files: reports kept in its folder
        (`storage.EXTRAS`).
        """
        if encoder is not None and encoder.entity_count != kg.vocabulary.entity_count:
            raise EngineError(
                f"the model knows {encoder.entity_count:,} entities, the graph has {kg.vocabulary.entity_count:,}"
            )
        self.kg, self.finders = kg, Finders(encoder, index, links)
        self.calibration = calibration or Calibration.none()
        self.about, self.files = dict(about or {}), dict(files or {})

    @classmethod
    def open(cls, folder: str | Path, device: str = "cpu") -> Engine:
        """Opens an engine that was saved; weights and graph are mapped, not read.

        device: cpu, cuda, cuda:1 for a second card, or auto.
        """
        return cls.of(open_parts(Path(folder), device))

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Writes everything to a new folder, all or nothing; an existing one is refused, or replaced with `force`."""
        return save_parts(self.parts, Path(folder), force=force)

    @property
    def encoder(self) -> Encoder:
        """The trained method that makes points of questions."""
        return self._points[0]

    @property
    def index(self) -> Index:
        """The index over the entities."""
        return self._points[1]

    @property
    def links(self) -> LinkScorer | None:
        """The scorer of single links."""
        return self.finders.links

    @property
    def _points(self) -> tuple[Encoder, Index]:
        return self.parts.points

    @property
    def parts(self) -> Parts:
        """What the engine is made of."""
        return Parts(self.kg, self.finders, self.calibration, self.about, self.files)

    @classmethod
    def of(cls, parts: Parts) -> Engine:
        """Makes an engine from its parts."""
        engine = cls(parts.kg, calibration=parts.calibration, about=parts.about, files=parts.files)
        engine.finders = parts.finders
        return engine

    @overload
    def ask(
        self,
        question: list[Question],
        *,
        top: int = ...,
        known: bool | None = ...,
        min_probability: float | None = ...,
        why: bool = ...,
        any_kind: bool = ...,
    ) -> list[Answers]: ...
    @overload
    def ask(
        self,
        question: Question,
        *,
        top: int = ...,
        known: bool | None = ...,
        min_probability: float | None = ...,
        why: bool = ...,
        any_kind: bool = ...,
    ) -> Answers: ...
    def ask(
        self,
        question: Question | list[Question],
        *,
        top: int = 10,
        known: bool | None = None,
        min_probability: float | None = None,
        why: bool = True,
        any_kind: bool = False,
    ) -> Answers | list[Answers]:
        """Returns the answers to one question, or to each of a list, which are encoded and searched together.

        question: a formula, SPARQL, a nested tuple of ids (text or a Python tuple), a `Query` or a computation tree.
        top: how many predicted answers to give; all answers that the graph proves come first, with probability 1.
        known: True for known answers only, False for predicted answers only.
        min_probability: leaves out less likely answers.
        why: give the reason of each answer, which takes longer than finding it.
        any_kind: also give implausible predictions, entities unlike all that stand in that position in the graph (a
            city where languages do); without it they are in `hidden`.
        """
        options = Options(top=top, known=known, min_probability=min_probability, why=why, any_kind=any_kind)
        several = question if isinstance(question, list) else [question]
        answers = ask(several, Resources(self.kg, self._schema, self.finders, self.calibration), options)
        return answers if isinstance(question, list) else answers[0]

    def predict(
        self,
        relations: str | Sequence[str],
        *,
        top: int | None = None,
        min_probability: float | None = None,
        heads: End = None,
        tails: End = None,
        why: bool = True,
        all_pairs: bool = False,
    ) -> Any:
        """Returns the missing links of relations as an Arrow table, the likeliest first; pandas and polars take it.

        A probability says how often such a link was among the facts that `fit` held back, over all heads; that of
        `probability_if_missing` holds only for a head that misses a tail, as in the answers to a question about it.
        top: how many links to give; 1000, unless `min_probability` is given.
        min_probability: leaves out less likely links.
        heads, tails: a file with a name on each line, a relation whose entities at that end are meant, or a list of
            names; by default the entities that stand at that end of the relation itself.
        why: name the strongest evidence of each link, which takes longer than finding it.
        all_pairs: give a score for every head and tail instead; the table is as large as that.
        """
        wanted = read_wanted(
            relations,
            self.kg,
            self._schema,
            heads=heads,
            tails=tails,
            top=top,
            min_probability=min_probability,
            why=why,
            all_pairs=all_pairs,
        )
        return to_table(wanted, self.links, self.kg)

    def candidates(self, trees: Sequence[Tree], top: int = 10, graph: Graph | None = None) -> list[Candidates]:
        """Returns the known answers of trees on `graph` (by default the whole graph) and the `top` nearest others."""
        schema = self._schema if graph is None else RelationSchema(graph)
        return find_nearest(trees, schema, self.encoder, self.index, top)

    def __repr__(self) -> str:
        kg = self.kg
        points = self.finders.points
        method = "links alone" if points is None else f"{points[0].name}, {points[1].name} index"
        return f"<Engine {kg.name!r}: {kg.vocabulary.entity_count:,} entities, {kg.triple_count:,} triples, {method}>"

    @cached_property
    def _schema(self) -> RelationSchema:
        return RelationSchema(self.kg.graph())


def load(folder: str | Path, device: str = "cpu") -> Engine:
    """Opens an engine that `fit` made or `Engine.save` wrote.

    device: cpu, cuda, cuda:1 for a second card, or auto.
    """
    return Engine.open(folder, device)
