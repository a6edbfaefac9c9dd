"""Runs lint, types and the tests that a change can break, nearest first, in about a minute; names tests left out.

    python scripts/quick.py [--seconds 60] [--list] [FILE ...]

A change is the difference from where this branch left `main` (on `main`: from the last commit), or the FILEs. The
nearest tests have the fewest imports between them and the change; a test called like a changed file comes first.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = ("tests/test_layers.py", "tests/test_public.py")  # they read the whole package
FOLDERS = ("src", "tests", "benchmarks", "scripts")  # what tests import
LAST = 99  # the distance of tests that take long
BESIDE = {"docs": "tests/test_docs.py", "README.md": "tests/test_docs.py", "tests/golden": "tests/test_golden.py"}


def git(*arguments: str) -> list[str]:
    """Returns the lines that git prints."""
    return subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=ROOT, check=True).stdout.splitlines()


def changed_files() -> list[str]:
    """Returns the files that differ from `main`, also files that git does not know yet."""
    since = git("merge-base", "main", "HEAD")[0]
    return [*git("diff", "--name-only", since), *git("ls-files", "--others", "--exclude-standard")]


def module_of(file: Path) -> str:
    """Returns the name under which a file is imported: `pathformer.kg.vocabulary`, `support.golden`, `quick`."""
    parts = file.relative_to(ROOT).with_suffix("").parts[1:]  # without the folder at the root
    return ".".join(part for part in parts if part != "__init__")


def imported_names(file: Path) -> set[str]:
    """Returns everything that a file imports, inside functions too, and modules that it names as text."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.startswith("pathformer."):  # a lazy public name, or a name that a test patches
                found.add(node.value)
            elif node.value.startswith(("benchmarks/", "scripts/")):  # a script that a test loads
                found.add(Path(node.value).stem)
    return found


def importers() -> dict[Path, set[Path]]:
    """Returns the importers of each file; a test imports the `conftest.py` of the folders above it."""
    files = [file for folder in FOLDERS for file in ROOT.glob(f"{folder}/**/*.py")]
    by_name = {module_of(file): file for file in files}
    found: defaultdict[Path, set[Path]] = defaultdict(set)
    for file in files:
        for name in imported_names(file):
            while name and name not in by_name:  # a function, a class: the module around it
                name = name.rpartition(".")[0]
            if name:
                found[by_name[name]].add(file)
        for folder in file.parents if file.name.startswith("test_") else ():
            found[folder / "conftest.py"].add(file)
    return found


def nearest_tests(changed: list[str]) -> list[str]:
    """Returns the test files that a change can break, nearest first."""
    names = {Path(name).stem.lstrip("_") for name in changed}
    reached = {ROOT / name: 0 for name in changed if (ROOT / name).is_file()}
    for room in {Path(name).parts[2] for name in changed if name.startswith("src/") and len(Path(name).parts) > 3}:
        reached |= dict.fromkeys((ROOT / "tests" / room).rglob("test_*.py"), 1)  # registries are not imported by name
    graph, front = importers(), list(reached)
    while front:
        file = front.pop(0)
        if file.name == "conftest.py" and reached[file]:
            continue  # its fixtures may use the change, most tests below it do not
        for other in sorted(graph[file] - reached.keys()):
            reached[other] = reached[file] + 1
            front.append(other)
    tests = {file.relative_to(ROOT).as_posix(): near for file, near in reached.items() if file.stem.startswith("test_")}
    if any(name.startswith("src/") for name in changed):
        tests |= dict.fromkeys(ALWAYS, 0)
    tests |= {test: LAST for start, test in BESIDE.items() if any(name.startswith(start) for name in changed)}
    mirrored = {test for test in tests if Path(test).stem.removeprefix("test_") in names}
    return sorted(tests, key=lambda test: (test not in mirrored, tests[test], test))


class Deadline:
    """Stops the tests when the time is over and counts the tests of each file that did not run."""

    def __init__(self, end: float) -> None:
        self.end, self.is_over = end, False
        self.waiting: dict[str, int] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Counts the tests of each file."""
        for item in session.items:
            file = item.nodeid.partition("::")[0]
            self.waiting[file] = self.waiting.get(file, 0) + 1

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Counts one test less."""
        self.waiting[nodeid.partition("::")[0]] -= 1

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Lets no further test begin after the end."""
        done = yield
        if time.monotonic() > self.end:
            self.is_over, item.session.shouldstop = True, "the minute is over"
        return done


def main() -> int:
    """Checks a change; the exit code is 0 if nothing is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--list", action="store_true", help="name the tests and stop")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    os.chdir(ROOT)
    changed = options.files or changed_files()
    tests = nearest_tests(changed)
    if options.list:
        print("\n".join(tests))
        return 0
    print(f"{len(changed)} files changed, {len(tests)} test files can see it", flush=True)
    scripts = Path(sys.executable).parent
    sources = [name for name in changed if name.startswith("src/") and name.endswith(".py") and Path(name).is_file()]
    checks = [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "--quiet", "."],
        *([["mypy", *sources]] if sources else []),
    ]
    for name, *rest in checks:
        if subprocess.run([scripts / name, *rest], check=False).returncode:
            return 1
    if not tests:
        return 0
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    deadline = Deadline(end)
    code = pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests], plugins=[deadline])
    left = [file for file, count in deadline.waiting.items() if count > 0]
    if left:
        print(f"not finished, {len(left)} of {len(tests)} files; `make test` runs them:", *left, sep="\n  ")
    return 0 if deadline.is_over and code == pytest.ExitCode.INTERRUPTED else int(code)


if __name__ == "__main__":
    sys.exit(main())
