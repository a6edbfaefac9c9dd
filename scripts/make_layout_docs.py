"""Write `docs/reference/layout.md` and `images/rooms.svg`: the rooms by the import graph, and three walks.

python scripts/make_layout_docs.py             the drawing of the rooms
python scripts/make_layout_docs.py --walks     and the walks: a question, a fit and a training step are traced
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pathformer"
PAGE = ROOT / "docs" / "reference" / "layout.md"
ROOMS = {  # in the order of imports: a room imports only from rooms above it
    "common": [
        "errors",
        "text",
        "compiled",
        "plugins",
        "config",
        "limits",
        "files",
        "kg",
        "query",
        "symbolic",
        "querysets",
        "plan",
    ],
    "asking": ["index", "encoders", "links", "search", "engine", "server"],
    "making": ["nn", "spaces", "models", "evaluation", "training", "fitting", "experiments"],
    "cli": ["cli"],
}
COLOURS = {"common": "#eef3fa", "asking": "#e8f5e9", "making": "#fdf3e1", "cli": "#f3e9f7"}
PICTURE = ROOT / "docs" / "images" / "rooms.svg"
DRAWING, WALKS = ("<!-- rooms -->", "<!-- end of rooms -->"), ("<!-- walks -->", "<!-- end of walks -->")


def imports() -> dict[str, set[str]]:
    """By room, the rooms that it imports, at the top of a file or inside a function."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if room.startswith("__"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            rooms = {name.split(".")[1] for name in names if name.startswith("pathformer.")}
            found.setdefault(room, set()).update(rooms - {room})
    return found


def drawing() -> str:
    """The rooms as a table: half, room, what it holds, and what it imports."""
    graph, lines = imports(), []
    for half, rooms in ROOMS.items():
        for room in (each for each in rooms if each in graph):
            used = [each for each in (room for rooms in ROOMS.values() for room in rooms) if each in graph[room]]
            shown = " ".join(f"`{each}`" for each in used if each not in ("errors", "text")) or "–"
            lines.append(f"| {half} | `{room}` | {_what(room)} | {shown} |")
            half = ""
    return "\n".join(["| | room | what it holds | imports, besides `errors` and `text` |", "|---|---|---|---|", *lines])


def picture() -> str:
    """The import graph as a square: a dot where the room of the line imports the room of the column."""
    graph = imports()
    rooms = [room for members in ROOMS.values() for room in members if room in graph]
    side, left, top = 24, 110, 100
    wide, high = left + side * len(rooms) + 20, top + side * len(rooms) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for half, members in ROOMS.items():
        places = [place for place, room in enumerate(rooms) if room in members]
        start, size = side * places[0], side * len(places)
        parts.append(
            f'<rect x="{left + start}" y="{top + start}" width="{size}" height="{size}" fill="{COLOURS[half]}"/>'
        )
    for line, room in enumerate(rooms):
        y = top + side * line + side // 2
        x = left + side * line + side // 2
        parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{room}</text>')
        parts.append(f'<text transform="translate({x + 4},{top - 8}) rotate(-60)">{room}</text>')
        parts.append(f'<path d="M{left},{y + side // 2} H{wide - 20}" stroke="#dddddd"/>')
        for column, other in enumerate(rooms):
            if other in graph[room]:
                colour = "#333333" if column < line else "#c4472f"  # an import that does not point left
                parts.append(f'<circle cx="{left + side * column + side // 2}" cy="{y}" r="5" fill="{colour}"/>')
    return "\n".join([*parts, "</svg>", ""])


def _what(room: str) -> str:
    """The first sentence of a room's docstring."""
    path = PACKAGE / room / "__init__.py"
    path = path if path.exists() else PACKAGE / f"{room}.py"
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].rstrip(".").replace("|", "\\|")


