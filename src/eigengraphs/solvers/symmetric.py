"""Where components h h^T of undirected graphs are searched: one basis V (n, s), cores V^T A_i V.

The full-space gradients are

    r_k = sum_i w_i lam_ik R_i h_k - theta_k h_k,      h_k = V y_k.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from eigengraphs.solvers.block import Job
from eigengraphs.solvers.directions import (
    TALL,
    basis_width,
    first_basis,
    orthonormal,
    random_starts,
)
from eigengraphs.solvers.old_core import CoreProblem, Search, solve_core
from eigengraphs.solvers.old_moments import MomentBasis
from eigengraphs.solvers.products import CachedBasis, StreamedBasis
from eigengraphs.solvers.protocol import Array, BlockGraphs, SplitGraphs
from eigengraphs.solvers.quotient import norm_gradient, squared_norm
from eigengraphs.solvers.second_moment import moment_rounding
from eigengraphs.solvers.tall import dots, inner, subtract, times

__all__ = ["SymmetricSpace"]


class SymmetricSpace:
    """A basis V and the greedy problem in it; see :class:`~eigengraphs.solvers.block.Space`.

    Parameters
    ----------
    graphs
        The graphs less the components that are frozen; as they are, if moments are kept alone.
    job
        Settings.
    frozen : (n, k)
        Components that are found.
    left
        sum_i w_i ||A_i||^2 of the graphs without them.
    rest
        Where the first basis comes from, if ``graphs`` still hold the frozen components.
    """

    _short = True  # what a short first basis lacks, many starts make up for

    def __init__(
        self,
        graphs: BlockGraphs,
        job: Job,
        frozen: Array,
        left: float,
        rest: BlockGraphs | None = None,
    ) -> None:
        self._graphs, self._job, self._frozen, self._left = graphs, job, frozen, left
        self._rest = graphs if rest is None else rest
        self._basis: Any = self._make_basis()
        self._width = basis_width(graphs.n_graphs, job.wide)
        self._seen: tuple[Array, Array] | None = None  # points, and the components that they are

    def _make_basis(self) -> Any:
        graphs, job = self._graphs, self._job
        if job.keep == "moments":
            return MomentBasis(cast(SplitGraphs, graphs), job.weights, self._frozen, job.hollow)
        kind = CachedBasis if job.keep == "products" else StreamedBasis
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
        return n * (n + 1) // 2 - int(self._frozen.shape[1])

    def begin(self, given: Array, size: int, rng: np.random.Generator) -> Array:
        """Make the first basis; return the given components in it, (s, b)."""
        job, n = self._job, self.n_vertices
        given_basis = orthonormal(given, np.zeros((n, 0)))
        short = self._short and job.wide and job.n_squares > 0 and given.shape[1] == 0
        first = first_basis(self._rest, given_basis, job.weights, job.sizes, rng, short=short)
        self._basis.n_passes += 1 + (self._frozen.shape[1] > 0)
        if first.shape[1] == 0:  # the graphs are zero, and any direction is as good
            first = orthonormal(rng.standard_normal((n, size)), first)
        self._basis.append(first)
        return np.asarray(self._basis.V.T @ given)

    def random_starts(self, rng: np.random.Generator, d: int, b: int) -> Array:
        """Return unit vectors, (d, b, s)."""
        return random_starts(rng, d, b, self._basis.V.shape[1])

    def solve(self, d: int, search: Search, tol: Array) -> Any:
        """Find d components within the basis."""
        job = self._job
        R, mean, by_squares = self._basis.compressed()
        floor = max(job.floor, moment_rounding(R)) if by_squares else job.floor
        problem = CoreProblem(
            R, mean, self._basis.V, self._frozen, job.hollow, floor, self._left, job.nothing
        )
        return solve_core(problem, d, search, tol)

    def look_outside(self, fit: Any) -> tuple[Array, Array]:
        """Return the gradients r_k, (n, d), and ||r_k|| / theta_k, (d,), in the full space."""
        d = len(fit.gains)
        active = int((fit.gains > 0).sum())
        Y = fit.Y[:, :active]
        T, squares, combination = fit.deflation.projections(self._basis.root_forms(Y), Y)
        X = fit.deflation.projections(np.eye(active), Y)[0]  # from forms to t_ik
        r = self._basis.gradients(Y, X)  # sum_i w_i t_ik A_i h_k
        H = times(self._basis.V, Y)  # after the pass, beside which there is little room
        self._seen = (Y, H) if len(H) <= TALL else None
        # Take off what the earlier components of the block hold: sum_{j < k} N_kj q_j h_k.
        N = np.tril((T.T @ T) / squares, -1) @ combination
        both = np.column_stack([self._frozen, H]) if self._frozen.shape[1] else H
        taken = N.T * inner(both, H)
        theta = np.einsum("ik,ik->k", T, T)
        if self._job.hollow:
            subtract(r, both, taken)
            r += (both**2 @ N.T) * H
            q = squared_norm((H**4).sum(axis=0))
            theta = theta / q
            r = (r - theta * norm_gradient(H)) / q
        else:
            taken[len(taken) - active :] += np.diag(theta)
            subtract(r, both, taken)
        subtract(r, H, np.diag(dots(H, r)))
        sizes = np.sqrt(dots(r, r)) / theta
        if active < d:
            r = np.pad(r, ((0, 0), (0, d - active)))
        return r, np.pad(sizes, (0, d - active))

    def components(self, Y: Array) -> Array:
        """Return h_k = V y_k, (n, d)."""
        seen, self._seen = self._seen, None  # as of the last look, before the basis changes
        if seen is not None and np.array_equal(seen[0][:, : Y.shape[1]], Y):
            return seen[1][:, : Y.shape[1]]
        return times(self._basis.V, Y)

    def forms(self, Y: Array) -> Array | None:
        """Return h_k^T A_i h_k, (m, d), if they are known."""
        found: Array | None = self._basis.forms(Y)
        return found

    def shorten(self, points: list[Array], n_new: int) -> list[Array]:
        """Leave the span of these points alone, if the basis has no room for n_new more columns."""
        s = len(points[0])
        if s + n_new <= self._width:
            return points
        kept = orthonormal(np.column_stack(points), np.zeros((s, 0)))
        self._basis.rotate(kept)
        return [kept.T @ Y for Y in points]

    def widen(self, r: Array, points: list[Array]) -> list[Array] | None:
        """Add what the gradients have outside of the basis; None if there is nothing."""
        new = orthonormal(r, self._basis.V)
        if new.shape[1] == 0:
            return None
        self._basis.append(new)
        return [np.pad(Y, ((0, new.shape[1]), (0, 0))) for Y in points]
