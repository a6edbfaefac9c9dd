"""Makes the damaged parts of an engine again that follow from the rest: its index and its probabilities.

The index is built as it was asked for, as far as that can still be read. Probabilities are measured as a fit does, on
questions that are drawn from the held-out parts of the engine's graph; not so where evidence for single links was
learned from those parts, too. Weights and graph follow from nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pathformer.engine.engine import Engine
from pathformer.engine.storage import open_parts, read_header
from pathformer.errors import InputError
from pathformer.files.saved import REPAIRABLE, Fault
from pathformer.fitting.heldout import draw_questions
from pathformer.fitting.measuring import measure
from pathformer.fitting.reindex import reindex
from pathformer.fitting.settings import settings_for
from pathformer.index._files import read_header as read_index_header

__all__ = ["repair"]


def repair(folder: Path, faults: Sequence[Fault], say: Callable[[str], None]) -> Engine:
    """Returns the engine with its damaged parts made again, and writes it back; refuses damage of other parts.

    say: called with a sentence about each part.
    """
    broken = {fault.file.relative_to(folder).parts[0]: fault for fault in faults}
    for name, fault in broken.items():
        if name not in REPAIRABLE:
            raise fault.error()
    engine = Engine.of(open_parts(folder, without=frozenset(broken)))
    if "index" in broken:
        backend, options = _asked_for(folder, broken["index"])
        engine = reindex(engine, backend, options)
        say(f"the index was built again: {engine.index.name} over {len(engine.index):,} entities")
    if "calibration.json" in broken:
        engine = _calibrated(engine)
        say("the probabilities were measured again, on questions from the held-out parts of the graph")
    engine.save(folder, force=True)
    return engine


def _asked_for(folder: Path, fault: Fault) -> tuple[str, list[str]]:
    """Returns the backend of the damaged index, and its options where its header is whole."""
    backend = str(read_header(folder).get("index", "exact"))
    try:
        header = read_index_header(folder / "index")
    except (InputError, OSError):
        return backend, []
    if fault.file.name == "index.json" or header["backend"] != backend:
        return backend, []
    return backend, [f"{name}={value}" for name, value in header["given"].items()]


def _calibrated(engine: Engine) -> Engine:
    kg = engine.kg
    if not {"valid", "test"} <= kg.splits.keys() or engine.finders.points is None:
        raise InputError(f"the engine of {kg.name!r} has nothing to measure probabilities with: fit it again")
    if engine.links is not None:
        raise InputError(
            f"the evidence for single links of {kg.name!r} was learned from all facts, so none are left to measure "
            "probabilities on: fit the engine again"
        )
    usual = settings_for(entities=kg.vocabulary.entity_count, triples=kg.triple_count)
    questions = draw_questions(kg, replace(usual, trained_per_structure=1))
    calibration = measure(engine, questions, lambda word: None).calibration
    return Engine.of(replace(engine.parts, kg=kg, calibration=calibration))
