"""Runs in boxes of time: `PYTHONPATH=src python benchmarks/boxes.py MINUTES OUT RUN [RUN ...]`.

    --jobs N        N rows side by side on the one device, each in a process of its own; their order is the given one
    --others N      processes of others on the same device, which the results count beside the rows
    --no-mps        do not start NVIDIA's multi-process service for them
    --seconds S     stop and save S seconds after the start; the same command goes on
    --whole         start no run that would be cut
    --keep          leave the weights of finished runs in OUT/work
    --set KEY=VALUE settings for all runs; may be repeated
    --variant WORD  keep the results under this word
    --commit HASH   what the results say, where this is no checkout
    --data DIR      the folder that holds datasets
    --cpu           on the processor

A RUN is a run file (`fb15k-237-epfo-betae`), with its own minutes after `@` (`nell995-epfo@1.25`), its own variant
after `#` (`fast-fb15k-237#seed1`), other runs that the same weights serve after `+` (`fb15k-237-epfo+fb15k-237-q2b`),
and settings after commas (`fb15k-237-epfo,training.turns=false`). `table:N` means all rows of a table,
`table:N:DATASET` those of one dataset. Each leaves `OUT/RUN@BUDGET.json`, which `pathformer tables --results OUT` shows
and `experiments/results` takes. A run whose file is there is passed over. Data are read once; kernels are compiled
before a run's clock starts. With --jobs a row's own output is in `OUT/work/RUN@BUDGET.log`, and where all rows stand is
told here every 20 seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from pathformer.experiments.boxes import Box, fill
from pathformer.experiments.tables.catalogue import DATASETS, MEASURED


def boxes(words: str, minutes: float, settings: list[str], variant: str) -> list[Box]:
    """The boxes that one argument means."""
    head, *own = words.split(",")
    head, *also = head.split("+")
    head, _, word = head.partition("#")
    head, _, given = head.partition("@")
    if "@" in word:
        raise SystemExit(f"{words}: minutes come before the variant, RUN@MINUTES#WORD")
    changes = (*settings, *own)
    return [
        Box(run=name, minutes=float(given or minutes), settings=changes, variant=word or variant, also=tuple(also))
        for name in (_rows(head) if head.startswith("table:") else [head])
    ]


def _rows(words: str) -> list[str]:
    """The run files that `table:N` or `table:N:DATASET` means."""
    _, number, *dataset = words.split(":")
    if number not in map(str, MEASURED):
        raise SystemExit(f"no table {number!r} is made of runs; those are {', '.join(map(str, MEASURED))}")
    places = MEASURED[int(number)].places
    names = [place.run for place in places if not dataset or place.run.startswith(f"{dataset[0]}-")]
    if not names:
        raise SystemExit(f"no dataset {dataset[0]!r} in table {number}; there are {', '.join(DATASETS)}")
    return names


def main() -> None:
    """Fill them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", type=float)
    parser.add_argument("out", type=Path)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--others", type=int, default=0)
    for name in ("whole", "keep", "cpu", "no-mps"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--variant", default="")
    parser.add_argument("--commit")
    parser.add_argument("--data", type=Path)
    args = parser.parse_args()
    begun = time.monotonic()
    asked = [box for words in args.runs for box in boxes(words, args.minutes, args.set, args.variant)]
    unique = {box.name: box for box in asked}.values()
    todo = [box for box in unique if not (args.out / box.file_name).is_file()]
    print(f"{len(unique)} runs, {len(unique) - len(todo)} of them done before", flush=True)
    filled = fill(
        todo,
        args.out,
        args.out / "work",
        seconds=args.seconds,
        whole=args.whole,
        keep=args.keep,
        data=args.data,
        device="cpu" if args.cpu else "auto",
        commit=args.commit,
        jobs=args.jobs,
        others=args.others,
        mps=not args.no_mps,
    )
    for name, words in filled.failed.items():
        print(f"FAILED {name}: {words}")
    left = ", ".join(box.name for box in filled.left) or "none"
    failed = ", ".join(filled.failed) or "none"
    took = time.monotonic() - begun
    print(f"{len(filled.done)} done in {took:.0f} s; failed: {failed}; left: {left}", flush=True)
    sys.exit(bool(filled.failed))


if __name__ == "__main__":
    main()
