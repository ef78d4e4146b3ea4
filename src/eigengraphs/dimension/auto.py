"""``n_components="auto"``: the number of components for an estimator's own settings."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from eigengraphs.dimension.result import DimensionChoice
from eigengraphs.dimension.search import choose_n_components
from eigengraphs.errors import InputError
from eigengraphs.stack import GraphStack

__all__ = ["choose_for"]

_OWN_SEED = 2**31  # child of the estimator's seed, which no component has


def choose_for(
    estimator: Any, stack: GraphStack, sample_weight: Any, seed: np.random.SeedSequence
) -> DimensionChoice:
    """Choose the number of components of training graphs, as free loadings would have it.

    Parameters
    ----------
    estimator
        A :class:`~eigengraphs.JointEmbedding` with ``n_components="auto"``.
    stack
        Its training graphs, after its steps of preprocessing.
    sample_weight
        Of the graphs, or None.
    seed
        Of the estimator.
    """
    if estimator.directed or stack.has_missing:
        raise InputError(
            "n_components='auto' is for undirected graphs without missing entries; give a number"
        )
    plain = {
        "loadings": "free", "max_nonzeros": None, "l1_penalty": None, "preprocess": None,
        "refine": False, "missing": "error",
    }  # fmt: skip
    return choose_n_components(
        stack,
        lambda d: clone(estimator).set_params(n_components=d, **plain),
        sample_weight=sample_weight,
        random_state=np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _OWN_SEED)),
        verbose=estimator.verbose,
    )
