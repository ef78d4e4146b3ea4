"""Loadings stage by stage: what a component adds to those before it."""

from __future__ import annotations

import numpy as np

from eigengraphs.solvers.protocol import Array

__all__ = ["staged_basis"]

_DEPENDENT = 1e-9  # of its own squared norm that a component adds to the span of those before it


def staged_basis(Gamma: Array) -> Array:
    """Return W (d, d), upper triangular, with which Q_k = sum_l W_lk h_l h_l^T are orthonormal.

    Gram and Schmidt's: Q_k is what h_k h_k^T adds to h_1 h_1^T, ..., h_{k-1} h_{k-1}^T. With
    Psi_ik = <A_i, h_k h_k^T>, the coordinates <A_i, Q_k> are Psi W, and the least-squares
    loadings for the first k components are (Psi W)[:, :k] W[:k, :k]^T. A component that adds
    nothing has a zero column.

    Parameters
    ----------
    Gamma : (d, d)
        Inner products <h_j h_j^T, h_k h_k^T> over the entries that count.
    """
    d = len(Gamma)
    W = np.zeros((d, d))
    for k in range(d):
        w = np.zeros(d)
        w[k] = 1.0
        for _ in range(2):  # twice: once loses digits where components are nearly dependent
            w -= W @ (W.T @ (Gamma @ w))
        left = float(w @ Gamma @ w)
        if left > _DEPENDENT * max(Gamma[k, k], 1e-300) and Gamma[k, k] > 1e-8:
            W[:, k] = w / np.sqrt(left)
    return W
