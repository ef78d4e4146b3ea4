"""Checks of what graphs may come as, and of what is refused."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
from estimator_checks.data import METHODS, CheckData, as_sparse, fresh, outputs, require
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.utils import get_tags

# Of sums in another order, as sparse graphs have them.
_ROUNDING = 1e-5


class ArrayLike:
    """Something that turns into an array and is none."""

    def __init__(self, array: Any) -> None:
        self._array = np.asarray(array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self._array, dtype=dtype, copy=True if copy is None else copy)


def need_pandas() -> Any:
    """Return pandas, or skip the check."""
    return need("pandas")


def need(package: str) -> Any:
    """Return a package, or skip the check where it is not installed."""
    try:
        return import_module(package)
    except ImportError:
        raise SkipTest(f"{package} is not installed") from None


@contextmanager
def memory_mapped(A: NDArray[Any]) -> Any:
    """Give the array as one that lies in a file and cannot be written."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graphs.npy"
        np.save(path, A)
        mapped = np.load(path, mmap_mode="r")
        yield mapped
        mapped._mmap.close()


def refused(
    call: Any, what: str, *words: str, kinds: tuple[type[Exception], ...] = (ValueError,)
) -> None:
    """Require that a call raises an error of a kind that holds one of the words."""
    try:
        call()
    except kinds as error:
        if words:
            text = str(error).lower()
            require(any(word in text for word in words), f"the error says nothing of it: {error}")
    else:
        raise AssertionError(f"{what}: taken")


def same_outputs(one: Any, two: Any, A: Any, B: Any, why: str, rtol: float = 0.0) -> None:
    """Require that two fits say the same, one of graphs A and the other of graphs B."""
    for (name, a), (_, b) in zip(outputs(one, A), outputs(two, B), strict=True):
        atol = rtol * np.abs(a).max(initial=0.0)
        assert_allclose(b, a, rtol=rtol, atol=atol, err_msg=f"{name}: {why}")


# ------------------------------------------------------------------ what is taken


def check_readonly_memmap_input(estimator: Any, data: CheckData) -> None:
    """Graphs may lie in a file that cannot be written."""
    A = data.graphs(estimator)
    with memory_mapped(A) as mapped:
        fit = data.fitted(estimator, mapped)
        same_outputs(data.fitted(estimator, A), fit, A, mapped, "differs for graphs in a file")


def check_f_contiguous_array_estimator(estimator: Any, data: CheckData) -> None:
    """The order of the numbers in memory does not matter."""
    A = data.graphs(estimator)
    plain = data.fitted(estimator, A)
    m, n, _ = A.shape
    gaps = np.zeros((m, 2 * n, n))
    gaps[:, ::2] = A
    for B in (np.asfortranarray(A), gaps[:, ::2], A[::-1].copy()[::-1]):
        why = "depends on how numbers lie in memory"
        same_outputs(plain, data.fitted(estimator, B), A, B, why, rtol=_ROUNDING)


def check_transformer_data_not_an_array(estimator: Any, data: CheckData) -> None:
    """Graphs may be a list of matrices, lists of numbers, or what turns into an array."""
    A = data.graphs(estimator)
    plain = data.fitted(estimator, A)
    for B in (list(A), A.tolist(), ArrayLike(A), [ArrayLike(graph) for graph in A]):
        y = data.labels(len(A))
        fit = fresh(estimator).fit(B, y.tolist())
        same_outputs(plain, fit, A, B, f"differs for a {type(B).__name__}")


def check_estimators_dtypes(estimator: Any, data: CheckData) -> None:
    """Numbers may be of any real type."""
    A = np.rint(3 * data.graphs(estimator, complete=True))
    for kind in (np.float64, np.float32, np.int64, np.int32, bool):
        B = A.astype(kind)
        for name, values in outputs(data.fitted(estimator, B), B):
            require(np.isfinite(values).all(), f"{name} of {kind.__name__} graphs is not finite")


def check_estimator_sparse_tag(estimator: Any, data: CheckData) -> None:
    """The tag for sparse input says what is so."""
    A = data.graphs(estimator, complete=True)
    tagged = get_tags(estimator).input_tags.sparse
    try:
        data.fitted(estimator, as_sparse(A))
    except (TypeError, ValueError):
        require(not tagged, "tags.input_tags.sparse is True, and sparse graphs are refused")
    else:
        require(tagged, "tags.input_tags.sparse is False, and sparse graphs are taken")


def check_estimator_sparse_array(estimator: Any, data: CheckData) -> None:
    """Lists of scipy's sparse arrays give what dense ones do, or are refused in words."""
    makes = (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.dia_array)
    _require_sparse(estimator, data, makes)


