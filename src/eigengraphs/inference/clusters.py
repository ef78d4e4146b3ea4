"""Clusters of vertices by their positions, and of graphs by their loadings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import orth
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.mixture import GaussianMixture

from eigengraphs.embedding import FitView, JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.inference.intervals_and_bootstrap import bootstrap, sides_of
from eigengraphs.inference.studies.designs import Array, Indices, check_choice, unit_of, units
from eigengraphs.system.randomness import RandomState, seed_sequence
from eigengraphs.system.tables import short_repr

Method = Literal["mixture", "kmeans"]
_STARTS = 10
_MIXTURES = 3  # starts of each shape


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters, from 0 on, the largest first.

    What :func:`cluster_vertices` and :func:`cluster_graphs` return.

    Attributes
    ----------
    labels : (n,)
        Cluster of each vertex or graph.
    n_clusters : int
        Number of clusters, c.
    centers : (c, p)
        In the space where clusters were sought.
    points : (n, p)
        What was clustered.
    bic : dict of int to float
        Bayesian information criterion by number of clusters; the smallest is taken.
    method : str
        "mixture" or "kmeans".
    ari : float or None
        Adjusted Rand index with the true classes, where these were given: 1 for the same, 0
        by chance.
    purity : float or None
        Share of points in the class that is most frequent in their cluster.
    stability : float or None
        Mean adjusted Rand index with the clusters of fits to resampled graphs, where these were
        asked for: near 1 if clusters do not depend on which graphs were seen.

    Examples
    --------
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> Lam = np.random.default_rng(0).normal(size=(30, 2))
    >>> Lam[20:] += 8.0
    >>> found = eg.inference.cluster_graphs(Lam, n_clusters=2)
    >>> found.sizes, found.centers.shape
    (array([20, 10]), (2, 2))
    """

    labels: Indices
    n_clusters: int
    centers: Array
    points: Array
    bic: dict[int, float]
    method: str
    ari: float | None
    purity: float | None
    stability: float | None = None

    __repr__ = short_repr

    @property
    def sizes(self) -> Indices:
        """Number of points in each cluster, (c,)."""
        return np.bincount(self.labels, minlength=self.n_clusters)


