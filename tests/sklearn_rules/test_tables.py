"""Graphs as rows of a table: scikit-learn's own checks, and what each layout means."""

import numpy as np
import pandas as pd
import pytest
from known_graphs import random_directed, random_symmetric
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from eigengraphs import FlatEmbedding, JointEmbedding, baselines
from eigengraphs.errors import InputError

PARTIAL = FlatEmbedding(JointEmbedding(random_state=0), layout="partial")
BASELINE = FlatEmbedding(baselines.SpectralStatistics(), layout="partial")


# scikit-learn's tables have 2, 5, 20 or 30 columns, which layout="partial" alone can take.
@pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([PARTIAL, BASELINE])
def test_check(estimator, check):
    check(estimator)


def test_no_check_vanishes():
    pairs = list(estimator_checks_generator(PARTIAL))
    assert len(pairs) >= 45


@pytest.fixture(scope="module")
def A():
    return random_symmetric(9, 5, seed=0)


LAYOUTS = {
    "full": lambda A: A.reshape(len(A), -1),
    "triangle": lambda A: A[(slice(None), *np.triu_indices(5))],
    "partial": lambda A: A.transpose(0, 2, 1)[(slice(None), *np.tril_indices(5))],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_are_the_graphs(A, layout):
    inner = JointEmbedding(2, random_state=0)
    X = LAYOUTS[layout](A)
    flat = FlatEmbedding(inner, layout=layout).fit(X)
    je = inner.fit(A)
    assert np.array_equal(flat.graphs(X), A)
    assert np.array_equal(flat.transform(X), je.transform(A))
    assert flat.score(X) == je.score(A)
    back = flat.inverse_transform(flat.transform(X))
    assert np.array_equal(back, LAYOUTS[layout](je.inverse_transform(je.transform(A))))
    if layout != "partial":
        assert np.array_equal(FlatEmbedding(inner).fit_transform(X), flat.transform(X))
    sparse_X = sparse.csr_array(X)
    same = [np.array_equal(g.toarray(), a) for g, a in zip(flat.graphs(sparse_X), A, strict=True)]
    assert all(same)
    assert np.allclose(flat.transform(sparse_X), flat.transform(X))


def test_a_triangle_without_its_diagonal(A):
    A = A * (1 - np.eye(5))
    X = A[(slice(None), *np.triu_indices(5, 1))]
    flat = FlatEmbedding(JointEmbedding(2, random_state=0), layout="strict").fit(X)
    assert flat.embedding_.diagonal_ == "filled"
    assert np.array_equal(flat.graphs(X), A)


def test_some_pairs_in_any_order(A):
    pairs = np.array([[4, 0], [1, 1], [2, 3]])
    flat = FlatEmbedding(JointEmbedding(1, random_state=0), layout=pairs).fit(A[:, *pairs.T])
    B = np.zeros_like(A)
    for s, t in pairs:
        B[:, s, t] = B[:, t, s] = A[:, s, t]
    assert np.array_equal(flat.graphs(A[:, *pairs.T]), B)
    sparse_graphs = flat.graphs(sparse.csr_array(A[:, *pairs.T]))
    assert np.array_equal([graph.toarray() for graph in sparse_graphs], B)


def test_directed_rows():
    A = random_directed(8, 4, seed=1)
    X = A.reshape(8, -1)
    flat = FlatEmbedding(JointEmbedding(2, directed=True, random_state=0)).fit(X)
    expected = JointEmbedding(2, directed=True, random_state=0).fit(A)
    assert np.array_equal(flat.transform(X), expected.transform(A))
    pairs = np.array([[0, 1], [1, 0]])
    flat = FlatEmbedding(JointEmbedding(1, directed=True), layout=pairs).fit(X[:, :2])
    assert np.array_equal(flat.graphs(X[:, :2])[:, [0, 1], [1, 0]], X[:, :2])


BAD = {
    "no triangle": ({"layout": "triangle"}, 5, "5 feature.*n\\(n\\+1\\)/2"),
    "neither": ({}, 5, "n\\^2.*or n"),
    "both": ({}, 36, "all pairs of 6 vertices, and the triangle of 8"),
    "not symmetric": ({"layout": "full"}, 4, "not symmetric"),
    "directed triangle": (
        {"layout": "triangle", "embedding": JointEmbedding(directed=True)}, 6, "both directions",
    ),
    "too few pairs": ({"layout": [[0, 1]]}, 2, "1 pairs of vertices for 2 columns"),
    "no pairs": ({"layout": [0, 1]}, 2, "the two vertices"),
    "twice": ({"layout": [[0, 1], [1, 0]]}, 2, "two columns for one pair"),
    "no embedding": ({"embedding": "JointEmbedding"}, 3, "embedding must be an estimator"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_is_refused(case):
    settings, columns, message = BAD[case]
    with pytest.raises(InputError, match=message):
        FlatEmbedding(**settings).fit(np.random.default_rng(0).random((7, columns)))


def test_missing_entries_are_hidden(A):
    X = LAYOUTS["triangle"](A).copy()
    X[2, 3] = np.nan
    flat = FlatEmbedding(JointEmbedding(2, missing="unobserved", random_state=0)).fit(X)
    hidden = flat.graphs(X)
    expected = JointEmbedding(2, missing="unobserved", random_state=0).fit(hidden)
    assert np.array_equal(flat.transform(X), expected.transform(hidden))
    with pytest.raises(ValueError, match="NaN"):
        FlatEmbedding(JointEmbedding(2)).fit(X)


def test_beside_other_columns_in_a_search():
    rng = np.random.default_rng(0)
    A = random_symmetric(24, 5, seed=3)
    y = np.arange(24) % 2
    A[y == 1] += 2.0
    table = pd.DataFrame(LAYOUTS["triangle"](A)).add_prefix("edge").assign(age=rng.random(24))
    edges = [name for name in table if name.startswith("edge")]
    both = ColumnTransformer(
        [("graph", FlatEmbedding(JointEmbedding(random_state=0)), edges),
         ("person", StandardScaler(), ["age"])]
    )  # fmt: skip
    model = make_pipeline(both, LogisticRegression())
    grid = {"columntransformer__graph__embedding__n_components": [1, 2]}
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(table, y)
    assert search.best_score_ > 0.9
    names = search.best_estimator_[0].get_feature_names_out()
    assert names[0] == "graph__je1"
    assert names[-1] == "person__age"


def test_weights_are_those_of_the_embedding(A):
    X, w = A.reshape(9, -1), np.arange(9)
    flat = FlatEmbedding(JointEmbedding(2, random_state=0)).fit(X, sample_weight=w)
    expected = JointEmbedding(2, random_state=0).fit(A, sample_weight=w)
    assert np.array_equal(flat.embedding_.loadings_, expected.loadings_)
    with pytest.raises(TypeError, match="sample_weight"):
        clone(BASELINE).fit(X, sample_weight=w)
