"""Runs the peers' methods on files of graphs, in the peers' environment.

See :mod:`benchmarks.processes` for how it is spoken to. eigengraphs is not in that environment.
"""

from __future__ import annotations

import platform
import time
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.processes import serve

PACKAGES = ("graspologic", "tensorly", "pyttb", "numpy", "scipy", "scikit-learn")


def load(path: str) -> Any:
    """Return the graphs of a file, as an array (m, n, n) or as a list of csr_arrays."""
    if path.endswith(".npy"):
        return np.load(path)
    with np.load(path) as file:
        n_graphs = int(file["n_graphs"])
        n = (len(file["indptr"]) - 1) // n_graphs
        parts = (file["data"], file["indices"], file["indptr"])
        flat = sparse.csr_array(parts, shape=(n_graphs * n, n))
    return [flat[i * n : (i + 1) * n] for i in range(n_graphs)]


def mase(graphs: Any, d: int, output: str) -> dict[str, Any]:
    """Write the latent positions (n, d) of MultipleASE to a file."""
    from graspologic.embed import MultipleASE  # type: ignore[import-not-found]

    # The diagonal is data in every stack here; augmenting it would change the graphs.
    model = MultipleASE(n_components=d, diag_aug=False, svd_seed=0)
    start = time.perf_counter()
    model.fit(graphs)
    seconds = time.perf_counter() - start
    np.save(output, np.asarray(model.latent_left_))
    return {"seconds": seconds}


def omnibus(graphs: Any, d: int) -> dict[str, Any]:
    """Run OmnibusEmbed, which builds one matrix of m n rows and columns."""
    from graspologic.embed import OmnibusEmbed  # type: ignore[import-not-found]

    model = OmnibusEmbed(n_components=d, diag_aug=False, svd_seed=0)
    start = time.perf_counter()
    model.fit_transform(graphs)
    return {"seconds": time.perf_counter() - start}


def parafac(graphs: Any, rank: int, output: str, **options: Any) -> dict[str, Any]:
    """Write the weights and factors of tensorly's CP decomposition to a file."""
    from tensorly.decomposition import parafac as method  # type: ignore[import-not-found]

    start = time.perf_counter()
    weights, factors = method(graphs, rank, **options)
    seconds = time.perf_counter() - start
    _save_factors(output, weights, factors)
    return {"seconds": seconds}


def cp_als(graphs: Any, rank: int, output: str, seed: int, **options: Any) -> dict[str, Any]:
    """Write the weights and factors of pyttb's CP decomposition to a file."""
    import pyttb as ttb  # type: ignore[import-not-found]

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
