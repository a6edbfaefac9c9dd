"""A file of weights, in safetensors, as mapped arrays: by name, with facts in its header; nothing here needs torch.

```
8 bytes             n, the length of the header
n bytes of JSON     {"__metadata__": {"pathformer": facts as JSON}, NAME: {dtype, shape, data_offsets}, ...}
the arrays          one after the other
```
numpy has no bf16: its numbers are the upper halves of float32, uint16.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.errors import CheckpointError
from pathformer.files.atomic import new_file

__all__ = ["FORMAT", "KEY", "WeightsFile", "check_graph", "open_weights", "read_facts"]

FORMAT = 2  # of the facts; a reader refuses any other
KEY = "pathformer"  # of the facts, among what the header says
_METADATA, _ALIGNED = "__metadata__", 8
_TYPES: Mapping[str, Any] = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": np.uint16,
    "I64": np.int64, "I32": np.int32, "I16": np.int16, "I8": np.int8, "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class WeightsFile:
    """A mapped file. It stays open when another file takes its place."""

    facts: Mapping[str, Any]
    content: mmap.mmap
    entries: Mapping[str, Any]  # the header as it is written

    def part(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """Returns the arrays whose name starts with `prefix.`, named without it; they can be read only."""
        start = f"{prefix}."
        return {name.removeprefix(start): self._array(name) for name in self.entries if name.startswith(start)}

    def write(self, path: Path, facts: Mapping[str, Any]) -> None:
        """Writes the same arrays with other facts, so that `path` is either what it was before or complete."""
        whole = {**self.entries, _METADATA: {KEY: json.dumps({"format": FORMAT, **facts})}}
        header = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
        header += b" " * (-len(header) % _ALIGNED)
        with new_file(path) as draft, draft.open("wb") as file:
            file.write(len(header).to_bytes(8, "little") + header)
            file.write(memoryview(self.content)[self._first :])

    @property
    def _first(self) -> int:
        """The position of the first array's first byte."""
        return 8 + int.from_bytes(self.content[:8], "little")

    def _array(self, name: str) -> npt.NDArray[Any]:
        entry = self.entries[name]
        start, end = entry["data_offsets"]
        kind = np.dtype(_TYPES[entry["dtype"]])
        flat = np.frombuffer(self.content, kind, (end - start) // kind.itemsize, self._first + start)
        return flat.reshape(entry["shape"])


def open_weights(path: Path) -> WeightsFile:
    """Maps a whole file."""
    facts = read_facts(path)
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    length = int.from_bytes(content[:8], "little")
    return WeightsFile(facts, content, json.loads(content[8 : 8 + length]))


def read_facts(path: Path) -> dict[str, Any]:
    """Reads the facts alone; refuses a file that is not whole, or not one of ours."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise CheckpointError(f"{path}: no such checkpoint")
    try:
        with safe_open(path, framework="numpy") as file:
            header = (file.metadata() or {}).get(KEY)
    except SafetensorError as error:
        raise CheckpointError(
            f"{path}: not a whole safetensors file ({error}): it was cut short, or is another file"
        ) from None
    if header is None:
        raise CheckpointError(
            f"{path}: a safetensors file, but not one of `pathformer train`: no {KEY!r} in its header"
        )
    facts: dict[str, Any] = json.loads(header)
    if (found := facts.get("format")) != FORMAT:
        raise CheckpointError(f"{path}: written by another version (format {found!r}, this reads {FORMAT}): train anew")
    return facts


def check_graph(facts: Mapping[str, Any], fingerprint: str, path: Path, graph: str) -> None:
    """Refuses facts of another graph: ids would mean other entities and relations than those at hand."""
    if facts["fingerprint"] != fingerprint:
        raise CheckpointError(
            f"{path} was trained on another graph: its vocabulary is {facts['fingerprint']} ({facts.get('dataset')}), "
            f"that of {graph} is {fingerprint}; ids would mean other things"
        )
