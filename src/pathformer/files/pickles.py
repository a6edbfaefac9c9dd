"""Reads other people's pickles without running any of their code.

A pickle is a program: it may name any function of any module and call it. Released benchmark files need only dicts,
lists, tuples, sets, strings and numbers, which are opcodes of their own, and two containers that are named:
`defaultdict` with a plain factory, and `OrderedDict`. Whatever else a file names is refused before it is looked up.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict, defaultdict
from pathlib import Path
from typing import Any

from pathformer.errors import GraphFileError, UnsafePickleError

__all__ = ["load_pickle"]

_PLAIN: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "defaultdict"): defaultdict,
    **{
        (module, kind.__name__): kind
        for module in ("builtins", "__builtin__")  # protocol 2 and below use the old name
        for kind in (dict, list, set, frozenset, tuple, str, int, float, bool)  # not bytes: bytes(10**12) fills memory
    },
}

_DAMAGE = (
    pickle.UnpicklingError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OverflowError,
    TypeError,
    ValueError,
)


class _PlainUnpickler(pickle.Unpickler):
    """Admits the containers above and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _PLAIN:
            raise _RefusedError(f"{module}.{name}")
        return _PLAIN[module, name]

    def persistent_load(self, pid: Any) -> Any:
        raise _RefusedError("a persistent object")


class _RefusedError(Exception):
    """The name of what a pickle asked for."""


def load_pickle(path: str | Path) -> Any:
    """The plain containers of a pickle; anything else it asks for is refused by name."""
    try:
        with Path(path).open("rb") as file:
            return _PlainUnpickler(file).load()
    except _RefusedError as refused:
        raise UnsafePickleError(
            f"refused: this pickle asks for {refused}, and only plain containers, numbers and strings are admitted",
            path,
        ) from None
    except _DAMAGE as error:
        raise GraphFileError(f"not a whole pickle ({str(error) or type(error).__name__})", path) from error
    except OSError as error:
        raise GraphFileError(f"cannot be read ({error.strerror})", path) from error
