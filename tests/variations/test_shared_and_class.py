"""Variations 1 and 2: loadings that all graphs, or the graphs of a class, share."""

import numpy as np
import pytest
from known_graphs import column_errors, random_symmetric, stored
from scipy import linalg, sparse
from scipy.optimize import minimize

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import InputError


def two_classes(m=24, n=30, seed=0, noise=0.3):
    """Two classes that differ in the loadings of three overlapping components."""
    rng = np.random.default_rng(seed)
    H = rng.standard_normal((n, 3))
    H /= linalg.norm(H, axis=0)
    y = np.array(["ill", "well"])[np.arange(m) % 2]
    means = {"ill": [8.0, 4.0, -2.0], "well": [7.0, -3.0, 3.0]}
    Lam = np.array([means[label] for label in y]) + 0.5 * rng.standard_normal((m, 3))
    E = noise * random_symmetric(m, n, seed)
    return np.einsum("sk,ik,tk->ist", H, Lam, H) + E, y


# ---------------------------------------------------------------- Variation 1


@pytest.mark.parametrize(
    "weights", [None, [1.0, 0.0, 3.0, 2.0, 0.5, 1.0, 1.0]], ids=["", "weights"]
)
@pytest.mark.parametrize("n", [25, 230])
def test_shared_loadings_are_the_spectrum_of_the_mean(storage, n, weights):
    A = random_symmetric(7, n, seed=1, density=0.5)
    je = JointEmbedding(5, loadings="shared", diagonal="observed", random_state=0)
    je.fit(stored(GraphStack(A), storage), sample_weight=weights)
    values, vectors = sparse.linalg.eigsh(np.average(A, axis=0, weights=weights), 5, which="LM")
    order = np.argsort(-np.abs(values))
    assert np.abs(je.shared_loadings_ - values[order]).max() < 1e-10
    # To the tolerance of the search, 1e-8, over the gaps between eigenvalues.
    assert column_errors(je.latent_positions_, vectors[:, order]).max() < 1e-6
    assert je.converged_
    assert je.n_passes_ <= 4


def test_shared_components_nest_and_go_on_beyond_the_rank():
    A = np.zeros((3, 12, 12))
    A[:, 0, 1] = A[:, 1, 0] = 1.0  # rank two
    with pytest.warns(UserWarning, match="arbitrary direction"):
        je = JointEmbedding(4, loadings="shared", diagonal="observed", random_state=0).fit(A)
    assert je.stop_reason_[2:] == ("exhausted", "exhausted")
    assert np.abs(je.shared_loadings_[2:]).max() == 0
    B, _ = two_classes()
    long = JointEmbedding(14, loadings="shared", random_state=0).fit(B)
    short = JointEmbedding(3, loadings="shared", random_state=0).fit(B)
    for other in (long.truncate(3), short.extend(14).truncate(3)):
        assert column_errors(other.latent_positions_, short.latent_positions_).max() < 1e-8
    assert np.allclose(short.extend(14).objective_path_, long.objective_path_, rtol=1e-8)


def test_shared_hollow_graphs_are_filled():
    A = np.abs(random_symmetric(6, 20, seed=2, hollow=True))
    je = JointEmbedding(1, loadings="shared", random_state=0).fit(A)
    mean = A.mean(axis=0)
    filled = mean + np.diag(mean.sum(axis=1) / 19)
    top = linalg.eigh(filled)[1][:, -1:]
    assert je.diagonal_ == "filled"
    assert column_errors(je.latent_positions_, top).max() < 1e-9


# ---------------------------------------------------------------- Variation 2


def paper_stage(R, codes, h):
    """Return the paper's objective of one component over all graphs, and its gradient, at h / |h|.

    Loadings are averages of <R_i, h h^T> within a class.
    """
    size = linalg.norm(h)
    h = h / size
    forms = np.einsum("s,ist,t->i", h, R, h)
    lam = np.array([forms[codes == c].mean() for c in range(codes.max() + 1)])[codes]
    left = R - lam[:, None, None] * np.outer(h, h)
    gradient = -4 * np.einsum("i,ist,t->s", lam, left, h)
    gradient -= h * (h @ gradient)
    return (left**2).sum(), gradient / size


