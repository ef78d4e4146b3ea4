"""What a fit says about itself, held against counts and matrices of one's own."""

from collections import Counter

import numpy as np
import pytest
from known_graphs import noiseless, random_symmetric, stored
from written_out import READS, outer_products

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import DegenerateWarning
from eigengraphs.fitting import plan
from eigengraphs.operators.csr import SparseGraphs
from eigengraphs.operators.dense import DenseGraphs
from eigengraphs.operators.treated import TreatedGraphs


@pytest.fixture
def reads(monkeypatch):
    """Counts of everything that reads the graphs while a fit runs."""
    counts = Counter()

    def count(owner, name, label):
        original = getattr(owner, name)

        def counted(*args, **kwargs):
            counts[label] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, counted)

    for name in set(READS) - {"total", "mean_residual"}:
        count(TreatedGraphs, name, name)
    for kind in (DenseGraphs, SparseGraphs):
        count(kind, "line_sums", "row sums")
    count(plan, "mean_graph", "mean graph")
    return counts


@pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning")  # of noise
@pytest.mark.parametrize("n", [12, 105])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("diagonal", ["filled", "observed", "unobserved"])
def test_passes_are_all_that_was_read(reads, n, center, diagonal, storage, default_solver):
    if diagonal == "unobserved" and default_solver == "algorithm1":
        diagonal = "auto"
    A = random_symmetric(5, n, seed=0, density=0.5)
    stack = stored(GraphStack(A), storage)
    je = JointEmbedding(2, diagonal=diagonal, center=center, tol=1e-3, random_state=0).fit(stack)
    # Norms of the graphs as they are come from one read when the stack was made, and those of
    # centered ones from one that the search and the loss share.
    reads["squared_norms"] = 1
    assert je.n_passes_ == reads.total()
    assert reads["row sums"] == (je.diagonal_ == "filled")
    assert reads["mean graph"] == center


def test_the_condition_is_that_of_the_inner_products():
    for diagonal in ("filled", "observed"):
        A = random_symmetric(6, 10, seed=1)
        je = JointEmbedding(4, diagonal=diagonal, random_state=0).fit(A)
        E = outer_products(je.latent_positions_, hollow=diagonal == "filled").reshape(4, -1)
        assert je.gamma_condition_ == pytest.approx(np.linalg.cond(E @ E.T), rel=1e-6)
    orthonormal = JointEmbedding(3, random_state=0).fit(noiseless(9, 5, 3, seed=0).stack)
    assert orthonormal.gamma_condition_ == pytest.approx(1, abs=1e-6)


def test_components_that_are_nothing_take_no_part_in_the_condition():
    with pytest.warns(DegenerateWarning):
        je = JointEmbedding(4, random_state=0).fit(noiseless(9, 5, 2, seed=0).stack)
    assert je.gamma_condition_ == pytest.approx(1, abs=1e-6)
    assert list(je.degenerate_) == [False, False, True, True]
    with pytest.warns(DegenerateWarning):
        je = JointEmbedding(1).fit(np.zeros((2, 4, 4)))
    assert je.gamma_condition_ == 1.0


@pytest.mark.parametrize("n", [20, 110])
def test_starts_agree_where_there_is_one_maximum_and_not_in_noise(n):
    one = noiseless(n, 8, 1, seed=0).stack
    sure = JointEmbedding(1, n_init=5, random_state=0, solver="subspace").fit(one)
    # Two of the eigenvectors of the sum of squares say nothing, and stay where they are.
    assert sure.start_agreement_[0] > 0.8
    noise = random_symmetric(8, n, seed=1)
    unsure = JointEmbedding(3, n_init=10, tol=1e-3, random_state=0, solver="subspace").fit(noise)
    assert ((unsure.start_agreement_ > 0) & (unsure.start_agreement_ <= 1)).all()
    assert unsure.start_agreement_.min() < 0.9


def test_a_vertex_alone_without_its_diagonal_is_degenerate():
    # One loop each, filled: nothing is left of them; on two vertices an edge.
    A = np.zeros((2, 5, 5))
    A[:, 0, 0] = [1.0, 2.0]
    je = JointEmbedding(1, diagonal="observed", random_state=0).fit(A)
    assert not je.degenerate_.any()
    with pytest.warns(DegenerateWarning):
        je = JointEmbedding(1, diagonal="filled", random_state=0).fit(A)
    assert je.degenerate_.all()
    assert (je.loadings_ == 0).all()
