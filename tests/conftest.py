"""What all tests share: where the public benchmark data lie, small graphs and engines over them."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import tarfile
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from pathformer import Engine, KnowledgeGraph
    from pathformer.querysets.queries import Queries
    from pathformer.querysets.query_sets import QuerySets

ROOT = Path(__file__).resolve().parents[1]

with contextlib.suppress(ImportError):  # a machine that only trains may lack it
    from hypothesis import settings

    # No deadline: the first example of a test may compile. `ci` repeats the same examples: a failure is a change's.
    settings.register_profile("default", deadline=None)
    settings.register_profile("ci", deadline=None, derandomize=True)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m gpu` only files that have such tests are imported: the others may need what a training machine lacks."""
    if config.option.markexpr == "gpu" and collection_path.suffix == ".py":
        return "mark.gpu" not in collection_path.read_text(encoding="utf-8") or None
    return None


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of public benchmark data: $PATHFORMER_DATA, else `../shared/data` beside the checkout."""
    given = os.environ.get("PATHFORMER_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no benchmark data at {folder}; set PATHFORMER_DATA to a folder that has them")
    return folder


@pytest.fixture(scope="session")
def script() -> Callable[[str], ModuleType]:
    """A file outside the package as a module, by its path from the root: `script("benchmarks/train.py")`."""
    return cache(_script)


def _script(path: str) -> ModuleType:
    """Read as it is run: it may import what lies beside it."""
    file = ROOT / path
    spec = importlib.util.spec_from_file_location(f"{file.parent.name}_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look for it
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(file.parent))
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Toys are too small to share between threads, and threads that wait for busy cores are slower than none."""
    import torch  # not above: many tests need none of it

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def kernels() -> None:
    """For tests of fused kernels: a CUDA device, or TRITON_INTERPRET=1 with triton, which then does without one."""
    import torch

    if not torch.cuda.is_available() and os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("no CUDA device, and TRITON_INTERPRET is not 1")
    pytest.importorskip("triton")
    torch.manual_seed(0)


@pytest.fixture
def kernels_everywhere(kernels: None) -> Iterator[None]:
    """For tests that train whole models: every operation takes its kernel, on a processor too."""
    from pathformer.nn.backend import force

    with force("kernels"):
        yield


@pytest.fixture(scope="session")
def small_graph_triples() -> dict[str, list[tuple[str, str, str]]]:
    """A random graph of 50 entities and 4 relations in three splits; a ring puts every entity into train."""
    rng = np.random.default_rng(3)
    columns = (rng.integers(0, bound, 500).tolist() for bound in (50, 4, 50))
    ring = [(f"e{i}", "r0", f"e{(i + 1) % 50}") for i in range(50)]
    rest = list(dict.fromkeys((f"e{h}", f"r{r}", f"e{t}") for h, r, t in zip(*columns, strict=True)))
    rest = [triple for triple in rest if triple not in ring]
    return {"train": ring + rest[:330], "valid": rest[330:370], "test": rest[370:410]}


@pytest.fixture(scope="session")
def films() -> KnowledgeGraph:
    """Twenty facts about films."""
    from support.engines import FILMS  # not above: many tests need none of it

    from pathformer import KnowledgeGraph

    return KnowledgeGraph.from_triples(FILMS, name="films")


@pytest.fixture(scope="session")
def engine(films: KnowledgeGraph) -> Engine:
    """An engine over the films whose model was never trained: answers are arbitrary, rules are not."""
    import torch
    from support.engines import engine_over

    from pathformer.models._base import build

    torch.manual_seed(0)
    vocabulary = films.vocabulary
    settings = {"dim": 16, "layers": 1, "heads": 2}
    model = build("pathformer", settings, entities=vocabulary.entity_count, relations=vocabulary.relation_count)
    return engine_over(films, model, about={"note": "toy"})


@pytest.fixture(scope="session")
def graph(small_graph_triples: dict[str, list[tuple[str, str, str]]]) -> KnowledgeGraph:
    """The random graph as one part, to train on."""
    from pathformer import KnowledgeGraph

    return KnowledgeGraph.from_triples([t for part in small_graph_triples.values() for t in part], name="small")


@pytest.fixture(scope="session")
def small_graph(small_graph_triples: dict[str, list[tuple[str, str, str]]]) -> KnowledgeGraph:
    """The random graph in its three parts."""
    from pathformer import KnowledgeGraph

    parts = small_graph_triples
    return KnowledgeGraph.from_triples(parts["train"], parts["valid"], parts["test"], name="small")


@pytest.fixture(scope="session")
def small_benchmark(small_graph: KnowledgeGraph) -> QuerySets[Queries]:
    """Queries drawn from the random graph."""
    from pathformer.querysets.protocol import Protocol, sample_benchmark

    return sample_benchmark(small_graph, Protocol(evaluated=30, train=80, limit=25))


@pytest.fixture(scope="session")
def released(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archives of released queries, unpacked."""
    folder = tmp_path_factory.mktemp("released")
    for name in ("wn18rr-qa", "fb15k-237-q2b", "nell-q2b"):
        with tarfile.open(data_dir / f"{name}.tar.xz") as archive:
            archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="session")
def films_engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an engine over films; its model has seen next to nothing and nothing was measured."""
    from support.engines import FILMS, tiny_engine

    folder = tmp_path_factory.mktemp("films") / "films"
    tiny_engine(FILMS, "films", out=folder)
    return folder


@pytest.fixture(scope="session")
def small_engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an engine over a random graph, after six updates, its probabilities measured."""
    from support.engines import random_triples, tiny_engine

    folder = tmp_path_factory.mktemp("small") / "small"
    tiny_engine(random_triples(), "small", out=folder)
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With PATHFORMER_REQUIRE_DATA=1 a `data` test that is skipped fails: the data lie there, so it had to run."""
    report = yield
    if report.skipped and item.get_closest_marker("data") and os.environ.get("PATHFORMER_REQUIRE_DATA") == "1":
        report.outcome = "failed"
        report.longrepr = f"a test that needs the data was skipped although they are required: {report.longrepr}"
    return report
