"""Every exception of the package, in one tree.

```
PathformerError
├─ InputError                 something from outside is wrong; the command line prints it and exits with 2
│  ├─ GraphFileError          a file of triples, names or a saved graph: carries path and line
│  │  └─ UnsafePickleError    a pickle that asks for anything but plain containers
│  ├─ DatasetError            a dataset that is not known, or not where it was looked for
│  ├─ BenchmarkError          a folder of benchmark queries that cannot be read
│  ├─ ConfigError             a setting that does not exist or has the wrong type
│  ├─ CheckpointError         a checkpoint that cannot be read, or belongs to another graph or run
│  ├─ EngineError             a folder that is no engine, or not a whole one
│  ├─ DivergedError           a loss, weight or distance that is no longer a finite number
│  ├─ MissingExtraError       a feature whose optional library is not installed
│  ├─ UnknownPluginError      a model, format, dataset ... that no file of that name provides
│  └─ QueryError
│     ├─ QuerySyntaxError     text that does not parse: carries text and position, underlines the position
│     ├─ UnsupportedQueryError   a construct outside the language, by name
│     ├─ UnknownNameError     an entity or relation the graph does not have, with the closest ones
│     │  ├─ AmbiguousNameError   a name or label that several carry, with their exact names
│     │  └─ UnknownIdError   an id the graph does not have, with the ids it has
│     ├─ UnsafeQueryError     a question that says only what the answer is not
│     ├─ ScopeError           a negation that is not the complement of a projection
│     ├─ CyclicQueryError     variables that form a cycle
│     ├─ FreeVariableError    a variable or part that is not connected
│     └─ QuerySizeError       more disjuncts, nesting, hops or drawing than the limit
└─ PluginError                a plugin that does not load: a bug of its author
```

A message says what was seen, where, what was expected and what to do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pathformer.text import closest

__all__ = [
    "AmbiguousNameError",
    "BenchmarkError",
    "CheckpointError",
    "ConfigError",
    "CyclicQueryError",
    "DamagedError",
    "DatasetError",
    "DivergedError",
    "EngineError",
    "FreeVariableError",
    "GraphFileError",
    "InputError",
    "MissingExtraError",
    "PathformerError",
    "PluginError",
    "QueryError",
    "QuerySizeError",
    "QuerySyntaxError",
    "ScopeError",
    "UnknownIdError",
    "UnknownNameError",
    "UnknownPluginError",
    "UnsafePickleError",
    "UnsafeQueryError",
    "UnsupportedQueryError",
    "needs_torch",
]


_ALIKE = {"LATIN", "CYRILLIC", "GREEK"}  # scripts with letters that look the same
_INVERSE = ("⁻¹", "^-1")  # as people write it behind a relation
_SHOWN = 40  # signs of a line before and behind a place, and of a name: a text may be one line of megabytes
_LONG_WORD = re.compile(r"\S{1000,}")
_LONGEST = 4_000  # signs of a message


class PathformerError(Exception):
    """The root of the tree; a message quotes what is short, and of a long text its two ends."""

    def __init__(self, message: str) -> None:
        super().__init__(_quoted(message))


class InputError(PathformerError):
    """Something that came from outside is wrong."""


class PluginError(PathformerError):
    """A plugin exists but does not load."""


class GraphFileError(InputError):
    """A file that cannot be read as what it should be; the message starts with `path:line:`."""

    def __init__(self, problem: str, path: str | Path, line: int | None = None) -> None:
        self.problem, self.path, self.line = problem, Path(path), line
        place = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{place}: {problem}")


class UnsafePickleError(GraphFileError):
    """A pickle that asks for more than plain containers, numbers and strings."""


class DatasetError(InputError):
    """A dataset that is unknown, or absent where it was looked for."""


class BenchmarkError(InputError):
    """A folder of benchmark queries that cannot be read."""


class ConfigError(InputError):
    """A setting that does not exist or does not fit."""


class CheckpointError(InputError):
    """A checkpoint that cannot be read, or that belongs to another graph or other settings."""


class EngineError(InputError):
    """A folder that holds no engine, a part of one, or one of another version."""


class DamagedError(InputError):
    """A file that we saved and that is not as it was saved; the message names the file and what to do."""

    def __init__(self, path: str | Path, problem: str, remedy: str) -> None:
        self.path, self.problem, self.remedy = Path(path), problem, remedy
        super().__init__(f"{path} {problem}: {remedy}")


class DivergedError(InputError):
    """A loss, a weight or a distance that is no longer a finite number; the message says what to try."""


class MissingExtraError(InputError):
    """A feature that needs an optional library."""

    def __init__(self, feature: str, library: str, extra: str) -> None:
        super().__init__(f"{feature} needs {library}: pip install 'pathformer[{extra}]'")


@contextmanager
def needs_torch(feature: str) -> Iterator[None]:
    """Inside, a module that is not found names the extra to install, if it is torch."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtraError(feature, "torch", "fit") from error


