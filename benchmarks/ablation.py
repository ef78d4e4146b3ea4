"""What each device and constant of the search is worth: ``python -m benchmarks.ablation``.

Every row changes one value of ``SolverOptions``. A device stays if, without it, passes change by
10 % or the objective by 1e-4 on some family, in the median over seeds.
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import eigengraphs as eg
from benchmarks.families import block_family, planted, sparse_block_family
from eigengraphs.fitting.plan import Treatment
from eigengraphs.fitting.solve import kept_in_basis
from eigengraphs.solvers.metric import AllEntries
from eigengraphs.solvers.options import DEFAULTS, SolverOptions
from eigengraphs.solvers.rules import (
    FreeLoadings,
    LoadingRule,
    NonnegativeLoadings,
    component_gram,
    objective_of,
    stage_loadings,
)
from eigengraphs.solvers.subspace import subspace
from eigengraphs.system.parallel import one_blas_thread

__all__ = ["main"]


def _stars(seed: int) -> NDArray[np.float64]:
    """Return stars around the first vertices, with a few other edges."""
    rng = np.random.default_rng(seed)
    A = (rng.random((20, 120, 120)) < 0.05).astype(np.float64)
    centers = rng.integers(8, size=20)
    A[np.arange(20), centers] = A[np.arange(20), :, centers] = 1.0
    upper = np.triu(A, 1)
    return upper + upper.transpose(0, 2, 1)


def _noise(seed: int) -> NDArray[np.float64]:
    A = np.random.default_rng(seed).standard_normal((20, 120, 120))
    return A + A.transpose(0, 2, 1)


def _directed(seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return rng.random((40, 120, 120)) * (rng.random(120)[:, None] + rng.random(120))


def _published(name: str, **options: Any) -> eg.GraphStack:
    graphs: eg.GraphStack = getattr(eg.datasets, name)(**options).graphs.log1p()
    return graphs


# Graphs by seed, number of components, whether directed, centered, and the rule.
FAMILIES: dict[str, tuple[Callable[[int], Any], int, bool, bool, LoadingRule]] = {
    "blocks": (lambda s: np.array(list(block_family(60, 150, s))), 8, False, False, FreeLoadings()),
    "large blocks": (
        lambda s: np.array(list(block_family(100, 400, s))), 10, False, False, FreeLoadings()
    ),
    "mice": (lambda _: _published("load_mice"), 8, False, True, FreeLoadings()),
    "mice, nonnegative": (
        lambda _: _published("load_mice"), 6, False, False, NonnegativeLoadings()
    ),
    "HNU1": (lambda _: _published("fetch_hnu1", download=False), 20, False, False, FreeLoadings()),
    "trade": (
        lambda _: _published("fetch_agri_trade", download=False), 12, False, False, FreeLoadings()
    ),
    "planted": (
        lambda s: planted(30, 150, np.array([8.0, 6, 5, 4]), 0.3, 0.6, s), 4, False, False,
        FreeLoadings(),
    ),
    "noise": (_noise, 4, False, False, FreeLoadings()),
    "sparse": (
        lambda s: sparse_block_family(20, 3000, 15, s).flat, 6, False, False, FreeLoadings()
    ),
    "directed": (_directed, 4, True, False, FreeLoadings()),
    "stars": (_stars, 4, False, False, FreeLoadings()),
}  # fmt: skip
DEVICES: dict[str, dict[str, Any]] = {
    "search in the first three rounds alone": {"search_on": 0},
    "search in the first round alone": {"search_on": 0, "search_rounds": 1},
    "starts on all graphs": {"combined": 10**9},
    "one finalist": {"finalists": 1},
    "six finalists": {"finalists": 6},
    "no random starts beyond one": {"random": 0, "random_coordinates": 0},
    "one step of a climb": {"climb": 1},
    "six steps of a climb": {"climb": 6},
    "two products in a step": {"turns": 2},
    "eight products in a step": {"turns": 8},
    "new is what it is": {"overlap": 1e-3},
    "no history": {"history": 1},
    "a first basis of 24 columns": {"sketch": 16},
    "a core solved to 1e-3 from the beginning": {"rough": 1e-3},
    "narrow bases": {"width": 48},
    "blocks of 6": {"block": 6},
}


def _stack(graphs: Any) -> eg.GraphStack:
    if isinstance(graphs, eg.GraphStack):
        return graphs
    if isinstance(graphs, np.ndarray):
        return eg.GraphStack(graphs)
    return eg.GraphStack.from_flat(graphs, graphs.shape[0] // graphs.shape[1])


def measure(name: str, seed: int, options: SolverOptions) -> tuple[float, int]:
    """Return the objective as a share of the initial one, and the passes of the search."""
    make, d, directed, centered, rule = FAMILIES[name]
    stack = _stack(make(seed))
    weights = np.ones(stack.n_graphs)
    graphs = Treatment.learn(stack, "auto", centered, weights).operator(stack, directed=directed)
    keep, wide = kept_in_basis(stack, directed, linear=rule.linear)
    with one_blas_thread():
        fit = subspace(
            graphs, d, metric=AllEntries(), rule=rule, weights=weights, init="auto", n_init=1,
            tol=1e-6, max_iter=300, seed=np.random.SeedSequence(seed), keep=keep, wide=wide,
            options=options,
        )  # fmt: skip
    Gamma = component_gram(fit.H, fit.G)
    Lam = stage_loadings(rule, Gamma, fit.Psi)[-1]
    total = float(graphs.squared_norms().sum())
    return 1 + float(objective_of(Gamma, fit.Psi, Lam).sum()) / total, fit.n_passes


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation", description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    runs: dict[str, dict[str, list[tuple[float, int]]]] = {}
    for label, changed in {"as it is": {}, **DEVICES}.items():
        options = replace(DEFAULTS, **changed)
        runs[label] = {
            name: [measure(name, seed, options) for seed in arguments.seeds]
            for name in arguments.families
        }
        cells = []
        for name in arguments.families:
            before, after = runs["as it is"][name], runs[label][name]
            share = statistics.median(a[0] - b[0] for a, b in zip(after, before, strict=True))
            passes = statistics.median(a[1] / b[1] for a, b in zip(after, before, strict=True))
            cells.append(f"{share:+.0e}, {passes:.2f}")
        if label == "as it is":
            print(f"| without | {' | '.join(arguments.families)} |")
            print("|---" * (1 + len(cells)) + "|")
        else:
            print(f"| {label} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
