"""The model card of a release: what the model is, how it was made, what its form costs, and what it cannot do.

All of it comes from the header of the engine. The report beside it says how well the model ranks.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pathformer.engine.history import first_facts, last_update, trained_structures
from pathformer.engine.storage import NOTICES, Parts
from pathformer.fitting.compare import Cost
from pathformer.fitting.demo import example_questions
from pathformer.fitting.reindex import takes
from pathformer.kg.datasets import Dataset, datasets
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import NEGATION_STRUCTURES, STRUCTURES
from pathformer.text import duration

__all__ = ["Kept", "card_of", "licence_of", "notices_of"]


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The form in which a release keeps its weights, and what that costs."""

    form: str
    bytes_before: int  # of the weights as trained
    bytes_after: int
    searched: str = "bf16"  # the type of the numbers that nearest entities are found with
    cost: Cost | None = None  # None where nothing was measured


def card_of(parts: Parts, kept: Kept) -> str:
    """Returns the card of a release as Markdown."""
    names, run = parts.kg.vocabulary, parts.about.get("card", {})
    title = f"# {run.get('name', parts.kg.name)}"
    what = (
        f"A {parts.encoder.name} that answers questions about the graph `{parts.kg.name}`: what it states and what it "
        f"lacks. {names.entity_count:,} entities, {len(names.relations):,} relations."
    )
    asked = [f"pathformer ask FOLDER {shlex.quote(question)}" for question in example_questions(parts.kg)]
    sections = [
        [title, "", what],
        ["## Training", "", *(f"- {name}: {value}" for name, value in _training(parts).items())],
        ["## Released form", "", *_form(kept)],
        ["## What it cannot do", "", *(f"- {line}" for line in _limits(parts))],
        ["## How to ask it", "", "```", *asked, "```"],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def licence_of(kg: KnowledgeGraph) -> str:
    """Returns the licence of a known dataset; empty for any other graph, even one with the name of a dataset."""
    known = _known(kg)
    return "" if known is None else known.licence


def notices_of(kg: KnowledgeGraph) -> dict[str, bytes]:
    """Returns the files, by name, that must be passed on with a graph, and so with an engine that holds it."""
    known = _known(kg)
    return {} if known is None or known.notices is None else {NOTICES: known.notices.read_bytes()}


def _known(kg: KnowledgeGraph) -> Dataset | None:
    """Returns the dataset that a graph is, if it is one."""
    known = datasets().get(kg.name)
    if known is None:
        return None
    if known.bundled is not None:
        same = known.load(kg.name, None).vocabulary.fingerprint() == kg.vocabulary.fingerprint()
    else:
        same = known.entities == kg.vocabulary.entity_count
    return known if same else None


def _training(parts: Parts) -> dict[str, str]:
    """Returns the known facts about the training."""
    first, run = first_facts(parts.about), parts.about.get("card", {})
    seconds, steps = first["seconds"], first["steps"]
    facts: dict[str, Any] = {
        "licence of the data": licence_of(parts.kg) or "unknown; it is the licence of the triples that were read",
        "structures trained": ", ".join(trained_structures(parts.about)),
        "training queries": run.get("trained_on", ""),
        "weights": run.get("weights", ""),
        "seed": first["seed"],
        "steps": None if steps is None else f"{steps:,}",
        "time": None if seconds is None else duration(seconds),
        "machine": first["device"],
        "version": first["version"],
        "commit": "" if first["commit"] == "unknown" else first["commit"],
        "date": first["date"],
        "updated": last_update(parts.about),
    }
    return {name: str(value) for name, value in facts.items() if value not in ("", None)}


def _form(kept: Kept) -> list[str]:
    share = kept.bytes_after / kept.bytes_before
    line = (
        f"The weights take {_megabytes(kept.bytes_after)} in {kept.form} instead of {_megabytes(kept.bytes_before)} "
        f"({100 * share:.0f} %). Opening widens them to float32; nearest entities are found in {kept.searched}."
    )
    if kept.cost is None:
        return [line, "What this costs in MRR was not measured."]
    return [line, kept.cost.sentence()]


def _limits(parts: Parts) -> Iterator[str]:
    trained = trained_structures(parts.about)
    yield "It knows no entities or relations but those of the graph."
    yield "It cannot be updated, because its weights were rounded: update the engine that it was made from."
    yield "It takes no questions with variables in a cycle, numbers, dates or counts."
    if not takes(parts.encoder, STRUCTURES["2in"]):
        yield "It refuses questions with a negation."
    elif trained and not set(NEGATION_STRUCTURES) & set(trained):
        yield "It was not trained on negations: do not trust its predictions for questions with *not*."
    yield _probabilities(parts)
    yield "A prediction is a guess from patterns in the graph, including its gaps and its bias."


def _probabilities(parts: Parts) -> str:
    if not parts.calibration.fitted:
        return "Its probabilities are defaults by rank: the graph had too few held-out facts to measure them."
    error = parts.about.get("ece")
    fitted = f"Its probabilities were fitted on {parts.calibration.predictions:,} predictions of held-out questions"
    return (
        f"{fitted}." if error is None else f"{fitted}; on others they are off by {100 * error:.1f} points on average."
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
