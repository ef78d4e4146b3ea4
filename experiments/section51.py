"""Steps of section 5.1: fits to growing numbers of graphs, and to 16 graphs from several starts."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

import eigengraphs as eg
from experiments.designs import SECTION_5_1, draw_5_1

__all__ = ["SOLVERS", "STARTS", "grow", "oracle", "sizes", "start"]

Array = NDArray[np.float64]
SOLVERS = ("subspace", "algorithm1")
#: Table 1: settings of the estimator by row; the first four are the paper's.
STARTS: dict[str, dict[str, Any]] = {
    "SVD": {"solver": "algorithm1", "init": "svd"},
    "1 random": {"solver": "algorithm1", "init": "random"},
    "best of 10 random": {"solver": "algorithm1", "init": "random", "n_init": 10},
    "truth": {"solver": "algorithm1", "init": SECTION_5_1},
    "subspace": {"solver": "subspace"},
    "subspace from SVD": {"solver": "subspace", "init": "svd"},
}


def sizes(largest: int) -> list[int]:
    """Return the numbers of graphs: 16, doubled until ``largest``."""
    return [2**k for k in range(4, largest.bit_length())]


def grow(rng: np.random.Generator, *, repetition: int, diagonal: str, largest: int) -> Any:
    """Fit the first 16, 32, ... of ``largest`` graphs; compare with the truth and the fit before.

    Components are taken in the order in which they are found, as in the paper, with their signs
    set by the truth. ``bias`` and ``change`` are lists over sizes of one value a component.
    """
    graphs, _ = draw_5_1(largest, rng, loops=diagonal == "observed")
    found = {}
    for solver in SOLVERS:
        bias: list[list[float]] = []
        change: list[list[float]] = []
        before = None
        for m in sizes(largest):
            H = _signed(_fit(graphs[:m], diagonal, repetition, solver=solver).latent_positions_)
            bias.append(np.linalg.norm(H - SECTION_5_1, axis=0).tolist())
            if before is not None:
                change.append(np.minimum(np.linalg.norm(H - before, axis=0),
                                         np.linalg.norm(H + before, axis=0)).tolist())  # fmt: skip
            before = H
        found[solver] = {"bias": bias, "change": change}
    return found


def oracle(rng: np.random.Generator, *, repetition: int, diagonal: str, m: int) -> Any:
    """Estimate the first loadings with the fitted h_1 and with the true one; return differences.

    Also the root mean square errors of both against the loadings that were drawn.
    """
    graphs, Lam = draw_5_1(m, rng, loops=diagonal == "observed")
    fit = _fit(graphs, diagonal, repetition, d=1)
    h = SECTION_5_1[:, 0]
    A = graphs.dense
    if diagonal == "observed":
        known = np.einsum("s,ist,t->i", h, A, h)
    else:  # least squares on the pairs s != t, as the library's loadings
        known = np.einsum("s,ist,t->i", h, A, h) / (1.0 - (h**4).sum())
    estimated = fit.loadings_[:, 0]
    return {
        "difference": (estimated - known).tolist(),
        "error": float(np.sqrt(((estimated - Lam[:, 0]) ** 2).mean())),
        "error of the oracle": float(np.sqrt(((known - Lam[:, 0]) ** 2).mean())),
    }


def start(rng: np.random.Generator, *, repetition: int, diagonal: str) -> Any:
    """Embed 16 graphs from every start; the loss on 16 others, and the seconds that it took."""
    loops = diagonal == "observed"
    train, test = draw_5_1(16, rng, loops=loops)[0], draw_5_1(16, rng, loops=loops)[0]
    A = test.dense
    total = float((A**2).sum())
    found = {}
    for name, settings in STARTS.items():
        begin = time.perf_counter()
        fit = _fit(train, diagonal, repetition, **settings)
        seconds = time.perf_counter() - begin
        found[name] = {
            "objective": (1.0 - fit.score(test)) * total,
            "training": float(fit.objective_path_[-1]),
            "seconds": seconds,
        }
    return found


def _fit(graphs: eg.GraphStack, diagonal: str, seed: int, d: int = 3, **settings: Any) -> Any:
    treat = "observed" if diagonal == "observed" else "auto"
    with warnings.catch_warnings():
        # A random start of Algorithm 1 may end at its limit of iterations: that is what it does.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return eg.JointEmbedding(d, diagonal=treat, random_state=seed, **settings).fit(graphs)


def _signed(H: Array) -> Array:
    return np.asarray(H * np.where((H * SECTION_5_1).sum(axis=0) < 0, -1.0, 1.0))
