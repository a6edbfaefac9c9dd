"""Trains a list of run files one after the other and writes the record of each when it ends.

    python benchmarks/rerun.py [--out DIR] [--minutes N] [--variant WORD] [--set KEY=VALUE ...] RUN [RUN ...]

A RUN is the name or the path of a run file. Its folder is DIR/work/NAME, its record DIR/RUN@BUDGET.json, which
`pathformer tables --records DIR` shows. The same command goes on after an interruption: a run that was cut continues,
and one that has its record is passed over. Ctrl-C or the end of --minutes saves the run in progress.
"""

from __future__ import annotations

import argparse
import signal
import sys
import traceback
from pathlib import Path

from pathformer.experiments.records import make_record, record_name
from pathformer.experiments.run import start_anew, train_run
from pathformer.experiments.second_model import whole_minutes
from pathformer.experiments.settings import read_run
from pathformer.nn.device import choose_device


def rerun(name: str, args: argparse.Namespace) -> bool:
    """Trains one run and writes its record; returns False if it was stopped before its end."""
    run = read_run(name, args.set)
    minutes = whole_minutes(run)
    if minutes is not None:
        path = args.out / record_name(Path(name).stem, minutes, 0, args.variant)
        if path.is_file():
            print(f"{path} is there already", flush=True)
            return True
    words = [Path(name).stem, args.variant, "" if minutes is None else f"{minutes:g}min"]
    folder = args.out / "work" / "-".join(filter(None, words))
    outcome = train_run(run, folder, data=args.data, device=args.device)
    if not outcome.result.finished:
        return False
    device = choose_device(args.device)
    record = make_record(folder, run=name, variant=args.variant, device=device, commit=args.commit)
    print(f"written to {record.write(args.out)}", flush=True)
    if not args.keep:
        start_anew(folder)  # deletes the weights
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--out", type=Path, default=Path("runs/records"), help="where records go")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for all runs")
    parser.add_argument("--variant", default="", help="a word for runs with settings of their own")
    parser.add_argument("--minutes", type=float, help="stop and save after so long")
    parser.add_argument("--keep", action="store_true", help="keep the weights of finished runs")
    parser.add_argument("--data", type=Path, help="the folder that holds datasets")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--commit", help="what the records say, where this is no checkout")
    args = parser.parse_args()
    if args.minutes is not None:
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))  # a run saves itself on Ctrl-C
        signal.setitimer(signal.ITIMER_REAL, 60 * args.minutes)
    failed = []
    for name in args.runs:
        try:
            if not rerun(name, args):
                print("stopped; the same command goes on", flush=True)
                break
        except Exception:
            failed.append(name)
            traceback.print_exc()
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
