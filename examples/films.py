"""The paper's question on a hand-written graph of Italian films: who starred in Fellini's films that won no Oscar?

    python examples/films.py [MINUTES]

The graph (films.tsv, 347 triples) lacks facts on purpose: who wrote the music of Amarcord, Sandra or Journey to Italy,
and that Mastroianni is in Intervista.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

import pathformer as pf

FILMS = Path(__file__).with_name("films.tsv")

QUESTIONS = {
    "Who starred in Fellini's films that did not win an Oscar?": (
        "?who : directed(Fellini, ?film) & !won(?film, Oscar) & stars(?film, ?who)"
    ),
    "Who wrote the music of Amarcord? The graph does not say.": "?who : composed(?who, Amarcord)",
    "Who starred in films of both Visconti and Leone?": (
        "?who : directed(Visconti, ?one) & stars(?one, ?who) & directed(Leone, ?other) & stars(?other, ?who)"
    ),
    "Which films with music by Rota or Morricone won the Palme d'Or?": (
        '?film : (composed("Nino Rota", ?film) | composed("Ennio Morricone", ?film)) & won(?film, "Palme d\'Or")'
    ),
}


def main(minutes: float = 0.5) -> None:
    """Fit an engine to the graph and ask it."""
    console = Console(highlight=False)
    engine = pf.fit(pf.KnowledgeGraph.read(FILMS), minutes=minutes)
    for words, formula in QUESTIONS.items():
        console.print(f"\n[bold]{words}[/]\n[cyan]{formula}[/]")
        console.print(engine.ask(formula, top=3).table())


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
