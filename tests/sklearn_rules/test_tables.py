"""Graphs that come as rows of a table: scikit-learn's own checks, and a search beside columns."""

import numpy as np
import pandas as pd
import pytest
from known_graphs import random_symmetric
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from eigengraphs import JointEmbedding, baselines


def as_graphs(X):
    """Return graphs of rows with (0, 0), (0, 1), (1, 1), (0, 2), ...; absent columns are 0."""
    X = np.asarray(X)
    p = X.shape[1]
    n = int(np.ceil((np.sqrt(8 * p + 1) - 1) / 2))
    t, s = (places[:p] for places in np.tril_indices(n))
    A = np.zeros((len(X), n, n), dtype=X.dtype)
    A[:, s, t] = A[:, t, s] = X
    return A


class Rows(TransformerMixin, BaseEstimator):
    """An estimator of graphs, for the tables of any width on which checks are made."""

    def __init__(self, embedding=None):
        self.embedding = embedding

    def _graphs(self, X, reset):
        kinds = (np.float64, np.float32)
        return as_graphs(validate_data(self, X, reset=reset, dtype=kinds))

    def fit(self, X, y=None):
        A = self._graphs(X, reset=True)
        try:
            self.embedding_ = clone(self.embedding).fit(A, y)
        except ValueError as error:
            raise ValueError(f"{error} ({self.n_features_in_} feature(s))") from error
        return self

    def transform(self, X):
        check_is_fitted(self)
        return np.asarray(self.embedding_.transform(self._graphs(X, reset=False)))

    def get_feature_names_out(self, input_features=None):
        check_is_fitted(self)
        return self.embedding_.get_feature_names_out()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags = get_tags(self.embedding).transformer_tags
        return tags


@pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [Rows(JointEmbedding(random_state=0)), Rows(baselines.AdjacencySpectralEmbedding(1))]
)
def test_check(estimator, check):
    check(estimator)


def test_beside_other_columns_in_a_search():
    rng = np.random.default_rng(0)
    A = random_symmetric(24, 5, seed=3)
    y = np.arange(24) % 2
    A[y == 1] += 2.0
    table = pd.DataFrame(A.reshape(24, -1)).add_prefix("edge").assign(age=rng.random(24))
    edges = [name for name in table if name.startswith("edge")]
    graphs = FunctionTransformer(lambda X: np.reshape(X, (-1, 5, 5)))
    both = ColumnTransformer(
        [("graph", make_pipeline(graphs, JointEmbedding(random_state=0)), edges),
         ("person", StandardScaler(), ["age"])]
    )  # fmt: skip
    model = make_pipeline(both, LogisticRegression())
    grid = {"columntransformer__graph__jointembedding__n_components": [1, 2]}
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(table, y)
    assert search.best_score_ > 0.9