class UnknownPluginError(InputError):
    """A name that neither a file of the package nor an installed plugin provides."""

    def __init__(self, kind: str, name: str, names: Sequence[str]) -> None:
        self.kind, self.name, self.names = kind, name, tuple(names)
        near = closest(name, names)
        hint = f"closest: {', '.join(map(repr, near))}" if near else f"there are: {', '.join(names) or 'none'}"
        super().__init__(f"no {kind} {name!r}; {hint}")


class QueryError(InputError):
    """A question that cannot be asked."""


class QuerySyntaxError(QueryError):
    """Text that does not parse; prints the line and a caret under the position."""

    def __init__(self, problem: str, text: str, position: int | None = None) -> None:
        self.problem, self.text, self.position = problem, text, position
        shown = position is not None and text.strip()  # of an empty text there is nothing to underline
        super().__init__(f"{problem}\n{_underline(text, position or 0)}" if shown else problem)


class UnsupportedQueryError(QueryError):
    """A construct outside the language."""


class UnknownNameError(QueryError):
    """A name that the graph does not have; every: all names it has, if they are few and none is similar."""

    def __init__(self, kind: str, name: str, closest: Sequence[str], every: Sequence[str] = ()) -> None:
        self.kind, self.name, self.closest = kind, name, tuple(closest)
        told = ", ".join(repr(_shortened(known)) for known in closest or every)
        hint = f"{'closest:' if closest else 'the graph has'} {told}" if told else "no name or label is similar"
        super().__init__(f"no {kind} {_shortened(name)!r}; {hint}{_inverse(kind, name)}{_stranger(name)}")


class AmbiguousNameError(UnknownNameError):
    """A name that means several entities or relations; `closest` holds the exact names of all of them."""

    def __init__(self, kind: str, name: str, candidates: Sequence[str]) -> None:
        QueryError.__init__(self, _several(kind, name, candidates))
        self.kind, self.name, self.closest = kind, name, tuple(candidates)


class UnknownIdError(UnknownNameError):
    """A number that is no id of the graph; `closest` is empty."""

    def __init__(self, kind: str, number: int, count: int) -> None:
        QueryError.__init__(self, f"no {kind} has the id {number}: the ids of {_plural(kind)} go from 0 to {count - 1}")
        self.kind, self.name, self.closest = kind, str(number), ()


class UnsafeQueryError(QueryError):
    """Some disjunct says only what the answer is not."""


class ScopeError(QueryError):
    """A negated part that joins two variables bound outside it."""


class CyclicQueryError(QueryError):
    """The variables form a cycle; the message names the atom that closes it."""


class FreeVariableError(QueryError):
    """A variable that nothing connects to a known entity, or a part that says nothing of the answer."""


class QuerySizeError(QueryError):
    """More disjuncts, deeper nesting, a longer path or a larger picture than allowed."""


def _inverse(kind: str, name: str) -> str:
    """Returns a hint for a relation that is written with the sign of an inverse, as `explain` shows it."""
    written = kind == "relation" and name.endswith(_INVERSE)
    return "; for the inverse, swap subject and object" if written else ""


def _stranger(name: str) -> str:
    """Returns a hint for a letter that looks like the others and is of another script."""
    alike: dict[str, list[str]] = {}
    for letter in filter(str.isalpha, name):
        alike.setdefault(unicodedata.name(letter, "").partition(" ")[0], []).append(letter)
    alike = {script: letters for script, letters in alike.items() if script in _ALIKE}
    if len(alike) < 2:
        return ""
    letter = min(alike.values(), key=len)[0]
    return f"; its {letter!r} is a {unicodedata.name(letter)}"


def _several(kind: str, name: str, candidates: Sequence[str]) -> str:
    shown = ", ".join(repr(_shortened(candidate)) for candidate in candidates[:5])
    more = f" and {len(candidates) - 5} more" if len(candidates) > 5 else ""
    return f"{_shortened(name)!r} means {len(candidates)} {_plural(kind)}: {shown}{more}; write the exact name of one"


def _quoted(message: str) -> str:
    """Cuts words of a message that are longer than any path, and then the message itself."""
    if len(message) > _LONGEST:
        message = _LONG_WORD.sub(lambda word: _shortened(word[0]), message)
    return message if len(message) <= _LONGEST else f"{message[: _LONGEST // 2]} ... {message[-_LONGEST // 2 :]}"


def _shortened(name: str) -> str:
    return name if len(name) <= 2 * _SHOWN else f"{name[:_SHOWN]}...{name[-_SHOWN:]}"


def _plural(kind: str) -> str:
    return {"entity": "entities", "relation": "relations"}[kind]


def _underline(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)]
    left, right = line[: position - start], line[position - start :]
    if len(left) > _SHOWN:
        left = f"...{left[-_SHOWN:]}"
    if len(right) > _SHOWN:
        right = f"{right[:_SHOWN]}..."
    return f"  {left}{right}\n  {''.join(map(_blank, left))}^"


def _blank(sign: str) -> str:
    """Returns blanks as wide as a character: two for a wide one, none for a combining one, a tab for a tab."""
    if sign == "\t" or unicodedata.combining(sign):
        return sign if sign == "\t" else ""
    return "  " if unicodedata.east_asian_width(sign) in "WF" else " "
