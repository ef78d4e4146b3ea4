"""Steps of Figure 7: do the positions of brain regions tell left from right? HNU1 connectomes."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigengraphs as eg

__all__ = ["positions"]

Array = NDArray[np.float64]


def positions(
    rng: np.random.Generator,
    *,
    diagonal: str,
    centred: bool,
    weights: str,
    d: int,
    repetitions: int,
    permutations: int,
) -> Any:
    """Fit all 300 graphs; predict hemispheres from H; do so again with shuffled hemispheres.

    ``accuracy`` and ``chance`` are lists of accuracies of 5-fold cross-validation, each with its
    own folds; ``AUC`` and ``p`` are of each dimension by itself (Mann and Whitney's test).
    """
    counts, is_left = _data()
    A = np.log1p(counts) if weights == "log1p" else counts
    with warnings.catch_warnings():
        # Told by "converged" in the table; counts span four orders of magnitude.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = eg.JointEmbedding(
            d, diagonal=diagonal, center=centred, random_state=int(rng.integers(2**31))
        ).fit(A)
    H = np.asarray(fit.latent_positions_, dtype=float)
    return {
        "H": H.tolist(),
        "is left": is_left.tolist(),
        "accuracy": [_accuracy(H, is_left, rng) for _ in range(repetitions)],
        "chance": [_accuracy(H, rng.permutation(is_left), rng) for _ in range(permutations)],
        "AUC": [float(max(area, 1 - area)) for area in (roc_auc_score(is_left, h) for h in H.T)],
        "p": [float(mannwhitneyu(h[is_left], h[~is_left]).pvalue) for h in H.T],
        "converged": bool(fit.converged_),
    }


def _accuracy(H: Array, is_left: NDArray[np.bool_], rng: np.random.Generator) -> float:
    model = make_pipeline(StandardScaler(), LogisticRegression())
    folds = StratifiedKFold(5, shuffle=True, random_state=int(rng.integers(2**31)))
    return float(cross_val_score(model, H, is_left, cv=folds).mean())


@cache
def _data() -> tuple[Array, NDArray[np.bool_]]:
    """Return fibre counts (300, 70, 70), and which vertices are on the left, (70,)."""
    hnu1 = eg.datasets.fetch_hnu1()
    return np.asarray(hnu1.graphs.dense, dtype=float), hnu1.hemispheres == "L"
