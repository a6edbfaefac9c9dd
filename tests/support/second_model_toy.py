"""Two runs small enough to be trained side by side in a second."""

from __future__ import annotations

from pathlib import Path

from pathformer.experiments.run import Outcome, train_run
from pathformer.experiments.settings import read_run
from support import training_toy as toy

MODEL = 'queries = "drawn"\nvalid_queries = 9\n[model]\ndim = 16\nlayers = 1\nheads = 2\n'
TRAINING = "[training]\nsteps = 6\nbatch = 8\nvalidations = 1\nupdate_per_structure = false\n"


def save_runs(folder: Path) -> Path:
    """A graph, and `first.toml`, which has `second.toml` beside it; in the folder `run` it is finished."""
    graph = toy.save_graph(folder / "graph")
    (folder / "second.toml").write_text(f'dataset = "{graph}"\n' + MODEL + 'space = "sphere"\n' + TRAINING)
    first = f'dataset = "{graph}"\nmethod = "composed"\ntrained = "efol"\nsecond_model = "{folder / "second.toml"}"\n'
    (folder / "first.toml").write_text(first + MODEL + TRAINING)
    assert train(folder, folder / "run").result.finished
    return folder


def train(folder: Path, out: Path, *settings: str, test: bool = True) -> Outcome:
    """Train `first.toml` of a folder."""
    run = read_run(folder / "first.toml", settings)
    return train_run(run, out, device="cpu", display=toy.quiet(), test=test)
