"""Damages, kills, concurrent readers, a full disk and signals, in children forked from one warm process.

    python tests/damage/harness.py --seed 1 --damages 2000 --kills 100 --opens 3000 --large 200

prints the counts as JSON. A child may answer as before or end with our exception; anything else is counted apart.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from damage.rows import COMMANDS, ROWS, Row

SAME, OURS, OTHER, TRACE = "same answers", "our exception", "other answers", "traceback"
MOST_MEMORY = 500 << 20  # bytes that a child may take beyond what the warm process has
PATIENCE = 120.0  # seconds for a child


def child(work: Callable[[], Any], *, kill_after: float | None = None) -> tuple[str, Any]:
    """Runs work in a forked child: `done` with what it returns, `ours` or `traceback` with a text, or `killed`."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        outcome = _guarded(work)
        with os.fdopen(writer, "w") as told:
            told.write(json.dumps(outcome))
        os._exit(0)
    os.close(writer)
    deadline = time.monotonic() + (PATIENCE if kill_after is None else kill_after)
    with os.fdopen(reader) as told:
        import select

        ready, _, _ = select.select([told], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(pid, signal.SIGKILL)
        text = told.read()
    os.waitpid(pid, 0)
    if not text:
        return ("killed", "") if kill_after is not None else ("traceback", "no answer in time, or ended by a signal")
    kind, value = json.loads(text)
    return kind, value


def _guarded(work: Callable[[], Any]) -> tuple[str, Any]:
    from pathformer.errors import PathformerError

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        value = work()
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
        return ("traceback", f"took {grown >> 20} MB") if grown > MOST_MEMORY else ("done", value)
    except PathformerError as error:
        return "ours", f"{type(error).__name__}: {error}"
    except BaseException:
        return "traceback", traceback.format_exc()[-2000:]


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in ("lock", ".lock"))


def damage(folder: Path, other: Path, chance: random.Random) -> str:
    """Damages one file of a folder in a random way and says how; other: a second save of the kind."""
    file = chance.choice(files_of(folder))
    name, content = file.relative_to(folder), bytearray(file.read_bytes())
    how = chance.choice(("flip", "flip", "flip", "cut", "zeros", "swap", "other save", "gone"))
    if how == "flip" and content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    elif how == "cut" and content:
        del content[chance.randrange(len(content)) :]
    elif how == "zeros" and content:
        first = chance.randrange(len(content))
        last = chance.choice((len(content), min(len(content), first + chance.randrange(1, 4096))))
        content[first:last] = bytes(last - first)
    elif how == "swap":
        second = chance.choice(files_of(folder))
        content, others = bytearray(second.read_bytes()), bytes(content)
        second.write_bytes(others)
    elif how == "other save" and (other / name).is_file():
        content = bytearray((other / name).read_bytes())
    else:
        file.unlink()
        return f"{name} gone"
    file.write_bytes(content)
    return f"{name} {how}"


