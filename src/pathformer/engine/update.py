"""A graph that grew: an engine learns more triples without starting over.

Old entities and relations keep their ids. A new entity starts where the model itself expects it: at the mean of what it
predicts for the questions that the entity's own triples answer. Then a short training goes over the whole graph, new
links more often than old ones, so that the new is learned and the old is not forgotten.

Rows of new entities and relations move, those of old entities that new triples name at a twentieth of the rate, and
everything else stays as it is: whatever else is trained drifts, and old answers with it. A model that started from a
link predictor is taught links alone, another one questions of all kinds that its method takes. In spaces in which that
was not tried, those of runs that became engines, all of a model is trained, at a tenth of a fit's rate.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor

from pathformer.engine.assess import with_times
from pathformer.engine.box import Box
from pathformer.engine.drawn import drawn_once
from pathformer.engine.engine import Engine
from pathformer.engine.fit import assembled, train_in
from pathformer.engine.forms import FULL
from pathformer.engine.heldout import Questions, among, asked_again, draw_held_out, draw_questions
from pathformer.engine.measure import MEASURES
from pathformer.engine.place import grow_model, place_new
from pathformer.engine.reindex import reindex
from pathformer.engine.scale import Scale, scale_for
from pathformer.engine.sizes import memory_of
from pathformer.engine.stages import Stages
from pathformer.engine.storage import retell
from pathformer.engine.workshop import workshop
from pathformer.errors import InputError
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.evaluation.frequency import Frequency
from pathformer.kg.grow import Grown, grow
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models import Model
from pathformer.nn.table import Table
from pathformer.query.structures import EFOL_TRAINED, STRUCTURES
from pathformer.spaces import Space
from pathformer.spaces.hermitian import Hermitian
from pathformer.spaces.sphere import Sphere
from pathformer.symbolic.benchmark import graph_pair
from pathformer.symbolic.queries import Queries
from pathformer.symbolic.sample import sample
from pathformer.training.device import choose_device, free_threads

__all__ = ["Change", "update_engine"]

_SHARE = 0.15  # of the first fit's time
_RATE = 0.1  # of its learning rate, where everything is trained
_ROWS: Mapping[type[Space], float] = {Hermitian: 3e-2, Sphere: 1e-1}  # that of new rows, where only rows are
_NAMED = 0.05  # of it, for rows of old entities that new triples name
_N3, _RELATION = 0.01, 0.5  # weights of the link predictor's own terms, for the same
_AVERAGED = 0.98  # decay of the weights' average: fifty steps, where a fit's thousand would hold half-learned rows
_DRAWN = 5_000  # training queries of a structure
_ASKED = 40  # held-out queries of a structure
_WORSE = 0.01  # of an MRR, that is told


@dataclass(frozen=True, slots=True)
class Change:
    """What an update did, in figures."""

    triples: int  # new ones
    entities: int  # new ones
    relations: int  # new ones
    before: float | None  # MRR of the old held-out questions, new answers left out; old weights
    after: float | None  # the same, new weights
    new: float | None  # MRR of held-out links of new entities, none where none could be held out
    counting: float | None  # what counting gives for them
    seconds: float
    steps: int | None = None  # of training; an update from before they were counted has none

    def sentence(self) -> str:
        """For people."""
        triples = "triple" if self.triples == 1 else "triples"
        entities = "entity" if self.entities == 1 else "entities"
        words = f"learned {self.triples:,} new {triples} with {self.entities:,} new {entities} in {self.seconds:.0f} s"
        if self.before is not None and self.after is not None:
            words += f"; old held-out questions: MRR {100 * self.before:.1f} before, {100 * self.after:.1f} now"
            if self.before - self.after > _WORSE:
                words += f", {100 * (self.before - self.after):.1f} points worse than before the update"
        if self.new is not None and self.counting is not None:
            words += f"; links of new entities: {100 * self.new:.1f}, by counting {100 * self.counting:.1f}"
        if self.steps == 0:
            words += "; no step was made: new entities stand where they were put"
        return words


def update_engine(
    engine: str | Path,
    more: KnowledgeGraph,
    minutes: float | None = None,
    *,
    out: str | Path | None = None,
    device: str = "auto",
    seed: int = 0,
    fresh: bool = False,
    progress: bool = True,
) -> Engine:
    """Teach an engine's folder more triples and write it back, or to `out`; the same call continues if interrupted.

    minutes: about how long in all; 15 % of the first fit's time if not given.
    """
    target, place, start = Path(out or engine), choose_device(device), time.monotonic()
    old = Engine.open(engine, str(place))
    _refuse_release(old, engine)
    stages = Stages(Console(stderr=True, quiet=not progress), count=5)
    with stages.stage("joining the graphs"):
        grown = grow(old.kg, more, seed=seed)
    if not len(grown.triples):
        stages.say("the engine knows all of these triples already: nothing was changed")
        return old
    scale = _scale(old, grown, minutes, place, seed)
    box = Box.of(scale.minutes)
    with stages.stoppable(kept=True), workshop(target, grown.kg, scale, fresh=fresh) as folder, free_threads():
        stages.keep(folder)
        taken = tuple(name for name, structure in STRUCTURES.items() if old.model.takes(structure))
        learned = tuple(name for name in (("1p",) if _has_hops(old) else EFOL_TRAINED) if name in taken)
        with stages.stage("drawing questions", len(learned) + 4 * len(taken)) as advance:
            drawn = drawn_once(
                folder, grown.kg, lambda: draw_questions(grown.kg, scale, seed, advance, box, learned, taken)
            )
            questions = _focused(drawn, grown)
            held = asked_again(draw_held_out(old.kg, "test", scale.asked, seed, taken), grown.kg)
        before = evaluate(ModelRanker(old.model), among(held, old.model.entity_count)).mrr if held else None
        model = grow_model(old.model, grown.kg).to(place)
        place_new(model, grown.kg.graph("train"), old.kg.vocabulary.entity_count)
        with stages.training() as display:
            timed = scale.timed(box.training(scale.training, folder))
            moved = _moved(model, grown) if type(model.space) in _ROWS else None
            result = train_in(folder, model, grown.kg, questions, timed, place, display, moved)
        with stages.stage("measuring and calibrating", MEASURES) as advance:
            learnt = assembled(grown.kg, model, questions, scale, result, stages, advance, box.measuring, grown=True)
            after = evaluate(ModelRanker(model), held).mrr if held else None
            new, counting = _new_links(model, grown)
        index = _indexed_as(old, learnt).index

        def told() -> tuple[Engine, Change]:
            timed = with_times(learnt, stages.seconds)
            seconds = max(time.monotonic() - start, sum(stages.seconds.values()))  # the latter after several sittings
            figures = before, after, new, counting
            change = Change(len(grown.triples), grown.entities, grown.relations, *figures, seconds, result.step)
            about = {**timed.about, **_of_the_first(old), "updates": [*old.about.get("updates", []), asdict(change)]}
            return Engine(grown.kg, model, index, learnt.calibration, about, timed.files), change

        with stages.stage("writing"):
            told()[0].save(target, force=True)
        renewed, change = told()  # with the time of writing
        retell(renewed.parts, target)
    stages.say(change.sentence())
    return renewed


def _of_the_first(old: Engine) -> dict[str, Any]:
    """What the first fit was asked, and how long it took: an update leaves that as it is."""
    return {name: old.about.get(name) for name in ("seconds", "minutes", "seed")}


def _refuse_release(old: Engine, folder: str | Path) -> None:
    if old.form != FULL:
        raise InputError(
            f"{folder} is a release in {old.form}, whose weights were rounded: "
            "update the engine that it was made from, then release that again"
        )


def _indexed_as(old: Engine, renewed: Engine) -> Engine:
    """The new engine with an index like the old one's: its options as they were asked for, and what was removed."""
    given = old.index.given
    if old.index.name != "exact" or given != old.index.config_type():
        renewed = reindex(renewed, old.index.name, [f"{option}={value}" for option, value in asdict(given).items()])
    renewed.index.remove(old.index.removed)
    return renewed


