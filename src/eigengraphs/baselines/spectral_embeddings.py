"""Methods that embed all graphs together, in one space, by their means or side by side; or each."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from eigengraphs.baselines.eigenvectors import as_dense, leading, roots, rounding, sums_are_cheap
from eigengraphs.baselines.graph_baseline import GraphBaseline, PositionsBaseline, each_graph, rows
from eigengraphs.solvers.geometry import Symmetric
from eigengraphs.solvers.solution import Array, with_signs
from eigengraphs.stack import GraphStack
from eigengraphs.system.parallel import spans


def _products(graphs: GraphStack, X: Array) -> Array:
    """Return A_i X for all graphs, (m, n, d)."""
    return np.asarray(rows(graphs) @ X).reshape(graphs.n_graphs, *X.shape)


class CommonSpace(GraphBaseline):
    """A method that finds one space for all graphs, and describes each by its scores there.

    A graph is about V R_i V^T, directed V R_i W^T, with orthonormal V and W (n, d) and scores R_i =
    V^T A_i W. A subclass gives ``_space``.
    """

    def _space(self, stack: GraphStack) -> tuple[Array, ...]:
        """Return orthonormal V (n, d), or V and W."""
        raise NotImplementedError

    def _learn(self, stack: GraphStack) -> Array:
        spaces = [with_signs(V) for V in self._space(stack)]
        self.latent_positions_ = spaces[0]
        if self._is_directed:
            self.latent_positions_right_ = spaces[1]
        return self._embed(stack)

    def _embed(self, stack: GraphStack) -> Array:
        V = self.latent_positions_
        R = V.T @ _products(stack, self.latent_positions_right_ if self._is_directed else V)
        if self._is_directed:
            return R.reshape(len(R), -1)
        return Symmetric(V.shape[1]).pack((R + R.transpose(0, 2, 1)) / 2)

    @property
    def scores_(self) -> Array:
        """Scores R_i of the training graphs, (m, d, d)."""
        packed, d = self._embedded_graphs(None), self.latent_positions_.shape[1]
        return packed.reshape(-1, d, d) if self._is_directed else Symmetric(d).unpack(packed)

    def _feature_names(self) -> list[str]:
        d = self.latent_positions_.shape[1]
        return [
            f"r{k + 1}_{j + 1}" for k in range(d) for j in range(d if self._is_directed else k + 1)
        ]


class MultipleASE(CommonSpace):
    """Embed all graphs in the space that their own embeddings share (Arroyo et al. 2021).

    In the COSIE model, A_i is about V R_i V^T: V (n, d), orthonormal, is common, and the scores
    R_i (d, d), symmetric, are each graph's own. V holds the leading left singular vectors of the
    adjacency spectral embeddings of all graphs side by side, and R_i = V^T A_i V. The features are
    the d (d + 1) / 2 entries of R_i on and below the diagonal, row by row, those below times
    sqrt(2): Euclidean distances are then Frobenius distances of scores.

    Of directed graphs, left and right singular vectors are embedded, R_i = V^T A_i W, and all of
    its entries are features.

    Parameters
    ----------
    n_components : int
        Number of dimensions, d, of the common space and of each graph's embedding.
    scaled : bool
        Scale each graph's eigenvectors by the roots of their eigenvalues, ``|S_i|^(1/2)``, so that
        directions count for as much as they explain.
    diagonal : {"observed", "filled"}
        Take the diagonal as it is, or put the mean of its row into each diagonal entry.
    directed : bool
        Whether edges have directions.

    Attributes
    ----------
    latent_positions_ : (n, d)
        V, orthonormal columns; the entry that is largest in magnitude is positive.
    latent_positions_right_ : (n, d)
        W, of directed graphs.
    scores_ : (m, d, d)
        R_i of the training graphs.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
    >>> mase = eg.baselines.MultipleASE(2).fit(graphs)
    >>> mase.latent_positions_.shape, mase.scores_.shape, mase.transform(graphs).shape
    ((10, 2), (6, 2, 2), (6, 3))
    """

    def __init__(
        self, n_components: int = 2, *, scaled: bool = True, diagonal: str = "observed",
        directed: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(n_components, diagonal=diagonal)
        self.scaled = scaled
        self.directed = directed

    def _space(self, stack: GraphStack) -> tuple[Array, ...]:
        d, scaled = self._fitted.n_components, self._fitted.scaled
        if not self._is_directed:
            return (common_columns(adjacency_positions(stack, d, scaled=scaled)),)
        X = adjacency_positions(doubled(stack), d, scaled=scaled, order="value")
        n = stack.n_vertices
        return common_columns(X[:, :n]), common_columns(X[:, n:])


class DegreeCorrectedMASE(CommonSpace):
    """Embed graphs in a common space, corrected for degrees (Agterberg, Lubberts and Arroyo).

    Each graph has its own spectral embedding, d eigenvectors of A_i times the roots of their
    eigenvalues. Its rows are scaled to unit length, which removes degrees, and V has the
    leading left singular vectors of these embeddings side by side. For communities of vertices,
    the rows of V are clustered.

    Parameters
    ----------
    n_components : int
        Number of dimensions, d.
    diagonal : {"observed", "filled"}
        Take the diagonal as it is, or put the mean of its row into each diagonal entry.

    Attributes
    ----------
    latent_positions_ : (n, d)
        V, orthonormal columns.
    scores_ : (m, d, d)
        V^T A_i V of the training graphs.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
    >>> eg.baselines.DegreeCorrectedMASE(2).fit(graphs).latent_positions_.shape
    (10, 2)
    """

    def _space(self, stack: GraphStack) -> tuple[Array, ...]:
        X = adjacency_positions(stack, self._fitted.n_components)
        return (common_columns(unit_rows(X)),)


class SummedGraphs(CommonSpace):
    """Embed the sum of all graphs: eigenvectors of sum_i A_i, largest eigenvalues in magnitude.

    Structure that all graphs share is clearest in the sum; structure whose sign differs between
    graphs is lost. For communities of vertices with uneven degrees, scale the rows of V to unit
    length before clustering ("spherical").

    Parameters
    ----------
    n_components : int
        Number of dimensions, d.
    diagonal : {"observed", "filled"}
        Take the diagonal as it is, or put the mean of its row into each diagonal entry.

    Attributes
    ----------
    latent_positions_ : (n, d)
        V, orthonormal columns.
    scores_ : (m, d, d)
        V^T A_i V of the training graphs.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
    >>> eg.baselines.SummedGraphs(2).fit(graphs).latent_positions_.shape
    (10, 2)
    """

    def _space(self, stack: GraphStack) -> tuple[Array, ...]:
        total = sum(each_graph(stack))
        return (leading(total, self._fitted.n_components)[1],)


class SumOfSquares(CommonSpace):
    """Embed the sum of squared graphs without its bias (Lei and Lin 2023).

    V holds the leading eigenvectors of sum_i (A_i^2 - Diag(A_i^2)): squares keep structure whose
    sign differs between graphs, and the diagonal of a square, the degrees of unweighted graphs, has
    no information on communities.

    Parameters
    ----------
    n_components : int
        Number of dimensions, d.
    diagonal : {"observed", "filled"}
        Take the diagonal as it is, or put the mean of its row into each diagonal entry.

    Attributes
    ----------
    latent_positions_ : (n, d)
        V, orthonormal columns.
    scores_ : (m, d, d)
        V^T A_i V of the training graphs.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
    >>> eg.baselines.SumOfSquares(2).fit(graphs).latent_positions_.shape
    (10, 2)
    """

    def _space(self, stack: GraphStack) -> tuple[Array, ...]:
        F, n = rows(stack), stack.n_vertices
        squares: Any = F.multiply(F) if stack.is_sparse else F * F
        bias = np.asarray(squares.sum(axis=0)).ravel()
        total: Any = LinearOperator(
            (n, n), matvec=lambda v: F.T @ (F @ v) - bias * np.ravel(v), dtype=np.float64
        )
        if sums_are_cheap(n, is_sparse=stack.is_sparse):
            total = as_dense(F.T @ F) - np.diag(bias)
        return (leading(total, self._fitted.n_components, "value")[1],)


def common_columns(X: Array) -> Array:
    """Return the leading left singular vectors of positions (m, n, d) side by side, (n, d)."""
    U: Array = np.linalg.svd(np.hstack(list(X)), full_matrices=False)[0]
    return U[:, : X.shape[2]]


def unit_rows(X: Array) -> Array:
    """Return positions (..., d) with rows of length 1; those that are zero stay."""
    lengths = np.sqrt((X**2).sum(axis=-1, keepdims=True))
    return np.asarray(np.divide(X, lengths, out=np.zeros_like(X), where=lengths > 0))


def doubled(stack: GraphStack) -> GraphStack:
    """Return [[0, A_i], [A_i^T, 0]], undirected graphs on 2 n vertices.

    Its eigenvectors with positive eigenvalues are the left and right singular vectors of A_i, one
    above the other, times sqrt(1/2), and the eigenvalues are the singular values.
    """
    m, n, _ = stack.shape
    if not stack.is_sparse:
        A = np.zeros((m, 2 * n, 2 * n))
        A[:, :n, n:] = stack.dense
        A[:, n:, :n] = stack.dense.transpose(0, 2, 1)
        return GraphStack(A, copy=False)
    return GraphStack([sparse.block_array([[None, A], [A.T, None]], format="csr")
                       for A in each_graph(stack)])  # fmt: skip


class _DirectedPositions(PositionsBaseline):
    """A method with positions that takes directed graphs, too."""

    def __init__(
        self, n_components: int = 2, *, diagonal: str = "observed", directed: bool = False
    ) -> None:
        super().__init__(n_components, diagonal=diagonal)
        self.directed = directed


class Omnibus(_DirectedPositions):
    """Embed all graphs together by the matrix of their pairwise means (Levin et al. 2017).

    The omnibus matrix M (m n, m n) has the blocks (A_i + A_j) / 2. With its eigenvalues S that are
    largest in magnitude and their eigenvectors U, block i of ``U |S|^(1/2)`` holds the positions
    X_i of the vertices in graph i. All are in one coordinate system: graphs are compared by
    ||X_i - X_j||_F, without rotation, and the features are the n d entries of X_i.

    The method does not define positions for new graphs. Here they are computed from those of
    the training graphs by Nyström's extension, 1/2 sum_j (A + A_j) X_j S^(-1), which for a training
    graph is X_i. M itself is never formed: the problem has order 2 n. It contains squares of
    differences of graphs, so directions in which they differ by less than about 1e-7 of the
    largest difference count as directions in which they do not differ.

    Of directed graphs, left and right singular vectors of M stand one above the other.

    Parameters
    ----------
    n_components : int
        Number of dimensions, d.
    diagonal : {"observed", "filled"}
        Take the diagonal as it is, or put the mean of its row into each diagonal entry.
    directed : bool
        Whether edges have directions: positions are then (m, 2 n, d), those where edges start
        above those where they end.

    Attributes
    ----------
    positions_ : (m, n, d)
        X_i of the training graphs; columns beyond the rank of M are zero.
    latent_positions_ : (n, d)
        Mean of the X_i.
    eigenvalues_ : (d,)
        S, with signs.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
    >>> omnibus = eg.baselines.Omnibus(2).fit(graphs)
    >>> omnibus.positions_.shape, omnibus.transform(graphs).shape
    ((6, 10, 2), (6, 20))
    """

    # An eigenvector u = (u_1, ..., u_m) of M with eigenvalue lam has
    #
    #     lam u_i = (A_i s + t) / 2,      s = sum_j u_j,   t = sum_j A_j u_j,
    #
    # so that u_i is affine in A_i, and s decides it: summing over i gives m t = 2 lam s - m Ā s and
    #
    #     u_i = s / m + (A_i - Ā) s / (2 lam),      Ā = sum_i A_i / m.

    def _learn(self, stack: GraphStack) -> Array:
        stack = doubled(stack) if self._is_directed else stack
        m, n, _ = stack.shape
        cheap = sums_are_cheap(n, is_sparse=stack.is_sparse)
        solve = _reduced_omnibus if cheap else _omnibus_by_lanczos
        order: Literal["value", "magnitude"] = "value" if self._is_directed else "magnitude"
        lam, s, mean_s = solve(stack, self._fitted.n_components, order)
        root, inverse = roots(lam, rounding(lam, m * n))
        if self._is_directed:  # halves of eigenvectors are shorter than singular vectors
            s, mean_s = np.sqrt(2) * s, np.sqrt(2) * mean_s
        # X_i = |lam|^(1/2) u_i = latent positions + (A_i - Ā) s |lam|^(1/2) / (2 lam).
        half = inverse * np.sign(lam) / 2
        self._projection = s * half
        self.latent_positions_ = s * root / m
        self._constant = self.latent_positions_ - mean_s * half
        self.eigenvalues_ = lam
        return self._positions(stack)

    def _embed(self, stack: GraphStack) -> Array:
        return self._positions(doubled(stack) if self._is_directed else stack)

    def _positions(self, stack: GraphStack) -> Array:
        return np.asarray(_products(stack, self._projection) + self._constant)


def _reduced_omnibus(
    graphs: GraphStack, d: int, order: Literal["value", "magnitude"]
) -> tuple[Any, Any, Any]:
    """Return eigenvalues lam (d,) of M, sums s (n, d) of its eigenvectors' blocks, and Ā s.

    s solves lam s = m Ā s + m G s / (4 lam), G = sum_i (A_i - Ā)^2; with G = R^T R that is the
    symmetric eigenproblem of [[m Ā, (sqrt(m) / 2) R^T], [(sqrt(m) / 2) R, 0]], (2 n, 2 n).
    """
    m, n, _ = graphs.shape
    mean = np.asarray(rows(graphs).reshape(m, n * n).sum(axis=0)).reshape(n, n) / m
    G = np.zeros((n, n))
    for A in each_graph(graphs):
        C = as_dense(A) - mean
        G += C @ C
    values, W = np.linalg.eigh(G)
    # What rounding leaves of a zero eigenvalue has a root that would pass for a small one of M.
    R = np.sqrt(np.where(values > rounding(values, n), values, 0.0))[:, None] * W.T
    R *= np.sqrt(m) / 2
    lam, Y = leading(np.block([[m * mean, R.T], [R, np.zeros((n, n))]]), d, order)
    s = np.sqrt(m) * with_signs(Y[:n])
    return lam, s, mean @ s


def _omnibus_by_lanczos(
    graphs: GraphStack, d: int, order: Literal["value", "magnitude"]
) -> tuple[Any, Any, Any]:
    """Return the same by products with M."""
    F, (m, n, _) = rows(graphs), graphs.shape

    def multiply(u: Array) -> Array:
        u = u.ravel()
        return np.asarray((F @ u.reshape(m, n).sum(axis=0) + np.tile(F.T @ u, m)) / 2)

    M = LinearOperator((m * n, m * n), matvec=multiply, dtype=np.float64)
    lam, U = leading(M, d, order)
    s = with_signs(U.reshape(m, n, d).sum(axis=0))
    return lam, s, _products(graphs, s).mean(axis=0)


class UnfoldedASE(_DirectedPositions):
    """Embed the graphs side by side, [A_1 ... A_m] (Gallagher, Jones and Rubin-Delanchy 2021).

    With the truncated singular value decomposition U S W^T of that (n, m n) matrix, the common
    positions are U S^(1/2), and the positions in graph i are Y_i = A_i U S^(-1/2), the rows of
    W S^(1/2) that belong to it. The same formula gives positions in new graphs. Graphs are
    compared by ||Y_i - Y_j||_F, and the features are the n d entries of Y_i.

    Of directed graphs, U has the positions where edges start and Y_i = A_i^T U S^(-1/2) those where
    they end. U and S^2 come from sum_i A_i A_i^T, so singular values below about 1e-7 of the
    largest count as zero; so do their columns.

    Parameters
    ----------
    n_components : int
        Number of dimensions, d.
    diagonal : {"observed", "filled"}
        Take the diagonal as it is, or put the mean of its row into each diagonal entry.

    directed : bool
        Whether edges have directions.

    Attributes
    ----------
    latent_positions_ : (n, d)
        U S^(1/2).
    positions_ : (m, n, d)
        Y_i of the training graphs.
    singular_values_ : (d,)
        S.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
    >>> unfolded = eg.baselines.UnfoldedASE(2).fit(graphs)
    >>> unfolded.latent_positions_.shape, unfolded.positions(graphs[:3]).shape
    ((10, 2), (3, 10, 2))
    """

    def _learn(self, stack: GraphStack) -> Array:
        F, n = rows(_turned(stack) if self._is_directed else stack), stack.n_vertices
        G: Any = LinearOperator((n, n), matvec=lambda v: F.T @ (F @ v), dtype=np.float64)
        if sums_are_cheap(n, is_sparse=stack.is_sparse):
            G = as_dense(F.T @ F)
        squares, U = leading(G, self._fitted.n_components, "value")
        S = np.sqrt(np.where(squares > rounding(squares, n), squares, 0.0))
        root, inverse = roots(S, 0.0)
        self.singular_values_, self.latent_positions_ = S, U * root
        self._projection = U * inverse
        return self._embed(stack)

    def _embed(self, stack: GraphStack) -> Array:
        return _products(_turned(stack) if self._is_directed else stack, self._projection)


def _turned(stack: GraphStack) -> GraphStack:
    """Return the transposes of graphs."""
    if not stack.is_sparse:
        return GraphStack(np.ascontiguousarray(stack.dense.transpose(0, 2, 1)), copy=False)
    return GraphStack([sparse.csr_array(A.T) for A in each_graph(stack)])


# ----------------------------------------------------------------------- graphs embedded one by one


_BLOCK_ENTRIES = 2**18  # of inner products at a time; small, so that few pairs come twice


class _ProcrustesBaseline(PositionsBaseline):
    """A method whose positions are known only up to a rotation or reflection of each graph."""

    def _features(self, embedded: Array) -> Array:
        return self._distances(embedded, self._embedded)

    def _distances(self, a: Array, b: Array) -> Array:
        return procrustes_distances(a, None if a is b else b)

    def _feature_names(self) -> list[str]:
        return [f"distance_to_{name}" for name in self._graph_names]


class AdjacencySpectralEmbedding(_ProcrustesBaseline):
    """Embed each graph by itself, and compare positions up to rotation (Sussman et al. 2012).

    Vertices of graph i have the rows of ``X_i = U_i |S_i|^(1/2)`` for positions, with the
    ``n_components`` eigenvalues of A_i that are largest in magnitude. Graphs are compared by the
    Procrustes distance, min over orthogonal Q of ||X_i Q - X_j||_F. ``transform`` gives distances
    to the training graphs, so that a nearest-neighbor classifier with ``metric="precomputed"`` may
    follow in a pipeline.

    Parameters
    ----------
    n_components : int
        Number of dimensions, d.
    diagonal : {"observed", "filled"}
        Take the diagonal as it is, or put the mean of its row into each diagonal entry.

    Attributes
    ----------
    positions_ : (m, n, d)
        Positions in the training graphs.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> ase = eg.baselines.AdjacencySpectralEmbedding(2).fit(mice.graphs.log1p())
    >>> ase.pairwise_distances().shape
    (32, 32)
    """

    def _embed(self, stack: GraphStack) -> Array:
        return adjacency_positions(stack, self._fitted.n_components)


def adjacency_positions(
    stack: GraphStack, d: int, *, scaled: bool = True,
    order: Literal["value", "magnitude"] = "magnitude",
) -> Array:  # fmt: skip
    """Return U_i |S_i|^(1/2), or U_i, of the d leading eigenvalues, (m, n, d).

    Columns beyond the rank of a graph are zero: eigenvectors there are arbitrary.
    """
    X = np.empty((stack.n_graphs, stack.n_vertices, d))
    for i, A in enumerate(each_graph(stack)):
        values, X[i] = leading(A, d, order)
        root, inverse = roots(values, rounding(values, stack.n_vertices))
        X[i] *= root if scaled else root * inverse
    return X


class LaplacianEigenmap(_ProcrustesBaseline):
    """Embed the normalized Laplacian of each graph, and compare positions up to rotation.

    With N_i = D_i^(-1/2) A_i D_i^(-1/2), the normalized Laplacian is I - N_i (Belkin and Niyogi
    2003). Positions are its eigenvectors U_i with the ``n_components`` smallest eigenvalues, the
    first of them included, which holds the square roots of the degrees. ``scaled`` multiplies them
    by ``|S_i|^(1/2)``, S_i being their eigenvalues of N_i. Graphs are compared by the Procrustes
    distance; ``transform`` gives distances to the training graphs.

    A vertex without edges has a zero row in N_i. Degrees are sums of absolute weights, so that
    negative weights are allowed.

    Parameters
    ----------
    n_components : int
        Number of dimensions, d.
    scaled : bool
        Scale the eigenvectors, as in the Laplacian spectral embedding that the authors of the paper
        use elsewhere (Tang and Priebe 2018), and as in igraph and graspologic: the only difference
        from :class:`AdjacencySpectralEmbedding` is then the matrix. Without scaling (as Belkin and
        Niyogi do) graphs are compared by the spaces that the eigenvectors span, and the information
        in the eigenvalues is lost.

    Attributes
    ----------
    positions_ : (m, n, d)
        Positions in the training graphs.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
    >>> eg.baselines.LaplacianEigenmap(2).fit(graphs).positions_.shape
    (6, 10, 2)
    """

    def __init__(self, n_components: int = 2, *, scaled: bool = True) -> None:
        self.n_components = n_components
        self.scaled = scaled

    def _embed(self, stack: GraphStack) -> Array:
        d, scaled = self._fitted.n_components, self._fitted.scaled
        X = np.empty((stack.n_graphs, stack.n_vertices, d))
        for i, A in enumerate(each_graph(stack)):
            values, X[i] = leading(_normalized(A), d, "value")
            X[i] *= np.sqrt(np.abs(values)) if scaled else 1.0
        return X


def _normalized(A: Any) -> Any:
    """Return D^(-1/2) A D^(-1/2), with zeros for vertices without edges."""
    root = np.sqrt(np.asarray(abs(A).sum(axis=1)))
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
    if isinstance(A, np.ndarray):
        return A * inverse * inverse[:, None]
    D = sparse.diags_array(inverse, format="csr")
    return D @ A @ D


def procrustes_distances(X: Array, Y: Array | None = None) -> Array:
    """Return min over orthogonal Q of ||X_i Q - Y_j||_F for all pairs, (m, m').

    The squares are ||X_i||^2 + ||Y_j||^2 - 2 ||X_i^T Y_j||_*, so that a distance is exact to about
    1e-8 of the norms. (scipy's ``orthogonal_procrustes`` takes one pair at a time.)

    Parameters
    ----------
    X : (m, n, d)
        Positions.
    Y : (m', n, d), optional
        Other positions; by default ``X``, and each pair is computed once.
    """
    other = X if Y is None else Y
    (m, n, d), m_other = X.shape, len(other)
    left = np.ascontiguousarray(X.transpose(0, 2, 1))  # (m, d, n)
    right = np.ascontiguousarray(other.transpose(1, 0, 2))  # (n, m', d)
    norms = np.zeros((m, m_other))
    for lo, hi in spans(m, _BLOCK_ENTRIES // (m_other * d * d)):
        first = lo if Y is None else 0
        C = left[lo:hi].reshape(-1, n) @ right[:, first:].reshape(n, -1)
        C = C.reshape(hi - lo, d, m_other - first, d).transpose(0, 2, 1, 3)
        norms[lo:hi, first:] = _nuclear_norms(C)
    if Y is None:
        norms = np.triu(norms) + np.triu(norms, 1).T
    squares = [np.einsum("isk,isk->i", Z, Z) for Z in (X, other)]
    D: Array = np.sqrt(np.maximum(squares[0][:, None] + squares[1] - 2 * norms, 0.0))
    if Y is None:
        np.fill_diagonal(D, 0.0)
    return D


def _nuclear_norms(C: Array) -> Array:
    """Return the sums of singular values of matrices (..., d, d)."""
    if C.shape[-1] == 2:  # (s + t)^2 = s^2 + t^2 + 2 s t, much faster than the decomposition
        det = C[..., 0, 0] * C[..., 1, 1] - C[..., 0, 1] * C[..., 1, 0]
        squares = np.einsum("...kl,...kl->...", C, C)
        return np.asarray(np.sqrt(squares + 2 * np.abs(det)))
    return np.asarray(np.linalg.svd(C, compute_uv=False).sum(axis=-1))
