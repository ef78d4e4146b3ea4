"""Steps of Figure 6: whose brain is it? Nearest neighbours in d dimensions, HNU1 connectomes."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

import eigengraphs as eg
from eigengraphs.baselines import VectorizedPCA

__all__ = ["FOLDS", "N_VERTICES", "classify", "fibres", "pca_limit", "split"]

Array = NDArray[np.float64]
Places = NDArray[np.intp]
FOLDS = 5
N_VERTICES = 70


def split(sessions: NDArray[np.intp], scans: int, fold: int) -> tuple[Places, Places]:
    """Return the places of training and test graphs; fold f = 0, ..., 4 owns sessions 2f+1, 2f+2.

    With eight scans a subject, the fold's two sessions are the test graphs and all others train.
    With one, the first of the two trains and the nine other sessions are the test graphs.
    """
    own = (2 * fold + 1, 2 * fold + 2)
    training = sessions == own[0] if scans == 1 else ~np.isin(sessions, own)
    return np.flatnonzero(training), np.flatnonzero(~training)


def pca_limit(scans: int, centring: str) -> int:
    """Return the largest number of components that PCA can have."""
    return 30 * scans - (centring == "training")


def fibres() -> float:
    """Return the mean number of fibres between two regions."""
    counts = _data()[0]
    return float(counts.sum() / len(counts) / (N_VERTICES * (N_VERTICES - 1)))


def classify(
    rng: np.random.Generator,
    *,
    scans: int,
    fold: int,
    diagonal: str,
    centring: str,
    weights: str,
    kept: float,
    largest: int,
) -> Any:
    """Return accuracies of 1-NN on test graphs with d = 1, ..., ``largest``, and without embedding.

    Parameters
    ----------
    scans
        Training graphs a subject, 1 or 8.
    diagonal
        Of the joint embedding.
    centring
        "all" subtracts the mean of all 300 graphs first, as the paper did (test graphs take part
        in it); "training" that of the training graphs.
    weights
        "log1p" or "counts".
    kept
        Share of the fibres that are kept, each with this probability.
    """
    counts, subjects, sessions = _data()
    A = _thinned(counts, kept, rng) if kept < 1 else counts
    A = np.log1p(A) if weights == "log1p" else A
    if centring == "all":
        A = A - A.mean(axis=0)
    train, test = split(sessions, scans, fold)

    def accuracy(Z: Array) -> float:
        """Return that of the nearest training graph's label, by Euclidean distance."""
        squared = (Z[train] ** 2).sum(axis=1) - 2.0 * Z[test] @ Z[train].T
        return float((subjects[train][squared.argmin(axis=1)] == subjects[test]).mean())

    center = centring == "training"
    with warnings.catch_warnings():
        # Of counts, some components stop at 5e-8 instead of 1e-8; "converged" tells.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = eg.JointEmbedding(
            largest, diagonal=diagonal, center=center, random_state=int(rng.integers(2**31))
        ).fit(A[train])
    joint, fitted = [], []
    for d in range(1, largest + 1):
        first = fit.truncate(d)
        loadings = first.transform(A)
        joint.append(accuracy(loadings))
        fitted.append(accuracy(loadings @ _root(first)))
    most = min(largest, pca_limit(scans, centring))
    scores = VectorizedPCA(most, center=center).fit(A[train]).transform(A)
    return {
        "JE": joint,
        "JE, fitted graphs": fitted,
        "PCA": [accuracy(scores[:, :d]) for d in range(1, most + 1)],
        "1-NN": accuracy(A.reshape(len(A), -1)),
        "converged": bool(fit.converged_),
    }


def _root(fit: eg.JointEmbedding) -> Array:
    """Return L with L L^T = Gamma: rows of Lam L are as far apart as the fitted graphs are."""
    H = np.asarray(fit.latent_positions_, dtype=float)
    Gamma = (H.T @ H) ** 2
    if fit.diagonal_ != "observed":
        Gamma -= (H**2).T @ H**2
    values, vectors = np.linalg.eigh(Gamma)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _thinned(counts: Array, kept: float, rng: np.random.Generator) -> Array:
    upper = rng.binomial(np.triu(counts, 1).astype(np.int64), kept).astype(float)
    return np.asarray(upper + upper.transpose(0, 2, 1))


@cache
def _data() -> tuple[Array, Any, NDArray[np.intp]]:
    """Return fibre counts (300, 70, 70), subjects and sessions."""
    hnu1 = eg.datasets.fetch_hnu1()
    return np.asarray(hnu1.graphs.dense, dtype=float), hnu1.subjects, hnu1.sessions
