"""How well labels of vertices are told from their positions: Figures 7 and 8."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score

from experiments.repetitions import Array, Rng


def told_from(
    H: Array, X: Array, labels: Any, model: Any, rng: Rng, repetitions: int, permutations: int
) -> dict[str, Any]:
    """Predict two labels (n,) from X (n, d), and again when they are shuffled.

    ``accuracy`` and ``chance`` are lists of accuracies of 5-fold cross-validation, each with its
    own folds; ``AUC`` is the area under the curve of each dimension of the positions H by itself.
    """

    def accuracy(y: Any) -> float:
        folds = StratifiedKFold(5, shuffle=True, random_state=int(rng.integers(2**31)))
        return float(cross_val_score(model, X, y, cv=folds).mean())

    areas = [roc_auc_score(labels, h) for h in H.T]
    return {
        "H": H.tolist(),
        "labels": labels.tolist(),
        "accuracy": [accuracy(labels) for _ in range(repetitions)],
        "chance": [accuracy(rng.permutation(labels)) for _ in range(permutations)],
        "AUC": [float(max(area, 1 - area)) for area in areas],
    }
