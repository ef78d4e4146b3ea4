"""The pairs rule: how well vertex pairs are predicted that were hidden.

Hidden are all pairs within a set S of vertices, in all graphs. Whatever is known about such a
pair comes through the components then. Pairs hidden at random, others in each graph, would be told
by the same pair in other graphs; and a fit would need to fill them in, which makes sparse graphs
dense and takes a fit for each number of components. Here one ordinary fit to the other vertices
serves all: a component goes on to a vertex in S by that vertex's edges to the others,

    h_S = sum_i lam_i R_i[S, others] h / sum_i lam_i^2,

which is the equation that a component of the whole graphs solves at every vertex.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from eigengraphs.dimension.staged import staged_basis
from eigengraphs.operators.treated import DiagonalRule, TreatedGraphs
from eigengraphs.operators.treatment import Treatment
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.rules import component_gram
from eigengraphs.stack.stack import GraphStack

__all__ = ["Blocks", "prediction_errors", "smallest_good"]


class Blocks:
    """The graphs as the loss sees them: all pairs, those within S, and those without it.

    Parameters
    ----------
    stack
        Graphs.
    treatment
        Learnt on all of them.
    hidden : (n,) of bool
        The vertices in S.
    """

    def __init__(self, stack: GraphStack, treatment: Treatment, hidden: NDArray[np.bool_]) -> None:
        self.hidden = hidden
        self.hollow = treatment.hollow
        self.other_graphs = stack.select_vertices(~hidden)
        self.all = treatment.operator(stack, loss=True)
        self.others = _within(self.other_graphs, treatment, ~hidden)
        self.within = _within(stack.select_vertices(hidden), treatment, hidden)

    def n_entries(self, view: TreatedGraphs) -> int:
        """Return how many entries of a graph count."""
        n = view.n_vertices
        return n * (n - 1) if self.hollow else n * n


def _within(graphs: GraphStack, treatment: Treatment, chosen: NDArray[np.bool_]) -> TreatedGraphs:
    mean = treatment.mean
    part = None if mean is None else mean[chosen][:, chosen]
    rule: DiagonalRule = "hollow" if treatment.hollow else "observed"
    return TreatedGraphs(graphs, rule, part, treatment.scale)


def prediction_errors(blocks: Blocks, H: Array, weights: Array) -> Array:
    """Return the squared error over the hidden pairs with 0, 1, ..., d components, (d + 1,).

    Parameters
    ----------
    blocks
        Graphs, and which pairs are hidden.
    H : (n - |S|, d)
        Components of the graphs on the other vertices.
    weights : (m,)
        Of the graphs.
    """
    hidden, hollow = blocks.hidden, blocks.hollow
    d = H.shape[1]
    inner = np.zeros((len(hidden), d))
    inner[~hidden] = H

    # Components go on to the hidden vertices, one after the other.
    W = staged_basis(component_gram(H, hollow=hollow))
    Z = blocks.others.forms(H) @ W
    left = blocks.others.squared_norms() - (Z**2).sum(axis=1)
    Z = _shrunken(Z, 2 * left.mean() / blocks.n_entries(blocks.others))
    own = Z * np.diag(W)  # loading of each component when it is the last
    sums = blocks.all.combine(own * weights[:, None], inner)[0][hidden]
    cosines = H.T @ H
    H_S = np.zeros((int(hidden.sum()), d))
    for k in range(d):
        squares = float(weights @ own[:, k] ** 2)
        if squares > 0:
            earlier = Z[:, : k + 1] @ W[:k, : k + 1].T
            known = H_S[:, :k] @ ((weights * own[:, k]) @ earlier * cosines[:k, k])
            H_S[:, k] = (sums[:, k] - known) / squares

    # Loadings from all pairs but the hidden ones.
    outer = np.zeros_like(inner)
    outer[hidden] = H_S
    whole = inner + outer
    Gamma_S = component_gram(H_S, hollow=hollow)
    Psi_S = blocks.within.forms(H_S)
    W = staged_basis(component_gram(whole, hollow=hollow) - Gamma_S)
    Z = (blocks.all.forms(whole) - Psi_S) @ W
    squares_S = blocks.within.squared_norms()
    left = blocks.all.squared_norms() - squares_S - (Z**2).sum(axis=1)
    n_seen = blocks.n_entries(blocks.all) - blocks.n_entries(blocks.within)
    Z = _shrunken(Z, 2 * left.mean() / n_seen)

    errors = [squares_S]
    for k in range(1, d + 1):
        Lam = Z[:, :k] @ W[:k, :k].T
        cross = np.einsum("ik,ik->i", Lam, 2 * Psi_S[:, :k] - Lam @ Gamma_S[:k, :k])
        errors.append(squares_S - cross)
    return np.asarray(errors) @ weights


def _shrunken(Z: Array, noise: float) -> Array:
    """Draw coordinates (m, d) with noise of this variance to their means, and these to zero.

    Each is the mean of what the coordinate may have been, if all come from one normal
    distribution. Least squares would predict with all of the noise, and lose more by it than a weak
    component gains.
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
        What is no difference, of the error without components.

    Returns
    -------
    choice : int
    curve : (d + 1,)
        Mean over the sets of the error, beside that without any component.
    margins : (d + 1,)
        How much worse than the best is as good.
    """
    # Each set by its own measure: one that holds the hubs would outweigh all others.
    share = errors / errors[:, :1]
    curve = share.mean(axis=0)
    apart = share - share[:, [int(curve.argmin())]]
    spread = apart.std(axis=0, ddof=1) / np.sqrt(len(share))
    margins = stats.t.isf(alpha / 2, len(share) - 1) * spread + rounding
    return int(np.flatnonzero(apart.mean(axis=0) <= margins)[0]), curve, margins
