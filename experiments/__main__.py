"""Run experiments: ``python -m experiments NAME [--quick] [--seed N] [--output DIR]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from experiments import misaligned, refined
from experiments.output import Outcome, write_outcome

EXPERIMENTS: dict[str, Callable[[bool, int, Path], Outcome]] = {
    "misaligned": misaligned.run,
    "refined": refined.run,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the experiments asked for; tables and pictures go to a folder of their own."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="+", choices=[*EXPERIMENTS, "all"], metavar="NAME",
                        help=f"{', '.join(EXPERIMENTS)} or all")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="small sizes; minutes at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("experiments-output"))
    options = parser.parse_args(arguments)
    names = list(EXPERIMENTS) if "all" in options.names else options.names
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        options.output.mkdir(parents=True, exist_ok=True)
        outcome = EXPERIMENTS[name](options.quick, options.seed, options.output)
        print(write_outcome(outcome, options.output, quick=options.quick), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
