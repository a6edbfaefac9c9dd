"""An engine on disk: one folder that holds everything, mapped rather than read when it is opened.

```
engine.json           version, method, settings, counts, fingerprint, index, how it was trained
graph/                the graph as given (`kg.storage`)
model.safetensors     weights alone (`training.checkpoint`)
index/                the nearest entities
calibration.json      how distances become probabilities
report.json report.md calibration.svg     what fitting wrote about itself, kept as it is; of a run its test figures
MODEL_CARD.md release.json LICENSES.md    of a release: what it is, what its form costs, whose words go with the data
```

A release (`forms`) keeps its weights in less, and no exact index: that is laid out again, in bf16, when it is opened.

Written beside its place and renamed, so that a folder is there whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from pathformer.engine.calibrate.calibration import Calibration
from pathformer.errors import EngineError
from pathformer.files.atomic import new_folder
from pathformer.files.manifest import wrong_field
from pathformer.fitting.forms import FORMS, FULL, packed, unpacked
from pathformer.index._base import Index, load
from pathformer.index._base import build as build_index
from pathformer.index._measure import Measure
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import Model, build
from pathformer.training.checkpoint import check_graph, read, write

__all__ = [
    "CARD",
    "EXTRAS",
    "HEADER",
    "NOTICES",
    "RELEASE",
    "Parts",
    "is_engine",
    "open_parts",
    "read_header",
    "retell",
    "save_parts",
    "searched_rows",
    "unfinished",
]

CARD, RELEASE, NOTICES = "MODEL_CARD.md", "release.json", "LICENSES.md"
EXTRAS = ("report.json", "report.md", "calibration.svg", CARD, RELEASE, NOTICES)

HEADER, _FORMAT, _VERSION = "engine.json", "pathformer engine", 2
_DRAWS = frozenset({"uniform_", "normal_", "trunc_normal_", "kaiming_uniform_", "kaiming_normal_"})  # fill at random
_WEIGHTS, _GRAPH, _INDEX, _CALIBRATION = "model.safetensors", "graph", "index", "calibration.json"


@dataclass(frozen=True, eq=False, slots=True)
class Parts:
    """What an engine is made of."""

    kg: KnowledgeGraph
    model: Model
    index: Index
    calibration: Calibration
    about: Mapping[str, Any]  # how it was trained, in plain values
    files: Mapping[str, bytes]  # those of EXTRAS that there are
    form: str = FULL  # in which the weights are kept on disk


def is_engine(folder: Path) -> bool:
    """Whether a folder holds an engine."""
    return (folder / HEADER).is_file()


def save_parts(parts: Parts, folder: Path, *, force: bool = False) -> Path:
    """Write an engine to a new folder, all or nothing; an existing one is refused, or replaced with `force`."""
    with new_folder(folder, HEADER, force=force) as target:
        parts.kg.save(target / _GRAPH)
        write(target / _WEIGHTS, _facts(parts), _kept(parts))
        if not _is_remade(parts):
            parts.index.save(target / _INDEX)
        (target / _CALIBRATION).write_text(json.dumps(parts.calibration.to_json(), indent=2) + "\n", "utf-8")
        for name, content in _told(parts).items():
            (target / name).write_bytes(content)
    return folder


def retell(parts: Parts, folder: Path) -> None:
    """Replace what an engine's folder says of itself: how it was trained, and the files beside it.

    For what is known only when all else is written. Each file is there whole at any moment, the old or the new one.
    """
    for name, content in _told(parts).items():
        new = folder / f".{name}.part"
        new.write_bytes(content)
        new.replace(folder / name)


def open_parts(folder: Path, device: torch.device | str = "cpu") -> Parts:
    """Open what `save_parts` wrote."""
    header = read_header(folder)
    kg = KnowledgeGraph.open(folder / _GRAPH).held()  # an update may replace the folder while the engine answers
    check_graph(header, kg.vocabulary.fingerprint(), folder / _WEIGHTS, kg.name)
    form = _form(header, folder)
    model = _open_model(folder / _WEIGHTS, kg, device)
    return Parts(
        kg=kg,
        model=model,
        index=_open_index(folder / _INDEX, model, form, device),
        calibration=_open_calibration(folder / _CALIBRATION),
        about=header["trained"],
        files={name: (folder / name).read_bytes() for name in EXTRAS if (folder / name).is_file()},
        form=form,
    )


def _open_calibration(file: Path) -> Calibration:
    try:
        return Calibration.from_json(_read_json(file))
    except ValueError as error:
        raise EngineError(f"{file}: {error}: the engine is damaged") from error


def searched_rows(model: Model, form: str) -> Tensor:
    """The entity table as an index holds it: a release's in bf16, half to keep and half to read; (N, e).

    A space whose distance is neither L1 nor the cosine is given what it knows, float32.
    """
    rows = model.entities.weight.detach()
    halved = Measure.of(model.space).metric in ("l1", "cosine")
    return rows if form == FULL or not halved else rows.to(torch.bfloat16)


def _told(parts: Parts) -> dict[str, bytes]:
    """The extra files, and the header last."""
    header = {"format": _FORMAT, "version": _VERSION, **_facts(parts), "trained": dict(parts.about)}
    return {**parts.files, HEADER: (json.dumps(header, indent=2, ensure_ascii=False) + "\n").encode()}


def _kept(parts: Parts) -> dict[str, Tensor]:
    state = parts.model.state_dict()
    if parts.form == FULL:
        return {f"model.{name}": tensor for name, tensor in state.items()}
    return packed(state, parts.form, parts.model.row_parts)


def _is_remade(parts: Parts) -> bool:
    """Whether opening can lay the index out again from the weights alone."""
    index = parts.index
    usual = index.name == "exact" and index.config == index.config_type() and not len(index.removed)
    return usual and parts.form != FULL


def _facts(parts: Parts) -> dict[str, Any]:
    """What the weights' file and the engine's header both say."""
    return {
        "method": parts.model.name,
        "model": asdict(parts.model.config),
        "entities": parts.kg.vocabulary.entity_count,
        "relations": parts.kg.vocabulary.relation_count,
        "triples": parts.kg.triple_count,
        "dataset": parts.kg.name,
        "fingerprint": parts.kg.vocabulary.fingerprint(),
        "index": parts.index.name,
        **({} if parts.form == FULL else {"form": parts.form}),
    }


def _form(header: Mapping[str, Any], folder: Path) -> str:
    form: str = header.get("form", FULL)
    if form not in (FULL, *FORMS):
        raise EngineError(f"{folder} keeps its weights in the form {form!r}, which this version does not read")
    return form


def _open_index(folder: Path, model: Model, form: str, device: torch.device | str) -> Index:
    if form != FULL and not folder.is_dir():
        return build_index("exact", searched_rows(model, form), model.space)
    return load(folder, space=model.space, device=device)


def unfinished(folder: Path) -> Path:
    """Where the work in progress lies of a fit that is to be written to a folder."""
    return folder.parent / f".{folder.name}.fit"


def read_header(folder: Path) -> dict[str, Any]:
    """What an engine says of itself; a folder that holds none is told what it is instead."""
    if not is_engine(folder):
        if folder.is_file():
            raise EngineError(
                f"{folder} is a file and no engine: make one of it with `pathformer fit {folder} --out DIR`"
            )
        if (folder / "last.safetensors").is_file():
            raise EngineError(
                f"{folder} is a run of `pathformer train`: make an engine of it with `pathformer release {folder} DIR`"
            )
        if unfinished(folder).is_dir():
            raise EngineError(f"{folder} is not fitted yet: the same `pathformer fit` goes on where it was stopped")
        if folder.is_dir():
            raise EngineError(f"{folder} holds no engine: make one with `pathformer fit TRIPLES --out DIR`")
        raise EngineError(f"{folder} does not exist: make one with `pathformer fit TRIPLES --out {folder}`")
    header = _read_json(folder / HEADER)
    if header.get("format") != _FORMAT:
        raise EngineError(f"{folder / HEADER} is not the header of an engine")
    if header.get("version") != _VERSION:
        found = header.get("version")
        raise EngineError(f"{folder} has version {found!r}, this reads {_VERSION}: fit the engine again")
    if problem := wrong_field(header, {"fingerprint": "text", "trained": "an object"}):
        raise EngineError(f"{folder / HEADER}: {problem}: the engine is damaged")
    return header


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise EngineError(f"{path} cannot be read ({error.strerror}): the engine is not whole") from error
    except ValueError as error:
        raise EngineError(f"{path} is not JSON ({error}): the engine is damaged") from error
    if not isinstance(content, dict):
        raise EngineError(f"{path} holds no JSON object: the engine is damaged")
    return content


def _open_model(path: Path, kg: KnowledgeGraph, device: torch.device | str) -> Model:
    """The model with the file's own tensors in place of fresh ones: nothing is drawn.

    On a CPU nothing is copied, unless the weights are kept in less: a release's are widened to float32.
    """
    saved = read(path, device)
    facts = saved.facts
    _check_weights(facts, kg, path)
    with _NoDraws():
        model = build(facts["method"], facts["model"], entities=facts["entities"], relations=facts["relations"])
    weights = saved.part("model")
    if "form" in facts:
        weights = unpacked(weights, saved.part("scale"), model.row_parts)
    model.load_state_dict(weights, assign=True)
    for buffer in set(model.buffers()) - set(model.state_dict(keep_vars=True).values()):
        if buffer.is_floating_point():  # made anew, in float32: weights may be saved in less
            buffer.data = buffer.to(model.entities.weight.dtype)
    return model.to(device).eval().requires_grad_(False)


def _check_weights(facts: Mapping[str, Any], kg: KnowledgeGraph, path: Path) -> None:
    """Refuse weights of another engine, by what their own file says of them."""
    kinds = {
        "method": "text", "model": "an object", "entities": "a count", "relations": "a count", "fingerprint": "text",
    }  # fmt: skip
    if problem := wrong_field(facts, kinds):
        raise EngineError(f"{path}: {problem}: the engine is damaged")
    check_graph(facts, kg.vocabulary.fingerprint(), path, kg.name)


class _NoDraws(TorchFunctionMode):
    """Leaves memory as it is where an initialiser would draw numbers that are about to be replaced."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in _DRAWS:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))