def check_estimator_sparse_matrix(estimator: Any, data: CheckData) -> None:
    """The same of scipy's older sparse matrices."""
    _require_sparse(estimator, data, (sparse.csr_matrix, sparse.lil_matrix, sparse.dok_matrix))


def _require_sparse(estimator: Any, data: CheckData, makes: tuple[Any, ...]) -> None:
    A = data.graphs(estimator, complete=True)
    A[np.abs(A) < 0.1] = 0.0
    if not get_tags(estimator).input_tags.sparse:
        graphs = as_sparse(A, makes[0])
        call = lambda: data.fitted(estimator, graphs)  # noqa: E731
        refused(call, "sparse graphs", "sparse", kinds=(TypeError, ValueError))
        return
    plain = data.fitted(estimator, A)
    for make in makes:
        B = as_sparse(A, make)
        why = f"differs for {make.__name__}"
        same_outputs(plain, data.fitted(estimator, B), A, B, why, rtol=_ROUNDING)


def check_array_api_input(estimator: Any, data: CheckData) -> None:
    """scikit-learn's dispatch to other arrays changes nothing for those of NumPy."""
    if not np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        raise SkipTest("needs NumPy 2")
    A = data.graphs(estimator)
    plain = data.fitted(estimator, A)
    try:
        with config_context(array_api_dispatch=True):
            fit = data.fitted(estimator, A)
            found = list(outputs(fit, A))
    except (ImportError, RuntimeError) as error:
        if "SCIPY_ARRAY_API" in str(error) or "array_api_compat" in str(error):
            raise SkipTest(str(error)) from None
        raise
    for (name, a), (_, b) in zip(outputs(plain, A), found, strict=True):
        require(np.array_equal(a, b), f"{name} differs under array_api_dispatch")


def check_positive_only_tag_during_fit(estimator: Any, data: CheckData) -> None:
    """Negative weights are taken unless the tag says otherwise."""
    A = -np.abs(data.graphs(estimator))
    positive = get_tags(estimator).input_tags.positive_only
    try:
        data.fitted(estimator, A)
    except ValueError:
        require(positive, "negative weights are refused, and tags say nothing of it")
    else:
        require(not positive, "tags.input_tags.positive_only is True, and negative ones are taken")


def check_fit_non_negative(estimator: Any, data: CheckData) -> None:
    """Where only positive weights are taken, the error says so."""
    A = -np.abs(data.graphs(estimator))
    refused(lambda: data.fitted(estimator, A), "negative weights", "negative", "positive")


def check_fit2d_1sample(estimator: Any, data: CheckData) -> None:
    """One graph is embedded, or refused in words."""
    A = data.graphs(estimator)[:1]
    try:
        fit = data.fitted(estimator, A)
    except ValueError as error:
        words = ("1 graph", "one graph", "n_graphs", "1 sample", "1 class")
        require(any(word in str(error) for word in words), f"does not say why: {error}")
        return
    for name, values in outputs(fit, A):
        require(np.isfinite(values).all(), f"{name} of one graph is not finite")


def check_fit2d_1feature(estimator: Any, data: CheckData) -> None:
    """Graphs on one vertex are embedded, or refused in words."""
    A = data.graphs(estimator, n=1, complete=True)
    try:
        fit = data.fitted(estimator, A)
    except ValueError as error:
        words = ("1 vert", "one vertex", "n_vertices", "n_components")
        require(any(word in str(error) for word in words), f"does not say why: {error}")
        return
    for name, values in outputs(fit, A):
        require(np.isfinite(values).all(), f"{name} of graphs on one vertex is not finite")


# ------------------------------------------------------------------ what is refused


def check_complex_data(estimator: Any, data: CheckData) -> None:
    """Complex weights are refused."""
    A = data.graphs(estimator, complete=True) * (1 + 1j)
    refused(lambda: data.fitted(estimator, A), "complex weights", "complex")


def check_dtype_object(estimator: Any, data: CheckData) -> None:
    """Numbers in an array of objects are numbers; anything else in it is refused."""
    A = data.graphs(estimator, complete=True)
    B = A.astype(object)
    same_outputs(data.fitted(estimator, A), data.fitted(estimator, B), A, B, "differs for objects")
    for wrong in ({"foo": "bar"}, "text", object()):
        B[0, 0, 0] = wrong
        refused(
            lambda: data.fitted(estimator, B), f"{wrong!r} as a weight",
            kinds=(TypeError, ValueError),
        )  # fmt: skip


