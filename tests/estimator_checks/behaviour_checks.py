"""Checks of what must not change what is found: order, company, saving, doing it again."""

from __future__ import annotations

import pickle
from typing import Any

import joblib
import numpy as np
from estimator_checks.data import METHODS, CheckData, fresh, outputs, require
from estimator_checks.input_checks import memory_mapped, same_outputs
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline

# A graph's numbers may be summed in another order beside others.
_ROUNDING = 1e-7


def check_pipeline_consistency(estimator: Any, data: CheckData) -> None:
    """A pipeline of one step does what the step does."""
    A = data.graphs(estimator)
    one, pipeline = data.fitted(estimator, A), make_pipeline(fresh(estimator))
    pipeline.fit(A, data.labels(len(A)))
    require(np.array_equal(pipeline.transform(A), one.transform(A)), "a pipeline transforms else")
    if hasattr(one, "score"):
        y = data.labels(len(A))
        require(pipeline.score(A, y) == one.score(A, y), "a pipeline scores else")


def check_estimators_pickle(
    estimator: Any, data: CheckData, *, readonly_memmap: bool = False
) -> None:
    """A fit that was pickled says the same, and so does one whose arrays cannot be written."""
    A = data.graphs(estimator)
    if readonly_memmap:
        with memory_mapped(A) as mapped:
            _require_pickle(data.fitted(estimator, mapped), A)
    else:
        _require_pickle(data.fitted(estimator, A), A)


def _require_pickle(fit: Any, A: Any) -> None:
    again = pickle.loads(pickle.dumps(fit))
    same_outputs(fit, again, A, A, "differs after pickling")
    require(joblib.hash(again.get_params()) == joblib.hash(fit.get_params()), "other parameters")


def check_methods_sample_order_invariance(estimator: Any, data: CheckData) -> None:
    """What is said of a graph does not depend on its place among others."""
    A = data.graphs(estimator)
    fit = data.fitted(estimator, A)
    order = np.random.default_rng(0).permutation(len(A))
    turned = dict(outputs(fit, A[order]))
    for name, values in outputs(fit, A):
        near = {"rtol": _ROUNDING, "atol": _ROUNDING * np.abs(values).max()}
        assert_allclose(turned[name], values[order], err_msg=f"{name} depends on order", **near)


def check_methods_subset_invariance(estimator: Any, data: CheckData) -> None:
    """Nor does it depend on which others there are."""
    A = data.graphs(estimator)
    fit = data.fitted(estimator, A)
    for method in METHODS:
        if not hasattr(fit, method):
            continue
        call = getattr(fit, method)
        together = call(A)
        alone = np.concatenate([call(A[i : i + 1]) for i in range(len(A))])
        near = {"rtol": _ROUNDING, "atol": _ROUNDING * np.abs(together).max()}
        assert_allclose(alone, together, err_msg=f"{method} depends on the others", **near)


def check_dict_unchanged(estimator: Any, data: CheckData) -> None:
    """What is asked of a fit leaves it as it is."""
    A = data.graphs(estimator)
    fit = data.fitted(estimator, A)
    before = vars(fit).copy()
    hashed = joblib.hash({name: before[name] for name in before if name.endswith("_")})
    for _ in outputs(fit, A):
        pass
    if hasattr(fit, "score"):
        fit.score(A)
    after = vars(fit)
    require(after.keys() == before.keys(), f"methods add {sorted(set(after) ^ set(before))}")
    changed = [name for name in before if after[name] is not before[name]]
    require(not changed, f"methods replace {changed}")
    again = joblib.hash({name: after[name] for name in after if name.endswith("_")})
    require(hashed == again, "methods change fitted attributes in place")


def check_fit_idempotent(estimator: Any, data: CheckData) -> None:
    """A second fit to the same graphs finds the same, to the last digit."""
    A = data.graphs(estimator)
    one = data.fitted(estimator, A)
    first = dict(outputs(one, A))
    one.fit(A, data.labels(len(A)))
    for name, values in outputs(one, A):
        require(np.array_equal(values, first[name]), f"{name} changes with a second fit")
    other = data.graphs(estimator, m=5, n=4, seed=9)
    one.fit(other, data.labels(5))
    fit = data.fitted(estimator, other)
    same_outputs(fit, one, other, other, "an earlier fit to other graphs shows")
