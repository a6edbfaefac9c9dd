"""Describes a layout in words: what each step encodes."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from pathformer.plan.build import decompose
from pathformer.plan.layout import ForkStep, Ints, Layout, PathStep, UnionWay
from pathformer.query.compile.paths import Fork, Path
from pathformer.query.structures import NEGATION, Structure
from pathformer.text import counted

__all__ = ["describe", "formula"]


def describe(layout: Layout) -> str:
    """Returns one line for each structure, then one line for each step.

    >>> from pathformer.plan.build import build_layout
    >>> from pathformer.plan.layout import Block
    >>> from pathformer.query.structures import structure
    >>> print(describe(build_layout([Block(structure("2p"), 8), Block(structure("ip"), 4)])))
    12 queries, 12 points, 44 ids
      8 x 2p  P(e, r, r)
      4 x ip  P(F(P(e, r), P(e, r)), r)
    step 1: 16 paths, 40 tokens (8 of 3 tokens, 8 of 2)
    step 2: 4 forks (4 of 2 branches), 1 round
    step 3: 4 paths, 8 tokens (4 of 2 tokens)
    """
    lines = [f"{layout.queries:,} queries, {len(layout.roots):,} points, {layout.ids:,} ids"]
    for block in layout.blocks:
        lines.append(f"  {block.count:,} x {block.structure}  {formula(block.structure, layout.union)}")
    for number, step in enumerate(layout.steps, 1):
        lines.append(f"step {number}: {_path_line(step) if isinstance(step, PathStep) else _fork_line(step)}")
    return "\n".join(lines)


def formula(structure: Structure, union: UnionWay = "dnf") -> str:
    """Writes a structure as paths P(start, operators), forks F(branches), unions U(branches); `|` between disjuncts."""
    return " | ".join(map(_formula, decompose(structure, union)))


def _formula(query: Path | Fork) -> str:
    if isinstance(query, Fork):
        return f"{'U' if query.united else 'F'}({', '.join(map(_formula, query.branches))})"
    start = _formula(query.start) if isinstance(query.start, Fork) else "e"
    return f"P({', '.join([start, *('N' if o == NEGATION else 'r' for o in query.operators)])})"


def _path_line(step: PathStep) -> str:
    return f"{len(step):,} paths, {step.tokens:,} tokens ({_sizes(step.lengths, 'tokens')})"


def _fork_line(step: ForkStep) -> str:
    rounds = len(step.branches) - 1
    kind = "unions" if step.united else "forks"
    return f"{len(step):,} {kind} ({_sizes(step.arities, 'branches')}), {counted(rounds, 'round')}"


def _sizes(sizes: Ints, unit: str) -> str:
    runs = [(int(size), len(list(run))) for size, run in groupby(np.asarray(sizes).tolist())]
    texts = [f"{count:,} of {size}" for size, count in runs]
    return ", ".join([f"{texts[0]} {unit}", *texts[1:]])
