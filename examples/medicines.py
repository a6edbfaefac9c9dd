"""Medicines, what they bind to, what they treat and what they cause: a hand-written graph in the style of biomedicine.

    python examples/medicines.py [MINUTES]

The graph (medicines.tsv, 482 triples) is simplified, made to show how questions are asked, and no medical advice. Five
true facts are left out, so that there is something to find: what telmisartan and pravastatin bind to, that paroxetine
treats depression, that edoxaban treats atrial fibrillation, that captopril causes a dry cough.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

import pathformer as pf

MEDICINES = Path(__file__).with_name("medicines.tsv")

QUESTIONS = {
    "What does telmisartan bind to? The graph does not say.": "?protein : targets(telmisartan, ?protein)",
    "Which medicines act on a protein of hypertension, but cause no dry cough?": (
        '?drug : associated_with(?p, hypertension) & targets(?drug, ?p) & !causes(?drug, "dry cough")'
    ),
    "Which pathways do medicines act on that treat asthma or allergic rhinitis?": (
        '?pathway : (treats(?drug, asthma) | treats(?drug, "allergic rhinitis")) & targets(?drug, ?p)'
        " & part_of(?p, ?pathway)"
    ),
    "Which medicines for depression act on a protein of monoamine transport?": (
        '?drug : treats(?drug, depression) & targets(?drug, ?p) & part_of(?p, "monoamine transport")'
    ),
}


def main(minutes: float = 0.5) -> None:
    """Fit an engine to the graph, ask it, and keep only what is likely."""
    console = Console(highlight=False)
    engine = pf.fit(pf.KnowledgeGraph.read(MEDICINES), minutes=minutes)
    for words, formula in QUESTIONS.items():
        console.print(f"\n[bold]{words}[/]\n[cyan]{formula}[/]")
        console.print(engine.ask(formula, top=3).table(why=False))
    likely = engine.ask("?drug : treats(?drug, hypertension)", top=50).at_precision(0.5)
    console.print(
        f"\nAgainst hypertension: {len(likely.known)} are known; {len(likely.predicted)} more if half may be wrong"
    )


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
