"""Checks of what ``transform`` returns: numbers, their type, and tables with names."""

from __future__ import annotations

from typing import Any

import numpy as np
from estimator_checks.data import CheckData, fresh, require
from estimator_checks.input_checks import memory_mapped, need, need_pandas
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

# `fit_transform` may take numbers that the search has at hand, and not project again.
_ROUNDING = 1e-5


def check_transformer_general(
    estimator: Any, data: CheckData, *, readonly_memmap: bool = False
) -> None:
    """``fit_transform`` is ``fit`` and ``transform``, one row a graph, again and again."""
    if readonly_memmap:
        with memory_mapped(data.graphs(estimator)) as A:
            _require_transformer(estimator, data, A)
    else:
        _require_transformer(estimator, data, data.graphs(estimator))


def _require_transformer(estimator: Any, data: CheckData, A: Any) -> None:
    y = data.labels(len(A))
    one = fresh(estimator)
    together = one.fit_transform(A, y)
    require(together.shape[0] == len(A), "fit_transform gives not one row a graph")
    after = one.transform(A)
    apart = fresh(estimator).fit(A, y).transform(A)
    near = {"rtol": _ROUNDING, "atol": _ROUNDING * np.abs(together).max()}
    assert_allclose(after, together, err_msg="transform is not fit_transform", **near)
    require(np.array_equal(after, apart), "fit and transform differ from one time to another")
    require(np.array_equal(one.transform(A), after), "transform changes when it is called again")


def check_transformer_preserve_dtypes(estimator: Any, data: CheckData) -> None:
    """Graphs of a type that the tags name give loadings of that type."""
    kinds = get_tags(estimator).transformer_tags.preserves_dtype
    for kind in kinds:
        A = data.graphs(estimator).astype(kind)
        one = fresh(estimator)
        for values in (one.fit_transform(A, data.labels(len(A))), one.transform(A)):
            require(values.dtype == kind, f"{kind} graphs give {values.dtype}")


def check_transformer_n_iter(estimator: Any, data: CheckData) -> None:
    """An estimator with ``max_iter`` tells how many iterations it took."""
    if "max_iter" in estimator.get_params(deep=False):
        taken = np.asarray(data.fitted(estimator).n_iter_)
        require((taken >= 0).all() and taken.max() >= 1, f"n_iter_ is {taken}")


# ------------------------------------------------------------------ names and tables


def check_get_feature_names_out_error(estimator: Any, data: CheckData) -> None:
    """Before a fit there are no names of features."""
    try:
        fresh(estimator).get_feature_names_out()
    except NotFittedError:
        return
    raise AssertionError("get_feature_names_out does not raise NotFittedError before a fit")


def check_transformer_get_feature_names_out(estimator: Any, data: CheckData) -> None:
    """There is one name a column, and no two are the same."""
    fit = data.fitted(estimator)
    names = fit.get_feature_names_out()
    require(isinstance(names, np.ndarray) and names.dtype == object, "names: no array of objects")
    require(all(isinstance(name, str) for name in names), "names must be texts")
    columns = fit.transform(data.graphs(estimator)).shape[1]
    require(len(names) == columns, f"{len(names)} names for {columns} columns")
    require(len(set(names)) == columns, "two columns have the same name")


def check_transformer_get_feature_names_out_pandas(estimator: Any, data: CheckData) -> None:
    """The same after a fit to tables."""
    pandas = need_pandas()
    tables = [pandas.DataFrame(graph) for graph in data.graphs(estimator, complete=True)]
    fit = data.fitted(estimator, tables)
    columns = fit.transform(tables).shape[1]
    names = fit.get_feature_names_out()
    require(len(set(names)) == columns, f"{len(set(names))} names for {columns} columns")


def check_set_output_transform(estimator: Any, data: CheckData) -> None:
    """``set_output(transform="default")`` changes nothing."""
    A = data.graphs(estimator)
    plain = data.fitted(estimator, A).transform(A)
    one = fresh(estimator).set_output(transform="default").fit(A, data.labels(len(A)))
    require(type(one.transform(A)) is type(plain), "set_output('default') changes the type")
    require(np.array_equal(one.transform(A), plain), "set_output('default') changes the numbers")


def check_set_output_transform_pandas(estimator: Any, data: CheckData) -> None:
    """``set_output(transform="pandas")`` gives tables with the names of the features."""
    _require_tables(estimator, data, need_pandas(), "pandas", everywhere=False)


def check_global_output_transform_pandas(estimator: Any, data: CheckData) -> None:
    """So does scikit-learn's setting for everything."""
    _require_tables(estimator, data, need_pandas(), "pandas", everywhere=True)


def check_set_output_transform_polars(estimator: Any, data: CheckData) -> None:
    """The same in polars."""
    _require_tables(estimator, data, need("polars"), "polars", everywhere=False)


def check_global_set_output_transform_polars(estimator: Any, data: CheckData) -> None:
    """The same in polars, by scikit-learn's setting for everything."""
    _require_tables(estimator, data, need("polars"), "polars", everywhere=True)


def _require_tables(
    estimator: Any, data: CheckData, package: Any, kind: str, *, everywhere: bool
) -> None:
    A = data.graphs(estimator)
    y = data.labels(len(A))
    plain = data.fitted(estimator, A)
    expected, names = plain.transform(A), list(plain.get_feature_names_out())
    one = fresh(estimator)
    if not everywhere:
        one.set_output(transform=kind)
    with config_context(transform_output=kind if everywhere else "default"):
        both = one.fit(A, y).transform(A), one.fit_transform(A, y)
    for table in both:
        require(isinstance(table, package.DataFrame), f"no table of {kind}")
        require(list(table.columns) == names, "columns of the table are not the features' names")
        near = {"rtol": _ROUNDING, "atol": _ROUNDING * np.abs(expected).max()}
        assert_allclose(table.to_numpy(), expected, err_msg="other numbers in a table", **near)
