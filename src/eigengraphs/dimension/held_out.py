"""The loadings rule: whether loadings of graphs without a say look like noise around zero.

Components found on some graphs explain something of these even where there is nothing to find.
On other graphs, a component of noise is a direction like any other with the same entries up to
signs: turning the signs of vertices at random gives as many such directions as one likes, and
with them the size of the noise, whatever its variance from pair to pair.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from eigengraphs.dimension.staged import staged_basis
from eigengraphs.operators.protocol import Operator
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.rules import component_gram

__all__ = ["combined", "leading", "noise_p_values"]

_NOISE_VALUES = 400  # of loadings of noise that a variance is estimated from
_FEWEST_FLIPS, _MOST_FLIPS = 4, 64
_COLUMNS = 48  # that the graphs are multiplied with at a time


def noise_p_values(
    view: Operator,
    H: Array,
    rng: np.random.Generator,
    *,
    hollow: bool,
    centered: bool,
    n_training: int,
) -> Array:
    """Return p-values of "component k adds nothing to those before it", (d,).

    The loading of a graph on what component k adds, z_i = <A_i, Q_k>, has mean zero then, and the
    variance v of a random direction. Two alternatives are tested, and twice the smaller p-value
    is returned: a mean other than zero, and squares that are larger than v, as of loadings that
    are different from graph to graph around zero. Of centred graphs only the second.

    Parameters
    ----------
    view
        Graphs that took no part in finding ``H``, as the loss sees them.
    H : (n, d)
        Components found on other graphs.
    rng
        Source of the signs.
    hollow : bool
        Whether pairs s = t take no part.
    centered : bool
        Whether the mean of these very graphs is taken off.
    n_training
        Number of graphs that ``H`` was found on.
    """
    m = view.n_graphs
    W = staged_basis(component_gram(H, hollow=hollow))
    Z = view.forms(H) @ W
    flips = int(np.clip(-(-_NOISE_VALUES // m), _FEWEST_FLIPS, _MOST_FLIPS))
    noise = _noise_squares(view, H, W, Z, flips, rng, hollow=hollow)  # (m, d)

    # Degrees of freedom as if all graphs had noise of one size (Satterthwaite); the squares of
    # means over few flips are too large by 2 / flips, as of normal values.
    squares = (noise**2).sum(axis=0) / (1 + 2 / flips)
    alike = noise.sum(axis=0) ** 2 / np.maximum(squares, 1e-300)
    df = np.clip(alike - (1 if centered else 0), 1.0, m)
    v = np.maximum(noise.mean(axis=0), max(10 * view.rounding().mean(), 1e-300))
    c = _error_of_earlier(H, W)
    p = stats.f.sf((Z**2).mean(axis=0) / (v * (1 + c / n_training)), df, flips * df)
    if not centered:
        z = Z.sum(axis=0) / np.sqrt(m * v * (1 + c * m / n_training))
        p = np.minimum(1.0, 2 * np.minimum(p, 2 * stats.t.sf(np.abs(z), flips * df)))
    return np.where(W.any(axis=0), p, 1.0)


def _noise_squares(
    view: Operator,
    H: Array,
    W: Array,
    Z: Array,
    flips: int,
    rng: np.random.Generator,
    *,
    hollow: bool,
) -> Array:
    """Return the mean square of <R_i, Q_k with signs of vertices turned>, (m, d).

    R_i is what the components before k leave of A_i. (Component k itself, and all after it, are
    noise if k is; taking them off as well would take most of the noise away where they sit on few
    vertices.) The expectation is the variance of <E_i, Q_k> for noise E_i that is independent
    from pair to pair, with squares of residuals in place of variances.
    """
    n, d = H.shape
    at_once = max(1, _COLUMNS // d)
    squares = np.zeros(Z.shape)
    for first in range(0, flips, at_once):
        turned = [
            rng.choice([-1.0, 1.0], size=(n, 1)) * H
            for _ in range(first, min(first + at_once, flips))
        ]
        Psi = view.forms(np.hstack(turned))
        for b, directions in enumerate(turned):
            G = (H.T @ directions) ** 2  # <h_j h_j^T, h_k h_k^T with signs turned>
            if hollow:
                G -= (H**2).T @ H**2
            of_earlier = Z @ np.triu(W.T @ G @ W, 1)
            squares += (Psi[:, b * d : (b + 1) * d] @ W - of_earlier) ** 2
    return squares / flips


def _error_of_earlier(H: Array, W: Array) -> Array:
    """Return how much the errors of earlier components add to the noise of later ones, (d,).

    h_l is known up to an error of variance sigma^2 / (sum of lam_il^2) an entry. What
    lam_il h_l h_l^T leaves behind is 2 lam_il h_l^T Q_k (error) in all graphs alike, so that its
    variance beside that of the noise, 2 sigma^2, is c / (number of training graphs) with
    c = 2 sum_l |Q_k h_l|^2, less the part along h_l, which has no error.
    """
    d = H.shape[1]
    cosines = H.T @ H
    c = np.zeros(d)
    for k in range(d):
        U = H @ (W[:, k, None] * cosines[:, :k])  # Q_k h_l for l < k
        along = np.einsum("sl,sl->l", H[:, :k], U)
        c[k] = 2 * float((U**2).sum() - (along**2).sum())
    return np.clip(c, 0.0, 2.0)


def combined(p_values: Array) -> Array:
    """Return one p-value for several, (b, d) to (d,), that may depend on each other in any way.

    Twice the median: if half of them are below t, their share below t is 1/2 where t is expected.
    """
    return np.minimum(1.0, 2 * np.median(p_values, axis=0))


def leading(p_values: Array, alpha: float) -> int:
    """Return how many components come before the first that looks like noise."""
    above = np.flatnonzero(p_values > alpha)
    return int(above[0]) if above.size else len(p_values)
