"""Run benchmarks: ``python -m benchmarks [names] [--quick]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from benchmarks import (
    against_first,
    cluster,
    compiling,
    cp,
    dense,
    fit,
    growth,
    restarts,
    sample,
    small,
    sparse,
    store,
    threads,
    variations,
)
from benchmarks.report import Report, render, write_section

BENCHMARKS: dict[str, Callable[[bool], Report]] = {
    "dense": dense.run,
    "sparse": sparse.run,
    "small": small.run,
    "cp": cp.run,
    "growth": growth.run,
    "restarts": restarts.run,
    "threads": threads.run,
    "variations": variations.run,
    "fit": fit.run,
    "sample": sample.run,
    "cluster": cluster.run,
    "store": store.run,
    "store-sparse": store.run_sparse,
    "compile": compiling.run,
}


def main() -> int:
    """Run the benchmarks asked for; return 1 if a quality check failed."""
    if sys.argv[1:2] == [against_first.NAME]:  # has options of its own, and writes no results
        return against_first.main(sys.argv[2:])
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure eigengraphs against its peers."
    )
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"which of {', '.join(BENCHMARKS)}; all by default"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, once; RESULTS.md stays as it is"
    )
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}")
    failed = False
    for name in options.names or BENCHMARKS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        report = BENCHMARKS[name](options.quick)
        print(render(report, quick=options.quick), flush=True)
        if not options.quick:
            write_section(report)
        failed |= bool(report.failures)
        for text in report.failures:
            print(f"{name}: quality check failed: {text}", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