def _scale(old: Engine, grown: Grown, minutes: float | None, device: torch.device, seed: int) -> Scale:
    """The settings of an update: those of the first fit, less of everything, a lower rate."""
    whole = minutes if minutes is not None else _SHARE * float(old.about.get("seconds") or 300.0) / 60.0
    usual = scale_for(
        entities=grown.kg.vocabulary.entity_count,
        triples=grown.kg.triple_count,
        minutes=whole,
        cuda=device.type == "cuda",
        memory=memory_of(device),
        seed=seed,
        hops=_has_hops(old),  # as the model was made, however large the graph has become
    )
    training = usual.training
    update = replace(training.update, rate=_ROWS.get(type(old.model.space), _RATE * training.update.rate))
    if _has_hops(old):
        softmax = replace(update.softmax, n3=_N3, relation=_RELATION, removed=0)  # links take nothing away
        update = replace(update, softmax=softmax, weighted=False, ema=_AVERAGED)
    return replace(
        usual,
        model=asdict(old.model.config),
        links=None,
        drawn=min(usual.drawn, _DRAWN),
        asked=min(usual.asked, _ASKED),
        training=replace(training, validations=1, warmup=0.2, update=update),
    )


def _has_hops(old: Engine) -> bool:
    """Whether the model started from a link predictor, whose hops its paths are made of."""
    return isinstance(old.model.space, Hermitian)


