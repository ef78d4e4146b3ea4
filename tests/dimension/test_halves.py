"""Components that are found again, and those that are not."""

import itertools

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.dimension.selection_rules import _doubt, _number, chance, needed, replication


@pytest.mark.parametrize("seed", range(5))
def test_chance_bounds_the_exact_probability(seed):
    rng = np.random.default_rng(seed)
    a, b = (x / np.linalg.norm(x) for x in rng.standard_normal((2, 12)))
    b = b + seed / 4 * a  # from strangers to near relatives
    products = a * b / np.linalg.norm(b)
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=12)))
    exact = (np.abs(signs @ products) >= abs(products.sum()) - 1e-12).mean()
    assert exact <= chance(products) <= min(1.0, 12 * exact)


def test_all_signs_alike_is_as_rare_as_can_be():
    for n in (5, 10, 40):
        assert chance(np.full(n, 1 / n)) == pytest.approx(2.0 ** (1 - n), rel=1e-6)
    assert chance(np.array([1.0, 0.0, 0.0])) == pytest.approx(1)  # both on one vertex
    assert chance(np.zeros(4)) == 1.0


def test_needed_is_where_chance_is_alpha():
    rng = np.random.default_rng(0)
    a = rng.standard_normal(30)
    sizes = a**2 / (a @ a)  # of two components with these entries, up to signs
    for alpha in (0.3, 0.01):
        level = needed(sizes, alpha)
        for share in np.linspace(0.5, 1, 200):
            products = sizes * np.where(rng.random(30) < share, 1, -1)
            assert (chance(products) <= alpha) == (abs(products.sum()) >= level)
    assert needed(np.array([1.0, 0.0]), 0.05) == 1.0


def test_order_and_signs_do_not_matter_but_the_set_does():
    rng = np.random.default_rng(0)
    H = np.linalg.qr(rng.standard_normal((60, 6)))[0]
    other = np.column_stack([-H[:, 1], H[:, 2], H[:, 0], H[:, 4], H[:, 5]])
    found = replication(H[:, :5], other, 0.05)
    assert np.allclose(found.similarities, [0, 0, 1, 0, 0], atol=1e-9)
    assert (found.p_values <= 0.05).tolist() == [False, False, True, False, False]
    assert _number("halves", found.p_values, 0.05) == 3


def test_alike_beyond_chance_is_not_yet_the_same():
    n = 4000
    a = np.ones(n) / np.sqrt(n)
    b = 0.3 * a + np.sqrt(1 - 0.09) * np.resize([1, -1], n) / np.sqrt(n)
    found = replication(a[:, None], b[:, None], 0.05)
    assert chance(a * b) < 1e-10
    assert found.similarities[0] == pytest.approx(0.3)
    assert found.p_values[0] == 1.0
    assert found.levels[0] == 0.5


def test_noise_on_the_same_vertices_is_not_found_again():
    rng = np.random.default_rng(0)
    a, b = np.zeros((2, 50))
    a[:3], b[:3] = rng.uniform(0.5, 1, (2, 3))
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    found = replication(a[:, None], b[:, None], 0.05)
    assert found.similarities[0] > 0.9
    assert found.p_values[0] > 0.05


def test_components_that_are_nothing_are_not_found_again():
    H = np.column_stack([np.ones(30) / np.sqrt(30), np.zeros(30)])
    assert _number("halves", replication(H, H, 0.05).p_values, 0.05) == 1
    assert _number("halves", np.array([0.5, 0.9]), 0.05) == 0


def test_splits_that_do_not_agree_are_told():
    again = np.zeros((10, 5), dtype=bool)
    again[:, :2] = True
    assert _doubt(again, 2) == ""
    assert _doubt(np.zeros((10, 5), dtype=bool), 0) == ""
    again[:4, 4] = True  # more than a third finds five
    assert _doubt(again, 2) == "2 components are found again in 100% of 10 splits, and 5 in 40%"
    again[:4, :2] = False
    assert "2 components are found again in 60% of 10 splits" in _doubt(again[:, :2], 2)


def test_splits_end_when_the_rest_cannot_change_the_number():
    rng = np.random.default_rng(0)
    H = np.linalg.qr(rng.normal(size=(30, 2)))[0]
    A = np.einsum("sk,ik,tk->ist", H, rng.uniform(20, 40, (12, 2)), H)
    A += np.triu(rng.normal(size=A.shape)) / 10
    A = A + A.transpose(0, 2, 1)
    told = []
    choice = eg.select_dimension(A, 3, method="halves", random_state=0, callback=told.append)
    assert len(told) == 8  # a majority of 15
    assert choice.n_components == 2
    assert choice.doubt == ""
    told.clear()
    eg.select_dimension(A[:4], 3, method="halves", random_state=0, callback=told.append)
    assert len(told) <= 3  # as many halvings as four graphs have
