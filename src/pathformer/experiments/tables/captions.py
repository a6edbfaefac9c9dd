"""The notes below a table of MRR: how its rows were trained and ranked.

For each dataset one sentence on the budget: how long rows were trained, on what device, how many runs shared it, and
which weights were ranked on which queries. Then one on the settings that are not those of the run files.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pathformer.experiments.records import Record
from pathformer.experiments.tables.catalogue import Place, TableOptions

__all__ = ["QUERY_SETS", "budget_notes", "changed_settings", "common_settings", "setting_words", "settings_notes"]

Rows = Mapping[Place, Record]

QUERY_SETS = {  # what `experiments.queries` calls them -> how they relate to the paper's
    "released Query2box queries": "released Query2box queries, the paper's own",
    "released BetaE queries": "released BetaE queries, the paper's own",
    "betae-protocol draw, not the released queries": "betae-protocol draw, in place of the released BetaE queries",
    "drawn by the protocol, seed 0": "our own draw by the protocol, seed 0, in place of the released BetaE queries",
}

_LOOKING = ("valid_queries", "training.validations", "training.save_minutes", "queries")
_BUDGET = ("start_minutes",)  # shown with the budget, in seconds


def budget_notes(rows: Rows, options: TableOptions, *, named: bool = False) -> list[str]:
    """Writes a sentence for each budget of each dataset; where there are several, it names its rows.

    named: the rows in any case.
    """
    groups: dict[tuple[str, tuple[str, ...]], dict[str, Record]] = {}
    for place, record in rows.items():
        key = (
            place.dataset,
            (_say_training(record), _device(record), str(record.runs_on_device > 1), _say_ranking(record, options)),
        )
        groups.setdefault(key, {})[place.model] = record
    several = Counter(dataset for dataset, _ in groups)
    return [
        f"Ours, {dataset}{f' ({_names_of(members)})' if named or several[dataset] > 1 else ''}: {trained}, "
        f"{_say_device(members)}; {ranked}."
        for (dataset, (trained, _, _, ranked)), members in groups.items()
    ]


def settings_notes(rows: Rows) -> list[str]:
    """Writes a sentence for each dataset whose rows differ from their run files: first what all rows share."""
    found = []
    for dataset in dict.fromkeys(place.dataset for place in rows):
        members = {place.model: record for place, record in rows.items() if place.dataset == dataset}
        same = common_settings(members.values())
        groups: dict[tuple[str, ...], list[str]] = {}
        for model, record in members.items():
            own = tuple(setting_words(key, record.changes[key]) for key in changed_settings(record) if key not in same)
            groups.setdefault(own, []).append(model)
        changes = [f"{', '.join(own)} ({_names_of(models)})" for own, models in groups.items() if own]
        if len(members) == 1 and changes:
            changes = [", ".join(own) for own in groups]
        if same:
            changes.insert(0, f"{', '.join(setting_words(*item) for item in same.items())} in all rows")
        if changes:
            found.append(f"Settings changed, {dataset}: {'; '.join(changes)}.")
    return found


def changed_settings(record: Record) -> list[str]:
    """Lists the settings that are not the run file's, but for those of time, validation and saving."""
    return [key for key in sorted(record.changes) if key not in (*_LOOKING, *_BUDGET)]


def common_settings(records: Iterable[Record]) -> dict[str, Any]:
    """Returns the settings that one record has changed and that all records share, changed or by their run file."""
    records = list(records)
    if len(records) < 2:
        return {}
    first = records[0].settings
    return {
        key: first[key]
        for key in sorted({key for record in records for key in changed_settings(record)})
        if all(key in record.settings and record.settings[key] == first.get(key) for record in records)
    }


def setting_words(key: str, value: object) -> str:
    """Writes a setting as the command line takes it.

    >>> setting_words("training.update_per_structure", False), setting_words("valid_queries", None)
    ('training.update_per_structure=false', 'valid_queries=none')
    >>> setting_words("model.fork_hidden", (2, 1)), setting_words("model.fork", "set")
    ('model.fork_hidden=[2, 1]', 'model.fork=set')
    """
    if value is None:
        return f"{key}=none"
    return f"{key}={value if isinstance(value, str) else json.dumps(value)}"


def _say_training(record: Record) -> str:
    """Says how long rows were trained, and what came before: `5 min of training each by the clock`."""
    clock = "" if record.minutes is None else " by the clock"
    first = f" after {record.seconds_before:.0f} s of a link predictor" if record.seconds_before else ""
    return f"{record.budget} of training each{clock}{first}"


def _device(record: Record) -> str:
    return str(record.machine.get("device", "unknown device"))


def _say_device(members: Mapping[str, Record]) -> str:
    """Says on what device rows were trained and how many shared it; names the rows that differ from most."""
    sharing = Counter(record.runs_on_device for record in members.values())
    most = max(sharing, key=lambda beside: (sharing[beside], -beside))
    device = _device(next(iter(members.values())))
    if most == 1:
        return f"each alone on {device}"
    others = "; ".join(
        f"{_names_of(model for model, record in members.items() if record.runs_on_device == beside)}: up to {beside}, "
        f"and so {'less' if beside > most else 'more'} of it"
        for beside in sorted(sharing.keys() - {most})
    )
    return f"on one {device} that up to {most} runs shared{f' ({others})' if others else ''}"


def _say_ranking(record: Record, options: TableOptions) -> str:
    """Says which weights were ranked on which queries, and whether they stand in for the asked ones."""
    kind = record.kind(options.weights)
    place = "" if kind == options.weights else f" in place of the {options.weights} ones, which were not ranked"
    return f"{kind} weights{place}; ranked on: {QUERY_SETS.get(record.queries, record.queries)}"


def _names_of(models: Iterable[str]) -> str:
    return ", ".join(models)
