"""Log-likelihoods of graphs: one sum over the pairs of the means, then only the edges.

The empty graph has a log-likelihood that depends on the means alone; each edge changes it by
its own term. So a graph costs its edges, and the sum over pairs is taken once for each set of
means (block by block, or block pair by block pair where the model has blocks).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.models.edge_laws import EdgeLaw, EventLaw, Gaussian
from eigengraphs.models.edge_means import BLOCK_ENTRIES, Means
from eigengraphs.models.validation import Floats, Ints
from eigengraphs.stack import GraphStack


def log_likelihoods(
    stack: GraphStack, means: Means, law: EdgeLaw, which: Ints, *, loops: bool, directed: bool
) -> list[Floats]:
    """Return log-likelihoods of the graphs, k arrays of shape (m,).

    ``which``, shape (k, m), says which of the distinct means each graph is held against.
    """
    if isinstance(law, Gaussian):
        return [_gaussian(stack, means, law, row, loops=loops, directed=directed) for row in which]

    def over_pairs(f: Callable[[Floats], Floats]) -> Floats:
        """Sum a function of the means over the pairs, (n_distinct,)."""
        sums = means.pair_sum(f, directed)
        return sums + f(means.diagonal(0, means.n_distinct)).sum(axis=1) if loops else sums

    # The empty graph: its log-likelihood on all pairs but those of probability one, which it cannot
    # have, and the number of these.
    empty, certain = over_pairs(law.log_absent), np.zeros(means.n_distinct)
    if law.upper == 1:
        certain = over_pairs(lambda p: (p >= 1).astype(np.float64))
    rows = []
    for row in which:
        terms, n_certain = _edge_terms(stack, means, law, row, loops=loops, directed=directed)
        # A pair of probability one that is not an edge makes the graph impossible.
        rows.append(np.where(n_certain < certain[row], -np.inf, empty[row] + terms))
    return rows


def _edge_terms(
    stack: GraphStack, means: Means, law: EventLaw, which: Ints, *, loops: bool, directed: bool
) -> tuple[Floats, Floats]:
    """Return what the edges of each graph add, (m,), and how many have probability one, (m,)."""
    m = len(stack)
    result, n_certain = np.zeros(m), np.zeros(m)
    for i, s, t, w in _edges(stack, loops=loops, directed=directed):
        mean, good = means.at(which[i], s, t), law.allows(w)
        if not good.all():
            e = int(np.argmin(good))
            raise InputError(
                f"graphs[{i[e]}] has weight {w[e]:.6g} at entry ({s[e]}, {t[e]}); {law.needs}"
            )
        n_certain += np.bincount(i[mean >= law.upper], minlength=m)
        result += np.bincount(i, weights=law.log_odds(w, mean), minlength=m)
    return result, n_certain


def _edges(
    stack: GraphStack, *, loops: bool, directed: bool
) -> Iterator[tuple[Ints, Ints, Ints, Floats]]:
    """Yield the entries that count, (graph, s, t, weight), some graphs at a time."""
    m, n = stack.n_graphs, stack.n_vertices
    rows: Any = stack.flat if stack.is_sparse else stack.dense.reshape(m * n, n)
    step = max(1, BLOCK_ENTRIES * m // max(1, rows.nnz if stack.is_sparse else rows.size))
    for lo in range(0, m, step):
        part = sparse.coo_array(rows[lo * n : (lo + step) * n])
        i, s = np.divmod(part.row.astype(np.int64) + lo * n, n)
        t, w = part.col.astype(np.int64), part.data.astype(np.float64)
        keep = (s != t) if directed else (s < t)
        if loops:
            keep |= s == t
        yield i[keep], s[keep], t[keep], w[keep]


def _gaussian(
    stack: GraphStack, means: Means, law: Gaussian, which: Ints, *, loops: bool, directed: bool
) -> Floats:
    # Every pair counts, so the residuals are taken directly: expanding the square would lose
    # digits where the noise is small.
    if law.noise_scale == 0:
        raise InputError("a Gaussian model with noise_scale=0 has no density; give it some noise")
    n = stack.n_vertices
    n_pairs = n * (n - 1) // (1 if directed else 2) + (n if loops else 0)
    squares = np.zeros(len(stack))
    rows = max(1, BLOCK_ENTRIES // n)
    for i, graph in enumerate(stack):
        k = int(which[i])
        for r0 in range(0, n, rows):
            r1 = min(r0 + rows, n)
            c0 = 0 if directed else r0
            part = graph[r0:r1]
            A = np.asarray(part if isinstance(part, np.ndarray) else part.toarray())[:, c0:]
            residual = A - means.block(k, k + 1, r0, r1, c0)[0]
            s, t = np.ogrid[r0:r1, c0:n]
            squares[i] += np.sum(residual**2, where=s != t if directed else s < t)
        if loops:
            squares[i] += np.sum((graph.diagonal() - means.diagonal(k, k + 1)[0]) ** 2)
    log_scale = math.log(law.noise_scale) + 0.5 * math.log(2 * math.pi)
    return -squares / (2 * law.noise_scale**2) - n_pairs * log_scale
