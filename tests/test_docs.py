"""The documentation is true: its blocks run and print what they show, no page is missing.

A page's blocks run in order, in one namespace and one empty folder. A `python` block is executed; an `output` block
after it is what it prints. In a `console` block the lines below `$ pathformer ...` are what the command prints, and
`$ export NAME=value` holds for the rest of the page; other commands are for reading. A block with a `title="path"` is
that file: it is written, not run. `...` stands for anything, white space at line ends counts for nothing, and
`<!-- not run: why -->` right before a block leaves it out. `<!-- given: examples/films.tsv, films -->` puts a file or
folder of the checkout into the page's folder, and as `films` an engine of `examples/films.tsv`; every `fit` on a page
takes a tenth of a minute.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

import pathformer
from pathformer.cli._main import main

ROOT = Path(__file__).parents[1]
PACKAGE = Path(pathformer.__file__).parent
EXAMPLES = ROOT / "examples"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FENCE = re.compile(
    r"(?P<skip><!-- not run: [^>]+ -->\n+)?"
    r"^```(?P<kind>\w+)(?: title=\"(?P<title>[^\"\n]+)\")?[^\n]*\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
EXPORT = re.compile(r"export (\w+)=(\S+)")
GIVEN = re.compile(r"<!-- given: ([^>]+) -->")
SHELL = re.compile(r"""^(?:[^'"]|'[^']*'|"[^"]*")*?[|<>;&]""")  # outside of quotes
PROGRAM = re.compile(r"(?:\.venv/bin/)?pathformer |cat ")


@dataclass(frozen=True)
class Block:
    kind: str
    body: str
    line: int
    title: str | None = None


def blocks(text: str) -> list[Block]:
    return [
        Block(found["kind"], found["body"], text.count("\n", 0, found.start("kind")) + 1, found["title"])
        for found in FENCE.finditer(text)
        if not found["skip"]
    ]


def tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def matches(shown: str, printed: str) -> bool:
    """Whether the text agrees, `...` standing for anything."""
    pattern = ".*?".join(map(re.escape, tidy(shown).split("...")))
    return re.fullmatch(pattern, tidy(printed), re.DOTALL) is not None


def commands(body: str) -> Iterator[tuple[str, str]]:
    """Each `$` line of a console block and the lines shown below it."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        count = next((n for n, line in enumerate(lines) if not line.endswith("\\")), 0) + 1
        yield "\n".join(lines[:count]), "\n".join(lines[count:])


def run_console(block: Block, where: str, folder: Path) -> None:
    for command, shown in commands(block.body):
        if exported := EXPORT.findall(command):
            os.environ.update(exported)
            forget()
        if not PROGRAM.match(command):
            continue
        quick = re.sub(r"(pathformer fit (?!.*--no-train).*)", r"\1 --minutes 0.1", command.removeprefix(".venv/bin/"))
        with mock.patch.dict(os.environ, {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}):
            code, printed = run_in_shell(quick, folder) if SHELL.search(quick) else run_here(quick)
        expected = 2 if shown.startswith("error:") else 0
        assert code == expected, f"{where}: `{command}` ended with {code}:\n{printed}"
        if shown.strip():
            assert matches(shown, printed), f"{where}: `{command}` printed\n{printed}"


def forget() -> None:
    """Clears the caches of the package: which plugins there are is looked up once in a process."""
    for name, module in list(sys.modules.items()):
        if name.startswith("pathformer."):
            for value in list(vars(module).values()):
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()


def run_here(command: str) -> tuple[int, str]:
    """The exit code and both outputs of a line, in this process: it spares the start of one, with torch in it."""
    out, code = io.StringIO(), 0
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    with (
        mock.patch.object(sys, "argv", words),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return code, out.getvalue()


def run_in_shell(command: str, folder: Path) -> tuple[int, str]:
    """The exit code and both outputs of a line with a pipe or a file in it."""
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


def give(name: str, folder: Path, request: pytest.FixtureRequest) -> None:
    """Puts what a page asks for into its folder."""
    source = request.getfixturevalue("engine") if name == "films" else ROOT / name
    if name and source.is_dir():
        shutil.copytree(source, folder / source.name)
    elif name:
        shutil.copy(source, folder / source.name)


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an engine of `examples/films.tsv`, fitted in seconds."""
    folder = tmp_path_factory.mktemp("engine") / "films"
    pathformer.fit(pathformer.KnowledgeGraph.read(EXAMPLES / "films.tsv"), minutes=0.1, progress=False).save(folder)
    return folder


def run_page(path: Path, folder: Path) -> None:
    namespace: dict[str, object] = {"__name__": "page"}
    printed = ""
    with mock.patch.dict(os.environ), contextlib.ExitStack() as at_end:
        for block in blocks(path.read_text(encoding="utf-8")):
            where = f"{path.name}:{block.line}"
            if block.title is not None:
                (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
                (folder / block.title).write_text(block.body, encoding="utf-8")
            elif block.kind == "python":
                output = io.StringIO()
                with contextlib.redirect_stdout(output):
                    exec(compile("\n" * block.line + block.body, str(path), "exec"), namespace)
                printed = output.getvalue()
            elif block.kind == "output":
                assert matches(block.body, printed), f"{where}: the block above printed\n{printed}"
            elif block.kind == "console":
                at_end.callback(forget)
                run_console(block, where, folder)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_blocks_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ", ".join(GIVEN.findall(path.read_text(encoding="utf-8"))).split(", "):
        give(name, tmp_path, request)
    run_page(path, tmp_path)


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("```python\nprint(1 + 1)\n```\n\n```output\n2\n```\n", None),
        ("```python\nprint(1 + 1)\n```\n\n```output\n3\n```\n", "the block above printed"),
        ("```python\nx = 1\n```\n```python\nassert x == 1\n```\n", None),
        ("```python\nassert 0, 'it ran'\n```\n", "it ran"),
        ("<!-- not run: takes an hour -->\n```python\nassert 0\n```\n", None),
        ("```console\n$ pathformer --version\npathformer ...\n```\n", None),
        ("```console\n$ pathformer --version\nsomething else\n```\n", "`pathformer --version` printed"),
        ("```console\n$ pathformer \\\n  nothing\nerror: no command 'nothing'...\n```\n", None),
        ("```console\n$ pathformer nothing\n```\n", "ended with 2"),
        ("```console\n$ rm everything\n```\n", None),
        ("```text\nnot code\n```\n", None),
    ],
)
def test_the_runner_sees_what_is_wrong(page: str, complaint: str | None, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(page)
    if complaint is None:
        run_page(tmp_path / "page.md", tmp_path)
    else:
        with pytest.raises(AssertionError, match=re.escape(complaint)):
            run_page(tmp_path / "page.md", tmp_path)


def test_a_titled_block_is_a_file_and_an_export_holds_for_its_page(tmp_path: Path) -> None:
    body = "import os\nassert os.environ['SIGN'] == '+'\n"
    page = f'```python title="a/b.py"\nraise SystemExit\n```\n```console\n$ export SIGN=+\n```\n```python\n{body}```\n'
    (tmp_path / "page.md").write_text(page)
    run_page(tmp_path / "page.md", tmp_path)
    assert (tmp_path / "a" / "b.py").read_text() == "raise SystemExit\n"
    assert "SIGN" not in os.environ


def test_every_page_is_in_the_navigation() -> None:
    named = set(re.findall(r"^ +- [^:]+: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert named == {str(path.relative_to(ROOT / "docs")) for path in PAGES[1:]}


def test_links_between_files_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        prose = re.sub(r"^```.*?^```$|`[^`\n]+`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)[^)]*\)", prose):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def modules_with_examples() -> list[str]:
    """The modules that have a `>>>` in them."""
    return [
        ".".join(["pathformer", *path.relative_to(PACKAGE).with_suffix("").parts])
        for path in sorted(PACKAGE.rglob("*.py"))
        if re.search(r"^\s*>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0
