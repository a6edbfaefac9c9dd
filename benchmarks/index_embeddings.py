"""Trained embeddings to measure nearest-entity search on: `PYTHONPATH=src python benchmarks/index_embeddings.py OUT`.

Trains a Pathformer of one layer and d = 256 on NELL995 (ten structures) for `--minutes`, then writes to OUT

    entities-0.safetensors, ...   the entity table, rows in order, in bf16 (`--eight-bits`: in 255 steps over the range
                                  of each column, half as large); parts of at most 14 MB
    points.safetensors            the points of test queries, float32 (disjuncts, d), a tensor a structure
    about.json                    graph, method, settings, steps, test MRR of a structure: what the table is worth

`pathformer bench index` and the slow tests of `index` read such a folder (`read`). More arguments are settings of the
run, `key=value`: `model.dim=800`. On a card the whole loop trains; on a processor take small batches, and an hour:
`--minutes 60 training.batch=24 training.update.negatives=48 training.update.rate=3e-3`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from _sparse import SparseTraining
from safetensors.torch import load_file, save_file
from torch import Tensor

from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.experiments.run import Material, gather, train_run
from pathformer.experiments.settings import read_run
from pathformer.models import Model, build
from pathformer.symbolic.queries import Queries
from pathformer.training import checkpoint
from pathformer.training.data import TrainingSet

SETTINGS = (
    "dataset=nell995", "queries=betae", "trained=efol", "model.dim=256", "model.layers=1", "model.dropout=0.0",
    "training.turns=false", "training.schedule=cosine", "training.warmup=0.05", "training.validations=0",
    "training.update.rate=5e-4",
)  # fmt: skip
PART = 14 << 20  # bytes


@dataclass(frozen=True)
class Embeddings:
    """What a folder holds."""

    entities: Tensor  # (N, d) bf16
    points: dict[str, Tensor]  # structure -> (disjuncts, d) float32
    about: dict[str, Any]

    def sample(self, count: int) -> Tensor:
        """At most `count` points, every structure as often as the others."""
        each = -(-count // len(self.points))
        return torch.cat([points[:each] for points in self.points.values()])


def read(folder: Path) -> Embeddings:
    """Read a folder that `write` has made."""
    parts = sorted(folder.glob("entities-*.safetensors"), key=lambda path: int(path.stem.partition("-")[2]))
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    table = torch.cat([_table(load_file(part)) for part in parts])
    return Embeddings(table, load_file(folder / "points.safetensors"), about)


def _table(part: dict[str, Tensor]) -> Tensor:
    if "low" in part:
        return (part["low"] + part["step"] * part["entities"].float()).bfloat16()
    return part["entities"]


def _stored(table: Tensor, eight_bits: bool) -> dict[str, Tensor]:
    """The tensors of a table as a file holds them."""
    if not eight_bits:
        return {"entities": table.bfloat16().contiguous()}
    low, high = torch.aminmax(table, dim=0)
    step = ((high - low) / 255).clamp_min(1e-12)
    return {"entities": ((table - low) / step).round().byte().contiguous(), "low": low, "step": step}


def train(minutes: float, overrides: list[str], data: Path | None, device: str) -> tuple[Model, Any, Any]:
    """A model, the queries it was made for, and its run; on a processor by `_sparse`."""
    run = read_run(None, [*SETTINGS, f"training.minutes={minutes}", *overrides])
    material = gather(run, data)
    if device == "cpu":
        model, steps = _train_sparse(run, material, minutes)
        return model, material.sets, {"settings": run.plain(), "steps": steps, "rows": "touched ones alone"}
    with tempfile.TemporaryDirectory() as folder:
        outcome = train_run(run, Path(folder), device=device, test=False, material=material)
        model, _ = checkpoint.load_model(outcome.result.last, device)
    print(f"{outcome.result.step:,} steps in {outcome.result.seconds:.0f} s", flush=True)
    return model, material.sets, {"settings": run.plain(), "steps": outcome.result.step, "rows": "all"}


def _train_sparse(run: Any, material: Material, minutes: float) -> tuple[Model, int]:
    names = material.kg.vocabulary
    torch.manual_seed(run.training.seed)
    model = build(run.method, run.model_settings, entities=names.entity_count, relations=names.relation_count)
    queries = material.sets["train"]
    composition = run.training.composition(tuple(queries))
    trainer = SparseTraining(
        model,
        TrainingSet.of(list(queries.values()), names.entity_count),
        composition,
        run.training.update.negatives,
        run.training.update.rate,
    )
    return model, trainer.train(minutes)


def write(
    folder: Path, model: Model, queries: dict[str, Queries], points_each: int, eight_bits: bool, about: dict[str, Any]
) -> None:
    """Write table, points and figures."""
    folder.mkdir(parents=True, exist_ok=True)
    table = model.entities.weight.detach().float().cpu()
    rows = PART // ((1 if eight_bits else 2) * table.shape[1])
    for number, part in enumerate(table.split(rows)):
        save_file(_stored(part, eight_bits), folder / f"entities-{number}.safetensors")
    ranker = ModelRanker(model)
    some = {name: asked.spread(points_each) for name, asked in queries.items()}
    with torch.inference_mode():
        points = {name: ranker.points(asked)[0].cpu().contiguous() for name, asked in some.items()}
    save_file(points, folder / "points.safetensors")
    facts = {**about, "eight_bits": eight_bits, "entities": len(table), "dim": table.shape[1], "mrr": {}}
    _note(folder, facts)  # before the ranking too: what was trained is of use without its figures
    report = evaluate(ranker, {name: asked.spread(500) for name, asked in queries.items()})
    figures = {name: score.mrr for name, score in report.scores.items()}
    print({name: round(100 * mrr, 1) for name, mrr in figures.items()})
    _note(folder, {**facts, "mrr": figures})


def _note(folder: Path, facts: dict[str, Any]) -> None:
    (folder / "about.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings of the run")
    parser.add_argument("--minutes", type=float, default=1.25, help="of training")
    parser.add_argument("--points", type=int, default=72, help="test queries of each structure")
    parser.add_argument("--eight-bits", action="store_true", help="half the size, for d = 800")
    parser.add_argument("--data", type=Path, default=None, help="the folder that holds datasets")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_intermixed_args()
    model, sets, about = train(given.minutes, given.overrides, given.data, given.device)
    write(given.out, model.eval(), dict(sets["test"]), given.points, given.eight_bits, about)


if __name__ == "__main__":
    main()
