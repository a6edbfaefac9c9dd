"""A table of MRR as a picture: a panel a structure, a line a model, the paper's figure and ours as two dots."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pathformer.experiments.tables.view import Grid, Line

__all__ = ["chart"]

_WIDE, _ROW, _GAP, _TOP, _HEAD, _COLUMNS, _LETTER = 150, 15, 26, 46, 30, 5, 6.2
_INK, _OURS, _PAPER, _FAINT = "#333333", "#1f6fb2", "#c4472f", "#d9d9d9"


def chart(grid: Grid) -> str:
    """The SVG of a table; datasets one below the other, each with its own scale a structure."""
    datasets = list(dict.fromkeys(line.dataset for line in grid.lines))
    columns = [column for column in grid.columns if column != "Parameters"]
    left = 14 + _LETTER * max(len(line.model) for line in grid.lines)
    parts, top = [], float(_TOP)
    for dataset in datasets:
        lines = [line for line in grid.lines if line.dataset == dataset]
        parts.append(_text(8, top - 14, dataset, weight="bold"))
        for start in range(0, len(columns), _COLUMNS):
            parts += _names(lines, left, top + _HEAD)
            for place, column in enumerate(columns[start : start + _COLUMNS]):
                parts += _panel(lines, column, left + place * (_WIDE + _GAP), top + _HEAD)
            top += _HEAD + len(lines) * _ROW + 14
        top += _GAP
    width = left + min(_COLUMNS, len(columns)) * (_WIDE + _GAP)
    head = (
        f'<text x="8" y="18"><tspan font-weight="bold">Table {grid.number}: {escape(grid.title)}</tspan>'
        f'<tspan dx="14" fill="{_PAPER}">○ paper</tspan><tspan dx="10" fill="{_OURS}">● ours</tspan></text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {top:.0f}" width="{width:.0f}" '
        f'height="{top:.0f}" font-family="sans-serif" font-size="11" fill="{_INK}">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{head}\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _names(lines: Sequence[Line], left: float, top: float) -> list[str]:
    return [_text(left - 8, _middle(top, n) + 4, line.model, anchor="end") for n, line in enumerate(lines)]


def _panel(lines: Sequence[Line], column: str, left: float, top: float) -> list[str]:
    """One structure of one dataset."""
    figures = [value for line in lines for value in (line.paper.get(column), (line.ours or {}).get(column)) if value]
    most = 1.05 * max(figures, default=1.0)

    def x(value: float) -> float:
        return round(left + _WIDE * value / most, 1)

    bottom = top + len(lines) * _ROW
    parts = [
        _text(left, top - 6, column.removesuffix(" negation"), weight="bold"),
        f'<path d="M{left:.1f},{top:.1f} V{bottom:.1f} H{left + _WIDE:.1f}" fill="none" stroke="{_INK}"/>',
        _text(left + _WIDE, bottom + 12, f"{most / 1.05:.1f}", anchor="end"),
    ]
    for number, line in enumerate(lines):
        y, paper, ours = _middle(top, number), line.paper.get(column), (line.ours or {}).get(column)
        if paper is not None and ours is not None:
            parts.append(f'<path d="M{x(paper)},{y} H{x(ours)}" stroke="{_FAINT}" stroke-width="3"/>')
        if paper is not None:
            parts.append(f'<circle cx="{x(paper)}" cy="{y}" r="3.5" fill="none" stroke="{_PAPER}"/>')
        if ours is not None:
            parts.append(f'<circle cx="{x(ours)}" cy="{y}" r="3" fill="{_OURS}"/>')
    return parts


def _middle(top: float, number: int) -> float:
    return round(top + (number + 0.5) * _ROW, 1)


def _text(x: float, y: float, words: str, *, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{escape(words)}</text>'
