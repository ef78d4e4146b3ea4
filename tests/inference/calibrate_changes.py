"""How often a change is found where there is none, and where there is one.

``python -m tests.inference.calibrate_changes`` writes calibration-changes.md beside this file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

from eigengraphs.inference import change_points

RESULTS = Path(__file__).with_name("calibration-changes.md")


def autoregression(rng, m, rho, tails=None):
    """Return series (m, d) of unit innovations, each with its autocorrelation."""
    shape = (m + 100, len(rho))
    noise = rng.normal(size=shape) if tails is None else rng.standard_t(tails, size=shape)
    made = [lfilter([1.0], [1.0, -r], noise[:, k]) for k, r in enumerate(rho)]
    return np.stack(made, axis=1)[100:]


def false_alarm(rng, m, rho, n_permutations=99, tails=None, shift=0.0):
    """Tell whether a change is found; with a shift (in standard deviations), near the middle."""
    Y = autoregression(rng, m, rho, tails)
    Y[m // 2 :] += shift * Y.std(axis=0)
    found = change_points(Y, n_permutations=n_permutations, random_state=rng)
    if shift == 0.0:
        return bool(found.places)
    return any(abs(place - m // 2) <= 3 for place in found.places)


def main() -> None:
    """Run all, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    runs = parser.parse_args().runs
    lines = [
        "# How often change points are found", "",
        "Level 5 %, 99 permutations, three components; `python -m tests.inference."
        "calibrate_changes` wrote this.", "",
        "| graphs | autocorrelation | innovations | shift in the middle | series | found |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    cases = [
        (m, rho, tails, shift)
        for m in (40, 80)
        for rho, tails, shift in [
            ((0.0, 0.0, 0.0), None, 0.0), ((0.3, 0.3, 0.3), None, 0.0),
            ((0.6, 0.6, 0.6), None, 0.0), ((0.0, 0.3, 0.8), None, 0.0),
            ((0.3, 0.3, 0.3), 3, 0.0),
            ((0.0, 0.0, 0.0), None, 2.0), ((0.3, 0.3, 0.3), None, 2.0),
        ]
    ]  # fmt: skip
    for number, (m, rho, tails, shift) in enumerate(cases):
        rate = np.mean([
            false_alarm(np.random.default_rng([number, i]), m, rho, 99, tails, shift)
            for i in range(runs)
        ])  # fmt: skip
        kind = "normal" if tails is None else f"t, {tails} degrees of freedom"
        what = "none" if shift == 0 else f"{shift} sd, found within 3 graphs"
        named = ", ".join(map(str, rho))
        lines.append(f"| {m} | {named} | {kind} | {what} | {runs} | {rate:.1%} |")
        print(lines[-1], file=sys.stderr, flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
