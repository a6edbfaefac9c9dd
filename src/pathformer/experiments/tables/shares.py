"""How much of the paper's 1p MRR each method has reached on FB15k-237 within its budget.

One-hop queries tell whether the equations and the settings are right before anything else is learned: a method that
stays far below has a cause that must be found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["BAR", "share_notes", "share_words", "shares"]

BAR = 0.7  # of the paper's figure; a method below it is named
_DATASETS = ("FB15k-237", "FB237-Q2B")
Figures = Mapping[str, float]


def shares(rows: Sequence[tuple[str, str, Figures, Figures]]) -> dict[str, dict[str, float]]:
    """Dataset -> model -> ours over the paper's; rows are (dataset, model, the paper's figures, ours)."""
    found: dict[str, dict[str, float]] = {}
    for dataset, model, paper, ours in rows:
        if dataset in _DATASETS and "1p" in paper and "1p" in ours:
            found.setdefault(dataset, {})[model] = ours["1p"] / paper["1p"]
    return found


def share_notes(rows: Sequence[tuple[str, str, Figures, Figures]]) -> list[str]:
    """A sentence for each dataset: all shares, and those that are below the bar."""
    return [f"Share of the paper's 1p, {dataset}: {_words(reached)}." for dataset, reached in shares(rows).items()]


def share_words(share: float) -> str:
    """A share in percent, with as many decimals as show one below the bar to be below it.

    >>> share_words(0.973), share_words(0.6967), share_words(0.69998), share_words(0.7)
    ('97 %', '69.7 %', '69.998 %', '70 %')
    """
    shown = (digits for digits in range(9) if share >= BAR or round(100 * share, digits) < 100 * BAR)
    return f"{100 * share:.{next(shown, 0)}f} %"


def _words(reached: Mapping[str, float]) -> str:
    all_of_them = ", ".join(f"{model} {share_words(share)}" for model, share in reached.items())
    below = [model for model, share in reached.items() if share < BAR]
    return f"{all_of_them}; below {share_words(BAR)}: {', '.join(below) or 'none'}"
