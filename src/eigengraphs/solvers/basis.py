"""A growing basis for each side, and the graphs in it.

What is kept of the graphs decides how often they are read: their products with the basis (one pass
for new columns and none for gradients, m n s numbers), their cores alone (two passes), or the
second moment of the cores (two passes, and nothing that grows with the number of graphs).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.operators.degrees import DEGREE_ROWS
from eigengraphs.solvers.core import MANY, Rows, rows_of, rows_of_moment
from eigengraphs.solvers.geometry import geometry_of, sides_of
from eigengraphs.solvers.options import SolverOptions
from eigengraphs.solvers.solution import Array, Sides, Watcher
from eigengraphs.system.parallel import on_blocks, spans

__all__ = [
    "Basis", "CoreBasis", "MomentBasis", "RowBasis", "all_rounds", "basis_width", "first_bases",
    "grow", "orthonormal", "whole_pays",
]  # fmt: skip

_ROW_BYTES = 2**21  # of products that are projected at a time
_TYPED_SUM = 64  # terms of a sum that the type of the graphs may take before float64 does
_CLEAR = 1e-4  # of a column: so much outside of the basis is at right angles to it after a sweep


class Basis:
    """Orthonormal columns on each side, and cores of all graphs.

    Attributes
    ----------
    bases : (n, s) for each side
        Orthonormal columns.
    geometry : Geometry
        Of points in this basis.
    is_everything : bool
        Whether the basis spans all vertices.
    n_passes : int
        How often the graphs were read.
    degree_cores : (w, s, s) for each side
        V^T D_i V, where the metric has degrees D_i; else there are none.
    """

    def __init__(self, graphs: Any, weights: Array, degrees: Sides = ()) -> None:
        self._graphs, self._weights, self._degrees = graphs, weights, degrees
        self.degree_cores = tuple(np.zeros((len(D), 0, 0)) for D in degrees)
        n = graphs.n_vertices
        self.n_passes = 0
        self._set(tuple(np.zeros((n, 0)) for _ in range(2 if graphs.directed else 1)))

    def _set(self, bases: Sides) -> None:
        self.bases = bases
        self.geometry = geometry_of(tuple(V.shape[1] for V in bases))
        self.is_everything = all(V.shape[1] == len(V) for V in bases)

    def components(self, X: Array) -> Sides:
        """Return V y of points (d, size), (n, d) on each side."""
        parts = sides_of(X, self.geometry.widths)
        return tuple(V @ part.T for V, part in zip(self.bases, parts, strict=True))

    def points(self, sides: Sides) -> Array:
        """Return V^T h of components, (d, size)."""
        return np.concatenate([V.T @ h for V, h in zip(self.bases, sides, strict=True)]).T

    def append(self, new: Sides) -> None:
        """Add orthonormal columns on each side, orthogonal to those before: one pass."""
        raise NotImplementedError

    def rotate(self, turns: Sides) -> None:
        """Replace each V by V T."""
        raise NotImplementedError

    def rows(self, Psi: Array, *, linear: bool) -> Rows:
        """Return rows that stand for the graphs, whose forms with frozen components are ``Psi``."""
        raise NotImplementedError

    def forms(self, X: Array) -> Array | None:
        """Return forms of all graphs with points (d, size), (m, d), if no graph is read for it."""
        raise NotImplementedError

    def combine(self, W: Array, X: Array) -> Sides:
        """Return sum_i W_ik A_i g_k, and of the transposes, at points (d, size)."""
        raise NotImplementedError

    def combine_forms(self, Psi: Array, T: Array, X: Array) -> Sides:
        """Return the same with W_i = w_i psi_i T, psi_i the forms with frozen and new components.

        ``Psi`` (m, k) holds those with the frozen ones, and ``T`` is (k + d, b): sums are those of
        the last b points.
        """
        forms = np.hstack([Psi, np.asarray(self.forms(X))])
        return self.combine(self._weights[:, None] * (forms @ T), X[len(X) - T.shape[1] :])


class CoreBasis(Basis):
    """Keep the cores, (m, s, t): every gradient is a pass, unless ``products`` are kept, too.

    These are A_i V and A_i^T U, in parts (m, b, n).
    """

    def __init__(
        self, graphs: Any, weights: Array, *, products: bool = False, degrees: Sides = ()
    ) -> None:
        super().__init__(graphs, weights, degrees)
        self.cores: Array = np.zeros((graphs.n_graphs, 0, 0))
        self._seen = np.zeros((0, 0)), np.zeros((graphs.n_graphs, 0))  # points, and their forms
        self._parts: tuple[list[NDArray[Any]], ...] | None = None
        if products:
            self._parts = tuple([] for _ in self.bases)

    def append(self, new: Sides) -> None:
        """Add columns: one pass."""
        old = self.bases
        self._set(tuple(np.column_stack(both) for both in zip(old, new, strict=True)))
        # [U left]^T A_i right, and V^T A_i^T left of two sides.
        if self._parts is None:
            found = self._graphs.project(old, new)
        else:
            products = self._graphs.products(*new)
            for parts, part in zip(self._parts, products, strict=True):
                parts.append(part)
            found = [projected(products[-1], self.bases[0])]
            if len(products) == 2:
                found.append(projected(products[0], old[1]))
        self.cores = _bordered(self.cores, found[0], found[1] if len(found) == 2 else None)
        both = zip(self.degree_cores, self._degrees, self.bases, new, strict=False)
        self.degree_cores = tuple(
            _bordered(W, degree_products(D, V, columns)) for W, D, V, columns in both
        )
        self.n_passes += 1

    def rotate(self, turns: Sides) -> None:
        """Replace each V by V T."""
        self.cores = np.matmul(turns[0].T, np.matmul(self.cores, turns[-1]))
        both = zip(self.degree_cores, turns, strict=False)
        self.degree_cores = tuple(np.matmul(T.T, np.matmul(W, T)) for W, T in both)
        self._seen = self._seen[0][:0], self._seen[1][:, :0]  # the same numbers are other points
        self._set(tuple(V @ T for V, T in zip(self.bases, turns, strict=True)))
        if self._parts is not None:
            self._parts = tuple(map(_rotated, self._parts, turns))

    def rows(self, Psi: Array, *, linear: bool) -> Rows:
        """Return the cores, or fewer rows in their place."""
        return rows_of(self.geometry.pack(self.cores), Psi, self._weights, linear=linear)

    def forms(self, X: Array) -> Array:
        """Return forms of all graphs, (m, d); of the last points without any work."""
        if not np.array_equal(self._seen[0][: len(X)], X):
            parts = sides_of(X, self.geometry.widths)
            half = np.matmul(self.cores, parts[-1].T)  # (m, s, d)
            self._seen = X.copy(), np.asarray(np.einsum("isd,ds->id", half, parts[0]))
        return self._seen[1][:, : len(X)].copy()

    def combine(self, W: Array, X: Array) -> Sides:
        """Return sums over graphs: one pass, or none where products are kept."""
        if self._parts is None:
            self.n_passes += 1
            sides: Sides = self._graphs.combine(W, *self.components(X))
            return sides
        # left^T A_i belongs to the right side of the sum, and the other way round.
        points = sides_of(X, self.geometry.widths)
        found = []
        for parts, mine in zip(self._parts[::-1], points[::-1], strict=True):
            found.append(_combined(parts, W, mine))
        return tuple(found)


class MomentBasis(Basis):
    """Keep the second moment of cores and frozen forms alone, for linear loadings."""

    def __init__(self, graphs: Any, weights: Array, frozen: Sides) -> None:
        super().__init__(graphs, weights)
        self._frozen = frozen
        self._rows = Rows(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0))

    def append(self, new: Sides) -> None:
        """Add columns: one pass."""
        self._set(tuple(np.column_stack(both) for both in zip(self.bases, new, strict=True)))
        M, mean = self._graphs.total(CoreMoments(self.bases, self._frozen), self._weights)
        p = self.geometry.n_entries
        full, _ = linalg.lapack.dtpttr(len(mean), M, uplo="U")
        self._rows = rows_of_moment(full, mean / np.sqrt(self._weights.sum()), p)
        self.n_passes += 1

    def rotate(self, turns: Sides) -> None:
        """Replace each V by V T."""
        old = self.geometry
        self._set(tuple(V @ T for V, T in zip(self.bases, turns, strict=True)))
        new, rows, p = self.geometry, self._rows, old.n_entries
        assert rows.mean is not None

        def turned(Z: Array) -> Array:
            return np.asarray(new.pack(np.matmul(turns[0].T, np.matmul(old.unpack(Z), turns[-1]))))

        mean = np.append(turned(rows.mean[:p]), rows.mean[p:])
        self._rows = Rows(turned(rows.R), rows.Psi, rows.weights, mean, rows.rounding)

    def rows(self, Psi: Array, *, linear: bool) -> Rows:
        """Return the root of the moment."""
        del Psi, linear
        return self._rows

    def forms(self, X: Array) -> None:
        """Of each graph nothing is known."""

    def combine_forms(self, Psi: Array, T: Array, X: Array) -> Sides:
        """Return sums over graphs with weights that are linear in their forms: one pass."""
        del Psi
        self.n_passes += 1
        sides: Sides = self._graphs.total(
            Gradients(self._frozen, self.components(X), T), self._weights
        )
        return sides


class RowBasis(Basis):
    """All vertices, for graphs that are gone: rows stand for them (:class:`moments.StandIns`)."""

    def __init__(self, graphs: Any, weights: Array, frozen: Sides) -> None:
        super().__init__(graphs, weights)
        self._frozen = frozen

    def append(self, new: Sides) -> None:
        """Take the unit vectors; nothing is read."""
        self._set(new)

    def rows(self, Psi: Array, *, linear: bool) -> Rows:
        """Return the rows."""
        del linear
        graphs = self._graphs
        forms = self.geometry.outer(self._frozen[0].T) @ graphs.mean
        mean = np.append(graphs.mean, forms)
        return Rows(graphs.R, Psi, self._weights, mean, graphs.lost)

    def forms(self, X: Array) -> Array:
        """Return forms of the rows, (r, d)."""
        return np.asarray(self._graphs.R @ self.geometry.outer(X).T)


@dataclass(frozen=True)
class CoreMoments:
    """Find sum_i w_i c_i c_i^T, a packed triangle, and sum_i w_i c_i, (p + k,).

    c_i holds the packed core of a graph, then its forms with the frozen components.
    """

    bases: Sides
    frozen: Sides

    def __call__(self, graphs: Any, weights: Array) -> tuple[Array, Array]:
        """Return the sums over these graphs."""
        geometry = geometry_of(tuple(V.shape[1] for V in self.bases))
        if all(V.shape[1] == len(V) and (np.eye(len(V)) == V).all() for V in self.bases):
            C = geometry.pack(graphs.written_out())
        else:
            C = geometry.pack(graphs.project(tuple(V[:, :0] for V in self.bases), self.bases)[0])
        if self.frozen[0].shape[1]:
            C = np.hstack([C, graphs.forms(*self.frozen)])
        mean = weights @ C
        C *= np.sqrt(weights)[:, None]
        M = C.T @ C  # as scipy.linalg.blas would keep other threads waiting
        return np.asarray(linalg.lapack.dtrttp(M, uplo="U")[0]), np.asarray(mean)


@dataclass(frozen=True)
class Gradients:
    """Find sum_i w_i t_ik A_i g_k with t_i = psi_i T, psi_i the forms of frozen and new ones.

    They are those of the last b components.
    """

    frozen: Sides
    sides: Sides
    T: Array  # (k + d, b)

    def __call__(self, graphs: Any, weights: Array) -> Sides:
        """Return the sums over these graphs."""
        both = tuple(np.column_stack(pair) for pair in zip(self.frozen, self.sides, strict=True))
        t = graphs.forms(*both) @ self.T
        last = tuple(side[:, side.shape[1] - t.shape[1] :] for side in self.sides)
        sides: Sides = graphs.combine(weights[:, None] * t, *last)
        return sides


# ---------------------------------------------------------------- products that are kept


def _bordered(cores: Array, right: Array, below: Array | None = None) -> Array:
    """Return cores (m, s, t) with columns behind them, (m, s', t' - t), and rows below.

    Without ``below`` (m, t, s' - s), which is turned, cores are symmetric.
    """
    (m, s, t), (_, rows, more) = cores.shape, right.shape
    found = np.empty((m, rows, t + more))
    found[:, :s, :t] = cores
    found[:, :, t:] = right
    found[:, s:, :t] = (right[:, :s] if below is None else below).transpose(0, 2, 1)
    if below is None:
        corner = found[:, s:, t:]
        corner += corner.transpose(0, 2, 1).copy()
        corner /= 2
    return found


def degree_products(D: Array, V: Array, new: Array) -> Array:
    """Return V^T D_i B, (w, s, b), for degrees ``D`` (w, n) and the last columns B of ``V``."""
    found = np.zeros((len(D), V.shape[1], new.shape[1]))
    if V.shape[1] == new.shape[1] == len(V) and np.array_equal(V, np.eye(len(V))):
        np.einsum("iss->is", found)[...] = D
        return found

    typed = V.astype(D.dtype)
    first = V.shape[1] - new.shape[1]

    def work(lo: int, hi: int) -> None:
        for s0, s1 in spans(len(V), DEGREE_ROWS):
            some, rows = D[:, s0:s1], typed[s0:s1]
            for k in range(lo, hi):
                found[:, :, k] += some @ (rows * rows[:, first + k : first + k + 1])

    on_blocks(work, spans(new.shape[1], -(-new.shape[1] // 4)))
    return found


def projected(part: NDArray[Any], V: Array) -> Array:
    """Return V^T P_i^T, (m, s, b), for the rows P_i of ``part`` (m, b, n) and ``V`` (n, s).

    A few terms of a sum are added in the type of the part, and those sums in float64: float32 alone
    loses a digit where all terms have one sign, as in graphs of few blocks.
    """
    m, b, n = part.shape
    cross = np.empty((m, V.shape[1], b))
    typed = V.astype(part.dtype)

    def work(lo: int, hi: int) -> None:
        rows = part[lo:hi].reshape((hi - lo) * b, n)  # some graphs in one product
        found = np.zeros((len(rows), V.shape[1]))
        for s in range(0, n, _TYPED_SUM):
            found += rows[:, s : s + _TYPED_SUM] @ typed[s : s + _TYPED_SUM]
        cross[lo:hi] = found.reshape(hi - lo, b, V.shape[1]).transpose(0, 2, 1)

    on_blocks(work, spans(m, _ROW_BYTES // max(1, part.itemsize * b * n)))
    return cross


def _combined(parts: list[NDArray[Any]], W: Array, Y: Array) -> Array:
    """Return sum_i W_ik P_i^T y_k, (n, d), for parts (m, b_j, n) of P_i and points ``Y`` (d, s)."""
    m, _, n = parts[0].shape
    d = W.shape[1]
    total = np.zeros((n, d))
    ends = np.cumsum([0, *(part.shape[1] for part in parts)])

    def add(j: int, _: int) -> Array:
        part = parts[j]
        b = part.shape[1]
        sums = (W.T.astype(part.dtype) @ part.reshape(m, b * n)).reshape(d, b, n)
        return np.asarray(np.matmul(Y[:, None, ends[j] : ends[j + 1]], sums)[:, 0].T)

    few = sum(part.nbytes for part in parts) <= _ROW_BYTES  # threads take longer to begin
    on_blocks(add, spans(len(parts), 1), total.__iadd__, threads=1 if few else None)
    return total


def _rotated(parts: list[NDArray[Any]], T: Array) -> list[NDArray[Any]]:
    """Return T^T P_i as one part, (m, s', n)."""
    m, _, n = parts[0].shape
    TT = T.T.astype(parts[0].dtype)
    turned = np.empty((m, len(TT), n), dtype=parts[0].dtype)

    def turn(lo: int, hi: int) -> None:
        for i in range(lo, hi):
            np.matmul(TT, np.concatenate([part[i] for part in parts]), out=turned[i])

    on_blocks(turn, spans(m, max(1, m // 16)))
    return [turned]


# ---------------------------------------------------------------- which columns


def whole_pays(m: int, n: int, directed: bool, linear: bool, options: SolverOptions) -> bool:
    """Tell whether solving on all vertices costs less than building a basis.

    Where loadings are not ``linear`` in the forms, a good basis takes more rounds to build, and
    there is no second moment of the cores.
    """
    p = n * n if directed else n * (n + 1) // 2
    if not linear:
        return p <= 3 * options.whole and 2 * m * p <= options.core_numbers
    # Beside very many graphs, which are summed up in their second moment, no core is large.
    cheap = 2 * min(m, p) * p <= options.core_numbers or m > MANY * p
    return p <= options.whole and cheap


def basis_width(m: int, wide: bool, directed: bool, options: SolverOptions) -> int:
    """Return how many columns a basis may have.

    Fewer where the cores of many graphs cost, and where every pass multiplies by all of them.
    """
    if not wide:
        return options.narrow
    for s in range(options.width, options.narrow, -8):
        p = s * s if directed else s * (s + 1) // 2
        if min(m, p) * p <= options.core_numbers:
            return s
    return options.narrow


def first_bases(
    graphs: Any,
    given: Sides,
    taken: tuple[Sides, Array],
    weights: Array,
    sizes: Array,
    rng: np.random.Generator,
    options: SolverOptions,
) -> Sides:
    """Return orthonormal columns: those that are given, and the main directions of the graphs.

    Components that differ from graph to graph show in sum_i w_i A_i^2; weak ones that most graphs
    share, in the mean, where the noise is averaged. Many graphs are sampled by size, the largest
    for sure: what one graph alone has may be most of what there is.

    Parameters
    ----------
    graphs
        The operator.
    given : (n, any) for each side
        Columns that the bases must hold.
    taken
        Components, (n, k) for each side, and their loadings, (m, k), which are taken off.
    weights, sizes : (m,)
        Weight of each graph in the objective, and times its squared norm.
    rng
        Source of the sketch.
    options
        Tuned values.
    """
    counted = np.flatnonzero(sizes)
    few = max(options.sketched_graphs, len(counted) // 4)
    if len(counted) > few:
        heaviest = counted[np.argsort(-sizes[counted], kind="stable")[: few // 4]]
        others = np.setdiff1d(counted, heaviest)
        share = sizes[others] / sizes[others].sum()
        chosen = rng.choice(others, few - len(heaviest), replace=False, p=share)
        weights = np.where(np.isin(np.arange(len(weights)), [*heaviest, *chosen]), weights, 0.0)
    n = graphs.n_vertices
    Omega = rng.standard_normal((n, options.sketch))
    found = []
    sketched = _less(list(graphs.sketch(Omega, weights)), graphs, *taken, Omega, weights)
    for (squares, sums), columns in zip(sketched, given, strict=True):
        squares = _without_diagonal(squares, Omega)
        mine = orthonormal(columns, np.zeros((n, 0)))
        sums = sums - mine @ (mine.T @ sums)
        main = sums @ linalg.eigh(sums.T @ sums)[1][:, ::-1][:, : options.sketch // 2]
        side = np.column_stack([mine, orthonormal(np.column_stack([main, squares]), mine)])
        if side.shape[1] == 0:  # the graphs are zero, and any direction is as good
            side = orthonormal(rng.standard_normal((n, min(n, options.block))), side)
        found.append(side)
    return tuple(found)


def _less(
    found: list[tuple[Array, Array]], graphs: Any, sides: Sides, Lam: Array, Omega: Array,
    weights: Array,
) -> list[tuple[Array, Array]]:  # fmt: skip
    """Return sketches of R_i = A_i - L_i from those of A_i, for each side.

    One pass where there are components to take off. Their diagonals may stay: a first basis may
    be rough.
    """
    if Lam.shape[1] == 0:
        return found
    # (A - L)(A - L)^T = A A^T - A L^T - L A^T + L L^T, where sum_i w_i A_i L_i^T needs A_i g_k.
    wLam = weights[:, None] * Lam
    products = graphs.combine(wLam, *sides)
    moments, shares = wLam.T @ Lam, wLam.sum(axis=0)[:, None]
    less = []
    for j, (squares, sums) in enumerate(found):
        near, far, A_far = sides[j], sides[-1 - j], products[j]
        on_near = near.T @ Omega
        squares = squares - A_far @ on_near - near @ (A_far.T @ Omega)
        squares += near @ ((far.T @ far * moments) @ on_near)
        less.append((squares, sums - near @ (shares * (far.T @ Omega))))
    return less


def _without_diagonal(squares: Array, Omega: Array) -> Array:
    """Return S Omega, (n, b), without most of Diag(D) Omega, D the diagonal of S.

    D sums up all squared entries of the graphs: of sparse ones, most of S Omega is a multiple of
    Omega, which knows nothing of them. What is known of D is how a row of S Omega goes along with
    that of Omega. A tenth of D stays, lest the middle of a star, whose row has nothing else, is
    lost.
    """
    along = np.einsum("sk,sk->s", squares, Omega) / np.einsum("sk,sk->s", Omega, Omega)
    return np.asarray(squares - (0.9 * along)[:, None] * Omega)


def grow(basis: Basis, r: Sides, points: list[Array], width: int) -> tuple[list[Array], bool]:
    """Append what columns ``r`` (n, b), one set for each side, have outside of the basis.

    A basis that would become wider than ``width`` is first shortened to the span of ``points``,
    each (any, size). Returns the points in the new basis, and whether it grew.
    """
    widths = basis.geometry.widths
    if max(widths) + r[0].shape[1] > width and not basis.is_everything:
        parts = sides_of(np.vstack(points), widths)
        turns = tuple(orthonormal(part.T, np.zeros((part.shape[1], 0))) for part in parts)
        basis.rotate(turns)
        points = [
            np.hstack([part @ T for part, T in zip(sides_of(X, widths), turns, strict=True)])
            for X in points
        ]
        widths = basis.geometry.widths
    new = tuple(orthonormal(side, V) for side, V in zip(r, basis.bases, strict=True))
    if not any(side.shape[1] for side in new):
        return points, False
    basis.append(new)
    padded = []
    for X in points:
        padded.append(np.zeros((len(X), basis.geometry.size)))
        both = sides_of(padded[-1], basis.geometry.widths), sides_of(X, widths)
        for longer, part in zip(*both, strict=True):
            longer[:, : part.shape[1]] = part
    return padded, True


def all_rounds(rounds: Any, watch: Watcher | None) -> Any:
    """Do one round after the other, until the last or until the user stops; return the result."""
    interrupted = False
    try:
        while True:
            last = rounds.step()
            if watch is not None:
                watch(rounds.progress())
            if last or not rounds.widen():
                break
    except KeyboardInterrupt:
        if rounds.record is None:  # before the first was complete
            raise
        interrupted = True
    return rounds.result(interrupted)


def orthonormal(columns: Array, V: Array) -> Array:
    """Return an orthonormal basis of what ``columns`` have outside of span V."""
    sizes = np.sqrt(np.einsum("sk,sk->k", columns, columns))
    B = np.array(columns.T, order="C")  # orthonormal up to ``kept``, where those before were
    if V.shape[1]:
        B -= (B @ V) @ V.T
    kept = 0
    # One after the other: QR with pivoting would let rounding choose among equals, and without
    # it a dependent column becomes an arbitrary direction that the later ones then lose.
    for place, size in enumerate(sizes):
        row = B[place]
        for _ in range(2):
            row = row - (B[:kept] @ row) @ B[:kept]
        left = float(np.sqrt(row @ row))
        if left <= 1e-10 * size:
            continue
        row = row / left
        if left < _CLEAR * size and V.shape[1]:
            # Rounding along V has grown with it, and the later ones would not know of that.
            row -= V @ (row @ V)
            row -= (B[:kept] @ row) @ B[:kept]
            left = float(np.sqrt(row @ row))
            if left < 0.5:
                continue  # it was rounding
            row /= left
        B[kept] = row
        kept += 1
    found = np.ascontiguousarray(B[:kept].T)
    if kept and V.shape[1]:  # small remainders lose their orthogonality to V
        found -= V @ (V.T @ found)
        found /= np.sqrt(np.einsum("sk,sk->k", found, found))
    return found
