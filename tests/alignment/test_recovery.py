"""Orders that are known come back."""

import numpy as np
import pytest
from known_graphs import correlated_blocks, partly_shuffled, random_symmetric, stored

import eigengraphs as eg

MICE = eg.datasets.load_mice().graphs


def taken(A, order):
    return np.asarray(A)[np.ix_(order, order)]


def share_right(found, order, i=1, at=slice(None)):
    """Graph i was given in ``order`` of the reference: the share of vertices put back."""
    return float((order[found.permutations[i]] == np.arange(len(order)))[at].mean())


@pytest.mark.parametrize("seed", range(10))
def test_a_fifth_of_the_vertices_shuffled(seed):
    A, B = correlated_blocks(300, 0.8, seed)
    order, moved = partly_shuffled(300, 0.2, seed)
    found = eg.align([A, taken(B, order)], random_state=seed)
    assert share_right(found, order, at=moved) >= 0.95
    assert share_right(found, order) >= 0.99
    assert found.score[1] > found.score_before[1] + 0.2


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_orders_of_which_nothing_is_known(seed, directed, storage):
    A, B = correlated_blocks(200, 0.95, seed, directed=directed)
    order = np.random.default_rng(seed).permutation(200)
    stack = stored(eg.GraphStack([A, taken(B, order)]), storage)
    found = eg.align(stack, random_state=seed)
    assert share_right(found, order) >= 0.99
    assert found.stack.is_sparse == stack.is_sparse
    given = taken(B, order)
    assert np.array_equal(found.stack.to_dense().dense[1], taken(given, found.permutations[1]))


@pytest.mark.parametrize("scale", [1.0, 1e300, 1e-300])
def test_weights_of_any_size_and_sign(scale):
    rng = np.random.default_rng(3)
    A = random_symmetric(1, 80, 3)[0]  # loops as well
    noise = random_symmetric(1, 80, 4)[0]
    order = rng.permutation(80)
    found = eg.align([A, scale * taken(A + 0.3 * noise, order)], random_state=0)
    assert share_right(found, order) == 1.0
    assert found.score[1] == pytest.approx(1 / np.sqrt(1.09), abs=0.02)


def test_two_real_mice():
    order, moved = partly_shuffled(332, 0.2, 0)
    found = eg.align([MICE[0], taken(MICE[1], order)], random_state=0)
    assert share_right(found, order, at=moved) >= 0.95
    logs = eg.align([MICE[0], taken(MICE[1], order)], preprocess="log1p", random_state=0)
    assert share_right(logs, order, at=moved) >= 0.95
    assert np.array_equal(logs.stack[0], MICE[0])  # the weights that were given


def test_seeds_help_where_nothing_else_is_known_and_are_kept():
    A, B = correlated_blocks(200, 0.6, 1)
    order = np.random.default_rng(1).permutation(200)
    place = np.argsort(order)
    pairs = np.stack([np.arange(0, 200, 10), place[::10]], axis=1)
    graphs = [A, taken(B, order)]
    without = eg.align(graphs, n_init=2, random_state=0)
    found = eg.align(graphs, seeds={1: pairs}, n_init=4, random_state=0)
    assert share_right(without, order) < 0.1
    assert share_right(found, order) >= 0.99
    assert np.array_equal(found.permutations[1][::10], place[::10])
    assert (found.confidence[1][::10] == 1).all()


def reordered(graphs, orders):
    return [A[np.ix_(order, order)] for A, order in zip(graphs, orders, strict=True)]


def test_seeds_hold_in_every_round_to_the_mean():
    graphs = [correlated_blocks(40, 0.9, 3)[0], *(correlated_blocks(40, 0.9, 3)[1],) * 2]
    orders = [partly_shuffled(40, 0.3, i)[0] for i in range(3)]
    stack = reordered(graphs, orders)
    pairs = [(0, 5), (5, 11), (11, 0)]  # rounds that forget their order would not come back to it
    found = eg.align(stack, "mean", seeds={2: pairs}, random_state=0)
    assert found.permutations[2][[0, 5, 11]].tolist() == [5, 11, 0]
    assert sorted(found.permutations[2]) == list(range(40))


def test_the_mean_of_the_others_shows_what_one_graph_does_not():
    # Two graphs correlate by 0.36, less than what two unrelated ones reach when matched, 0.41;
    # a graph and the mean of many by 0.6.
    rng = np.random.default_rng(5)
    m, n = 10, 80
    P = np.where(rng.random((n, n)) < 0.5, 0.2, 0.8)
    upper = np.triu(rng.random((m, n, n)) < P, 1)
    graphs = 1.0 * (upper | upper.transpose(0, 2, 1))
    orders = np.stack([partly_shuffled(n, 0.3, i)[0] for i in range(m)])

    def share_wrong(orders, reference, **options):
        stack = reordered(graphs, orders)
        found = eg.align(stack, reference, random_state=0, **options)
        return 1 - np.mean([share_right(found, order, i) for i, order in enumerate(orders)])

    by_mean = share_wrong(orders, "mean")
    assert by_mean < 0.01
    assert by_mean < share_wrong(orders, "mean", max_rounds=1)
    orders[0] = np.arange(n)  # the order of the first is the one that counts now
    assert share_wrong(orders, 0) > 0.1