class Trials:
    """The saves of all rows, made once, and the counts of what was tried."""

    def __init__(self, base: Path, seed: int, rows: dict[str, Row]) -> None:
        self.base, self.seed, self.rows = base, seed, rows
        self.counts: dict[str, Counter[str]] = {}
        self.wrong: list[str] = []
        self.saves = {name: self._make(name, row) for name, row in rows.items()}
        self.expected = {name: json.loads(json.dumps(row.ask(self.saves[name][0]))) for name, row in rows.items()}

    def _make(self, name: str, row: Row) -> tuple[Path, Path]:
        made = []
        for seed in (0, 1):
            home = self.base / f"{name} {seed}".replace(" ", "-")
            home.mkdir()
            made.append(row.make(home / "save", seed))
        return made[0], made[1]

    def count(self, what: str, outcome: str, told: str = "") -> None:
        self.counts.setdefault(what, Counter())[outcome] += 1
        if outcome in (OTHER, TRACE, "left behind", "lost"):
            self.wrong.append(f"{what}: {outcome}: {told}")

    def judge(self, what: str, kind: str, value: Any, expected: list[Any], how: str) -> None:
        if kind == "done":
            self.count(what, SAME if value in expected else OTHER, how)
        else:
            self.count(what, OURS if kind == "ours" else TRACE, f"{how}: {value}")

    def damages(self, count: int) -> None:
        """Damages copies of saves, rows in turn, and asks each in a child."""
        chance = random.Random(self.seed)
        for number in range(count):
            name = list(self.rows)[number % len(self.rows)]
            first, second = self.saves[name]
            home = self.base / f"try-{number}"
            shutil.copytree(first.parent, home)
            how = damage(home / first.name, second, chance)
            kind, value = child(lambda home=home, first=first, name=name: self.rows[name].ask(home / first.name))
            self.judge(f"damage: {name}", kind, value, [self.expected[name]], how)
            shutil.rmtree(home)

    def concurrent(self, opens: int, readers: int = 2) -> None:
        """One process replaces a save by another and back, others open and ask it: only whole saves may answer."""
        names = [name for name in ("graph", "engine", "engine with lsh", "index") if name in self.rows]
        for name in names:
            target = self.base / f"both-{name}".replace(" ", "-")
            shutil.copytree(self.saves[name][0], target)
            expected = [json.loads(json.dumps(self.rows[name].ask(save))) for save in self.saves[name]]
            writer = os.fork()
            if not writer:
                _replace_for_ever(self.rows[name].kind, self.saves[name], target)
            share = opens // len(names)
            work = lambda name=name, target=target, count=share // readers, expected=expected: _open_often(  # noqa: E731
                self.rows[name].ask, target, count, expected
            )
            found = _at_once([work] * readers)
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)
            for kind, value in found:
                if kind != "done":
                    self.count(f"beside a writer: {name}", TRACE, str(value))
                    continue
                for outcome, times in value["counts"].items():
                    for _ in range(times):
                        self.count(f"beside a writer: {name}", outcome, str(value["wrong"]))

    def kills(self, count: int, signals: tuple[int, ...] = (signal.SIGKILL,)) -> None:
        """Kills commands that write at random moments; the next one must find a whole save, or none, and sweep."""
        chance = random.Random(self.seed + 1)
        names = [name for name, command in COMMANDS.items() if command.kind in {row.kind for row in self.rows.values()}]
        for number in range(count):
            name = names[number % len(names)]
            self._kill(name, chance, chance.choice(signals))

    def _kill(self, name: str, chance: random.Random, number: int) -> None:
        command, home = COMMANDS[name], Path(tempfile.mkdtemp(dir=self.base))
        arguments = self._arguments(command, home)
        seconds = self._seconds(name)
        end, told = _run_and_stop(arguments, number, chance.uniform(0.0, 1.2 * seconds))
        what = f"{signal.Signals(number).name}: {name}"
        if end == "traceback":
            self.count(what, TRACE, told)
        elif number != signal.SIGKILL and (left := _leavings(home)):
            self.count(what, "left behind", str(left))
        else:
            kind, value = child(lambda: _run(arguments))
            if kind != "done":
                self.count(what, TRACE if kind == "traceback" else "lost", f"{arguments}: {value}")
            elif left := _leavings(home):
                self.count(what, "left behind", str(left))
            else:
                self.count(what, "whole and swept")
        shutil.rmtree(home, ignore_errors=True)

    def _seconds(self, name: str) -> float:
        """Returns how long a command takes, measured once."""
        known: dict[str, float] = self.__dict__.setdefault("known_seconds", {})
        if name not in known:
            home = Path(tempfile.mkdtemp(dir=self.base))
            arguments, start = self._arguments(COMMANDS[name], home), time.monotonic()
            kind, value = child(lambda: _run(arguments))
            assert kind == "done", f"{name}: {value}"
            known[name] = time.monotonic() - start
            shutil.rmtree(home)
        return known[name]

    def full_disk(self) -> None:
        """Every command writes to a disk that is too small."""
        for name, command in COMMANDS.items():
            if command.kind not in {row.kind for row in self.rows.values()}:
                continue
            home = Path(tempfile.mkdtemp(dir=self.base))
            arguments = self._arguments(command, home)
            kind, value = child(lambda arguments=arguments: _with_small_files(lambda: _run(arguments)))
            if kind == "ours":
                self.count("full disk", OURS if not _leavings(home) else "left behind", str(value))
            else:
                self.count("full disk", TRACE if kind == "traceback" else "no file was too large", f"{name}: {value}")
            shutil.rmtree(home, ignore_errors=True)

    def _arguments(self, command: Any, home: Path) -> list[str]:
        facts = home.parent / "facts.tsv"
        if not facts.is_file():
            from support.engines import random_triples

            facts.write_text("".join("\t".join(triple) + "\n" for triple in random_triples()))
        out = home / "out"
        if command.changes:
            shutil.copytree(self.saves["engine"][0], out)
            if command.changes == "damaged":
                (out / "index" / "alive.npy").unlink()
        toml = home / "run.toml"
        if "{toml}" in command.arguments:
            run = self.saves["run"][0]
            text = (run / "settings.toml").read_text()
            toml.write_text(text)
        places = {"graph": self.saves["graph"][0], "engine": self.saves["engine"][0], "facts": facts, "toml": toml}
        return [part.format(out=out, **places) for part in command.arguments]