def cluster_vertices(
    embedding: JointEmbedding,
    *,
    n_clusters: int | Literal["auto"] = "auto",
    method: Method = "mixture",
    graph: int | str | None = None,
    normalize_rows: bool = False,
    truth: Sequence[Any] | None = None,
    most: int = 10,
    graphs: Any = None,
    groups: ArrayLike | None = None,
    n_boot: int = 20,
    random_state: RandomState = 0,
) -> Clusters:
    """Cluster the vertices by their positions.

    Parameters
    ----------
    embedding
        A fit.
    n_clusters
        "auto" takes the number with the smallest BIC, up to ``most``: with mixtures, the number of
        planted blocks if degrees are even, and often a few more if they are not.
    method
        "mixture": Gaussian mixture; whether clusters have shapes of their own, one shape or are
        round is decided by BIC, too. "kmeans": round clusters of one size.
    graph
        Positions in this graph, ``H |D_i|^(1/2)``. By default the joint ones: an orthonormal basis
        of the columns of H (directed: and one of G). With ``normalize_rows``, the columns, each
        weighted by the root of the component's root mean square loading.
    normalize_rows
        Divide each position by its length, so that vertices of different degree in the same block
        fall together: for fits that were not degree-corrected. Vertices at zero are left there.
    truth : (n,), optional
        Known classes, for `ari` and `purity`.
    most
        Largest number of clusters that "auto" looks at.
    graphs, groups, n_boot
        The graphs of the fit, for `stability`: ``n_boot`` fits to graphs drawn with replacement,
        those of one group (m,) together, are clustered into as many clusters. One cluster is always
        stable. See :func:`bootstrap`.
    random_state
        Of the starts, and of the draws.

    Returns
    -------
    Clusters

    Examples
    --------
    >>> import eigengraphs as eg
    >>> P = [[0.5, 0.1, 0.1], [0.1, 0.4, 0.1], [0.1, 0.1, 0.6]]
    >>> blocks = [s // 20 for s in range(60)]
    >>> model = eg.models.StochasticBlockModel(P, blocks)
    >>> je = eg.JointEmbedding(3, random_state=0).fit(model.sample(20, random_state=0))
    >>> found = eg.inference.cluster_vertices(je, truth=blocks)
    >>> found.n_clusters, found.ari
    (3, 1.0)
    """
    fit = FitView.of(embedding)
    if graph is not None and graphs is not None:
        raise InputError("stability is that of joint positions: give graphs, or graph, not both")
    if graphs is not None:
        graphs, fitted = fit.stack(graphs), len(embedding.loadings_)
        fitted = getattr(embedding, "n_graphs_seen_", fitted)
        if graphs.n_graphs != fitted:
            raise InputError(
                f"the embedding was fitted to {fitted} graphs, and graphs has {graphs.n_graphs}: "
                "stability is that of fits to the same graphs, drawn with replacement"
            )

    sides = sides_of(embedding)
    if graph is not None:
        placed: Any = embedding.graph_positions(graph)
        sides = [placed.positions, placed.right] if len(sides) == 2 else [placed.positions]

    def clustered(sides: Sequence[Array], Lam: Any, c: int | str, truth: Any) -> Clusters:
        if graph is None:
            sides = [_weighted(H, Lam) if normalize_rows else orth(H) for H in sides]
        X = np.hstack([np.asarray(side, dtype=np.float64) for side in sides])
        if normalize_rows:
            lengths = np.linalg.norm(X, axis=1, keepdims=True)
            X = X / np.where(lengths > 1e-12 * lengths.max(), lengths, 1.0)
        return _cluster(X, c, method, truth, most, random_state, "vertices")

    found = clustered(sides, embedding.loadings_, n_clusters, truth)
    if graphs is None:
        return found
    drawn = bootstrap(
        embedding, graphs, n_resamples=n_boot, groups=groups, random_state=random_state
    )
    both = [side for side in (drawn.positions, drawn.positions_right) if side is not None]
    again = zip(zip(*both, strict=True), drawn.loadings, strict=True)
    alike = [clustered(H, Lam, found.n_clusters, found.labels).ari for H, Lam in again]
    return replace(found, stability=float(np.mean(np.array(alike, dtype=np.float64))))


def _weighted(H: Array, loadings: Any) -> Array:
    """Return columns of H times roots of root mean square loadings."""
    Lam = np.asarray(loadings, dtype=np.float64)
    unit = units(Lam)
    return np.asarray(H * np.sqrt(unit * np.sqrt(((Lam / unit) ** 2).mean(axis=0))))


def cluster_graphs(
    loadings: Any,
    *,
    n_clusters: int | Literal["auto"] = "auto",
    method: Method = "mixture",
    standardize: bool = True,
    truth: Sequence[Any] | None = None,
    most: int = 10,
    random_state: RandomState = 0,
) -> Clusters:
    """Cluster graphs by their loadings.

    Parameters
    ----------
    loadings : JointEmbedding or (m, d)
        A fit, or loadings.
    n_clusters, method, truth, most, random_state
        As in :func:`cluster_vertices`.
    standardize : bool
        Give all components the same spread, whatever their size.

    Returns
    -------
    Clusters

    Examples
    --------
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> Lam = np.random.default_rng(0).normal(size=(30, 2))
    >>> Lam[20:] += 8.0
    >>> found = eg.inference.cluster_graphs(Lam, most=3, truth=["a"] * 20 + ["b"] * 10)
    >>> found.n_clusters, found.ari
    (2, 1.0)
    """
    Lam = loadings.loadings_ if hasattr(loadings, "loadings_") else loadings
    X = np.asarray(Lam, dtype=np.float64)
    if X.ndim != 2 or not np.isfinite(X).all():
        raise InputError(f"loadings must be finite numbers of shape (m, d), got shape {X.shape}")
    if standardize:
        X = X / units(X)
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return _cluster(X, n_clusters, method, truth, most, random_state, "graphs")


