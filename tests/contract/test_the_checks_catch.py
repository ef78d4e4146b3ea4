"""Each check fails for an estimator that breaks its rule, and passes for a sound one."""

import numpy as np
import pytest
from estimator_checks import CHECKS, estimator_checks
from sklearn.base import BaseEstimator, TransformerMixin

from eigengraphs import GraphStack
from eigengraphs.baselines import SpectralStatistics


class Sound(TransformerMixin, BaseEstimator):
    """Sums of weights times a factor: as little as an estimator of stacks can be."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, graphs, y=None, sample_weight=None):
        if not isinstance(self.factor, float):
            raise ValueError(f"factor must be a number, got {self.factor!r}")
        stack = GraphStack(graphs)
        w = np.ones(len(stack)) if sample_weight is None else np.asarray(sample_weight, float)
        if w.shape != (len(stack),) or not w.any():
            raise ValueError("sample_weight must be one weight a graph, and not zero for all")
        self.mean_ = w @ self._sums(stack) / w.sum()
        self.n_vertices_, self.vertex_names_ = stack.n_vertices, stack.vertex_names
        self._named = stack.has_vertex_names
        return self

    def _sums(self, stack):
        A = stack.to_dense().dense
        return np.stack([A.sum((1, 2)), np.abs(A).sum((1, 2))], axis=1) * self.factor

    def transform(self, graphs):
        if not hasattr(self, "mean_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("fit first")
        stack = GraphStack(graphs)
        if stack.n_vertices != self.n_vertices_:
            raise ValueError(f"{stack.n_vertices} vertices, expected {self.n_vertices_}")
        if self._named and stack.has_vertex_names:
            stack = stack.in_order_of(self.vertex_names_)
        return self._sums(stack) - self.mean_

    def get_feature_names_out(self, input_features=None):
        self.transform([np.zeros((1, 1))]) if not hasattr(self, "mean_") else None
        return np.array(["a", "b"], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        tags.input_tags.sparse = True
        return tags


def run(estimator, name):
    checks = [c for _, c in estimator_checks(estimator) if c.__name__.partition("(")[0] == name]
    assert checks, f"{name} does not run"
    for check in checks:
        check(estimator)


@pytest.mark.parametrize("name", [c.__name__ for _, c in estimator_checks(Sound())])
def test_a_sound_estimator_passes(name):
    if name != "check_array_api_input":  # needs a setting of scipy
        run(Sound(), name.partition("(")[0])


def changed(**methods):
    """Return an estimator with some methods in other ways."""
    return type("Broken", (Sound,), methods)


def of_fit(change):
    def fit(self, graphs, y=None, sample_weight=None):
        Sound.fit(self, graphs, y, sample_weight)
        change(self)
        return self

    return changed(fit=fit)


def of_transform(change):
    def transform(self, graphs):
        return change(self, Sound.transform(self, graphs))

    return changed(transform=transform)


def of_input(change):
    """Take what should be refused, or refuse what should be taken."""

    def fit(self, graphs, y=None, sample_weight=None):
        return Sound.fit(self, change(graphs), y, sample_weight)

    def transform(self, graphs):
        return Sound.transform(self, change(graphs))

    return changed(fit=fit, transform=transform)


def of_tags(change):
    def tags(self):
        found = Sound.__sklearn_tags__(self)
        change(found)
        return found

    return changed(__sklearn_tags__=tags)


def of_weights(change):
    def fit(self, graphs, y=None, sample_weight=None):
        m = len(graphs)
        weights = np.ones(m) if sample_weight is None else sample_weight
        return Sound.fit(self, graphs, y, change(weights, m))

    return changed(fit=fit)


def refuse(graphs, kind):
    if isinstance(graphs, kind):
        raise TypeError("no")
    return graphs


def drop_last_column(graphs):
    if isinstance(graphs, np.ndarray) and graphs.ndim == 3 and graphs.shape[1] != graphs.shape[2]:
        n = min(graphs.shape[1:])
        return graphs[:, :n, :n]
    return graphs


def finite(graphs):
    return np.nan_to_num(graphs, posinf=0, neginf=0) if isinstance(graphs, np.ndarray) else graphs


def set_attribute(name, value):
    return lambda self: setattr(self, name, value)


def write_to(weights, m):
    weights[...] = 1.0
    return weights


def count_calls(self, Z):
    self.calls_ = getattr(self, "calls_", 0) + 1
    return Z


BROKEN = {
    "check_valid_tag_types": of_tags(lambda t: setattr(t.input_tags, "three_d_array", False)),
    "check_estimator_sparse_tag": of_tags(lambda t: setattr(t.input_tags, "sparse", False)),
    "check_positive_only_tag_during_fit": of_tags(
        lambda t: setattr(t.input_tags, "positive_only", True)
    ),
    "check_fit_non_negative": of_tags(lambda t: setattr(t.input_tags, "positive_only", True)),
    "check_requires_y_none": of_tags(lambda t: setattr(t.target_tags, "required", True)),
    "check_supervised_y_no_nan": of_tags(lambda t: setattr(t.target_tags, "required", True)),
    "check_transformer_preserve_dtypes": of_tags(
        lambda t: setattr(t.transformer_tags, "preserves_dtype", ["float32"])
    ),
    "check_estimator_tags_renamed": changed(_more_tags=lambda self: {}),
    "check_estimator_repr": changed(__repr__=lambda self: "?"),
    "check_dont_overwrite_parameters": of_fit(set_attribute("found", 1)),
    "check_estimators_overwrite_params": of_fit(set_attribute("factor", 2.0)),
    "check_estimators_fit_returns_self": changed(fit=lambda self, graphs, y=None: None),
    "check_fit_score_takes_y": changed(fit=lambda self, graphs, target=None: self),
    "check_estimators_unfitted": changed(transform=lambda self, graphs: np.zeros((10, 2))),
    "check_transformers_unfitted": changed(transform=lambda self, graphs: np.zeros((10, 2))),
    "check_fit_check_is_fitted": changed(__sklearn_is_fitted__=lambda self: True),
    "check_get_feature_names_out_error": changed(
        get_feature_names_out=lambda self, x=None: np.array(["a", "b"], dtype=object)
    ),
    "check_transformer_get_feature_names_out": changed(
        get_feature_names_out=lambda self, x=None: np.array(["a", "a"], dtype=object)
    ),
    "check_transformer_get_feature_names_out_pandas": changed(
        get_feature_names_out=lambda self, x=None: np.array(["a"], dtype=object)
    ),
    "check_n_features_in": changed(n_vertices_=6),
    "check_transformer_general": of_transform(lambda self, Z: Z + np.random.default_rng().random()),
    "check_fit_idempotent": of_transform(lambda self, Z: Z + np.random.default_rng().random()),
    "check_set_output_transform": of_transform(
        lambda self, Z: Z + np.random.default_rng().random()
    ),
    "check_pipeline_consistency": of_transform(
        lambda self, Z: Z + np.random.default_rng().random()
    ),
    "check_methods_sample_order_invariance": of_transform(lambda self, Z: Z.cumsum(axis=0)),
    "check_methods_subset_invariance": of_transform(lambda self, Z: Z - Z.mean(axis=0)),
    "check_dict_unchanged": of_transform(count_calls),
    "check_estimators_pickle": changed(__getstate__=lambda self: {"factor": self.factor}),
    "check_readonly_memmap_input": of_input(lambda g: np.multiply(g, 1, out=g)),
    "check_f_contiguous_array_estimator": of_input(lambda g: np.ravel(g, "K").reshape(g.shape)),
    "check_transformer_data_not_an_array": of_input(lambda g: refuse(g, list)),
    "check_estimator_sparse_array": of_input(lambda g: refuse(g, list)),
    "check_estimator_sparse_matrix": of_input(lambda g: refuse(g, list)),
    "check_estimators_dtypes": of_input(lambda g: np.divide(g, g.dtype.kind == "f")),
    "check_complex_data": of_input(np.real),
    "check_dtype_object": of_input(
        lambda g: refuse(g, np.ndarray if g.dtype == object else str)
    ),
    "check_estimators_empty_data_messages": of_input(
        lambda g: g if np.size(g) else np.ones((2, 6, 6))
    ),
    "check_estimators_nan_inf": of_input(finite),
    "check_nonsquare_error": of_input(drop_last_column),
    "check_fit1d": of_input(lambda g: np.diag(g)[None] if np.ndim(g) == 1 else g),
    "check_fit2d_predict1d": of_input(lambda g: np.diag(g)[None] if np.ndim(g) == 1 else g),
    "check_fit2d_1sample": of_input(lambda g: refuse(g, np.ndarray if len(g) == 1 else str)),
    "check_fit2d_1feature": of_input(
        lambda g: refuse(g, np.ndarray if g.shape[1] == 1 else str)
    ),
    "check_n_features_in_after_fitting": of_input(lambda g: g[:, :4, :4]),
    "check_dataframe_column_names_consistency": of_input(lambda g: [np.asarray(a) for a in g]),
    "check_sample_weights_pandas_series": of_weights(lambda w, m: w + w[::-1].values
        if hasattr(w, "values") else w),
    "check_sample_weights_not_an_array": of_weights(lambda w, m: w * 1),
    "check_sample_weights_list": of_weights(lambda w, m: w * 1.0),
    "check_all_zero_sample_weights_error": of_weights(lambda w, m: np.asarray(w) + 1),
    "check_sample_weights_shape": of_weights(lambda w, m: np.ones(m)),
    "check_sample_weights_not_overwritten": of_weights(write_to),
    "check_sample_weight_equivalence_on_dense_data": of_weights(lambda w, m: np.sqrt(w)),
    "check_sample_weight_equivalence_on_sparse_data": of_weights(lambda w, m: np.sqrt(w)),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_estimator_is_caught(name):
    with pytest.raises(Exception):  # noqa: B017
        run(BROKEN[name](), name)


def test_most_checks_are_shown_to_catch():
    assert len(BROKEN) >= 50
    assert set(BROKEN) <= set(CHECKS)


def test_the_library_passes_where_the_broken_one_does_not():
    run(SpectralStatistics(), "check_dont_overwrite_parameters")
