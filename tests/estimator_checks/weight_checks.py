"""Checks of ``sample_weight``: one weight a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from estimator_checks.data import CheckData, as_sparse, fresh, outputs, require
from estimator_checks.input_checks import ArrayLike, need_pandas
from numpy.testing import assert_allclose

# Two searches for the same components stop at different points, each this near to the end.
_SAME = 1e-5


def check_sample_weights_pandas_series(estimator: Any, data: CheckData) -> None:
    """Weights may be a pandas series, whatever its index."""
    pandas = need_pandas()
    A = data.graphs(estimator)
    weights = np.linspace(1.0, 2.0, len(A))
    series = pandas.Series(weights, index=np.arange(len(A))[::-1])
    _require_same(estimator, data, A, weights, series)


def check_sample_weights_not_an_array(estimator: Any, data: CheckData) -> None:
    """Weights may be anything that turns into an array."""
    A = data.graphs(estimator)
    weights = np.linspace(1.0, 2.0, len(A))
    _require_same(estimator, data, A, weights, ArrayLike(weights))


def check_sample_weights_list(estimator: Any, data: CheckData) -> None:
    """Weights may be a list."""
    A = data.graphs(estimator)
    weights = np.linspace(1.0, 2.0, len(A))
    _require_same(estimator, data, A, weights, weights.tolist())


def check_all_zero_sample_weights_error(estimator: Any, data: CheckData) -> None:
    """Weights that are all zero are refused: there is nothing to fit."""
    A = data.graphs(estimator)
    _require_refused(estimator, data, A, np.zeros(len(A)), "weights that are all zero")


def check_sample_weights_shape(estimator: Any, data: CheckData) -> None:
    """Weights that are not one a graph are refused."""
    A = data.graphs(estimator)
    m = len(A)
    for shape in ((m, 2), (m + 1,), (m - 1,), ()):
        _require_refused(estimator, data, A, np.ones(shape), f"weights of shape {shape}")


def check_sample_weights_not_overwritten(estimator: Any, data: CheckData) -> None:
    """A fit leaves the weights as they are."""
    A = data.graphs(estimator)
    weights = np.arange(len(A), dtype=np.float64)
    before = weights.copy()
    data.fitted(estimator, A, sample_weight=weights)
    require(np.array_equal(weights, before), "fit changes sample_weight")
    weights.flags.writeable = False
    data.fitted(estimator, A, sample_weight=weights)


def check_sample_weight_equivalence_on_dense_data(estimator: Any, data: CheckData) -> None:
    """A weight of k is the graph k times, and of 0 the graph not at all."""
    _require_equivalence(estimator, data, lambda A: A)


def check_sample_weight_equivalence_on_sparse_data(estimator: Any, data: CheckData) -> None:
    """The same of sparse graphs."""
    _require_equivalence(estimator, data, as_sparse)


def _require_equivalence(estimator: Any, data: CheckData, make: Any) -> None:
    A = data.graphs(estimator)
    m = len(A)
    y = data.labels(m)
    weights = np.random.default_rng(0).integers(0, 4, size=m)
    weights[:2] = 1, 0
    weighted = fresh(estimator).fit(make(A), y, sample_weight=weights)
    repeated = np.repeat(A, weights, axis=0)
    plain = fresh(estimator).fit(make(repeated), np.repeat(y, weights))
    for (name, a), (_, b) in zip(outputs(weighted, make(A)), outputs(plain, make(A)), strict=True):
        error = f"{name} differs between weights and repeated graphs"
        assert_allclose(a, b, rtol=_SAME, atol=_SAME * np.abs(b).max(), err_msg=error)


def _require_same(estimator: Any, data: CheckData, A: Any, weights: Any, other: Any) -> None:
    one = data.fitted(estimator, A, sample_weight=weights)
    two = data.fitted(estimator, A, sample_weight=other)
    for (name, a), (_, b) in zip(outputs(one, A), outputs(two, A), strict=True):
        require(np.array_equal(a, b), f"{name} depends on how weights are given")


def _require_refused(estimator: Any, data: CheckData, A: Any, weights: Any, what: str) -> None:
    try:
        data.fitted(estimator, A, sample_weight=weights)
    except ValueError as error:
        require("weight" in str(error), f"the error does not say what is wrong: {error}")
    else:
        raise AssertionError(f"{what} are taken")