def stage_by_stage(A, y, starts):
    """Find components by the paper's formula of Variation 2, all graphs written out."""
    codes = np.unique(y, return_inverse=True)[1]
    n, R, found, path = A.shape[1], A, [], [(A**2).sum()]
    for h in starts.T:
        start = h + 0.05 * np.random.default_rng(0).standard_normal(n)
        result = minimize(
            lambda h, R=R: paper_stage(R, codes, h), start, jac=True,
            options={"gtol": 1e-9 * (A**2).sum(), "maxiter": 5000},
        )  # fmt: skip
        found.append(result.x / linalg.norm(result.x))
        # All loadings again: one least-squares problem per class, over all its graphs.
        E = np.array([np.outer(h, h).ravel() for h in found]).T
        R = np.empty_like(A)
        for c in range(codes.max() + 1):
            mine = codes == c
            lam = linalg.lstsq(np.tile(E, (mine.sum(), 1)), A[mine].reshape(-1))[0]
            R[mine] = A[mine] - (E @ lam).reshape(n, n)
        path.append((R**2).sum())
    return np.array(found).T, np.array(path)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_class_fits_equal_the_paper_stage_by_stage(seed):
    A, y = two_classes(seed=seed)
    je = JointEmbedding(3, loadings="class", diagonal="observed", random_state=0).fit(A, y)
    H, path = stage_by_stage(A, y, je.latent_positions_)
    assert column_errors(je.latent_positions_, H).max() < 1e-6
    assert je.objective_path_ == pytest.approx(path, rel=1e-9)
    random = np.random.default_rng(seed).standard_normal((A.shape[1], 3))
    assert je.objective_path_[1] <= stage_by_stage(A, y, random[:, :1])[1][1] * (1 + 1e-9)


def test_no_label_leaks_into_the_loadings():
    A, y = two_classes()
    je = JointEmbedding(3, loadings="class", random_state=0)
    assert np.array_equal(je.fit_transform(A, y), je.fit(A, y).loadings_)
    assert np.allclose(je.transform(A), je.loadings_, atol=1e-10)
    assert list(je.classes_) == ["ill", "well"]
    for label, lam in zip(je.classes_, je.class_loadings_, strict=True):
        assert lam == pytest.approx(je.loadings_[y == label].mean(axis=0))
    assert len(np.unique(je.loadings_[:, 0].round(9))) == len(A)  # and not one value per class


def test_one_class_is_shared_and_one_class_per_graph_is_free():
    A, _ = two_classes(m=6)
    one = JointEmbedding(2, loadings="class", random_state=0, tol=1e-10).fit(A, np.zeros(6, int))
    shared = JointEmbedding(2, loadings="shared", random_state=0).fit(A)
    assert column_errors(one.latent_positions_, shared.latent_positions_).max() < 1e-6
    each = JointEmbedding(2, loadings="class", random_state=0).fit(A, np.arange(6))
    free = JointEmbedding(2, random_state=0).fit(A)
    assert column_errors(each.latent_positions_, free.latent_positions_).max() < 1e-6
    assert np.allclose(each.objective_path_, free.objective_path_)


@pytest.mark.parametrize("solver", ["subspace", "algorithm1"])
def test_class_fits_by_both_solvers_and_storages_agree(solver, storage):
    A, y = two_classes()
    stack = stored(GraphStack(A), storage)
    settings = {"loadings": "class", "center": True, "random_state": 0}
    je = JointEmbedding(2, solver=solver, **settings).fit(stack, y)
    reference = JointEmbedding(2, **settings).fit(A, y)
    assert np.allclose(je.objective_path_, reference.objective_path_, rtol=1e-6)
    assert column_errors(je.latent_positions_, reference.latent_positions_).max() < 1e-5


def test_class_fits_with_weights_and_a_class_without_weight():
    A, y = two_classes(m=10)
    y = np.array([0, 1] * 4 + [2, 2])
    weights = np.array([1.0, 2.0, 3.0, 1.0, 1.0, 2.0, 0.5, 1.0, 0.0, 0.0])
    je = JointEmbedding(2, loadings="class", random_state=0).fit(A, y, sample_weight=weights)
    without = JointEmbedding(2, loadings="class", random_state=0)
    without.fit(A[:8], y[:8], sample_weight=weights[:8])
    assert np.allclose(je.latent_positions_, without.latent_positions_, atol=1e-8)
    assert je.class_loadings_[2] == pytest.approx(je.loadings_[8:].mean(axis=0))


@pytest.mark.parametrize(
    ("y", "text"),
    [
        (None, r"needs a label for every graph: fit\(graphs, y\)"),
        ([0, 1], r"y must have shape \(4,\), one label per graph; got \(2,\)"),
        ([0, 1, np.nan, 1], r"y\[2\] is nan; .*leave it out"),
        (np.array(["a", None, "b", "a"], dtype=object), r"y\[1\] is None"),
        ([0.1, 0.25, 0.3, 0.7], "class labels, got continuous"),
    ],
)
def test_labels_that_are_none(y, text):
    with pytest.raises(InputError, match=text):
        JointEmbedding(1, loadings="class").fit(random_symmetric(4, 5, seed=0), y)


def test_shared_and_centered_leaves_nothing_and_is_refused():
    with pytest.raises(InputError, match="leaves nothing to fit"):
        JointEmbedding(1, loadings="shared", center=True).fit(random_symmetric(4, 5, seed=0))
