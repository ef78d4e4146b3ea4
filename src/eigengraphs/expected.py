"""From a fit back to graphs: what they are expected to be."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from eigengraphs.errors import InputError
from eigengraphs.models import MultipleRandomEigenGraphs
from eigengraphs.plan import Plan
from eigengraphs.solvers.protocol import Fit
from eigengraphs.stack.names import one_place
from eigengraphs.tables import short_repr

__all__ = ["DirectedPositions", "ExpectedGraphs", "GraphPositions"]


class GraphPositions(NamedTuple):
    """Positions of the vertices in one graph: A is about X Diag(signs) X^T.

    What :meth:`JointEmbedding.graph_positions` returns. Section 2 has H Lambda_i^(1/2) for
    nonnegative loadings; signs allow for the others.

    Attributes
    ----------
    positions : (n, d)
        ``X = H |D|^(1/2)``.
    signs : (d,)
        Sign of each loading, 1, -1 or 0.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
    >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
    >>> placed = je.graph_positions(0)
    >>> bool(abs(placed.positions**2 - je.latent_positions_**2 * abs(je.loadings_[0])).max() < 1e-9)
    True
    """

    positions: NDArray[Any]
    signs: NDArray[np.float64]

    def __repr__(self) -> str:
        return short_repr(self)


class DirectedPositions(NamedTuple):
    """The same of a directed graph: A is about X Diag(signs) Y^T, from rows of X to rows of Y."""

    positions: NDArray[Any]  # X = H |D|^(1/2), (n, d)
    signs: NDArray[np.float64]  # sign of each loading, (d,)
    right: NDArray[Any]  # Y = G |D|^(1/2), (n, d)


class ExpectedGraphs:
    """Graphs, positions and models that a :class:`~eigengraphs.JointEmbedding` stands for."""

    latent_positions_: Any
    latent_positions_right_: Any
    loadings_: Any
    n_vertices_: int
    objective_path_: NDArray[np.float64]
    objective_scale_: float
    _dtype: np.dtype[Any]
    _fit: Fit
    _graph_names: tuple[str, ...] | None  # None: their places
    _is_weighted: bool
    _plan: Plan

    def inverse_transform(self, loadings: ArrayLike) -> NDArray[Any]:
        """Return the expected adjacency matrices for loadings.

        The diagonal is that of the training graphs where it was one constant (0 without loops),
        and the model's own where it was data.

        Parameters
        ----------
        loadings : (m', d)
            A row for each graph.

        Returns
        -------
        array (m', n, n)
            H D_i H^T (directed: H D_i G^T), and the mean graph where the fit is centred.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
        >>> je.inverse_transform(je.loadings_[:3]).shape
        (3, 12, 12)
        """
        check_is_fitted(self)
        H = self._fit.H
        try:
            Lam = np.asarray(loadings, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("loadings must be an array of numbers") from None
        if Lam.ndim != 2 or Lam.shape[1] != H.shape[1]:
            raise InputError(f"loadings must have shape (m, {H.shape[1]}), got {Lam.shape}")
        if not np.isfinite(Lam).all():
            raise InputError("loadings must be finite; some are not")
        G = H if self._fit.G is None else self._fit.G
        A: NDArray[Any] = np.einsum("sk,ik,tk->ist", H, Lam, G, optimize=True)
        mean = self._plan.treatment.mean
        if mean is not None:
            A += mean if isinstance(mean, np.ndarray) else mean.toarray()
        if self._plan.treatment.hollow and self._plan.treatment.diagonal_value is not None:
            np.einsum("iss->is", A)[...] = self._plan.treatment.diagonal_value
        return A.astype(self._dtype)

    def graph_positions(self, graph: int | str) -> GraphPositions | DirectedPositions:
        """Return the vertices' positions in one training graph, ``H |D_i|^(1/2)``, and signs.

        Of a directed graph, also ``G |D_i|^(1/2)``.

        Parameters
        ----------
        graph : int or str
            Place or name of the training graph.

        Returns
        -------
        GraphPositions
            ``positions`` (n, d) and ``signs`` (d,); of a directed graph also ``right`` (n, d).

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
        >>> X, signs = je.graph_positions(0)
        >>> X.shape, signs.shape
        ((12, 2), (2,))
        """
        check_is_fitted(self)
        names = self._graph_names or tuple(map(str, range(len(self.loadings_))))
        lam = self.loadings_[one_place(graph, names, "training graph")]
        root = np.sqrt(np.abs(lam))
        X = self.latent_positions_ * root
        if self._fit.G is None:
            return GraphPositions(X, np.sign(lam))
        return DirectedPositions(X, np.sign(lam), self.latent_positions_right_ * root)

    def to_mreg(self, law: Literal["bernoulli", "poisson", "gaussian"] = "bernoulli") -> Any:
        """Return the fit as a :class:`~eigengraphs.models.MultipleRandomEigenGraphs` model.

        Parameters
        ----------
        law : {"bernoulli", "poisson", "gaussian"}
            Law of the edges: "bernoulli" for unweighted graphs, its probabilities clipped into
            [0, 1]; "poisson" for counts, its means clipped at 0; "gaussian" for any weights, with
            the standard deviation of the residuals. ``n_clipped`` and ``clipped_share`` of the
            model tell how much had to be clipped.

        Returns
        -------
        MultipleRandomEigenGraphs
            The model of section 2, with the latent positions and the loadings of the fit.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> eg.JointEmbedding(1, random_state=0).fit(graphs).to_mreg()
        MultipleRandomEigenGraphs(n_vertices=12, n_components=1, loadings of 6 graphs, clip=True)
        """
        check_is_fitted(self)
        if law == "bernoulli" and self._is_weighted:
            raise InputError(
                "the training graphs are weighted, which Bernoulli edges are not; "
                "pass law='poisson' for counts, or law='gaussian'"
            )
        if self._fit.G is not None:
            raise InputError(
                "the model's components are symmetric, and those of a directed fit are not; "
                "symmetrize() the graphs and fit with directed=False"
            )
        if self._plan.treatment.mean is not None:
            raise InputError(
                "a centred fit describes differences from the mean graph, which no MREG does; "
                "fit with center=False"
            )
        H, Lam = self._fit.H, np.asarray(self.loadings_, dtype=np.float64)
        if law != "gaussian":
            return MultipleRandomEigenGraphs(H, Lam, law=law, clip=True)
        n, weights = self.n_vertices_, self._plan.total_weight
        entries = n * (n - 1) if self._plan.treatment.hollow else n * n
        spread = float(np.sqrt(self.objective_path_[-1] / weights / max(entries, 1)))
        spread *= self.objective_scale_
        return MultipleRandomEigenGraphs(H, Lam, law=law, noise_scale=spread)
