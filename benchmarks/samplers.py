"""Ways to draw one Erdos-Renyi graph; each returns the graph in its library's own form."""

from __future__ import annotations

from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
from scipy import sparse

from eigengraphs import GraphStack
from eigengraphs.models import ErdosRenyi

__all__ = [
    "count_edges",
    "eigengraphs_sample",
    "networkx_as_csr",
    "networkx_graph",
    "scipy_random",
]


def eigengraphs_sample(n: int, p: float, seed: int) -> GraphStack:
    """Return a stack of one graph: CSR, checked."""
    return ErdosRenyi(n, p).sample(1, random_state=seed)


def networkx_graph(n: int, p: float, seed: int) -> Any:
    """Return a networkx graph: dictionaries of dictionaries."""
    return nx.fast_gnp_random_graph(n, p, seed=seed)


def networkx_as_csr(n: int, p: float, seed: int) -> sparse.csr_array:
    """Return the networkx graph as a CSR matrix, which is what an embedding needs."""
    return sparse.csr_array(nx.to_scipy_sparse_array(networkx_graph(n, p, seed), format="csr"))


def scipy_random(n: int, p: float, seed: int) -> sparse.csr_array:
    """Return the upper triangle of ``scipy.sparse.random`` and its mirror image, as CSR.

    The number of entries before the triangle is cut is fixed and not binomial, so this is not
    quite the model: the edge count varies less than it should.
    """
    rng = np.random.default_rng(seed)
    entries = sparse.random(n, n, density=p, format="coo", random_state=rng)
    entries.data[:] = 1.0
    upper = sparse.triu(entries, k=1, format="csr")
    return sparse.csr_array(upper + upper.T)


def count_edges(graph: Any) -> int:
    """Return the number of edges, after checking that the graph is simple.

    Raises
    ------
    ValueError
        If the graph has loops, weights, or an edge in one direction alone.
    """
    if isinstance(graph, nx.Graph):
        if nx.number_of_selfloops(graph):
            raise ValueError("the graph has loops")
        return int(graph.number_of_edges())
    A = graph.flat if isinstance(graph, GraphStack) else graph
    if A.diagonal().any() or np.any(A.data != 1) or abs(A - A.T).sum():
        raise ValueError("the graph has loops, weights, or is not symmetric")
    return int(A.nnz) // 2