def check_estimators_empty_data_messages(estimator: Any, data: CheckData) -> None:
    """No graphs, and graphs without vertices, are refused in words."""
    for shape in ((0, 6, 6), (10, 0, 0)):
        A = np.empty(shape)
        refused(
            lambda A=A: fresh(estimator).fit(A, data.labels(len(A))), f"graphs of shape {shape}",
            "empty", "no graph", "no vert", "at least", "0 graphs", "0 vertices", "without",
        )  # fmt: skip
    fit = data.fitted(estimator)
    refused(lambda: fit.transform(np.empty((0, 6, 6))), "no graphs in transform")


def check_estimators_nan_inf(estimator: Any, data: CheckData) -> None:
    """Entries that are no finite number are refused, at the fit and after it."""
    A = data.graphs(estimator)
    fit = data.fitted(estimator, A)
    nan_is_missing = get_tags(estimator).input_tags.allow_nan
    for wrong in (np.nan, np.inf, -np.inf):
        if np.isnan(wrong) and nan_is_missing:
            continue
        B = A.copy()
        B[1, 2, 3] = B[1, 3, 2] = wrong
        words = ("finite", "nan", "inf", "missing")
        refused(lambda B=B: data.fitted(estimator, B), f"{wrong} in fit", *words)
        for method in METHODS:
            if hasattr(fit, method):
                call = getattr(fit, method)
                refused(lambda B=B, f=call: f(B), f"{wrong} in {method}", *words)


def check_nonsquare_error(estimator: Any, data: CheckData) -> None:
    """Matrices that are not square are refused: an adjacency matrix is."""
    A = data.graphs(estimator)
    fit = data.fitted(estimator, A)
    refused(lambda: data.fitted(estimator, A[:, :, :-1]), "matrices that are not square", "square")
    refused(lambda: fit.transform(A[:, :-1]), "matrices that are not square", "square")


def check_fit1d(estimator: Any, data: CheckData) -> None:
    """A row of numbers is no stack of graphs."""
    row = np.arange(10.0)
    refused(lambda: fresh(estimator).fit(row, data.labels(10)), "a row of numbers")


def check_fit2d_predict1d(estimator: Any, data: CheckData) -> None:
    """Nor is it after the fit."""
    fit = data.fitted(estimator)
    for method in METHODS:
        if hasattr(fit, method):
            call = partial(getattr(fit, method), np.arange(6.0))
            refused(call, f"a row of numbers in {method}")


def check_n_features_in(estimator: Any, data: CheckData) -> None:
    """``n_vertices_`` is there after a fit and not before."""
    require(not hasattr(fresh(estimator), "n_vertices_"), "n_vertices_ is there before the fit")
    require(data.fitted(estimator).n_vertices_ == 6, "n_vertices_ is not the number of vertices")


def check_n_features_in_after_fitting(estimator: Any, data: CheckData) -> None:
    """Graphs on another number of vertices are refused, and both numbers are told."""
    fit = data.fitted(estimator)
    B = data.graphs(estimator, n=7)
    for method in METHODS:
        if hasattr(fit, method):
            refused(partial(getattr(fit, method), B), f"7 vertices for 6 in {method}", "7")
    if hasattr(fit, "score"):
        refused(lambda: fit.score(B), "7 vertices for 6 in score", "7")


def check_estimators_partial_fit_n_features(estimator: Any, data: CheckData) -> None:
    """A batch on another number of vertices is refused, and so are settings that do not go."""
    A = data.graphs(estimator, complete=True)
    y = data.labels(len(A))
    one = fresh(estimator)
    try:
        one.partial_fit(A, y)
    except ValueError as error:
        require("partial_fit" in str(error), f"does not say what is refused: {error}")
        require(not hasattr(one, "n_vertices_"), "a refused batch leaves a fit behind")
        return
    refused(lambda: one.partial_fit(A[:, :5, :5], y), "5 vertices for 6 in partial_fit", "5")


def check_dataframe_column_names_consistency(estimator: Any, data: CheckData) -> None:
    """Vertices go by their names where graphs are tables, in whatever order they stand."""
    pandas = need_pandas()
    A = data.graphs(estimator, complete=True)
    names = [f"v{s}" for s in range(A.shape[1])]

    def tables(these: list[str]) -> list[Any]:
        return [pandas.DataFrame(graph, index=these, columns=these) for graph in A]

    fit = data.fitted(estimator, tables(names))
    require(list(fit.vertex_names_) == names, "vertex_names_ are not those of the tables")
    turned = [table.iloc[::-1, ::-1] for table in tables(names)]
    same_outputs(fit, fit, A, turned, "depends on the order of named vertices", rtol=_ROUNDING)
    others = tables([f"w{s}" for s in range(A.shape[1])])
    refused(lambda: fit.transform(others), "vertices of other names", "name", "only in")
