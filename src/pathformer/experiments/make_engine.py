"""Makes an engine of a run: its weights, its dataset's graph, an index, and probabilities.

Probabilities are fitted as `pathformer fit` does it, on questions of the part `valid`, and judged on those of `test`;
a graph without such parts gets the default, which the card calls defaults by rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.engine import Engine
from pathformer.errors import InputError
from pathformer.experiments.evaluate_run import find_checkpoint
from pathformer.experiments.records import trained_on
from pathformer.experiments.second_model import FOLDER, PAIR, figures_file
from pathformer.fitting.held_out_predictions import (
    find_predictions,
    fit_calibration,
    graph_without,
    measure_reliability,
)
from pathformer.fitting.heldout import draw_questions
from pathformer.fitting.settings import settings_for
from pathformer.index._base import build_for
from pathformer.kg.datasets import load
from pathformer.kg.graph import Graph
from pathformer.kg.holdout import spell_out
from pathformer.models._encoder import TorchEncoder
from pathformer.models.pair import Pair
from pathformer.querysets.queries import Queries
from pathformer.training import checkpoint
from pathformer.training.logs import LOG, read_log

__all__ = ["make_engine"]

_ASKED = 60  # questions of a structure that probabilities are fitted on, and as many that they are judged by


def make_engine(
    path: str | Path, *, data: str | Path | None = None, device: str = "cpu", asked: int = _ASKED
) -> Engine:
    """Makes the engine of a run's folder (its best weights) or of one checkpoint; asked=0 leaves probabilities alone.

    data: the folder that holds datasets.
    """
    file = _checkpoint(Path(path))
    model, facts = checkpoint.load_model(file, device)
    kg = load(facts["dataset"], data)
    checkpoint.check_graph(facts, kg.vocabulary.fingerprint(), file, kg.name)
    about = {**_run_facts(file, facts), "evaluated": facts["evaluated"]}
    encoder = TorchEncoder(model)
    bare = Engine(kg, encoder, build_for(encoder), about=about)
    calibration, error = _probabilities(bare, facts["evaluated"], asked)
    return Engine(kg, encoder, bare.index, calibration, {**about, "ece": error}, _report(file))


def _run_facts(file: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns how a checkpoint was trained, from its header and the log beside it."""
    both = facts["method"] == Pair.name  # under whatever name
    log = [line for line in read_log(file.parent / LOG) if both or FOLDER not in line]
    return {
        "seed": facts["settings"]["training"]["seed"],
        "steps": max((line["step"] for line in log), default=facts["step"]),
        "seconds": max((line["seconds"] for line in log), default=facts["seconds"]),
        "version": facts["version"],
        "device": facts.get("machine", {}).get("device", ""),
        "card": {
            "name": file.parent.name,
            "trained": facts["trained"],
            "trained_on": trained_on(facts),
            "weights": f"{file.stem}, step {facts['step']:,}",
            "commit": facts.get("commit", ""),
        },
    }


def _report(file: Path) -> dict[str, bytes]:
    """Returns the test figures of a checkpoint as its engine's report, if they were ranked."""
    found = figures_file(file, "md")
    if found is None:
        return {}
    page = f"# {file.parent.name}\n\nTest queries, in percent.\n\n{found.read_text(encoding='utf-8')}"
    return {"report.md": page.encode()}


def _checkpoint(path: Path) -> Path:
    """Finds the weights to take; refuses a path that holds no run."""
    file = find_checkpoint(path)
    if not file.is_file():
        there = "holds neither an engine nor a run" if path.is_dir() else "does not exist"
        raise InputError(f"{path} {there}: make one with `pathformer fit TRIPLES --out DIR` or `pathformer train RUN`")
    facts = checkpoint.read_facts(file)
    if "settings" not in facts:
        raise InputError(f"{file} is no checkpoint of `pathformer train`: it does not say of which dataset it is")
    if path.is_dir() and file.name != PAIR and (other := facts["settings"].get("second_model")):
        raise InputError(
            f"{path} is not finished: {other} is yet to be trained beside it; the same `pathformer train` goes on,"
            f" and {file} is the first run alone"
        )
    return file


def _probabilities(engine: Engine, structures: Sequence[str], asked: int) -> tuple[Calibration, float | None]:
    """Fits probabilities on `valid` and measures their error on `test`."""
    kg, names = spell_out(engine.kg), engine.kg.vocabulary
    if not asked or not {"valid", "test"} <= kg.splits.keys():
        return Calibration.none(), None
    scale = settings_for(entities=names.entity_count, triples=kg.triple_count)
    drawn = draw_questions(
        kg, replace(scale, trained_per_structure=1, held_out_per_structure=min(asked, scale.held_out_per_structure))
    )

    def found(queries: Mapping[str, Queries], known: Graph) -> Any:
        some = {name: one for name, one in queries.items() if name in structures}
        return find_predictions(some, known, engine.finders)

    known = graph_without(kg, "valid")
    calibration = fit_calibration(found(drawn["valid"], known), found(drawn["everyday valid"], known))
    return calibration, measure_reliability(calibration, found(drawn["test"], kg.graph("valid"))).ece