def _cluster(
    X: Array,
    n_clusters: int | str,
    method: str,
    truth: Sequence[Any] | None,
    most: int,
    random_state: RandomState,
    what: str,
) -> Clusters:
    n = len(X)
    check_choice("method", method, ("mixture", "kmeans"))
    if n_clusters != "auto" and not (isinstance(n_clusters, int) and 1 <= n_clusters <= n):
        raise InputError(f"n_clusters must be 'auto' or from 1 to {n}, got {n_clusters!r}")
    if truth is not None and len(truth) != n:
        raise InputError(f"truth must name a class for each of the {n} {what}, got {len(truth)}")
    seed = int(seed_sequence(random_state).generate_state(1)[0])
    numbers = [int(n_clusters)] if n_clusters != "auto" else range(1, max(1, min(most, n // 3)) + 1)
    unit = unit_of(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different points than clusters
        fits = {c: _fit(X / unit, c, method, seed) for c in numbers}
    best = min(fits, key=lambda c: (fits[c][2], c))
    labels, centers, _ = fits[best]
    order = np.argsort(-np.bincount(labels, minlength=best), kind="stable")
    place = np.argsort(order)
    bic = {c: fits[c][2] + 2.0 * X.size * np.log(unit) for c in fits}
    ari, purity = None, None
    if truth is not None:
        classes = [str(name) for name in truth]
        ari = float(adjusted_rand_score(classes, labels))
        purity = float(contingency_matrix(classes, labels).max(axis=0).sum() / n)
    return Clusters(place[labels], best, centers[order] * unit, X, bic, method, ari, purity)


def _fit(X: Array, c: int, method: str, seed: int) -> tuple[Indices, Array, float]:
    """Return labels, centers and BIC of c clusters."""
    if method == "mixture":
        return _mixture(X, c, seed)
    means: Any = KMeans(c, n_init=_STARTS, random_state=seed).fit(X)
    n, p = X.shape
    # k-means is the limit of round Gaussians of one size: their likelihood, with hard labels.
    variance = max(float(means.inertia_) / (n * p), 1e-300)
    counts = np.bincount(means.labels_, minlength=c)
    mixing = float((counts[counts > 0] * np.log(counts[counts > 0] / n)).sum())
    likelihood = -0.5 * n * p * (np.log(2 * np.pi * variance) + 1.0) + mixing
    parameters = c * p + (c - 1) + 1
    bic = -2.0 * likelihood + parameters * np.log(n)
    return means.labels_.astype(np.intp), np.asarray(means.cluster_centers_), float(bic)


def _mixture(X: Array, c: int, seed: int) -> tuple[Indices, Array, float]:
    """Return the best of Gaussian mixtures: each shape its own, one shape, axes, or round."""
    p = X.shape[1]
    # A floor for variances, beside the spread of all points: clusters of equal points are points,
    # and would have an infinite likelihood.
    floor = 1e-6 * max(float(X.var(axis=0).mean()), 1e-12)
    found = []
    for shape, fewest in (("full", p + 1), ("tied", 1), ("diag", 2), ("spherical", 2)):
        mixture: Any = GaussianMixture(
            c, covariance_type=shape, n_init=_MIXTURES, reg_covar=floor, random_state=seed
        )
        labels = mixture.fit_predict(X).astype(np.intp)
        # Fewer points than their covariance needs lie in a plane, with likelihoods without end.
        small = np.bincount(labels, minlength=c).min() < fewest
        bic = float("inf") if small and c > 1 else float(mixture.bic(X))
        found.append((labels, np.asarray(mixture.means_), bic))
    return min(found, key=lambda one: one[2])
