import numpy as np
import pytest
from known_graphs import noiseless

from eigengraphs import JointEmbedding, match_components
from eigengraphs.errors import InputError
from eigengraphs.models import MultipleRandomEigenGraphs


def test_sign_and_order_are_undone():
    rng = np.random.default_rng(0)
    H = np.linalg.qr(rng.standard_normal((20, 5)))[0]
    order = rng.permutation(5)
    other = H[:, order] * rng.choice([-1, 1], 5)
    match = match_components(H, other)
    assert np.allclose(match.apply(other), H)
    assert np.array_equal(order[match.order], np.arange(5))
    assert match.similarity == pytest.approx(1)


def test_the_best_pairing_is_found_where_the_greedy_one_is_not():
    # Greedy takes 0.9 and is left with 0.0; the best pairs are 0.8 and 0.8.
    a = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    b = np.array([[0.9, 0.8], [0.8, 0.0], [0.0, 0.6], [0.0, 0.0]])
    b /= np.linalg.norm(b, axis=0)
    match = match_components(a, b)
    assert match.order.tolist() == [1, 0]


def test_fits_models_and_arrays_of_different_length():
    known = noiseless(n=15, m=10, d=3, seed=0)
    je = JointEmbedding(3, random_state=0).fit(known.stack)
    scale = np.abs(known.Lam).sum()
    model = MultipleRandomEigenGraphs(known.H, known.Lam / scale, clip=True)
    match = match_components(je, model)
    assert match.similarities.min() > 1 - 1e-9
    few = match_components(je, known.H[:, [2]])
    assert few.order.tolist() == [0]
    assert abs(known.H[:, 2] @ je.latent_positions_[:, few.components[0]]) > 1 - 1e-9


@pytest.mark.parametrize(("a", "b", "text"), [
    (np.eye(3), np.eye(4), "same vertices, got 3 and 4"),
    (np.full((3, 3), np.nan), np.eye(3), "a must hold finite numbers"),
    (np.eye(3), "fit", "b must be a fit or an array"),
])  # fmt: skip
def test_bad_fits(a, b, text):
    with pytest.raises(InputError, match=text):
        match_components(a, b)
