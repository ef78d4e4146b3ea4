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


def autoregression(rng, m, rho, noise="normal"):
    """Return series (m, d), each with its autocorrelation, of such innovations."""
    shape = (m + 100, len(rho))
    drawn = {
        "normal": lambda: rng.normal(size=shape),
        "t, 3 degrees of freedom": lambda: rng.standard_t(3, size=shape),
        "lognormal": lambda: rng.lognormal(0, 0.8, size=shape),
        "doubled half-way": lambda: (
            rng.normal(size=shape) * np.where(np.arange(m + 100) < 100 + m // 2, 1, 2)[:, None]
        ),
    }[noise]()
    made = [lfilter([1.0], [1.0, -r], drawn[:, k]) for k, r in enumerate(rho)]
    return np.stack(made, axis=1)[100:]


def false_alarm(rng, m, rho, n_permutations=99, noise="normal", shift=0.0):
    """Tell whether a change is found; with a shift (in standard deviations), near the middle."""
    Y = autoregression(rng, m, rho, noise)
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
        "Level 5 %, 99 series without change; `python -m tests.inference."
        "calibrate_changes` wrote this.", "",
        "| graphs | autocorrelation | innovations | shift in the middle | series | found |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    flat, some, much = (0.0,) * 3, (0.3,) * 3, (0.6,) * 3
    normal, heavy = "normal", "t, 3 degrees of freedom"
    cases = [
        (m, rho, noise, shift)
        for m in (40, 80)
        for rho, noise, shift in [
            (flat, normal, 0.0), (some, normal, 0.0), (much, normal, 0.0),
            ((0.0, 0.3, 0.8), normal, 0.0), (some, heavy, 0.0),
            ((0.0,), "doubled half-way", 0.0), (flat, "doubled half-way", 0.0),
            ((0.0,), "lognormal", 0.0), (flat, "lognormal", 0.0),
            (flat, normal, 2.0), (some, normal, 2.0), (flat, normal, 1.0), ((0.0,), normal, 1.0),
        ]
    ]  # fmt: skip
    for number, (m, rho, noise, shift) in enumerate(cases):
        rate = np.mean([
            false_alarm(np.random.default_rng([number, i]), m, rho, 99, noise, shift)
            for i in range(runs)
        ])  # fmt: skip
        what = "none" if shift == 0 else f"{shift} sd, found within 3 graphs"
        named = ", ".join(map(str, rho))
        lines.append(f"| {m} | {named} | {noise} | {what} | {runs} | {rate:.1%} |")
        print(lines[-1], file=sys.stderr, flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
