"""The pairs rule: how well vertex pairs are predicted that were hidden.

All pairs within a set S of vertices are hidden, in all graphs. Whatever is known about such a
pair then comes through the components. Pairs hidden at random, others in each graph, would be
predicted by the same pair in other graphs; and a fit would need to fill them in, which makes sparse
graphs dense and takes one fit per number of components. Here one ordinary fit to the other vertices
serves all: a component is extended to a vertex in S by that vertex's edges to the others,

    h_S = sum_i lam_i R_i[S, others] h / sum_i lam_i^2,

which is the equation that a component of the complete graphs solves at every vertex.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from eigengraphs.dimension.dimension_choice import Evidence
from eigengraphs.dimension.halves_rules import staged_basis
from eigengraphs.fitting.plan import Treatment
from eigengraphs.operators.protocol import Operator
from eigengraphs.solvers.rules import component_gram
from eigengraphs.solvers.solution import Array
from eigengraphs.stack import GraphStack
from eigengraphs.system.parallel import one_blas_thread

if TYPE_CHECKING:
    from eigengraphs.dimension.choose_components import Job

_SETS = 5  # of vertices, whose pairs are hidden in turn
_ROUNDS = 2  # of sets; after one, the number depends on the seed where gains are small


def by_hidden_pairs(job: Job) -> Evidence | str:
    """Hide the pairs within sets of vertices in turn, and predict them; or say why not."""
    n = job.stack.n_vertices
    n_sets = min(_SETS, n // 2)
    sets = []
    for seed in job.seeds(1, _ROUNDS):
        member = np.random.default_rng(seed).permutation(n) % n_sets
        sets += [member == j for j in range(n_sets)]
    left = n - max(int(hidden.sum()) for hidden in sets)
    most = min(job.max_components, left * (left - 1) // 2)
    rounding = 1e-5 if job.stack.dtype == np.float32 else 1e-9
    for d in job.looks(most):
        errors = []
        for j, hidden in enumerate(sets, start=1):
            job.tell(f"hidden pairs: set {j} of {len(sets)}, {d} components")
            others = job.stack.select_vertices(~hidden)
            H = job.positions(others, d, job.weights, job.seed)
            errors.append(prediction_errors(job.stack, job.treatment, hidden, H, job.weights))
        kept = np.array([error for error in errors if error[0] > 0])
        if len(kept) < 3:
            return "there are hardly any edges among the hidden pairs, so none can be predicted"
        found = Evidence(*smallest_good(kept, job.alpha, rounding))
        if found.choice < d - 1:
            break
    return found


@one_blas_thread()
def prediction_errors(
    stack: GraphStack, treatment: Treatment, hidden: NDArray[np.bool_], H: Array, weights: Array
) -> Array:
    """Return the squared error over the hidden pairs with 0, 1, ..., d components, (d + 1,).

    Parameters
    ----------
    stack
        Graphs.
    treatment
        Learned on all of them.
    hidden : (n,) of bool
        The vertices in S.
    H : (n - |S|, d)
        Components of the graphs on the other vertices.
    weights : (m,)
        Of the graphs.
    """
    d, hollow = H.shape[1], treatment.hollow
    complete = treatment.operator(stack, loss=True)
    others, within = (_part(stack, treatment, part) for part in (~hidden, hidden))
    n_entries = [v * (v - hollow) for v in (len(hidden), len(H), len(hidden) - len(H))]
    whole = np.zeros((len(hidden), d))
    whole[~hidden] = H

    # Components are extended to the hidden vertices, one after the other.
    W = staged_basis(component_gram(H, hollow=hollow))
    Z = others.forms(H) @ W
    left = others.squared_norms() - (Z**2).sum(axis=1)
    Z = _shrunken(Z, 2 * left.mean() / n_entries[1])
    own = Z * np.diag(W)  # loading of each component when it is the last
    sums = complete.combine(own * weights[:, None], whole)[0][hidden]
    cosines = H.T @ H
    H_S = np.zeros((len(hidden) - len(H), d))
    for k in range(d):
        squares = float(weights @ own[:, k] ** 2)
        if squares > 0:
            earlier = Z[:, : k + 1] @ W[:k, : k + 1].T
            known = H_S[:, :k] @ ((weights * own[:, k]) @ earlier * cosines[:k, k])
            H_S[:, k] = (sums[:, k] - known) / squares

    # Loadings from all pairs but the hidden ones.
    whole[hidden] = H_S
    Gamma_S, Psi_S = component_gram(H_S, hollow=hollow), within.forms(H_S)
    W = staged_basis(component_gram(whole, hollow=hollow) - Gamma_S)
    Z = (complete.forms(whole) - Psi_S) @ W
    squares_S = within.squared_norms()
    left = complete.squared_norms() - squares_S - (Z**2).sum(axis=1)
    Z = _shrunken(Z, 2 * left.mean() / (n_entries[0] - n_entries[2]))

    errors = [squares_S]
    for k in range(1, d + 1):
        Lam = Z[:, :k] @ W[:k, :k].T
        cross = np.einsum("ik,ik->i", Lam, 2 * Psi_S[:, :k] - Lam @ Gamma_S[:k, :k])
        errors.append(squares_S - cross)
    return np.asarray(errors) @ weights


def _part(stack: GraphStack, treatment: Treatment, part: NDArray[np.bool_]) -> Operator:
    """Return the graphs on some of the vertices, as the loss sees them."""
    mean = None if treatment.mean is None else treatment.mean[part][:, part]
    seen: Operator = replace(treatment, mean=mean).operator(stack.select_vertices(part), loss=True)
    return seen


def _shrunken(Z: Array, noise: float) -> Array:
    """Shrink coordinates (m, d) with noise of this variance to their means, and these to zero.

    Each is the posterior mean of the coordinate, if all come from one normal distribution. Least
    squares would predict with all of the noise, and lose more by it than a weak component gains.
    """
    noise = max(noise, 0.0)
    mean, variance = Z.mean(axis=0), Z.var(axis=0)
    keep = np.clip(1 - noise / np.maximum(variance, 1e-300), 0.0, 1.0)
    trust = np.clip(1 - noise / len(Z) / np.maximum(mean**2, 1e-300), 0.0, 1.0)
    return np.asarray(trust * mean + keep * (Z - mean))


def smallest_good(errors: Array, alpha: float, rounding: float = 1e-9) -> tuple[int, Array, Array]:
    """Return the least number of components that predicts as well as the best, from 0.

    As well: not worse beyond what the sets of hidden pairs differ in, by a t-test of level alpha.

    Parameters
    ----------
    errors : (n_sets, d + 1)
        Squared errors for each set of hidden pairs, at least two; none without an edge.
    alpha : float
        Level of the tests.
    rounding : float
        Differences up to this share of the error without components do not count.

    Returns
    -------
    choice : int
    curve : (d + 1,)
        Mean over the sets of the error, relative to that without any component.
    margins : (d + 1,)
        How much worse than the best is as good.
    """
    # Each set relative to its own error: one with the hubs would outweigh all others.
    share = errors / errors[:, :1]
    curve = share.mean(axis=0)
    apart = share - share[:, [int(curve.argmin())]]
    spread = apart.std(axis=0, ddof=1) / np.sqrt(len(share))
    margins = stats.t.isf(alpha / 2, len(share) - 1) * spread + rounding
    return int(np.flatnonzero(apart.mean(axis=0) <= margins)[0]), curve, margins
