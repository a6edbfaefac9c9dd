"""Runs side by side, each in a box of time: `PYTHONPATH=src python benchmarks/boxes.py MINUTES OUT RUN [RUN ...]`.

A RUN is a run file with settings after it, joined by commas: `fb15k-237-epfo,training.turns=false`. Runs of one dataset
and query set share what was read. Prints and records a line a run: steps, queries a second, validation and test MRR.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from _record import record

from pathformer.experiments.run import Material, gather, train_run
from pathformer.experiments.settings import read_run


def main(minutes: str, out: str, *specifications: str) -> None:
    """Train every run, one after the other."""
    shared: dict[tuple[str, str, str], Material] = {}
    lines: dict[str, dict[str, float]] = {}
    for number, specification in enumerate(specifications):
        file, *settings = specification.split(",")
        run = read_run(file, [*settings, f"training.minutes={minutes}"])
        key = run.dataset, run.queries, run.trained
        if key not in shared:
            shared[key] = gather(run)
        folder = Path(out) / f"{number:02d}-{Path(file).stem}"
        outcome = train_run(run, folder, material=shared[key])
        log = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
        rates = sorted(line["queries_per_second"] for line in log if "queries_per_second" in line)
        figures = {"steps": outcome.result.step, "queries_per_second": rates[len(rates) // 2]}
        figures["valid_mrr"] = 100 * (outcome.result.best_mrr or 0.0)
        for name, report in outcome.reports.items():
            figures |= {f"{name} {avg}": 100 * scores.mrr for avg, scores in report.averages.items()}
            figures |= {f"{name} {structure}": 100 * scores.mrr for structure, scores in report.scores.items()}
        lines[specification] = figures
        print(specification, {name: round(value, 2) for name, value in figures.items()}, flush=True)
    print("written to", record("boxes", {"minutes": float(minutes), "runs": lines}, Path(out)))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
