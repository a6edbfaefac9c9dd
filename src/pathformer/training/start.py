"""Starts the tables of a model where those of a link predictor ended.

N rows, e columns of the source, d columns wanted.

Rows of another width are mapped: X V Q, where V (e, m) are the m = min(e, d) directions in which X has most weight, so
that inner products between rows stay as near as m numbers allow (Eckart and Young), and Q (m, d) has orthonormal rows
at random, so that no column of the result means more than another. All is scaled to the size that the table had.

Where both models measure by the same inner product of complex numbers and are as wide, rows are copied as they are: a
query that is the product of its start and its relation then has the score that the source gives it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pathformer.errors import CheckpointError
from pathformer.models._base import Model

__all__ = ["map_rows", "start_tables"]


@torch.no_grad()
def start_tables(model: Model, source: Model, seed: int = 0) -> None:
    """Starts the tables of a new model as those of `source`: entities, and relations where both have a table.

    Rows that the source does not have, as a token for negation, stay as they are.
    """
    if (model.entity_count, model.relation_count) != (source.entity_count, source.relation_count):
        raise CheckpointError(
            f"a model of {model.entity_count:,} entities and {model.relation_count:,} relations cannot start from one "
            f"of {source.entity_count:,} and {source.relation_count:,}"
        )
    chance = torch.Generator().manual_seed(seed)
    given = source.link_tables()
    for name, ours in model.link_tables().items():
        if name not in given:
            continue
        rows = given[name].weight[: len(ours)]
        if model.space.can_copy_rows(source.space) and rows.shape[1] == ours.weight.shape[1]:
            ours.weight[: len(rows)] = rows
            continue
        size = ours.weight.square().mean().sqrt()
        ours.weight[: len(rows)] = size * map_rows(rows, ours.weight.shape[1], chance).to(ours.weight)


def map_rows(rows: Tensor, columns: int, chance: torch.Generator) -> Tensor:
    """Returns X V Q, scaled to mean square 1. rows (N, e) -> (N, d) float32."""
    values = rows.float()
    kept = min(values.shape[1], columns)
    _, directions = torch.linalg.eigh((values.t() @ values).double())  # ascending
    shorter = values @ directions[:, -kept:].to(values)  # X V (N, m)
    turn, _ = torch.linalg.qr(torch.randn(columns, kept, generator=chance))  # Q^T (d, m)
    found: Tensor = shorter @ turn.t().to(values)
    return found / found.square().mean().sqrt().clamp(min=1e-12)