def _run(arguments: list[str]) -> str:
    """Runs a command of the command line; what it refuses is raised."""
    from support.command_line import run

    return run(*arguments)[-300:]


def _run_and_stop(arguments: list[str], number: int, after: float) -> tuple[str, str]:
    """Runs a command as the shell does in a child, sends it a signal, and returns how it ended, with its errors."""
    with tempfile.TemporaryFile("w+") as told:
        pid = os.fork()
        if not pid:
            try:
                os.dup2(told.fileno(), 2)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                _as_program(arguments)
            finally:
                os._exit(1)  # a signal that came before the program began must not clear up the trials
        time.sleep(after)
        os.kill(pid, number)
        os.waitpid(pid, 0)
        told.seek(0)
        text = told.read()
    return ("traceback" if "Traceback" in text else "ended", text[-2000:])


def _as_program(arguments: list[str]) -> None:
    from pathformer.cli._main import main

    sys.argv = ["pathformer", *arguments]
    code: Any = 1
    try:
        main()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)


def _leavings(home: Path) -> list[str]:
    return [str(path) for path in home.rglob("*.part")]


def _with_small_files(work: Callable[[], Any]) -> Any:
    """Runs work where no file can be larger than some bytes: a full disk as far as a writer can tell."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
    try:
        return work()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _replace_for_ever(kind: str, saves: tuple[Path, Path], target: Path) -> None:
    import pathformer as pf
    from pathformer.index._base import load

    opened: list[Any] = [
        {"graph": pf.KnowledgeGraph.open, "engine": pf.load, "index": load}[kind](save) for save in saves
    ]
    chance = random.Random(0)
    while True:
        for save in opened:
            save.save(target, force=True)
            time.sleep(chance.choice((0.0, 0.05)))  # at once, so that an opening meets it, or later


def _open_often(ask: Callable[[Path], Any], target: Path, count: int, expected: list[Any]) -> Any:
    from pathformer.errors import InputError

    counts: Counter[str] = Counter()
    wrong = ""
    for _ in range(count):
        try:
            found = json.loads(json.dumps(ask(target)))
            outcome = SAME if found in expected else OTHER
        except InputError as error:
            outcome = OURS if "took its place" in str(error) or "was replaced" in str(error) else TRACE
            wrong = wrong or ("" if outcome == OURS else str(error))
        counts[outcome] += 1
    return {"counts": counts, "wrong": wrong}


def _at_once(works: list[Callable[[], Any]]) -> list[tuple[str, Any]]:
    from concurrent.futures import ThreadPoolExecutor

    global PATIENCE
    before, PATIENCE = PATIENCE, 3600.0
    with ThreadPoolExecutor(len(works)) as pool:
        found = list(pool.map(child, works))
    PATIENCE = before
    return found


def large(base: Path, seed: int, count: int) -> dict[str, Any]:
    """Damages an engine of more than 256 MB in place: `check` must find what opening does not."""
    import torch
    from support.engines import engine_over

    import pathformer as pf
    from pathformer.files.saved import READ_WHOLE, find_faults
    from pathformer.models._base import build

    entities = 45_000
    kg = pf.KnowledgeGraph.from_triples([(f"e{i}", f"r{i % 5}", f"e{(i * 7 + 1) % entities}") for i in range(entities)])
    torch.manual_seed(0)
    model = build("complex", {"rank": 512}, entities=entities, relations=kg.vocabulary.relation_count)
    folder = engine_over(kg, model).save(base / "large")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert size > READ_WHOLE, size
    questions = ("?x : r1(e1, ?x)", "?x : r3(?x, e40007)")

    def ask() -> Any:
        return [pf.load(folder).ask(question, top=5).to_json() for question in questions]

    kind, expected = child(ask)
    assert kind == "done", expected
    chance = random.Random(seed)
    counts, unseen, wrong = Counter[str](), Counter[str](), []
    by_size = sorted(files_of(folder), key=lambda path: -path.stat().st_size)
    for number in range(count):
        file = chance.choice(by_size[:4]) if number % 2 else chance.choice(by_size)
        length = file.stat().st_size
        place = chance.randrange(length)
        with file.open("r+b") as opened:
            opened.seek(place)
            before = opened.read(1 if number % 3 else 4096)
            opened.seek(place)
            opened.write(bytes([before[0] ^ (1 << chance.randrange(8))]) if number % 3 else bytes(len(before)))
        changed = file.read_bytes()[place : place + len(before)] != before
        found = bool(find_faults(folder, lambda name, size: None)[1]) if _reads(folder) else True
        kind, value = child(ask)
        outcome = {"ours": OURS, "traceback": TRACE}.get(kind) or (SAME if value == expected else OTHER)
        counts[outcome] += 1
        if outcome in (SAME, OTHER) and changed:
            unseen[f"{outcome}, found by check" if found else f"{outcome}, not found"] += 1
        if outcome == TRACE or (changed and not found):
            wrong.append(f"{file.name} at {place}: {outcome}, found by check: {found}: {value}")
        with file.open("r+b") as opened:
            opened.seek(place)
            opened.write(before)
    return {"bytes": size, "counts": counts, "not refused by opening": unseen, "wrong": wrong}


def _reads(folder: Path) -> bool:
    """Whether the manifests can be read: if not, `check` says so."""
    from pathformer.errors import DamagedError
    from pathformer.files.saved import find_faults

    try:
        find_faults(folder, lambda name, size: None)
    except DamagedError:
        return False
    return True


def main() -> None:
    """Runs what is asked for and prints the counts."""
    asked = argparse.ArgumentParser()
    for name in ("seed", "damages", "kills", "signals", "opens", "large"):
        asked.add_argument(f"--{name}", type=int, default=0)
    asked.add_argument("--rows", default="")
    asked.add_argument("--full-disk", action="store_true")
    given = asked.parse_args()
    import torch

    torch.set_num_threads(1)
    rows = {name: row for name, row in ROWS.items() if not given.rows or name in given.rows.split(",")}
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="damage-") as base:
        trials = Trials(Path(base), given.seed, rows)
        made = time.monotonic() - start
        trials.damages(given.damages)
        trials.kills(given.kills)
        trials.kills(given.signals, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        trials.concurrent(given.opens)
        if given.full_disk:
            trials.full_disk()
        wide = large(Path(base), given.seed, given.large) if given.large else None
    report = {
        "seed": given.seed,
        "seconds": {"making saves": round(made, 1), "all": round(time.monotonic() - start, 1)},
        "counts": trials.counts,
        "large": wide,
        "wrong": trials.wrong,
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