TRACE = """
import sys, threading
root, seen, loading, main_thread = sys.argv[1] + "/", {}, 0, threading.main_thread()
def note(frame, event, _):
    global loading  # what runs while a file is loaded is no step of the way
    name = frame.f_code.co_filename
    if event not in ("call", "return") or not name.startswith(root) or threading.current_thread() is not main_thread:
        return
    if frame.f_code.co_name == "<module>":
        loading += 1 if event == "call" else -1
    elif event == "call" and not loading:
        seen.setdefault(name[len(root):])
def command(*words):
    from pathformer.cli._main import main
    sys.argv = ["pathformer", *words]
    sys.setprofile(note)
    try:
        main()
    except SystemExit:
        pass
    sys.setprofile(None)
"""
QUESTION = "?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)"
WALKED = (  # title, what is traced, how
    (
        "A question",
        f"`pathformer ask films '{QUESTION}'`, of an engine that `fit` made.",
        f'command("ask", "films", "{QUESTION}")',
    ),
    (
        "A fit",
        "`pathformer fit films.tsv --out films`.",
        'command("fit", "films.tsv", "--out", "fitted", "--minutes", "0.1")',
    ),
    (
        "A training step",
        "One update of a Pathformer by the paper's loss, on a processor: from drawn queries to new weights.",
        """
from support.training_toy import ENTITIES, model, training_queries
from pathformer.training.data import TrainingSet
from pathformer.training.settings import StepConfig
from pathformer.training.step import TrainingStep
step = TrainingStep(model(), TrainingSet.of(training_queries(), ENTITIES), {"1p": 8, "2i": 8, "2in": 8}, StepConfig())
step.run(1)
sys.setprofile(note)
step.run(1)
sys.setprofile(None)
""",
    ),
)


def walks() -> str:
    """The files that each walk passes, in the order of their first step, room by room."""
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "films.tsv").write_bytes((ROOT / "examples" / "films.tsv").read_bytes())
        fit = 'command("fit", "films.tsv", "--out", "films", "--minutes", "0.1")'
        _trace(fit, folder)
        for title, what, program in WALKED:
            files = _trace(program, folder)
            parts += [f"### {title}", "", f"{what} {len(files)} files:", "", *_steps(files), ""]
    return "\n".join(parts).rstrip()


def _trace(program: str, folder: str) -> list[str]:
    code = f"{TRACE}\n{program}\nopen('seen.json', 'w').write(__import__('json').dumps(list(seen)))"
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"}
    subprocess.run([sys.executable, "-c", code, PACKAGE], cwd=folder, env=environment, check=True, capture_output=True)
    files: list[str] = json.loads((Path(folder) / "seen.json").read_text())
    return files


def _steps(files: list[str]) -> Iterator[str]:
    """A line a folder, in the order of its first file."""
    folders = dict.fromkeys(str(Path(file).parent) for file in files)
    for number, folder in enumerate(folders, 1):
        inside = [Path(file).name for file in files if str(Path(file).parent) == folder]
        yield f"{number}. `{folder}/`: {', '.join(f'`{name}`' for name in inside)}"


def fill(text: str, marks: tuple[str, str], made: str) -> str:
    """The text with this between its two marks."""
    before, _, rest = text.partition(marks[0])
    return f"{before}{marks[0]}\n{made}\n{marks[1]}{rest.partition(marks[1])[2]}"


def page(text: str) -> str:
    """The page with the drawing of today."""
    return fill(text, DRAWING, drawing())


def named_files(text: str) -> list[str]:
    """The paths of all files that the walks name."""
    found = []
    for folder, files in re.findall(r"^\d+\. `([^`]*)`: (.+)$", text, re.MULTILINE):
        found += [f"{folder}{name}" for name in re.findall(r"`([^`]+)`", files)]
    return found


if __name__ == "__main__":
    text = page(PAGE.read_text(encoding="utf-8"))
    PICTURE.write_text(picture(), encoding="utf-8")
    PAGE.write_text(fill(text, WALKS, walks()) if "--walks" in sys.argv else text, encoding="utf-8")
