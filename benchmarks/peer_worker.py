"""Fits graspologic's MultipleASE to .npz files; runs in the peers' environment.

Speaks lines of JSON. A request on standard input is to "load" a file, or to "fit" what is loaded
and write the positions to a file; the answer is a line on standard output. It imports nothing of
this package, for eigengraphs is not in that environment.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np
from graspologic.embed import MultipleASE  # type: ignore[import-not-found]
from scipy import sparse


def load(path: str) -> tuple[Any, int]:
    """Return the graphs of a file, as an array or as csr_arrays, and d."""
    with np.load(path) as file:
        d = int(file["d"])
        if "dense" in file:
            return file["dense"], d
        n_graphs = int(file["n_graphs"])
        n = (len(file["indptr"]) - 1) // n_graphs
        parts = (file["data"], file["indices"], file["indptr"])
        flat = sparse.csr_array(parts, shape=(n_graphs * n, n))
    return [flat[i * n : (i + 1) * n] for i in range(n_graphs)], d


def fit(graphs: Any, d: int, output: str) -> float:
    """Write the latent positions (n, d) to a file, and return the seconds of the fit alone."""
    # The diagonal is data in every stack here; augmenting it would change the graphs.
    model = MultipleASE(n_components=d, diag_aug=False, svd_seed=0)
    start = time.perf_counter()
    model.fit(graphs)
    seconds = time.perf_counter() - start
    np.save(output, np.asarray(model.latent_left_))
    return seconds


def main() -> None:
    """Answer requests until the input ends."""
    # Whatever libraries print goes to the errors; the answers have standard output to themselves.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    names = ("graspologic", "numpy", "scipy", "scikit-learn")
    hello: dict[str, Any] = {name: version(name) for name in names}
    hello["python"] = platform.python_version()
    print(json.dumps(hello), file=answers, flush=True)
    graphs, d = None, 0
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer: dict[str, Any] = {}
            if "load" in request:
                graphs, d = load(request["load"])
            else:
                answer["seconds"] = fit(graphs, d, request["fit"])
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
