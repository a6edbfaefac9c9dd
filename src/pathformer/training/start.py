"""Tables that start where a link predictor ended.

N rows, e columns of the source, d columns wanted.

Rows of another width are mapped: X V Q, where V (e, m) are the m = min(e, d) directions in which X has most weight, so
that inner products between rows stay as near as m numbers allow (Eckart and Young), and Q (m, d) has orthonormal rows
at random, so that no column of the result means more than another. All is scaled to the size that the table had.

Where both models measure by the same inner product of complex numbers and are as wide, rows are copied as they are: a
query that is the product of its start and its relation then has the score that the source gives it. Several such
sources stand side by side as one, whose scores are the mean of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from pathformer.errors import CheckpointError
from pathformer.models import Model
from pathformer.models.complex import ComplEx
from pathformer.models.complex import Config as ComplExConfig
from pathformer.nn.table import Table
from pathformer.spaces.hermitian import Hermitian, side_by_side

__all__ = ["as_one", "mapped", "start_tables"]


@torch.no_grad()
def start_tables(model: Model, source: Model, seed: int = 0) -> None:
    """Let the tables of a new model begin as those of `source`: entities, and relations where both have a table.

    Rows that the source does not have, as a token for negation, stay as they are.
    """
    if (model.entity_count, model.relation_count) != (source.entity_count, source.relation_count):
        raise CheckpointError(
            f"a model of {model.entity_count:,} entities and {model.relation_count:,} relations cannot start from one "
            f"of {source.entity_count:,} and {source.relation_count:,}"
        )
    chance = torch.Generator().manual_seed(seed)
    alike = isinstance(model.space, Hermitian) and isinstance(source.space, Hermitian)
    for name in ("entities", "operators"):
        ours, theirs = getattr(model, name, None), getattr(source, name, None)
        if isinstance(ours, Table) and isinstance(theirs, Table):
            rows = theirs.weight[: min(len(ours), len(theirs))]
            if alike and rows.shape[1] == ours.weight.shape[1]:
                ours.weight[: len(rows)] = rows
                continue
            size = ours.weight.square().mean().sqrt()
            ours.weight[: len(rows)] = size * mapped(rows, ours.weight.shape[1], chance).to(ours.weight)


@torch.no_grad()
def as_one(sources: Sequence[Model]) -> Model:
    """Link predictors of ranks r_1, r_2, ... as one of rank r_1 + r_2 + ..., whose scores are the mean of theirs.

    Each errs in its own way, and the mean less: on NELL995 paths and forks of links alone have 29.5 with two seeds,
    with either of them 29.2 and 29.4. What is learned on top gains 0.1 or nothing (docs/recipe.md).
    """
    if len(sources) == 1:
        return sources[0]
    sizes = {(source.entity_count, source.relation_count) for source in sources}
    if len(sizes) > 1 or not all(isinstance(source, ComplEx) for source in sources):
        raise CheckpointError("only several models of `complex`, of one graph, can be started from at once")
    ours = [source for source in sources if isinstance(source, ComplEx)]
    rank = sum(source.config.rank for source in ours)
    joined = ComplEx(ComplExConfig(rank=rank), *sizes.pop()).to(ours[0].entities.weight.device)
    joined.entities.weight.copy_(side_by_side([source.entities.weight for source in ours]))
    joined.operators.weight.copy_(side_by_side([source.operators.weight for source in ours]) / len(ours))
    return joined


def mapped(rows: Tensor, columns: int, chance: torch.Generator) -> Tensor:
    """X V Q of mean square 1. rows (N, e) -> (N, d) float32."""
    values = rows.float()
    kept = min(values.shape[1], columns)
    _, directions = torch.linalg.eigh((values.t() @ values).double())  # ascending
    shorter = values @ directions[:, -kept:].to(values)  # X V (N, m)
    turn, _ = torch.linalg.qr(torch.randn(columns, kept, generator=chance))  # Q^T (d, m)
    found: Tensor = shorter @ turn.t().to(values)
    return found / found.square().mean().sqrt().clamp(min=1e-12)
