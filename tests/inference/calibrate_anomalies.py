"""How many anomalies are found where there are none, and where there is one.

``python -m tests.inference.calibrate_anomalies`` writes calibration-anomalies.md beside this file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import eigengraphs as eg
from eigengraphs.inference import anomalies

RESULTS = Path(__file__).with_name("calibration-anomalies.md")
MARGINS = {
    "normal": lambda rng, m, d: rng.normal(size=(m, d)),
    "t, 5 degrees of freedom": lambda rng, m, d: rng.standard_t(5, size=(m, d)),
    "gamma(2)": lambda rng, m, d: rng.gamma(2, size=(m, d)),
    "lognormal(0.8)": lambda rng, m, d: rng.lognormal(0, 0.8, size=(m, d)),
    "common volume, lognormal(0.5), times normal": lambda rng, m, d: (
        rng.lognormal(0, 0.5, size=(m, 1)) * rng.normal(size=(m, d))
    ),
    "common volume, lognormal(0.5), times normal of mean 5": lambda rng, m, d: (
        rng.lognormal(0, 0.5, size=(m, 1)) * rng.normal(5, 1, size=(m, d))
    ),
}
PLANTS = ("another kind", "shuffled regions")


def loadings(rng, margin, m=187, d=3):
    """Return loadings (m, d) with nothing planted."""
    return MARGINS[margin](rng, m, d)


def planted(rng, plant, margin="normal", m=187, blocks=3, n=30):
    """Return loadings and residuals of graphs with blocks of weights, the first one odd.

    It has other blocks, or the same with shuffled vertices.
    """
    X = loadings(rng, margin, m, blocks)
    X = X - np.median(X, axis=0)
    strength = 1.5 * (1 + 0.25 * X * 0.6745 / np.median(np.abs(X), axis=0))
    H = np.eye(blocks)[np.repeat(np.arange(blocks), n // blocks)]
    A = 0.3 + np.einsum("vk,ik,wk->ivw", H, strength, H)
    if plant == "shuffled regions":
        order = rng.permutation(n)
        A[0] = A[0][np.ix_(order, order)]
    else:
        H = np.eye(5)[rng.permutation(np.repeat(np.arange(5), n // 5))]
        A[0] = 0.3 + 1.5 * H @ H.T
    noise = rng.normal(0, 0.5 / np.sqrt(2), size=A.shape)
    A += noise + noise.transpose(0, 2, 1)
    A[:, np.arange(n), np.arange(n)] = 0
    je = eg.JointEmbedding(blocks, random_state=0).fit(A)
    return je.loadings_, je.residuals(A)


def main() -> None:
    """Run all, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--plants", type=int, default=20)
    options = parser.parse_args()
    lines = [
        "# How many anomalies are found", "",
        "False discovery rate 5 %, 187 graphs; `python -m tests.inference.calibrate_anomalies` "
        "wrote this.", "", "Nothing planted: anomalies found on average, and data sets with any.",
        "", "| loadings | components | data sets | found | with any |", "|---|---|---|---|---|",
    ]  # fmt: skip

    def say(line: str) -> None:
        lines.append(line)
        print(line, file=sys.stderr, flush=True)

    for number, margin in enumerate(MARGINS):
        for d in (1, 3, 8):
            found = []
            for i in range(options.runs):
                rng = np.random.default_rng([number, d, i])
                odd = anomalies(loadings(rng, margin, d=d), n_simulations=199, random_state=rng)
                found.append(len(odd.found))
            any_found = np.mean(np.array(found) > 0)
            say(f"| {margin} | {d} | {options.runs} | {np.mean(found):.2f} | {any_found:.0%} |")
    lines += [
        "", "One odd graph among others with three blocks of weights, whose strengths have these "
        "margins (deviation 0.25 of the median); loadings and residuals of a fit.", "",
        "| strengths | odd graph | graphs | data sets | it is found | others found |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for margin in MARGINS:
        for m in (187, 44):
            for plant in PLANTS:
                found = [
                    anomalies(*planted(np.random.default_rng([9, m, i]), plant, margin, m),
                              random_state=i).found
                    for i in range(options.plants)
                ]  # fmt: skip
                others = np.mean([len(set(one) - {0}) for one in found])
                say(f"| {margin} | {plant} | {m} | {options.plants} | "
                    f"{sum(0 in one for one in found)} | {others:.2f} |")  # fmt: skip
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