def _moved(model: Model, grown: Grown) -> dict[str, Tensor]:
    """By table, what each row has of the learning rate, (N, 1): the new, what new triples name, and nothing else."""
    entities, relations = np.zeros(model.entity_count, np.float32), np.zeros(model.relation_count, np.float32)
    entities[grown.triples[:, [0, 2]]] = _NAMED
    entities[model.entity_count - grown.entities :] = 1.0
    relations[model.relation_count - 2 * grown.relations :] = 1.0
    moved = {}
    for name, module in model.named_modules():
        if isinstance(module, Table):
            rates = entities if name.endswith("entities") else relations
            others = np.zeros(len(module) - len(rates), np.float32)  # a token of negation, say
            moved[f"{name}.weight"] = torch.from_numpy(np.concatenate([rates, others])[:, None]).to(module.weight)
    return moved


def _focused(questions: Questions, grown: Grown) -> Questions:
    """New links so often that they make up a third of all links that are drawn."""
    links = questions.train["1p"]
    relations = grown.kg.vocabulary.relation_count
    new = np.concatenate([grown.triples[:, :2], np.stack([grown.triples[:, 2], grown.triples[:, 1] ^ 1], axis=1)])
    keys = links.ids[:, 0].astype(np.int64) * relations + links.ids[:, 1]
    places = np.flatnonzero(np.isin(keys, new[:, 0].astype(np.int64) * relations + new[:, 1]))
    times = len(links) // (2 * len(places)) if len(places) else 0
    more = np.concatenate([np.arange(len(links)), np.tile(places, times)])
    return replace(questions, train={**questions.train, "1p": links.take(more)})


def _new_links(model: Model, grown: Grown) -> tuple[float | None, float | None]:
    """MRR of the held-out links whose anchor or whose answer is new, and what counting gives for them."""
    if not grown.entities or "test" not in grown.kg.splits:
        return None, None
    links = sample(STRUCTURES["1p"], graph_pair(grown.kg, "test"), None, stream="test")
    first = grown.kg.vocabulary.entity_count - grown.entities
    newest = links.hard.values[links.hard.ptr[1:] - 1]  # answers ascend, and each link has one that is missing
    chosen = np.flatnonzero((links.ids[:, 0] >= first) | (newest >= first))
    if not len(chosen):
        return None, None
    asked: Mapping[str, Queries] = {"1p": links.take(chosen)}
    counted = evaluate(Frequency(grown.kg.graph("train")), asked)
    return evaluate(ModelRanker(model), asked).mrr, counted.mrr
