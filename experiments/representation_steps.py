"""Steps about what graphs and components can hold: Theorem 2.1 and Theorem 3.1."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

import eigengraphs as eg
from eigengraphs.errors import DegenerateWarning

__all__ = ["DEPENDENT", "DISTRIBUTIONS", "STACKS", "dependent", "greedy", "represent"]

Array = NDArray[np.float64]
Rng = np.random.Generator
SAMPLED = 4000
#: Distributions on all graphs of n vertices; in all but the first edges depend on each other by
#: construction.
DISTRIBUTIONS = ("any", "even number of edges", "one edge at most")
STACKS = ("weighted", "binary", "three components")
DEPENDENT = 1e-7  # distance from the span of earlier components that counts as none


def represent(rng: Rng, *, n: int, loops: bool, kind: str, repetition: int) -> Any:  # noqa: ARG001 - a stream
    """Build the MREG of the proof of Theorem 2.1 for a random distribution; compare the two.

    ``error`` is the largest difference of the probability of a graph, over all graphs, and
    ``pvalue`` that of a chi-square test of sampled frequencies. ``covariance`` is the largest of
    two edges. ``pairs`` repeats the comparison with the n (n - 1) / 2 terms of pairs of vertices
    alone, for graphs without loops. ``dimension`` is that of the span of all graphs that occur.
    """
    s, t = np.triu_indices(n, 0 if loops else 1)
    edges = (np.arange(2 ** len(s))[:, None] >> np.arange(len(s)) & 1).astype(np.float64)
    graphs = np.zeros((len(edges), n, n))
    graphs[:, s, t] = graphs[:, t, s] = edges
    p = rng.dirichlet(np.ones(len(edges)))
    if kind == "even number of edges":
        p *= edges.sum(axis=1) % 2 == 0
    elif kind == "one edge at most":
        p *= edges.sum(axis=1) <= 1
    p /= p.sum()
    model = eg.models.MultipleRandomEigenGraphs.from_distribution(graphs, p)
    sampled = model.sample(SAMPLED, rng, loops=loops).dense
    codes = (sampled[:, s, t] @ 2.0 ** np.arange(len(s))).astype(int)
    mean = p @ edges
    covariance = (edges * p[:, None]).T @ edges - np.outer(mean, mean)
    found: dict[str, Any] = {
        "components": model.n_components,
        "error": _error(model, graphs, p, loops),
        "pvalue": _pvalue(np.bincount(codes, minlength=len(p)), p),
        "covariance": float(np.abs(covariance - np.diag(np.diag(covariance))).max()),
        "dimension": int(np.linalg.matrix_rank(edges[p > 0])),
        "pairs": None,
    }
    if not loops:
        H = np.zeros((n, len(s)))
        H[s, np.arange(len(s))] = H[t, np.arange(len(s))] = np.sqrt(0.5)
        points = eg.models.PointMasses(2 * edges, p)
        smaller = eg.models.MultipleRandomEigenGraphs(H, points)
        found["pairs"] = {"components": len(s), "error": _error(smaller, graphs, p, loops)}
    return found


def _error(model: Any, graphs: Array, p: Array, loops: bool) -> float:
    return float(np.abs(np.exp(model.log_likelihood(graphs, loops=loops)) - p).max())


def _pvalue(counts: NDArray[np.int64], p: Array) -> float:
    """Compare frequencies with probabilities; graphs expected less than 5 times are one cell."""
    if counts[p == 0].any():
        return 0.0
    rare = counts.sum() * p < 5
    cells = np.append(counts[~rare], counts[rare].sum())
    expected = counts.sum() * np.append(p[~rare], p[rare].sum())
    used = expected > 0
    return float(stats.chisquare(cells[used], expected[used]).pvalue)


def greedy(rng: Rng, *, n: int, m: int, kind: str, diagonal: str, repetition: int) -> Any:
    """Fit as many components as there are dimensions, n (n + 1) / 2; look at each as it is added.

    Lists over components: ``distance`` of h_k h_k^T (of norm 1) from the span of the earlier
    ones, ``loading``, the largest |Lambda_ik| of eq. 2 beside the norm of what was left of its
    graph, and ``excess``, how far that is above the distance. For hollow graphs, which the search
    sees with filled diagonals, ``hollow distance`` is that of the pairs s != t, from which the
    reported loadings are taken, and ``reported`` the largest of these beside the largest norm.
    ``left`` is the relative residual at the end.
    """
    A = _stack(rng, n, m, kind)
    if diagonal == "filled":
        A[:, np.arange(n), np.arange(n)] = 0.0
    d = n * (n + 1) // 2
    with warnings.catch_warnings():
        # Components beyond what the graphs hold are asked for on purpose.
        warnings.simplefilter("ignore", DegenerateWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = eg.JointEmbedding(d, diagonal=diagonal, random_state=repetition).fit(A)
    H = fit.latent_positions_
    terms = np.einsum("sk,tk->kst", H, H)
    searched = A.copy()
    if diagonal == "filled":
        searched[:, np.arange(n), np.arange(n)] = A.sum(axis=2) / (n - 1)
    distances, loadings, excess = _added(terms, searched)
    hollow = terms * (1 - np.eye(n))
    size = np.linalg.norm(A, axis=(1, 2)).max()
    left = A - np.einsum("sk,ik,tk->ist", H, fit.loadings_, H)
    if diagonal == "filled":
        left *= 1 - np.eye(n)
    return {
        "distance": distances,
        "loading": loadings,
        "excess": excess,
        "hollow distance": _added(hollow, A)[0] if diagonal == "filled" else None,
        "reported": (np.abs(fit.loadings_).max(axis=0) / size).tolist(),
        "left": float(np.linalg.norm(left) / np.linalg.norm(A)),
        "exhausted": fit.stop_reason_.count("exhausted"),
    }


def dependent(rng: Rng, *, n: int, draws: int) -> Any:
    """Add a term that depends on earlier ones, with residuals that are not zero: its loadings.

    Three vectors in a plane span all its rank-one terms, so a fourth in it depends on them.
    """
    largest = 0.0
    for _ in range(draws):
        plane = np.linalg.qr(rng.standard_normal((n, 2)))[0]
        h = np.column_stack([rng.standard_normal((n, 2)), plane @ rng.standard_normal((2, 4))])
        h /= np.linalg.norm(h, axis=0)
        terms = np.einsum("sk,tk->kst", h, h)
        distances, loadings, _ = _added(terms, _stack(rng, n, 5, "weighted"))
        assert distances[-1] < DEPENDENT < min(distances[:-1])
        largest = max(largest, loadings[-1])
    return largest


def _added(terms: Array, A: Array) -> tuple[list[float], list[float], list[float]]:
    """Return, as each term is added: its distance from the earlier, its loadings, their excess."""
    flat, graphs = terms.reshape(len(terms), -1), A.reshape(len(A), -1)
    size = float(np.linalg.norm(graphs, axis=1).max())
    distances, loadings, excess = [], [], []
    for k, term in enumerate(flat):
        unit = term / np.linalg.norm(term)
        basis = _basis(flat[:k])
        left = graphs - graphs @ basis.T @ basis
        distance = float(np.linalg.norm(unit - (basis @ unit) @ basis))
        norms = np.linalg.norm(left, axis=1)
        lam = np.abs(left @ unit)
        # What is left of a graph that is fitted exactly is rounding, and so is its loading.
        shares = lam / np.where(norms > 1e-7 * size, norms, size)
        distances.append(distance)
        loadings.append(float(shares.max()))
        excess.append(float((lam - distance * norms).max() / size))
    return distances, loadings, excess


def _basis(flat: Array) -> Array:
    """Return an orthonormal basis of the span of the rows, as rows."""
    if not len(flat):
        return np.zeros((0, flat.shape[1]))
    _, values, V = np.linalg.svd(flat, full_matrices=False)
    return np.asarray(V[values > 1e-9 * values[0]])


def _stack(rng: Rng, n: int, m: int, kind: str) -> Array:
    if kind == "three components":
        H = np.linalg.qr(rng.standard_normal((n, 3)))[0]
        return np.asarray(np.einsum("sk,ik,tk->ist", H, rng.uniform(0.5, 2.0, (m, 3)), H))
    X = rng.standard_normal((m, n, n)) if kind == "weighted" else rng.integers(0, 2, (m, n, n))
    upper = np.triu(X).astype(np.float64)
    return np.asarray(upper + np.triu(upper, 1).transpose(0, 2, 1))
