"""All components of graphs with hidden entries together, from where the greedy search left them.

On complete graphs that are exactly sum_k Lam_ik h_k h_k^T with orthogonal h_k, greedy components
are these h_k. Where entries are hidden, M_i o h_j h_j^T and M_i o h_k h_k^T are not orthogonal, and
an early component carries a trace of the later ones. Minimising over all of them takes it away.
What it finds is no longer nested.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import optimize

from eigengraphs.solvers.loadings import component_gram, condition
from eigengraphs.solvers.loadings_each import solve_loadings_each
from eigengraphs.solvers.protocol import Array, Fit, MaskedGraphs

__all__ = ["MAX_CONDITION", "refine_masked"]

MAX_CONDITION = (
    1e4  # condition of the components' inner products beyond which they run into each other
)


def refine_masked(
    graphs: MaskedGraphs,
    fit: Fit,
    *,
    weights: Array,
    tol: float,
    max_iter: int,
    hollow: bool = False,
) -> Fit:
    """Return components that leave less of the graphs, from those of a greedy fit.

    Minimises sum_i w_i ||M_i o (A_i - sum_k Lam_ik h_k h_k^T)||^2 over all h_k, loadings being
    solved for each of them; its gradient with respect to h_k is -4 sum_i w_i Lam_ik R_i h_k. By
    limited-memory BFGS; an evaluation reads the graphs once and the hidden entries once for every
    eight of d (d + 1) / 2 columns. There need be no minimum: components may run
    into each other. The best place is taken at which the condition of their inner products is at
    most 1e4.

    Parameters
    ----------
    graphs, weights, hollow
        As for :func:`~eigengraphs.solvers.masked.masked`.
    fit
        The greedy fit; components that are nothing stay as they are.
    tol
        Stop when the gradient is this small beside what the components explain.
    max_iter
        Most iterations.
    """
    on = fit.active
    d, n = int(on.sum()), graphs.n_vertices
    if d == 0:
        return fit
    problem = _Together(graphs, weights, d, hollow)
    found = optimize.minimize(
        problem, fit.H[:, on].ravel(), jac=True, method="L-BFGS-B",
        options={"maxiter": max_iter, "maxfun": 4 * max_iter, "maxcor": 20, "ftol": 0.0,
                 "gtol": tol / np.sqrt(n * d)},
    )  # fmt: skip
    n_passes = fit.n_passes + problem.n_passes
    # The best of all places within the bound: the greedy fit itself, if there is none other.
    H = problem.best
    if H is None:
        return replace(fit, n_passes=n_passes)
    _, slope, Psi, _ = problem.at(H)
    whole, forms, stages = fit.H.copy(), fit.Psi.copy(), list(fit.stages)
    whole[:, on], forms[:, on] = H, Psi
    for k, size in zip(np.flatnonzero(on), np.sqrt((slope**2).sum(axis=0)), strict=True):
        stages[k] = replace(stages[k], stationarity=float(size), n_iter=int(found.nit))
    return replace(fit, H=whole, Psi=forms, stages=tuple(stages), n_passes=n_passes + 1)


class _Together:
    """The objective of all components over what they explain at first, and its gradient."""

    def __init__(self, graphs: MaskedGraphs, weights: Array, d: int, hollow: bool) -> None:
        self._graphs, self._weights, self._d, self._hollow = graphs, weights, d, hollow
        self._observed = graphs.observed()
        self._total = float(weights @ graphs.squared_norms())
        self._first = 0.0
        self._lowest = np.inf
        self.best: Array | None = None  # (n, d) where the objective is lowest within the bound
        self.n_passes = 0

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Return the objective and its gradient, for vectors of any length."""
        H = x.reshape(-1, self._d)
        lengths = np.sqrt((H**2).sum(axis=0))
        H = H / lengths
        f, slope, _, _ = self.at(H)
        if f < self._lowest and condition(component_gram(H, hollow=self._hollow)) <= MAX_CONDITION:
            self._lowest, self.best = f, H
        return f, (4 * slope / lengths).ravel()

    def at(self, H: Array) -> tuple[float, Array, Array, Array]:
        """Return the objective, a quarter of its gradient (n, d), Psi and Lam (m, d)."""
        d = self._d
        j, k = np.triu_indices(d)
        Y = self._graphs.multiply(H)  # (m, d, n), and R_i h_k from now on
        self.n_passes += 1
        Psi = np.einsum("iks,sk->ik", Y, H)
        X = H[:, j] * H[:, k]
        Gammas = np.empty((len(Psi), d, d))
        Gammas[:, j, k] = Gammas[:, k, j] = self._graphs.mask_forms(X)
        whole = component_gram(H, hollow=self._hollow)
        Lam = solve_loadings_each(Gammas, Psi, whole, self._observed)

        def consume(lo: int, hi: int, Q: Array) -> None:
            for column, (a, b) in enumerate(zip(j, k, strict=True)):
                Y[lo:hi, b] -= Lam[lo:hi, a, None] * H[:, a] * Q[:, column]
                if a != b:
                    Y[lo:hi, a] -= Lam[lo:hi, b, None] * H[:, b] * Q[:, column]

        self._graphs.mask_products(X, consume)
        slope = -np.einsum("ik,iks->sk", self._weights[:, None] * Lam, Y)
        slope -= H * (slope * H).sum(axis=0)
        explained = float(self._weights @ np.einsum("ik,ik->i", Lam, Psi))
        self._first = self._first or explained or 1.0
        return (self._total - explained) / self._first, slope / self._first, Psi, Lam
