"""What may stand between two links of a path.

    pathformer bench chains -- MODEL DATASET

MODEL is an engine, or a run's folder or checkpoint, in the hermitian space, whose tables are a ComplEx's; DATASET one
whose validation queries are asked. No encoder adds anything: 2p and 3p are chains of links alone, and each line says
what is carried over from one to the next. Prints MRR in percent, filtered, over hard answers, and keeps it in
`benchmarks/results/chains-DATASET.json`.

    --queries N     of each structure, 150 by default
    --best K        entities that are kept apart where several are, 128 by default
    --data DIR      the folder that holds datasets
    --device NAME   cuda, cpu, or auto
    --out DIR       where the figures are kept
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from _record import RESULTS, record
from torch import Tensor

from pathformer.engine.engine import load as load_engine
from pathformer.engine.storage import is_engine
from pathformer.experiments.measure import find_checkpoint
from pathformer.experiments.queries import query_sets
from pathformer.kg.datasets import load
from pathformer.models import Model
from pathformer.spaces.hermitian import Hermitian, multiply
from pathformer.symbolic.queries import Queries
from pathformer.training import checkpoint
from pathformer.training.device import choose_device

ASKED = ("2p", "3p")
Chain = Callable[[Tensor, list[Tensor]], Tensor]  # anchors (B,) and relations (B,) of each link -> scores (B, N)


def expected(anchors: Tensor, links: list[Tensor], *, tables: tuple[Tensor, Tensor], sharpness: float) -> Tensor:
    """One point: the expected entity, p(e) = softmax of its scores times the sharpness."""
    entities, relations = tables
    point = multiply(entities[anchors], relations[links[0]])
    for link in links[1:]:
        shares = torch.softmax(sharpness * (point @ entities.t()), dim=1)
        point = multiply(shares @ entities, relations[link])
    return point @ entities.t()


def looked_ahead(
    anchors: Tensor, links: list[Tensor], *, tables: tuple[Tensor, Tensor], sharpness: float, power: float, best: int
) -> Tensor:
    """One point: the expected entity, likelier the surer its next link is: p(e) (max_a p(a given e))^power."""
    entities, relations = tables
    point = multiply(entities[anchors], relations[links[0]])
    for link in links[1:]:
        scores, kept = (sharpness * (point @ entities.t())).topk(best, dim=1)
        sure = torch.stack([onward(tables, *pair).amax(dim=1) for pair in zip(kept, link, strict=True)])
        shares = torch.softmax(scores + power * sure, dim=1)
        point = multiply(torch.einsum("bk,bkd->bd", shares, entities[kept]), relations[link])
    return point @ entities.t()


def apart(anchors: Tensor, links: list[Tensor], *, tables: tuple[Tensor, Tensor], best: int, largest: bool) -> Tensor:
    """No single point: log of the sum, or of the largest, of p(e) p(a given e) over the best e."""
    entities, relations = tables
    chances = torch.log_softmax(multiply(entities[anchors], relations[links[0]]) @ entities.t(), dim=1)
    for link in links[1:]:
        tops = chances.topk(best, dim=1)
        rows = []
        for values, kept, one in zip(*tops, link, strict=True):
            both = values[:, None] + onward(tables, kept, one)
            rows.append(both.amax(dim=0) if largest else both.logsumexp(dim=0))
        chances = torch.stack(rows)
    return chances


def onward(tables: tuple[Tensor, Tensor], kept: Tensor, link: Tensor) -> Tensor:
    """Log p(a given e) of one next link from each of these entities: (K,), () -> (K, N)."""
    entities, relations = tables
    return torch.log_softmax(multiply(entities[kept], relations[link].expand(len(kept), -1)) @ entities.t(), dim=1)


def mrr(scores: Tensor, queries: Queries, rows: np.ndarray) -> float:
    """Mean over queries of the mean reciprocal filtered rank of their hard answers, in percent; half of ties before."""
    found = []
    for row, own in zip(rows.tolist(), scores, strict=True):
        hard, easy = (torch.from_numpy(part[row].astype(np.int64)) for part in (queries.hard, queries.easy))
        wanted = own[hard.to(own.device)]
        others = own.index_fill(0, torch.cat([hard, easy]).to(own.device), -torch.inf)
        ahead = (others > wanted[:, None]).sum(dim=1) + 0.5 * (others == wanted[:, None]).sum(dim=1)
        found.append((1.0 / (1.0 + ahead)).mean())
    return 100.0 * float(torch.stack(found).mean())


def measure(chain: Chain, queries: Queries, device: torch.device, batch: int = 50) -> float:
    """The MRR of a way to chain, a few queries at a time."""
    parts = []
    for rows in np.array_split(np.arange(len(queries)), -(-len(queries) // batch)):
        ids = torch.from_numpy(queries.ids[rows].astype(np.int64)).to(device)
        parts.append(len(rows) * mrr(chain(ids[:, 0], list(ids[:, 1:].unbind(1))), queries, rows))
    return sum(parts) / len(queries)


def ways(tables: tuple[Tensor, Tensor], best: int) -> dict[str, Chain]:
    """All of them, by name."""
    found: dict[str, Chain] = {
        f"expected, sharpness {s:g}": partial(expected, tables=tables, sharpness=s) for s in (1.0, 1.6, 2.5, 5.0)
    }
    for power in (0.5, 1.0):
        found[f"likewise, 1.6, next link's surest to the power {power:g}"] = partial(
            looked_ahead, tables=tables, sharpness=1.6, power=power, best=best
        )
    for name, largest in (("sum", False), ("largest", True)):
        found[f"the best {best} apart, {name}"] = partial(apart, tables=tables, best=best, largest=largest)
    return found


def model_of(path: Path, device: torch.device) -> Model:
    """The model of an engine or a run."""
    if is_engine(path):
        return load_engine(path, str(device)).parts.model
    return checkpoint.load_model(find_checkpoint(path), device)[0]


def main() -> None:
    """Ask in every way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("dataset")
    parser.add_argument("--queries", type=int, default=150)
    parser.add_argument("--best", type=int, default=128)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--device", default="auto")
    args = parser.parse_args()
    device = choose_device(args.device)
    model = model_of(args.model, device)
    if not isinstance(model.space, Hermitian):
        raise SystemExit(f"{args.model}: its entities are no rows of a ComplEx")
    weights = model.state_dict()
    tables = weights["entities.weight"].float(), weights["operators.weight"].float()
    kg = load(args.dataset, args.data)
    asked = query_sets(kg, "betae", trained=("1p",), evaluated=ASKED, data=args.data, splits=("valid",))["valid"]
    asked = {name: queries.spread(args.queries) for name, queries in asked.items()}
    kept: dict[str, dict[str, float]] = {}
    with torch.inference_mode():
        for title, chain in ways(tables, min(args.best, len(tables[0]))).items():
            kept[title] = {name: measure(chain, queries, device) for name, queries in asked.items()}
            print(f"{title:55} " + "  ".join(f"{name} {value:5.2f}" for name, value in kept[title].items()), flush=True)
    about = {"dim": tables[0].shape[1], "queries": args.queries, "validation_mrr": kept}
    record(f"chains-{args.dataset}", about, args.out or RESULTS)


if __name__ == "__main__":
    main()
