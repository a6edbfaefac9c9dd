"""Model cards of runs, from their folders."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pathformer.engine.card import Card
from pathformer.errors import InputError
from pathformer.evaluation.report import Report
from pathformer.experiments.beside import BESIDE, figures_file
from pathformer.experiments.keep import before_all, changes_of, plain_settings, run_of, seconds_before, trained_on
from pathformer.experiments.settings import Run, read_run, run_names
from pathformer.experiments.tables.captions import setting_words
from pathformer.kg.datasets import datasets
from pathformer.models import find
from pathformer.models.pair import Pair
from pathformer.training import checkpoint
from pathformer.training.logs import LOG, read_log

__all__ = ["card_of_run", "paper_figures", "run_facts"]

_NO_PROBABILITIES = "The weights alone give distances, no probabilities: those come with `pathformer release`."


def card_of_run(file: Path) -> Card:
    """The card of a run, by one of its checkpoints: `pair.safetensors`, `best.safetensors`, `last.safetensors`."""
    return Card(**{"probabilities": _NO_PROBABILITIES, **run_facts(file)})


def run_facts(file: Path) -> dict[str, Any]:
    """What a checkpoint, the log and the reports beside it say for a card, in plain values."""
    facts = checkpoint.read_facts(file)
    run, stored = read_run(base=facts["settings"]), plain_settings(facts["settings"])
    both = facts["method"] == Pair.name  # under whatever name
    log = [line for line in read_log(file.parent / LOG) if both or BESIDE not in line]
    machine = facts.get("machine", {})
    steps = max((line["step"] for line in log), default=facts["step"])
    return {
        "name": file.parent.name,
        **_graph(run.dataset),
        "entities": facts["entities"],
        "relations": facts["relations"] // 2,
        "method": facts["method"],
        "negation": find(run.method).negation,
        "settings": stored,
        "trained": facts["trained"],
        "trained_on": f"{trained_on(facts)}{_renewed(stored, steps)}",
        "weights": f"{file.stem}, step {facts['step']:,}",
        "seed": run.training.seed,
        "steps": steps,
        "seconds": max((line["seconds"] for line in log), default=facts["seconds"]),
        "before": before_all(file.parent, run) if both else seconds_before(file.parent, run.start, run.start_members),
        "memory_gb": max((line["memory_gb"] for line in log if "memory_gb" in line), default=None),
        "machine": _machine(machine),
        "commit": facts.get("commit", ""),
        "version": facts["version"],
        "remark": _beside(stored) if both else "",
        "commands": [_command(run, stored, file.parent.name)],
        **_figures(file, run),
    }


def _beside(settings: Mapping[str, Any]) -> str:
    """What was trained after it, where its points stand beside those of another."""
    name, weight = settings.get("beside"), settings.get("beside_weight")
    return f"The points of {name}, trained after it, stand beside its own; they count {weight}." if name else ""


def _renewed(settings: Mapping[str, Any], steps: int) -> str:
    """That queries were drawn anew while a run was trained, where it came so far."""
    every = settings.get("training.fresh", 0)
    return f"; all but 1p drawn anew every {every:,} steps" if every and steps > every else ""


def paper_figures(run: Run) -> Mapping[str, float]:
    """What the paper prints for a run; for one of another recipe, what it prints for the same data and queries."""
    if run.paper.mrr:
        return run.paper.mrr
    kinds = ("epfo", "efol") if run.beside else (run.trained,)  # a pair is there for both
    names = [name for kind in (*kinds, run.queries) if (name := f"{run.dataset}-{kind}") in run_names()]
    same = [found for name in names if (found := read_run(name)).queries == run.queries]
    return {name: value for found in same for name, value in found.paper.mrr.items()}


def _graph(dataset: str) -> dict[str, Any]:
    """What is published of a known dataset; of a graph of one's own its name alone."""
    known = datasets().get(dataset)
    if known is None:
        return {"graph": Path(dataset).name}
    parts = zip(("train", "valid", "test"), known.triples or (), strict=False)
    return {
        "graph": dataset,
        "entities": known.entities,
        "relations": known.relations,
        "triples": dict(parts),
        "licence": known.licence,
    }


def _figures(file: Path, run: Run) -> dict[str, Any]:
    """Those of the test, where it was ranked with these weights."""
    path = figures_file(file, "json")
    if path is None:
        return {}
    report = Report.from_json(path.read_text(encoding="utf-8"))
    return {
        "judged_on": f"test queries: {report.about['queries']}",
        "figures": report.mrr_percent(),
        "beside": {"paper": dict(paper_figures(run))},
    }


def _command(run: Run, stored: Mapping[str, Any], folder: str) -> str:
    """How to train it again."""
    try:
        name = run_of(run)
    except InputError:  # settings of somebody's own
        return f"pathformer train {folder}/settings.toml"
    return _train(name, run.training.minutes, changes_of(name, stored))


def _train(name: str, minutes: float | None, changes: Mapping[str, Any]) -> str:
    """The command of a run file, its own time and what differs from it; what is beside it has its time among these."""
    time = {} if minutes is None or minutes == read_run(name).training.minutes else {"training.minutes": minutes}
    settings = (shlex.quote(setting_words(*item)) for item in {**time, **changes}.items())
    return " ".join(["pathformer train", name, *settings])


def _machine(machine: Mapping[str, Any]) -> str:
    if not machine:
        return ""
    versions = ", ".join(f"{name} {machine[name]}" for name in ("python", "torch") if name in machine)
    return f"{machine['device']}; {machine.get('cores', '?')} cores, {machine.get('memory_gb', '?')} GB; {versions}"
