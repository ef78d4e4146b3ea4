"""Runs the peers' methods on files of graphs, in the peers' environment.

See :mod:`benchmarks.processes` for how it is spoken to. eigengraphs is not in that environment.
"""

from __future__ import annotations

import platform
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyttb as ttb  # type: ignore[import-not-found]
from graspologic.embed import MultipleASE, OmnibusEmbed  # type: ignore[import-not-found]
from tensorly import decomposition  # type: ignore[import-not-found]

from benchmarks.files import load_graphs
from benchmarks.processes import serve

PACKAGES = ("graspologic", "tensorly", "pyttb", "numpy", "scipy", "scikit-learn")


def load(path: str) -> Any:
    """Return the graphs of a file, after a small call, so that what happens once does not count."""
    graphs = load_graphs(Path(path))
    MultipleASE(n_components=2, svd_seed=0).fit(graphs[:2])
    return graphs


def mase(graphs: Any, d: int, output: str) -> dict[str, Any]:
    """Write the latent positions (n, d) of MultipleASE to a file."""
    # The diagonal is data in every stack here; augmenting it would change the graphs.
    model = MultipleASE(n_components=d, diag_aug=False, svd_seed=0)
    start = time.perf_counter()
    model.fit(graphs)
    seconds = time.perf_counter() - start
    np.save(output, np.asarray(model.latent_left_))
    return {"seconds": seconds}


def omnibus(graphs: Any, d: int) -> dict[str, Any]:
    """Run OmnibusEmbed, which builds one matrix of m n rows and columns."""
    model = OmnibusEmbed(n_components=d, diag_aug=False, svd_seed=0)
    start = time.perf_counter()
    model.fit_transform(graphs)
    return {"seconds": time.perf_counter() - start}


def parafac(graphs: Any, rank: int, output: str, **options: Any) -> dict[str, Any]:
    """Write the weights and factors of tensorly's CP decomposition to a file."""
    start = time.perf_counter()
    weights, factors = decomposition.parafac(graphs, rank, **options)
    seconds = time.perf_counter() - start
    _save_factors(output, weights, factors)
    return {"seconds": seconds}


def cp_als(graphs: Any, rank: int, output: str, seed: int, **options: Any) -> dict[str, Any]:
    """Write the weights and factors of pyttb's CP decomposition to a file."""
    tensor = ttb.tensor(graphs)  # its own order in memory, made before the clock starts
    np.random.seed(seed)  # noqa: NPY002  (pyttb draws its starts from here)
    start = time.perf_counter()
    model = ttb.cp_als(tensor, rank, printitn=0, **options)[0]
    seconds = time.perf_counter() - start
    _save_factors(output, model.weights, model.factor_matrices)
    return {"seconds": seconds}


def _save_factors(output: str, weights: Any, factors: Any) -> None:
    graphs, rows, columns = (np.asarray(factor) for factor in factors)
    np.savez(output, graphs=graphs * np.asarray(weights), rows=rows, columns=columns)


if __name__ == "__main__":
    serve(
        {name: version(name) for name in PACKAGES} | {"python": platform.python_version()},
        load,
        {"mase": mase, "omnibus": omnibus, "parafac": parafac, "cp_als": cp_als},
    )
