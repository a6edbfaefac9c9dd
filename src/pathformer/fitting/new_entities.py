"""A model for a graph that grew: old rows stay, new entities start where the model itself expects them.

N entities, q numbers of a query in the space; new entities can be placed where an entity has q numbers, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.evaluation.evaluate import ModelRanker
from pathformer.kg.graph import Graph
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.ragged import Ragged
from pathformer.models._base import Model, build
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.queries import Queries
from pathformer.spaces.hermitian import Hermitian
from pathformer.spaces.sphere import Sphere

__all__ = ["grow_model", "initialise_new_entities"]

_SHORTER = 0.5  # length of a new row where scores grow with length, so that it does not outrank well-known entities
_LOOSER = 0.3  # share of the old entities' cosine on a sphere; nearer rows would push down answers of long questions
_LOOKED_AT = 500  # old entities that show how far a row lies from what its links predict


def grow_model(model: Model, kg: KnowledgeGraph) -> Model:
    """Returns the model with rows for more entities and relations; old rows keep their numbers."""
    names = kg.vocabulary
    grown = build(model.name, asdict(model.config), entities=names.entity_count, relations=names.relation_count)
    state = grown.state_dict()
    for name, tensor in model.state_dict().items():
        known = model.entity_count if name.endswith("entities.weight") else model.relation_count
        state[name] = tensor if state[name].shape == tensor.shape else _spliced(state[name], tensor, known)
    grown.load_state_dict(state)
    return grown


def _spliced(fresh: Tensor, old: Tensor, known: int) -> Tensor:
    """Puts old rows where they were; special rows after them (a token of negation) stay the last."""
    result = fresh.clone()
    result[:known] = old[:known]
    if len(old) > known:
        result[len(fresh) - (len(old) - known) :] = old[known:]
    return result


def initialise_new_entities(model: Model, graph: Graph, first: int, rounds: int = 2, seed: int = 0) -> None:
    """Puts each entity from id `first` on at the mean of what the model predicts for its links.

    It works in rounds, so that an entity that is linked to new entities only follows these. On a sphere and in the
    hermitian space a row is put beside the mean: at the mean itself it would be nearer to every such question than the
    entities that answer it. Old entities show how far beside it lies, and how long it is.
    """
    table, space = model.entities.weight, model.space
    if space.entity_width != space.query_width:
        return  # in this space a query is not a possible entity
    placed = np.arange(graph.entities) < first
    new = ~placed
    beside = _beside(model, graph, first, seed) if isinstance(space, Sphere | Hermitian) and first else None
    for _ in range(rounds):
        found, means = _mean_predictions(model, graph, new, placed)
        if not len(found):
            return
        with torch.no_grad():
            table[found] = (means if beside is None else beside(means)).to(table.dtype)
        placed[found.cpu().numpy()] = True


def _beside(model: Model, graph: Graph, first: int, seed: int) -> Callable[[Tensor], Tensor]:
    """Returns a function that turns mean predictions into rows with the length and cosine of old entities."""
    table = model.entities.weight.detach()
    draw = np.random.default_rng(seed)
    some = np.zeros(graph.entities, np.bool_)
    some[draw.permutation(first)[:_LOOKED_AT]] = True
    rows, means = _mean_predictions(model, graph, some, np.arange(graph.entities) < first)
    shorter, looser = (_SHORTER, 1.0) if isinstance(model.space, Hermitian) else (1.0, _LOOSER)
    length = shorter * table[:first].norm(dim=1).mean()
    cosine = looser * F.cosine_similarity(table[rows], means.to(table.dtype), dim=1).mean().clamp(0.0, 1.0)

    def beside(points: Tensor) -> Tensor:
        unit = F.normalize(points, dim=1)
        noise = torch.from_numpy(draw.standard_normal(tuple(points.shape))).to(unit)
        aside = F.normalize(noise - (noise * unit).sum(dim=1, keepdim=True) * unit, dim=1)
        row: Tensor = length * (cosine * unit + (1.0 - cosine**2).sqrt() * aside)
        return row

    return beside


def _mean_predictions(
    model: Model, graph: Graph, wanted: npt.NDArray[np.bool_], placed: npt.NDArray[np.bool_]
) -> tuple[Tensor, Tensor]:
    """Returns the wanted entities with a link to a placed one (n,), and the mean of what these links predict (n, q)."""
    heads = np.repeat(np.arange(graph.entities), np.diff(graph.head_ptr))
    of_pair = np.repeat(np.arange(len(graph.pair_relation)), np.diff(graph.pair_ptr))
    subject, relation, neighbour = heads[of_pair], graph.pair_relation[of_pair], graph.tails
    use = wanted[subject] & placed[neighbour]
    found, owner, counts = np.unique(subject[use], return_inverse=True, return_counts=True)
    device = model.entities.weight.device
    if not len(found):
        return torch.empty(0, dtype=torch.long, device=device), torch.empty(0, model.space.query_width, device=device)
    points = _predicted(model, np.stack([neighbour[use], relation[use] ^ 1], axis=1))
    total = points.new_zeros(len(found), points.shape[1])
    total.index_add_(0, torch.from_numpy(owner).to(device), points)
    return torch.from_numpy(found).to(device), total / torch.from_numpy(counts).to(device)[:, None]


def _predicted(model: Model, rows: npt.NDArray[np.integer]) -> Tensor:
    """Encodes single links (anchor, relation), (n, 2) -> (n, q)."""
    ids = rows.astype(np.int32)
    with model.at_rest(), torch.no_grad():
        points, _ = ModelRanker(model).points(
            Queries(STRUCTURES["1p"], ids, Ragged.empty(len(ids)), Ragged.empty(len(ids)))
        )
    return points
