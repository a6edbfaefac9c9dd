"""An engine on disk: one folder that holds everything, mapped rather than read when it is opened.

```
manifest.json         sizes and checksums (`files.manifest`)
engine.json           version, encoder, method, settings, counts, fingerprint, index, how it was trained
graph/                the graph as given (`kg.storage`)
links/                the evidence for single links and its mixture (`links.scorer`); may be absent
model.safetensors     the encoder's weights (its own business: `plan.encoder`)
index/                the nearest entities
calibration.json      how distances become probabilities
report.json report.md calibration.svg     what fitting wrote about itself, kept as it is; of a run its test figures
untrained.npy         the facts that were added or taken away since the last training, if there are any
MODEL_CARD.md release.json LICENSES.md    of a release: what it is, what its form costs, whose words go with the data
```

An engine of links alone has no encoder and no index. A release keeps its weights in less, and no exact index: that is
laid out again, in bf16, when it is opened.

A folder is written beside its place and renamed, so that it is there whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.find.finders import Finders
from pathformer.errors import EngineError
from pathformer.files.atomic import new_folder
from pathformer.files.fields import wrong_field
from pathformer.files.saved import Saved, holds, open_save
from pathformer.files.weights import check_graph
from pathformer.index._base import Index, build_for, open_saved
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.storage import open_graph
from pathformer.links.scorer import FILE as LINKS_FILE
from pathformer.links.scorer import FOLDER as LINKS
from pathformer.links.scorer import LinkScorer
from pathformer.plan.encoder import FULL, Encoder
from pathformer.plan.encoder import find as find_encoder

__all__ = [
    "CARD",
    "EXTRAS",
    "HEADER",
    "NOTICES",
    "RELEASE",
    "UNTRAINED",
    "Parts",
    "is_engine",
    "open_parts",
    "read_header",
    "save_parts",
    "unfinished",
]

CARD, RELEASE, NOTICES = "MODEL_CARD.md", "release.json", "LICENSES.md"
UNTRAINED = "untrained.npy"
EXTRAS = ("report.json", "report.md", "calibration.svg", UNTRAINED, CARD, RELEASE, NOTICES)

_DAMAGED = "the engine is damaged: fit it again, or take a copy of it"
HEADER, _FORMAT, _VERSION = "engine.json", "pathformer engine", 3
_FIELDS = {"fingerprint": "text", "dataset": "text", "encoder": "text", "trained": "an object"}
_GRAPH, _INDEX, _CALIBRATION = "graph", "index", "calibration.json"


@dataclass(frozen=True, eq=False, slots=True)
class Parts:
    """The parts that an engine is made of."""

    kg: KnowledgeGraph
    finders: Finders
    calibration: Calibration
    about: Mapping[str, Any]  # how it was trained, in plain values
    files: Mapping[str, bytes]  # by name, those of EXTRAS that there are

    @property
    def points(self) -> tuple[Encoder, Index]:
        """The encoder and the index; an engine of links alone has none."""
        if self.finders.points is None:
            raise EngineError(
                f"the engine of {self.kg.name} has evidence for links and no path model, which this needs: fit it "
                "with more --minutes"
            )
        return self.finders.points

    @property
    def encoder(self) -> Encoder:
        """The trained method that makes points of questions."""
        return self.points[0]


def is_engine(folder: Path) -> bool:
    """Whether a folder holds an engine."""
    return (folder / HEADER).is_file()


def save_parts(parts: Parts, folder: Path, *, force: bool = False) -> Path:
    """Writes an engine to a new folder, all or nothing; an existing one is refused, or replaced with `force`."""
    with new_folder(folder, HEADER, kind="engine", force=force) as target:
        parts.kg.save(target / _GRAPH)
        if parts.finders.links is not None:
            parts.finders.links.save(target / LINKS)
        if parts.finders.points is not None:
            encoder, index = parts.finders.points
            encoder.save(target, _facts(parts))
            if not _is_remade(encoder, index):
                index.save(target / _INDEX)
        (target / _CALIBRATION).write_text(json.dumps(parts.calibration.to_json(), indent=2) + "\n", "utf-8")
        for name, content in _header_files(parts).items():
            (target / name).write_bytes(content)
    return folder


def open_parts(
    folder: Path,
    device: str = "cpu",
    without: frozenset[str] = frozenset(),
    opened_by: type[Encoder] | None = None,
) -> Parts:
    """Opens what `save_parts` wrote; device: where questions are encoded.

    without: the names of parts that are not read, of `files.saved.REPAIRABLE`; the engine gets the usual ones instead.
    opened_by: the class of the encoder; without it, the lightest that can open it.
    """
    if not holds(folder, "engine"):
        read_header(folder)  # says what a folder holds instead
    return open_save(folder, "engine", lambda saved: _open(saved, device, without, opened_by), without)


def _open(saved: Saved, device: str, without: frozenset[str], opened_by: type[Encoder] | None) -> Parts:
    folder, header = saved.folder, read_header(saved.folder)
    kg = open_graph(folder / _GRAPH, saved.part(_GRAPH)).keep_open()  # another command may replace the folder
    check_graph(header, kg.vocabulary.fingerprint(), folder, kg.name)
    encoder, index = None, None
    if header["encoder"]:
        encoder = (opened_by or find_encoder(header, device)).open(folder, header, device)
        index = build_for(encoder) if _INDEX in without else _open_index(saved, encoder)
    links = LinkScorer.open(folder / LINKS, kg.graph(), encoder) if saved.has(f"{LINKS}/{LINKS_FILE}") else None
    return Parts(
        kg=kg,
        finders=Finders(encoder, index, links, search=bool(header.get("search", False))),
        calibration=Calibration.none() if _CALIBRATION in without else _open_calibration(folder / _CALIBRATION),
        about=header["trained"],
        files={name: (folder / name).read_bytes() for name in EXTRAS if saved.has(name)},
    )


def _open_index(saved: Saved, encoder: Encoder) -> Index:
    if encoder.form != FULL and not saved.has(_INDEX):
        return build_for(encoder)
    return open_saved(saved.part(_INDEX), encoder)


def _open_calibration(file: Path) -> Calibration:
    try:
        return Calibration.from_json(_read_json(file))
    except ValueError as error:
        raise EngineError(f"{file}: {error}: {_DAMAGED}") from error


def _header_files(parts: Parts) -> dict[str, bytes]:
    """Returns the extra files by name, and the header last."""
    encoder = parts.finders.encoder
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "encoder": "" if encoder is None else encoder.kind,
        "method": "" if encoder is None else encoder.name,
        "model": {} if encoder is None else dict(encoder.settings),
        **_facts(parts),
        **({} if encoder is None or encoder.form == FULL else {"form": encoder.form}),
        "search": parts.finders.search,
        "trained": dict(parts.about),
    }
    return {**parts.files, HEADER: (json.dumps(header, indent=2, ensure_ascii=False) + "\n").encode()}


def _is_remade(encoder: Encoder, index: Index) -> bool:
    """Whether opening can lay the index out again from the weights alone."""
    usual = index.name == "exact" and index.config == type(index.config)() and not len(index.removed)
    return usual and encoder.form != FULL


def _facts(parts: Parts) -> dict[str, Any]:
    """Returns what the weights' file and the engine's header both say."""
    return {
        "entities": parts.kg.vocabulary.entity_count,
        "relations": parts.kg.vocabulary.relation_count,
        "triples": parts.kg.triple_count,
        "dataset": parts.kg.name,
        "fingerprint": parts.kg.vocabulary.fingerprint(),
        "index": "" if parts.finders.index is None else parts.finders.index.name,
    }


def unfinished(folder: Path) -> Path:
    """Returns where a fit that will write an engine to `folder` keeps its unfinished work."""
    return folder.parent / f".{folder.name}.fit"


def read_header(folder: Path) -> dict[str, Any]:
    """Returns the header of an engine; an error says what a folder holds instead."""
    if not is_engine(folder):
        if folder.is_file():
            raise EngineError(
                f"{folder} is a file, not an engine: make an engine from it with `pathformer fit {folder} --out DIR`"
            )
        if (folder / "last.safetensors").is_file():
            raise EngineError(
                f"{folder} is a run of `pathformer train`, not an engine: "
                f"make one from it with `pathformer release {folder} DIR`"
            )
        if unfinished(folder).is_dir():
            raise EngineError(
                f"{folder} is not fitted yet: run the same `pathformer fit` again, which goes on where it stopped"
            )
        if folder.is_dir():
            raise EngineError(f"{folder} holds no engine: make one with `pathformer fit TRIPLES --out DIR`")
        raise EngineError(f"{folder} does not exist: make an engine there with `pathformer fit TRIPLES --out {folder}`")
    header = _read_json(folder / HEADER)
    if header.get("format") != _FORMAT:
        raise EngineError(f"{folder / HEADER} is not the header of an engine: name a folder that `pathformer fit` made")
    if header.get("version") != _VERSION:
        found = header.get("version")
        raise EngineError(f"{folder} has version {found!r}, this program reads {_VERSION}: fit the engine again")
    if problem := wrong_field(header, _FIELDS):
        raise EngineError(f"{folder / HEADER}: {problem}: {_DAMAGED}")
    return header


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise EngineError(f"{path} cannot be read ({error.strerror}): {_DAMAGED}") from error
    except ValueError as error:
        raise EngineError(f"{path} is not JSON ({error}): {_DAMAGED}") from error
    if not isinstance(content, dict):
        raise EngineError(f"{path} holds no JSON object: {_DAMAGED}")
    return content
