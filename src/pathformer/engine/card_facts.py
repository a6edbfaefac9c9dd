"""The facts of an engine's card: from the report of its fit, or from what a run says of itself (`experiments`)."""

from __future__ import annotations

import dataclasses
import shlex
from typing import Any

from pathformer.engine.card import Card, Kept
from pathformer.engine.examples import example_questions
from pathformer.engine.history import first_facts, last_update, trained_of
from pathformer.engine.report import FitReport
from pathformer.engine.storage import NOTICES, Parts
from pathformer.kg.datasets import Dataset, datasets
from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["card_of", "licence_of", "notices_of"]

REPORT = "report.json"


def card_of(parts: Parts, kept: Kept | None = None) -> Card:
    """The card of an engine; where neither a report nor a run speaks of it, of what it is made of."""
    about, sizes = parts.about, parts.model.sizes()
    told: dict[str, Any] = dict(about["card"]) if "card" in about else _of_fit(parts)
    asked = [f"pathformer ask FOLDER {shlex.quote(question)}" for question in example_questions(parts.kg)]
    facts = {
        "name": parts.kg.name,
        "graph": parts.kg.name,
        "entities": parts.kg.vocabulary.entity_count,
        "relations": len(parts.kg.vocabulary.relations),
        "triples": {part: len(triples) for part, triples in parts.kg.splits.items()},
        "licence": licence_of(parts.kg),
        "method": parts.model.name,
        "tables": sizes["tables"],
        "network": sizes["network"],
        "negation": parts.model.negation,
        "probabilities": _probabilities(parts),
        **told,
    }
    return Card(**{**facts, "commands": [*facts.get("commands", ()), *asked], "kept": kept})


def licence_of(kg: KnowledgeGraph) -> str:
    """What is stated of a known dataset; nothing of a graph of one's own, be it called like one."""
    known = _known(kg)
    return "" if known is None else known.licence


def notices_of(kg: KnowledgeGraph) -> dict[str, bytes]:
    """By name, the files that must be passed on with a graph, and so with an engine that holds it."""
    known = _known(kg)
    return {} if known is None or known.notices is None else {NOTICES: known.notices.read_bytes()}


def _known(kg: KnowledgeGraph) -> Dataset | None:
    """The dataset that a graph is."""
    known = datasets().get(kg.name)
    if known is None:
        return None
    if known.bundled is not None:
        same = known.load(kg.name, None).vocabulary.fingerprint() == kg.vocabulary.fingerprint()
    else:
        same = known.entities == kg.vocabulary.entity_count
    return known if same else None


def _of_fit(parts: Parts) -> dict[str, Any]:
    """What a fit's report says; what it does not is left out."""
    about, model = parts.about, dataclasses.asdict(parts.model.config)
    first = first_facts(about)
    told: dict[str, Any] = {
        "settings": {f"model.{name}": value for name, value in model.items()},
        **{name: first[name] for name in ("seed", "steps", "seconds", "version", "date") if first[name] is not None},
        "machine": first["device"] or "",
        "updated": last_update(about),
        "commit": _commit(first["commit"] or ""),
        "commands": _again(parts),
    }
    if REPORT not in parts.files:
        return told
    report = FitReport.from_json(parts.files[REPORT].decode("utf-8"))
    return {
        **told,
        "trained": trained_of(about),
        "trained_on": f"questions that `pathformer fit` drew from the part train, seed {about.get('seed', 0)}",
        "notes": report.notes,
        "weights": "the best on the part valid",
        **(_figures(report) if report.scores is not None else {}),
    }


def _commit(made: str) -> str:
    """Of an installed package there is none: its version says what it was."""
    return "none: not made from a checkout" if made == "unknown" else made


def _again(parts: Parts) -> list[str]:
    """How to fit it again; nothing where it was fitted by settings that no command has."""
    about = parts.about
    if about.get("minutes") is None:
        return []
    graph = parts.kg.name if licence_of(parts.kg) else "TRIPLES"
    index = "" if parts.index.name == "exact" else f" --index {parts.index.name}"
    first = f"pathformer fit {graph}{index} --minutes {about['minutes']:g} --seed {about.get('seed', 0)} --out FOLDER"
    return [
        first,
        *(f"pathformer fit --update FOLDER NEW  # {n['triples']:,} triples" for n in about.get("updates", ())),
    ]


def _figures(report: FitReport) -> dict[str, Any]:
    assert report.scores is not None
    return {
        "judged_on": "questions drawn from the whole graph that need a triple of the part test",
        "figures": report.scores.mrr_percent(),
        "beside": {} if report.frequency is None else {"counting": report.frequency.mrr_percent()},
    }


def _probabilities(parts: Parts) -> str:
    if not parts.calibration.fitted:
        return "Its probabilities are a mere habit: there was too little to measure them by."
    error = parts.about.get("ece")
    judged = "" if error is None else f"; on others they are off by {100 * error:.1f} points on average"
    return (
        f"Its probabilities were fitted on {parts.calibration.predictions:,} predictions of held-out questions{judged}."
    )
