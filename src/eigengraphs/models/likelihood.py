"""Log-likelihoods of graphs: one sum over the pairs of the means, then only the edges.

The empty graph has a log-likelihood that depends on the means alone; each edge changes it by
its own term. So a graph costs its edges, and the sum over pairs is taken once for each set of
means (block by block, or block pair by block pair where the model has blocks).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import gammaln, xlogy

from eigengraphs.errors import InputError
from eigengraphs.models.edge_laws import EdgeLaw, Gaussian, Poisson
from eigengraphs.models.edge_means import BLOCK_ENTRIES, Means
from eigengraphs.models.validation import Floats, Ints
from eigengraphs.stack import GraphStack

__all__ = ["log_likelihood_table", "log_likelihoods"]


def log_likelihoods(
    stack: GraphStack,
    means: Means,
    law: EdgeLaw,
    which: Ints,
    *,
    loops: bool,
    directed: bool,
) -> Floats:
    """Return the log-likelihood of each graph, shape (m,).

    ``which[i]`` says which of the distinct means belongs to graph i.
    """
    if isinstance(law, Gaussian):
        return _gaussian(stack, means, law, which, loops=loops, directed=directed)
    empty = _EmptyGraph(means, law, loops=loops, directed=directed)
    return _with_edges(stack, means, law, which, empty, loops=loops, directed=directed)


def log_likelihood_table(
    stack: GraphStack, means: Means, law: EdgeLaw, *, loops: bool, directed: bool
) -> Floats:
    """Return the log-likelihood of every graph under every one of the means, (m, n_distinct)."""
    columns = [np.full(len(stack), j, dtype=np.int64) for j in range(means.n_distinct)]
    if isinstance(law, Gaussian):
        rows = [
            _gaussian(stack, means, law, which, loops=loops, directed=directed) for which in columns
        ]
    else:
        empty = _EmptyGraph(means, law, loops=loops, directed=directed)
        rows = [
            _with_edges(stack, means, law, which, empty, loops=loops, directed=directed)
            for which in columns
        ]
    return np.stack(rows, axis=1)


class _EmptyGraph:
    """What the means alone say about the pairs, each of shape (n_distinct,).

    ``n_certain`` counts the pairs of probability one, which the empty graph cannot have; ``value``
    is its log-likelihood on all others.
    """

    def __init__(self, means: Means, law: EdgeLaw, *, loops: bool, directed: bool) -> None:
        def over_pairs(f: Callable[[Floats], Floats]) -> Floats:
            sums = means.pair_sum(f, directed)
            if loops:
                sums = sums + f(means.diagonal(0, means.n_distinct)).sum(axis=1)
            return sums

        if isinstance(law, Poisson):
            self.value = over_pairs(np.negative)
            self.n_certain = np.zeros(means.n_distinct)
        else:
            self.value = over_pairs(lambda p: np.log1p(-np.where(p < 1, p, 0.0)))
            self.n_certain = over_pairs(lambda p: (p >= 1).astype(np.float64))


def _with_edges(
    stack: GraphStack,
    means: Means,
    law: EdgeLaw,
    which: Ints,
    empty: _EmptyGraph,
    *,
    loops: bool,
    directed: bool,
) -> Floats:
    m = len(stack)
    result = empty.value[which]
    n_certain = np.zeros(m)
    for i, s, t, w in _edges(stack, loops=loops, directed=directed):
        mean = means.at(which[i], s, t)
        if isinstance(law, Poisson):
            _require(
                (w >= 0) & (w == np.floor(w)), i, s, t, w, "law='poisson' needs counts 0, 1, 2, ..."
            )
            terms = xlogy(w, mean) - gammaln(w + 1)
        else:
            _require(w == 1, i, s, t, w, "a Bernoulli model needs 0 and 1: binarize the graphs")
            certain = mean >= 1
            n_certain += np.bincount(i[certain], minlength=m)
            p = np.where(certain, 0.5, mean)
            with np.errstate(divide="ignore"):
                terms = np.log(p) - np.log1p(-p)
        result += np.bincount(i, weights=terms, minlength=m)
    # A pair of probability one that is no edge makes the graph impossible.
    result[n_certain < empty.n_certain[which]] = -np.inf
    return result


def _edges(
    stack: GraphStack, *, loops: bool, directed: bool
) -> Iterator[tuple[Ints, Ints, Ints, Floats]]:
    """Yield the entries that count, (graph, s, t, weight), some graphs at a time."""
    m, n = stack.n_graphs, stack.n_vertices
    size = stack.flat.nnz if stack.is_sparse else m * n * n
    step = max(1, BLOCK_ENTRIES * m // max(1, size))
    for lo in range(0, m, step):
        hi = min(lo + step, m)
        if stack.is_sparse:
            flat = stack.flat
            ends = flat.indptr[lo * n : hi * n + 1]
            row = np.repeat(np.arange(lo * n, hi * n), np.diff(ends))
            i, s = np.divmod(row, n)
            t = flat.indices[ends[0] : ends[-1]].astype(np.int64)
            w = flat.data[ends[0] : ends[-1]].astype(np.float64)
        else:
            block = stack.dense[lo:hi]
            i, s, t = np.nonzero(block)
            w = block[i, s, t].astype(np.float64)
            i = i + lo
        keep = (s != t) if directed else (s < t)
        if loops:
            keep |= s == t
        yield i[keep], s[keep], t[keep], w[keep]


def _require(
    good: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    i: Ints,
    s: Ints,
    t: Ints,
    w: Floats,
    remedy: str,
) -> None:
    if not good.all():
        e = int(np.argmin(good))
        raise InputError(
            f"graphs[{i[e]}] has weight {w[e]:.6g} at entry ({s[e]}, {t[e]}); {remedy}"
        )


def _gaussian(
    stack: GraphStack,
    means: Means,
    law: Gaussian,
    which: Ints,
    *,
    loops: bool,
    directed: bool,
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
            counts = s != t if directed else s < t
            squares[i] += np.sum(residual**2, where=counts)
        if loops:
            squares[i] += np.sum((graph.diagonal() - means.diagonal(k, k + 1)[0]) ** 2)
    log_scale = math.log(law.noise_scale) + 0.5 * math.log(2 * math.pi)
    return -squares / (2 * law.noise_scale**2) - n_pairs * log_scale
