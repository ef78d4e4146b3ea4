"""Measures of predictions of held-out graphs, as scikit-learn computes them.

A measure that some graphs cannot have, such as an AUC where all are of one class, is None, with
the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn import metrics
from sklearn.calibration import calibration_curve

from eigengraphs.inference.studies.designs import Array, unit_of

_BINS = 5  # of predicted probabilities


class Measures(NamedTuple):
    """Measures by name, None where there is none; and why, a sentence or nothing."""

    values: Mapping[str, float | None]
    why_empty: str = ""


def measure_classes(
    y: NDArray[Any],
    told: NDArray[Any],
    probabilities: Array | None,
    classes: Sequence[str],
    positive: str,
) -> Measures:
    """Return measures of predicted classes.

    Parameters
    ----------
    y, told : (m,)
        Classes, and those that were predicted.
    probabilities : (m, c) or None
        Of each class.
    classes : (c,)
        Their names, in alphabetical order.
    positive
        Of two classes, the one whose recall is the sensitivity.
    """
    names = ["accuracy", "balanced_accuracy", "roc_auc", "brier_score"]
    two = len(classes) == 2
    if two:
        names[3:3] = ["sensitivity", "specificity"]
    found: dict[str, float | None] = dict.fromkeys(names)
    found["accuracy"] = float(metrics.accuracy_score(y, told))
    absent = [name for name in classes if not (y == name).any()]
    if two:
        (negative,) = set(classes) - {positive}
        for name, of in (("sensitivity", positive), ("specificity", negative)):
            if of not in absent:
                found[name] = float(metrics.recall_score(y == of, told == of))
    if not absent:
        found["balanced_accuracy"] = float(metrics.balanced_accuracy_score(y, told))
    if probabilities is not None:
        P = probabilities
        # The sum over classes, which is twice what Brier's score of two classes is.
        each = [metrics.brier_score_loss(y == c, P[:, k]) for k, c in enumerate(classes)]
        found["brier_score"] = float(sum(each)) / (2 if two else 1)
        if not absent:
            seen, p = (y == positive, P[:, list(classes).index(positive)]) if two else (y, P)
            more = {} if two else {"multi_class": "ovr", "labels": list(classes)}
            found["roc_auc"] = float(metrics.roc_auc_score(seen, p, **more))
    reasons = {}
    if absent:
        lacking = f"no graph of {', '.join(map(repr, absent[:3]))}{' ...' * (len(absent) > 3)}"
        reasons[lacking] = [name for name in names[:-1] if found[name] is None]  # not Brier's
    if probabilities is None:
        reasons["the rule gives classes without probabilities"] = ["roc_auc", "brier_score"]
    return Measures(found, _sentence(reasons))


def measure_quantity(y: Array, told: Array) -> Measures:
    """Return measures of a predicted quantity, from its values and predictions, (m,) each."""
    unit = unit_of(np.concatenate([y, told])) or 1.0  # squares of large numbers might overflow
    y, told = y / unit, told / unit
    found: dict[str, float | None] = {
        "R2": None,
        "MAE": float(unit * metrics.mean_absolute_error(y, told)),
        "RMSE": float(unit * metrics.root_mean_squared_error(y, told)),
        "r": None,
    }
    reasons = {}
    if np.ptp(y) > 0:
        found["R2"] = float(metrics.r2_score(y, told))
        if np.ptp(told) > 1e-12 * np.abs(told).max():
            found["r"] = float(stats.pearsonr(y, told).statistic)
        else:
            reasons["all predictions are the same"] = ["r"]
    else:
        reasons["all values are the same"] = ["R2", "r"]
    return Measures(found, _sentence(reasons))


def _sentence(reasons: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"no {', '.join(names)}: {why}" for why, names in reasons.items() if names)


def confusion(
    y: NDArray[Any], told: NDArray[Any], classes: Sequence[str]
) -> tuple[dict[str, str | int], ...]:
    """Return how often graphs of each class were predicted to be of each, one row per class."""
    counts = metrics.confusion_matrix(y, told, labels=list(classes)).tolist()
    told_as = [f"predicted {name}" for name in classes]
    return tuple(
        {"class": name, **dict(zip(told_as, row, strict=True))}
        for name, row in zip(classes, counts, strict=True)
    )


def calibration(
    y: NDArray[Any], probabilities: Array, classes: Sequence[str], positive: str
) -> tuple[dict[str, str | float], ...]:
    """Return predicted probabilities and observed shares, in groups of about as many graphs.

    Of two classes it is the probability of the positive one, of more that of the predicted class.
    """
    if len(classes) == 2:
        of, p, right = positive, probabilities[:, [*classes].index(positive)], y == positive
    else:
        of, p = "the predicted class", probabilities.max(axis=1)
        right = y == np.asarray(classes)[probabilities.argmax(axis=1)]
    observed, predicted = calibration_curve(
        right.astype(int), p, pos_label=1, n_bins=_BINS, strategy="quantile"
    )
    edges = np.percentile(p, np.linspace(0, 100, _BINS + 1))[1:-1]
    counts = np.bincount(np.searchsorted(edges, p))
    return tuple(
        {"probability_of": of, "predicted": float(x), "observed": float(share), "graphs": int(n)}
        for x, share, n in zip(predicted, observed, counts[counts > 0], strict=True)
    )
