"""One mean graph for all (Variation 1): its eigenvectors are the components, and no search is."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from eigengraphs.solvers.loadings import rounding_share
from eigengraphs.solvers.protocol import Array, Fit, Graphs, Stage
from eigengraphs.solvers.start import random_unit

__all__ = ["spectral"]

_DENSE = 200  # vertices up to which all eigenvectors cost little
_BLOCK = 12  # eigenvectors at a time, so that how many are wanted hardly matters to the first
_EPS = float(np.finfo(np.float64).eps)


def spectral(
    graphs: Graphs, d: int, *, tol: float, seed: np.random.SeedSequence, resume: Fit | None = None
) -> Fit:
    """Return the d eigenvectors of one graph with the largest eigenvalues in magnitude.

    Greedy components of a single graph are just these; each takes the square of its eigenvalue
    off the objective.

    Parameters
    ----------
    graphs
        One graph.
    d
        Number of components; those beyond the rank are arbitrary.
    tol
        Relative residual ||A h - lam h|| / |lam| of a component that is found.
    seed
        Of the arbitrary directions, and of the first vector of Lanczos' method.
    resume
        A fit of the same graph whose components are kept.
    """
    n = graphs.n_vertices
    total, noise = float(graphs.squared_norms()[0]), float(graphs.rounding()[0])
    floor = max((100 * n * _EPS) ** 2 * total, 4 * noise, rounding_share(n) ** 2 * total)
    rng = np.random.default_rng(seed)
    H, lam = np.zeros((n, 0)), np.zeros(0)
    if resume is not None:
        H, lam = resume.H[:, resume.active], resume.Psi[0, resume.active]
    while H.shape[1] < min(d, n):
        values, vectors = _leading(graphs, H, lam, min(_BLOCK, n - H.shape[1]), rng)
        keep = values**2 > floor
        H, lam = np.column_stack([H, vectors[:, keep]]), np.append(lam, values[keep])
        if not keep.all():
            break
    found = min(len(lam), d)
    stages = []
    for k in range(found):
        r = graphs.multiply(H[:, k])[0] - lam[k] * H[:, k]
        size = float(linalg.norm(r)) / abs(lam[k])
        reason = "stationary" if size <= tol else "precision"
        stages.append(Stage(1, reason, size, float(lam[k] ** 2), "spectral"))
    others = [random_unit(n, rng) for _ in range(d - found)]
    stages += [Stage(1, "exhausted", 0.0, 0.0, "random")] * (d - found)
    H = np.column_stack([H[:, :found], *others])
    return Fit(H, graphs.quadratic_forms(H), tuple(stages), 1)


def _leading(
    graphs: Graphs, H: Array, lam: Array, k: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return the k leading eigenvalues and eigenvectors of A - H Diag(lam) H^T."""
    n = graphs.n_vertices

    def multiply(v: Array) -> Array:
        v = v.ravel()
        return np.asarray(graphs.multiply(v)[0] - H @ (lam * (H.T @ v)))

    if n <= _DENSE or k >= n - 1:
        A = np.column_stack([multiply(e) for e in np.eye(n)])
        values, vectors = linalg.eigh((A + A.T) / 2)
    else:
        operator = LinearOperator((n, n), matvec=multiply, dtype=np.float64)
        values, vectors = eigsh(operator, k, which="LM", v0=rng.standard_normal(n), tol=0)
    order = np.argsort(-np.abs(values), kind="stable")[:k]
    return values[order], vectors[:, order]
