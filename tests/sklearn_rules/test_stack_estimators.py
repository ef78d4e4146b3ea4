"""Every estimator keeps to scikit-learn's rules, with stacks of graphs (m, n, n) for tables.

scikit-learn's own suite leaves out estimators whose input is not a table. Its checks without data
run here as they are; the tests below are its other checks, with graphs in place of rows. The whole
suite runs in ``test_tables.py``, on graphs that are rows of a table.
"""

import inspect
import os
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.validation import check_is_fitted

from eigengraphs import JointEmbedding, baselines

pytestmark = [
    pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
EMBEDDINGS = [
    JointEmbedding(),
    JointEmbedding(3, center=True),
    JointEmbedding(directed=True),
    JointEmbedding(loadings="shared"),
    JointEmbedding(loadings="class"),
    JointEmbedding(loadings="sparse", max_nonzeros=1),
    JointEmbedding(loadings="nonnegative"),
    JointEmbedding(missing="unobserved"),
    JointEmbedding(diagonal="unobserved"),
    JointEmbedding(refine=True, preprocess="signed_log1p"),
    JointEmbedding(solver="algorithm1", diagonal="filled"),
]
BASELINES = [getattr(baselines, name)() for name in baselines.__all__]
Y = np.arange(10) % 2


@pytest.fixture(params=[*EMBEDDINGS, *BASELINES], ids=repr)
def estimator(request):
    return fresh(request.param)


@pytest.fixture(params=EMBEDDINGS, ids=repr)
def embedding(request):
    return fresh(request.param)


def fresh(estimator):
    """Return a copy that is not fitted, with a fixed seed if it has one."""
    copy = clone(estimator)
    return copy.set_params(random_state=0) if "random_state" in copy.get_params() else copy


def graphs_for(estimator, m=10, n=6, seed=0, *, complete=False):
    """Return graphs with components of clearly different strength, and noise, (m, n, n).

    What there is to find is found whatever the order of the graphs, and however they are rounded.
    """
    rng = np.random.default_rng(seed)
    d = min(3, n)
    H, G = (np.linalg.qr(rng.standard_normal((n, d)))[0] for _ in range(2))
    directed = estimator.get_params().get("directed", False)
    Lam = rng.uniform(0.5, 1.5, size=(m, d)) * 9.0 * 3.0 ** -np.arange(d)
    A = np.einsum("sk,ik,tk->ist", H, Lam, G if directed else H)
    noise = 0.1 * rng.standard_normal(A.shape)
    A += noise if directed else noise + noise.transpose(0, 2, 1)
    if get_tags(estimator).input_tags.allow_nan and not complete:
        hidden = np.triu(rng.random(A.shape) < 0.05, 1)
        A[hidden | hidden.transpose(0, 2, 1)] = np.nan
    return A


def fitted(estimator, A, **arguments):
    return fresh(estimator).fit(A, Y[: len(A)], **arguments)


def methods(fit):
    """Return the methods that take graphs and say something about each of them."""
    return {x: getattr(fit, x) for x in ("transform", "residuals") if hasattr(fit, x)}


def outputs(fit, A):
    return {name: np.asarray(method(A)) for name, method in methods(fit).items()}


def assert_same(found, expected, rtol=0.0):
    for name, values in expected.items():
        atol = rtol * np.abs(values).max(initial=0.0)
        assert_allclose(found[name], values, rtol=rtol, atol=atol, err_msg=name)


# ------------------------------------------------------------------ parameters and fits

WITHOUT_DATA = (
    "check_estimator_cloneable", "check_estimator_tags_renamed", "check_valid_tag_types",
    "check_estimator_repr", "check_no_attributes_set_in_init", "check_mixin_order",
    "check_parameters_default_constructible", "check_get_params_invariance", "check_set_params",
    "check_do_not_raise_errors_in_init_or_set_params", "check_get_feature_names_out_error",
    "check_fit1d",
)  # fmt: skip


def test_checks_of_scikit_learn_without_data(estimator):
    for check in WITHOUT_DATA:
        getattr(estimator_checks, check)(type(estimator).__name__, estimator)


def test_tags_say_stacks(estimator):
    tags = get_tags(estimator).input_tags
    assert (tags.three_d_array, tags.two_d_array, tags.sparse) == (True, False, True)
    fitted(estimator, -np.abs(graphs_for(estimator)))  # negative weights: no tag forbids them


def test_a_wrong_parameter_is_refused_at_the_fit_by_its_name(estimator):
    A = graphs_for(estimator)
    for name in estimator.get_params(deep=False):
        one = fresh(estimator).set_params(**{name: object()})
        named = "random_state|seed" if name == "random_state" else name
        with pytest.raises((TypeError, ValueError), match=named):
            one.fit(A, Y)
        with pytest.raises(NotFittedError):
            check_is_fitted(one)


def test_a_fit_leaves_parameters_alone_and_returns_itself(estimator):
    before, parameters = vars(estimator).copy(), joblib.hash(estimator.get_params())
    assert not hasattr(estimator, "n_vertices_")
    assert estimator.fit(graphs_for(estimator), Y) is estimator
    after = vars(estimator)
    assert all(after[name] is before[name] for name in before)
    assert all(x.startswith("_") or x.endswith("_") for x in after.keys() - before.keys())
    assert joblib.hash(estimator.get_params()) == parameters
    assert estimator.n_vertices_ == 6
    assert repr(estimator).startswith(type(estimator).__name__)
    check_is_fitted(estimator)
    for name in {"fit", "score", "partial_fit", "fit_transform"} & set(dir(estimator)):
        assert list(inspect.signature(getattr(estimator, name)).parameters)[1] == "y"


def test_nothing_goes_before_a_fit(estimator):
    for method in methods(estimator).values():
        for A in (graphs_for(estimator), [], None):
            with pytest.raises(NotFittedError):
                method(A)
    if hasattr(estimator, "score"):
        with pytest.raises(NotFittedError):
            estimator.score(graphs_for(estimator))


def test_labels_are_asked_for_where_they_are_needed():
    one = fresh(JointEmbedding(loadings="class"))
    assert get_tags(one).target_tags.required
    for wrong in (None, np.full(10, np.nan), np.full(10, np.inf)):
        with pytest.raises(ValueError, match=r"\by\b|label"):
            one.fit(graphs_for(one), wrong)


# ------------------------------------------------------------------ what graphs may come as


@pytest.mark.parametrize(("m", "n"), [(1, 6), (10, 1)])
def test_one_graph_or_one_vertex_is_embedded_or_refused_in_words(m, n, estimator):
    A = graphs_for(estimator, m, n, complete=True)
    try:
        fit = fitted(estimator, A)
    except ValueError as error:
        words = ("1 graph", "one graph", "1 class", "1 vert", "one vertex", "n_components")
        assert any(word in str(error) for word in words)  # noqa: PT017
    else:
        assert all(np.isfinite(values).all() for values in outputs(fit, A).values())


def test_missing_entries_are_refused_unless_the_tag_takes_them(estimator):
    A = graphs_for(estimator, complete=True)
    A[1, 2, 3] = A[1, 3, 2] = np.nan
    if get_tags(estimator).input_tags.allow_nan:
        fitted(estimator, A)
    else:
        with pytest.raises(ValueError, match=r"(?i)nan|missing|finite"):
            fitted(estimator, A)


def test_another_number_of_vertices_is_refused(estimator):
    fit, B = fitted(estimator, graphs_for(estimator)), graphs_for(estimator, n=7)
    calls = list(methods(fit).values()) + ([fit.score] if hasattr(fit, "score") else [])
    for call in calls:
        with pytest.raises(ValueError, match="7"):
            call(B)


def test_vertices_go_by_their_names(estimator):
    A = graphs_for(estimator, complete=True)

    def tables(letter):
        names = [f"{letter}{s}" for s in range(6)]
        return [pd.DataFrame(graph, index=names, columns=names) for graph in A]

    fit = fitted(estimator, tables("v"))
    assert fit.vertex_names_ == tuple(f"v{s}" for s in range(6))
    turned = [table.iloc[::-1, ::-1] for table in tables("v")]
    assert_same(outputs(fit, turned), outputs(fit, A), rtol=1e-5)
    with pytest.raises(ValueError, match=r"name|only in"):
        fit.transform(tables("w"))


# ------------------------------------------------------------------ what must not matter


def test_neither_order_nor_company_of_a_graph_matters(estimator):
    A = graphs_for(estimator)
    fit = fitted(estimator, A)
    order = np.random.default_rng(0).permutation(len(A))
    expected = outputs(fit, A)
    turned = {name: values[order] for name, values in expected.items()}
    assert_same(outputs(fit, A[order]), turned, rtol=1e-7)
    each = [outputs(fit, A[i : i + 1]) for i in range(len(A))]
    alone = {name: np.concatenate([one[name] for one in each]) for name in expected}
    assert_same(alone, expected, rtol=1e-7)


def test_methods_leave_the_fit_as_it_is(estimator):
    A = graphs_for(estimator)
    fit = fitted(estimator, A)
    before = vars(fit).copy()
    hashed = joblib.hash({name: before[name] for name in before if name.endswith("_")})
    outputs(fit, A)
    if hasattr(fit, "score"):
        fit.score(A)
    after = vars(fit)
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    assert joblib.hash({name: after[name] for name in after if name.endswith("_")}) == hashed


def test_fits_are_repeatable_and_forget_earlier_ones(estimator):
    A, B = graphs_for(estimator), graphs_for(estimator, m=5, n=4, seed=9)
    first = outputs(estimator.fit(A, Y), A)
    assert_same(outputs(estimator.fit(A, Y), A), first)
    assert_same(outputs(estimator.fit(B, Y[:5]), B), outputs(fitted(estimator, B), B))


def test_fit_transform_is_fit_and_transform(estimator):
    A = graphs_for(estimator)
    together = estimator.fit_transform(A, Y)
    assert len(together) == len(A)
    after = estimator.transform(A)
    assert_same({"Z": after}, {"Z": together}, rtol=1e-5)  # loadings of the search may be at hand
    assert np.array_equal(fitted(estimator, A).transform(A), after)
    pipeline = make_pipeline(fresh(estimator)).fit(A, Y)
    assert np.array_equal(pipeline.transform(A), after)
    if hasattr(estimator, "score"):
        assert pipeline.score(A, Y) == estimator.score(A, Y)


# ------------------------------------------------------------------ what transform returns


def test_types_and_iterations(estimator):
    for kind in get_tags(estimator).transformer_tags.preserves_dtype:
        A = graphs_for(estimator).astype(kind)
        assert estimator.fit_transform(A, Y).dtype == estimator.transform(A).dtype == kind
    if "max_iter" in estimator.get_params():
        taken = np.asarray(fitted(estimator, graphs_for(estimator)).n_iter_)
        assert taken.min() >= 0
        assert taken.max() >= 1


def test_columns_have_names_in_tables_too(estimator):
    A = graphs_for(estimator)
    fit = fitted(estimator, A)
    expected, names = fit.transform(A), fit.get_feature_names_out()
    assert names.dtype == object
    assert len(set(names)) == len(names) == expected.shape[1]
    plain = fresh(estimator).set_output(transform="default").fit(A, Y).transform(A)
    assert np.array_equal(plain, expected)
    for kind, package in (("pandas", pd), ("polars", pl)):
        tables = [fresh(estimator).set_output(transform=kind).fit_transform(A, Y)]
        tables.append(fresh(estimator).set_output(transform=kind).fit(A, Y).transform(A))
        with config_context(transform_output=kind):
            tables.append(fresh(estimator).fit(A, Y).transform(A))
        for table in tables:
            assert isinstance(table, package.DataFrame)
            assert list(table.columns) == list(names)
            assert_same({"Z": table.to_numpy()}, {"Z": expected}, rtol=1e-5)


# ------------------------------------------------------------------ weights, other arrays


@pytest.mark.parametrize(
    "make", [np.asarray, lambda A: list(map(sparse.csr_array, A))], ids=["dense", "sparse"]
)
def test_a_weight_of_k_is_the_graph_k_times(make, embedding):
    A = graphs_for(embedding)
    weights = np.random.default_rng(0).integers(0, 4, size=10)
    weights[:2] = 1, 0
    weighted = fresh(embedding).fit(make(A), Y, sample_weight=weights)
    repeated = fresh(embedding).fit(make(np.repeat(A, weights, axis=0)), np.repeat(Y, weights))
    # Two searches for the same components stop at different points, each this near to the end.
    assert_same(outputs(weighted, make(A)), outputs(repeated, make(A)), rtol=1e-5)


DISPATCH = """
import numpy as np, sklearn, eigengraphs as eg
A = eg.models.ErdosRenyi(6, 0.5).sample(10, random_state=0)
for make in (lambda: eg.JointEmbedding(random_state=0), eg.baselines.Omnibus):
    plain = make().fit(A).transform(A)
    with sklearn.config_context(array_api_dispatch=True):
        print(np.array_equal(make().fit(A).transform(A), plain))
"""


def test_dispatch_to_other_arrays_changes_nothing():
    env = {**os.environ, "SCIPY_ARRAY_API": "1"}  # scipy looks at it when it is imported
    command = [sys.executable, "-c", DISPATCH]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    assert done.stdout.split() == ["True", "True"], done.stderr
