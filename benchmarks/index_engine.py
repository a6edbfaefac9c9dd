"""An engine of NELL995's size whose distances are inner products: `python benchmarks/index_engine.py OUT`.

B links of a batch, K drawn entities, r rank.

`fit` makes such engines of graphs that are small enough to rank all entities at every step. To measure indexes at
63,361 entities, a ComplEx is trained here on a processor by drawn entities, the same K for all links of a batch, and
only the rows that a batch touches are adjusted; then the rest is `fit`'s own: the model of its settings starts from the
ComplEx and learns from questions, in small batches, for a fifth of the time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.engine.engine import Engine
from pathformer.engine.heldout import draw_questions
from pathformer.engine.lesson import Lesson, new_model, train_in
from pathformer.engine.scale import scale_for
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.index import build as build_index
from pathformer.kg.datasets import load
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models import build
from pathformer.models.complex import ComplEx
from pathformer.spaces.hermitian import cubes, multiply
from pathformer.training.display import Display
from pathformer.training.start import start_tables

LINKS, DRAWN = 512, 1024  # B, K
N3, RATE = 0.01, 0.3
QUESTIONS = 0.2  # share of the time


def directed(kg: KnowledgeGraph) -> Tensor:
    """The training links in both directions, (2 T, 3)."""
    triples = torch.from_numpy(np.array(kg.splits["train"])).long()
    return torch.cat([triples, torch.stack([triples[:, 2], triples[:, 1] ^ 1, triples[:, 0]], dim=1)])


class Rows:
    """A table of which an update adjusts some rows, by Adagrad."""

    def __init__(self, table: Tensor) -> None:
        self.table, self.squares = table, torch.full_like(table, 1e-10)

    def read(self, ids: Tensor) -> Tensor:
        return self.table[ids].requires_grad_()

    def adjust(self, ids: Tensor, gradient: Tensor, rate: float) -> None:
        self.squares[ids] += gradient.square()
        self.table[ids] -= rate * gradient / self.squares[ids].sqrt()


def update(entities: Rows, relations: Rows, links: Tensor, drawn: Tensor, rate: float) -> float:
    """One batch: softmax over each link's own end and the drawn entities, which its end may be among, and N3."""
    touched, places = torch.unique(torch.cat([links[:, 0], links[:, 2], drawn]), return_inverse=True)
    used, of_link = torch.unique(links[:, 1], return_inverse=True)
    rows, factors = entities.read(touched), relations.read(used)
    count = len(links)
    heads, tails, others = rows[places[:count]], rows[places[count : 2 * count]], rows[places[2 * count :]]
    joined = factors[of_link]
    points = multiply(heads, joined)
    own = (points * tails).sum(dim=1, keepdim=True)
    scores = (points @ others.t()).masked_fill(drawn == links[:, 2:], -torch.inf)
    loss = F.cross_entropy(torch.cat([own, scores], dim=1), torch.zeros(count, dtype=torch.long))
    size = (cubes(heads) + cubes(joined) + cubes(tails)).mean()
    of_rows, of_factors = torch.autograd.grad(loss + N3 * size, [rows, factors])
    entities.adjust(touched, of_rows, rate)
    relations.adjust(used, of_factors, rate)
    return loss.item()


def learn_links(kg: KnowledgeGraph, rank: int, minutes: float) -> ComplEx:
    """A ComplEx after so long, the rate falling to nothing."""
    torch.manual_seed(0)
    names = kg.vocabulary
    model = build(
        "complex", {"rank": rank, "n3": N3}, entities=names.entity_count, relations=names.relation_count
    ).requires_grad_(False)
    assert isinstance(model, ComplEx)
    entities, relations = Rows(model.entities.weight), Rows(model.operators.weight)
    links, begun, told, steps = directed(kg), time.monotonic(), 0.0, 0
    while (spent := (time.monotonic() - begun) / (60 * minutes)) < 1:
        some, drawn = torch.randint(len(links), (LINKS,)), torch.randint(names.entity_count, (DRAWN,))
        loss = update(entities, relations, links[some], drawn, RATE * (1 - spent))
        steps += 1
        if spent - told > 0.1:
            told = spent
            print(f"{steps:,} updates, {LINKS * steps / len(links):.1f} passes, loss {loss:.3f}", flush=True)
    return model


def make(kg: KnowledgeGraph, rank: int, minutes: float) -> Engine:
    """The engine, over an exact index and without probabilities."""
    source = learn_links(kg, rank, (1 - QUESTIONS) * minutes)
    names = kg.vocabulary
    usual = scale_for(entities=names.entity_count, triples=kg.triple_count, minutes=minutes, hops=True)
    training = replace(usual.training, minutes=QUESTIONS * minutes, batch=64, fresh=0, validations=0)
    scale = replace(usual, model={**usual.model, "dim": 2 * rank}, links=None, training=training, drawn=5000, asked=20)
    questions = draw_questions(kg, scale, 0, lambda _: None)
    model = new_model(kg, scale, torch.device("cpu"))
    start_tables(model, source)
    with tempfile.TemporaryDirectory() as folder:
        train_in(Path(folder), model, Lesson(kg, questions, scale), Display(Console()))
    figures = evaluate(ModelRanker(model), questions.test).scores
    print({name: round(100 * score.mrr, 1) for name, score in figures.items()})
    about = {"minutes": minutes, "mrr": {name: score.mrr for name, score in figures.items()}}
    rows = model.entities.weight.detach()
    return Engine(kg, model, build_index("exact", rows, model.space), about=about)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=15.0, help="of training")
    parser.add_argument("--rank", type=int, default=128, help="complex numbers of an entity")
    parser.add_argument("--data", type=Path, default=None, help="the folder that holds datasets")
    given = parser.parse_args()
    make(load("nell995", given.data), given.rank, given.minutes).save(given.out, force=True)


if __name__ == "__main__":
    main()
