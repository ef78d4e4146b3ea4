"""Coverage of intervals of loadings on the design of section 5.1, hollow graphs.

``python -m tests.inference.coverage [--sets 100]`` writes what it found to COVERAGE.md beside it.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from experiments.section_5_1_recovery import draw as draw_5_1

from eigengraphs import JointEmbedding
from eigengraphs.errors import WeakPositionsWarning
from eigengraphs.inference import loading_intervals


def coverage(m, seeds, **settings):
    """Return the share of true loadings within their intervals, (sets, 3), and the weak ones."""
    shares, weak = [], []
    for seed in seeds:
        graphs, Lam = draw_5_1(m, np.random.default_rng(seed), loops=False)
        je = JointEmbedding(3, random_state=0).fit(graphs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WeakPositionsWarning)
            found = loading_intervals(je, graphs, **settings)
        shares.append(((found.low <= Lam) & (Lam <= found.high)).mean(axis=0))
        weak.append(found.weak)
    return np.array(shares), np.array(weak)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=100)
    sets = parser.parse_args().sets
    lines = ["# Coverage of 95 % intervals of loadings, section 5.1, hollow graphs", "",
             f"`python -m tests.inference.coverage --sets {sets}`", "",
             "| graphs | cross-fitted | data sets | lambda_1 | lambda_2 | lambda_3 | warned of 3 |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for m, number in ((256, sets), (4096, max(sets // 16, 2))):
        for cross_fit in (True, False):
            shares, weak = coverage(m, range(number), cross_fit=cross_fit)
            cells = " | ".join(f"{x:.3f}" for x in shares.mean(axis=0))
            warned = f"{weak[:, 2].mean():.0%}" if cross_fit else "–"
            lines.append(
                f"| {m} | {'yes' if cross_fit else 'no'} | {number} | {cells} | {warned} |"
            )
            print(lines[-1], flush=True)
    Path(__file__).with_name("COVERAGE.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
