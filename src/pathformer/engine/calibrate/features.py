"""What a probability is judged by: a few numbers for each predicted answer of a query.

P predicted answers, F features.

Nothing of a prediction depends on how many more were asked for: its own place and distance, the best prediction's,
those of the known answers, the shape of the question, and how many ends its last link usually has. So the third answer
is as likely in a list of three as in one of a hundred.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pathformer.engine.find.candidates import Candidates
from pathformer.query.tree import Negation, Projection, Tree, Union, children

__all__ = ["FEATURES", "features"]

Floats = npt.NDArray[np.float64]

FEATURES = (
    "log rank",  # place among the predictions, the first 0
    "distance",
    "behind the first",  # its distance less that of the best prediction
    "behind the known",  # its distance less the mean of the known answers', 0 where none is known
    "any known",  # 1 or 0
    "log known",  # of 1 + how many are known
    "hops",  # on the longest way from an anchor
    "anchors",
    "negations",
    "unions",
    "ends",  # log of how many ends the last link usually has, where it has any
)


def features(found: Candidates) -> Floats:
    """The features of the predictions, nearest first, (P, F)."""
    predicted = found.predicted
    distances = found.distances[predicted].astype(np.float64)
    known = found.distances[found.known].astype(np.float64)
    count = len(distances)
    table = np.empty((count, len(FEATURES)))
    table[:, 0] = np.log(np.arange(1, count + 1))
    table[:, 1] = distances
    table[:, 2] = distances - distances[:1]
    table[:, 3] = distances - known.mean() if len(known) else 0.0
    table[:, 4] = float(len(known) > 0)
    table[:, 5] = np.log1p(len(known))
    table[:, 6:] = (*_shape(found.tree), found.ends)
    return table


def _shape(tree: Tree) -> tuple[float, ...]:
    """Hops, anchors, negations, unions."""
    anchors = negations = unions = longest = 0
    level = [(tree, 0)]
    while level:
        node, hops = level.pop()
        hops += isinstance(node, Projection)
        negations += isinstance(node, Negation)
        unions += isinstance(node, Union)
        below = children(node)
        level += [(child, hops) for child in below]
        if not below:
            anchors, longest = anchors + 1, max(longest, hops)
    return longest, anchors, negations, unions
