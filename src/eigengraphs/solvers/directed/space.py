"""Where components h g^T of directed graphs are searched: bases U and V, cores U^T A_i V.

The full-space gradients are

    sum_i w_i lam_ik R_i g_k - theta_k h_k    above    sum_i w_i lam_ik R_i^T h_k - theta_k g_k,

with h_k = U y_k and g_k = V z_k. The first widens U, the second V.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from eigengraphs.solvers.block import Job
from eigengraphs.solvers.directed.core import PairProblem, solve_pairs
from eigengraphs.solvers.directed.moments import MomentPairBasis
from eigengraphs.solvers.directed.pairs import PairPacking, unit_pairs
from eigengraphs.solvers.directed.products import CachedPairBasis, StreamedPairBasis
from eigengraphs.solvers.directed.quotient import pair_norm_gradient
from eigengraphs.solvers.directions import (
    STREAMED_WIDTH,
    basis_from_sketch,
    orthonormal,
    sketch_weights,
)
from eigengraphs.solvers.old_core import CoreFit, Search
from eigengraphs.solvers.protocol import Array, DirectedBlockGraphs, SplitDirectedGraphs
from eigengraphs.solvers.quotient import squared_norm
from eigengraphs.solvers.second_moment import moment_rounding

__all__ = ["PairSpace", "pair_width"]

_WIDTHS = (48, 96)  # columns of each basis: least and most before it is shortened
_CORE_NUMBERS = 5 * 2**18  # entries of the compressed cores that set the width between these


def pair_width(n_graphs: int, cache: bool) -> int:
    """Return how many columns each of the two bases may have."""
    low, high = _WIDTHS
    if not cache:
        return STREAMED_WIDTH
    for s in range(high, low, -8):
        if min(n_graphs, s * s) * s * s <= _CORE_NUMBERS:
            return s
    return low


class PairSpace:
    """Bases U and V and the greedy problem in them; see :class:`~eigengraphs.solvers.block.Space`.

    Parameters
    ----------
    graphs
        The graphs less the components that are frozen; as they are, if moments are kept alone.
    job
        Settings.
    frozen : (2 n, k)
        Components that are found.
    left
        sum_i w_i ||A_i||^2 of the graphs without them.
    rest
        Where the first bases come from, if ``graphs`` still hold the frozen components.
    """

    def __init__(
        self,
        graphs: DirectedBlockGraphs,
        job: Job,
        frozen: Array,
        left: float,
        rest: DirectedBlockGraphs | None = None,
    ) -> None:
        self._graphs, self._job, self._frozen, self._left = graphs, job, frozen, left
        self._rest = graphs if rest is None else rest
        self._basis: Any = self._make_basis()
        self._width = pair_width(graphs.n_graphs, job.wide)

    def _make_basis(self) -> Any:
        graphs, job = self._graphs, self._job
        if job.keep == "moments":
            split = cast(SplitDirectedGraphs, graphs)
            return MomentPairBasis(split, job.weights, self._frozen, job.hollow)
        kind = CachedPairBasis if job.keep == "products" else StreamedPairBasis
        return kind(graphs, job.weights)

    @property
    def n_passes(self) -> int:
        """How often the graphs were read."""
        return int(self._basis.n_passes)

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return self._graphs.n_vertices

    @property
    def most(self) -> int:
        """How many components there can be."""
        n = self.n_vertices
        return n * n - int(self._frozen.shape[1])

    @property
    def _packing(self) -> PairPacking:
        packing: PairPacking = self._basis.packing
        return packing

    def begin(self, given: Array, size: int, rng: np.random.Generator) -> Array:
        """Make the first bases; return the given components in them, (s + t, b)."""
        job, n, basis = self._job, self.n_vertices, self._basis
        weights, Omega = sketch_weights(n, job.weights, job.sizes, rng)
        sides = []
        for (squares, sums), columns in zip(
            self._rest.sketch(Omega, weights), (given[:n], given[n:]), strict=True
        ):
            given_basis = orthonormal(columns, np.zeros((n, 0)))
            side = basis_from_sketch(squares, sums, Omega, given_basis)
            if side.shape[1] == 0:  # the graphs are zero, and any direction is as good
                side = orthonormal(rng.standard_normal((n, size)), side)
            sides.append(side)
        basis.n_passes += 1 + (self._frozen.shape[1] > 0)
        basis.append(*sides)
        return np.vstack([basis.U.T @ given[:n], basis.V.T @ given[n:]])

    def random_starts(self, rng: np.random.Generator, d: int, b: int) -> Array:
        """Return pairs of unit vectors, (d, b, s + t)."""
        s, t = self._packing.s, self._packing.t
        return unit_pairs(rng.standard_normal((d, b, s + t)), s)

    def solve(self, d: int, search: Search, tol: Array) -> CoreFit:
        """Find d components within the bases."""
        job, basis = self._job, self._basis
        R, mean, by_squares = basis.compressed()
        floor = max(job.floor, moment_rounding(R)) if by_squares else job.floor
        problem = PairProblem(
            R, mean, basis.U, basis.V, self._frozen, job.hollow, floor, self._left, job.nothing
        )
        return solve_pairs(problem, d, search, tol)

    def look_outside(self, fit: CoreFit) -> tuple[Array, Array]:
        """Return the gradients, (2 n, d), and their lengths over theta_k, (d,), in full space."""
        basis, job, n = self._basis, self._job, self.n_vertices
        d, active = len(fit.gains), int((fit.gains > 0).sum())
        X = fit.Y[:, :active]
        HG = self.components(X)
        H, G = HG[:n], HG[n:]
        T, squares, combination = fit.deflation.projections(basis.root_forms(X), X)
        of_forms = fit.deflation.projections(np.eye(active), X)[0]  # from forms to t_ik
        # sum_i w_i t_ik A_i g_k, sum_i w_i t_ik A_i^T h_k
        r_H, r_G = basis.gradients(X, of_forms)
        # Take off what the earlier components of the block hold: sum_{j < k} N_kj q_j g_k.
        N = np.tril((T.T @ T) / squares, -1) @ combination
        all_H = np.column_stack([self._frozen[:n], H])
        all_G = np.column_stack([self._frozen[n:], G])
        r_H = r_H - all_H @ (N.T * (all_G.T @ G))
        r_G = r_G - all_G @ (N.T * (all_H.T @ H))
        theta = np.einsum("ik,ik->k", T, T)
        if job.hollow:
            diagonals = (all_H * all_G) @ N.T
            q = squared_norm((H**2 * G**2).sum(axis=0))
            theta = theta / q
            r_H = (r_H + diagonals * G - theta * pair_norm_gradient(H, G)) / q
            r_G = (r_G + diagonals * H - theta * pair_norm_gradient(G, H)) / q
        r_H -= H * (H * r_H).sum(axis=0)
        r_G -= G * (G * r_G).sum(axis=0)
        r = np.vstack([r_H, r_G])
        sizes = np.sqrt((r**2).sum(axis=0)) / theta
        return np.pad(r, ((0, 0), (0, d - active))), np.pad(sizes, (0, d - active))

    def components(self, X: Array) -> Array:
        """Return h_k = U y_k above g_k = V z_k, (2 n, d)."""
        s = self._packing.s
        return np.vstack([self._basis.U @ X[:s], self._basis.V @ X[s:]])

    def forms(self, X: Array) -> Array | None:
        """Return h_k^T A_i g_k, (m, d), if they are known."""
        found: Array | None = self._basis.forms(X)
        return found

    def shorten(self, points: list[Array], n_new: int) -> list[Array]:
        """Leave the span of these points alone, if a basis has no room for n_new more columns."""
        s, t = self._packing.s, self._packing.t
        if max(s, t) + n_new <= self._width:
            return points
        X = np.column_stack(points)
        P, Q = (orthonormal(x, np.zeros((len(x), 0))) for x in (X[:s], X[s:]))
        self._basis.rotate(P, Q)
        return [np.vstack([P.T @ point[:s], Q.T @ point[s:]]) for point in points]

    def widen(self, r: Array, points: list[Array]) -> list[Array] | None:
        """Add what the gradients have outside of the bases; None if there is nothing."""
        n, basis, s = self.n_vertices, self._basis, self._packing.s
        left, right = orthonormal(r[:n], basis.U), orthonormal(r[n:], basis.V)
        if left.shape[1] == 0 and right.shape[1] == 0:
            return None
        basis.append(left, right)
        grow = [((0, new.shape[1]), (0, 0)) for new in (left, right)]
        return [np.vstack([np.pad(X[:s], grow[0]), np.pad(X[s:], grow[1])]) for X in points]
