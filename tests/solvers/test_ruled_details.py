"""Components under a rule, part by part: what they meet, where they start, who wins, gradients."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import linalg
from written_out import slope

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers.ascent import Ascent
from eigengraphs.solvers.blocks import make_job
from eigengraphs.solvers.core import Search
from eigengraphs.solvers.left_cores import LeftCores
from eigengraphs.solvers.loadings import component_gram
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.ruled import RuledSpace, _best_of, _Pool, shrink_of
from eigengraphs.solvers.rules import (
    FreeLoadings,
    NonnegativeLoadings,
    PenalisedLoadings,
    SparseLoadings,
    objective_of,
    stage_loadings,
)

M, N = 7, 9
WEIGHTS = np.linspace(0.5, 2, M)
RULES = [
    FreeLoadings(), NonnegativeLoadings(), SparseLoadings(1), SparseLoadings(2),
    SparseLoadings(2, nonnegative=True), PenalisedLoadings(0.5),
    PenalisedLoadings(0.5, nonnegative=True),
]  # fmt: skip


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def space(rule, n_frozen=0, *, whole=True, A=None):
    """A space whose basis is everything, or six columns; with its graphs, and frozen components."""
    A = random_symmetric(M, N, 0) if A is None else A
    rng = np.random.default_rng(1)
    frozen = unit(rng.standard_normal((n_frozen, N))).T
    Psi = np.einsum("sk,ist,tk->ik", frozen, A, frozen)
    view = StackView(GraphStack(A))
    job = make_job(
        view, weights=WEIGHTS, init="auto", n_init=1, tol=1e-8, max_iter=9, cache=True, wide=None,
        moments=False, hollow=False, watch=None,
    )  # fmt: skip
    found = RuledSpace(view, job, frozen, Psi, rule)
    found._basis.append(np.eye(N) if whole else np.linalg.qr(rng.standard_normal((N, 6)))[0])
    return found, A, frozen


def search(s=N, d=3, warm=None, n_random=6, **settings):
    random = unit(np.random.default_rng(0).standard_normal((d, n_random, s)))
    defaults = {"in_order": False, "by_mean": True, "n_squares": 2, "random": random}
    return Search(np.zeros((s, 0)) if warm is None else warm, **{**defaults, **settings})


# ------------------------------------------------------------------------------------ loadings


def test_a_component_alone_gets_its_form_less_what_the_rule_takes():
    T = np.array([-2.0, -0.2, 0.0, 0.2, 2.0])
    expected = {
        FreeLoadings(): T, SparseLoadings(1): T,
        NonnegativeLoadings(): [0, 0, 0, 0.2, 2.0],
        PenalisedLoadings(0.5): [-1.5, 0, 0, 0, 1.5],
        PenalisedLoadings(0.5, nonnegative=True): [0, 0, 0, 0, 1.5],
    }  # fmt: skip
    for rule, loadings in expected.items():
        assert np.allclose(shrink_of(rule)(T), loadings)


@pytest.mark.parametrize("rule", RULES)
def test_stages_are_the_loadings_of_the_first_components(rule):
    _, A, H = space(rule, 4)
    Gamma, Psi = component_gram(H), np.einsum("sk,ist,tk->ik", H, A, H)
    stages = stage_loadings(rule, Gamma, Psi)
    assert [stage.shape for stage in stages] == [(M, k) for k in range(5)]
    for k in range(1, 5):
        assert np.array_equal(stages[k], rule.solve(Gamma[:k, :k], Psi[:, :k], stages[k - 1]))


# ---------------------------------------------------------------------------------- what is met


def test_graphs_with_all_their_nonzeros_may_swap_one():
    rule = SparseLoadings(2)
    found, A, H = space(rule, 3)
    Gamma, Psi = component_gram(H), np.einsum("sk,ist,tk->ik", H, A, H)
    Lam = rule.solve(Gamma, Psi)
    Lam[0] = [1.0, 0.0, 0.0]  # this one has room
    swap, as_they_are = found._choices(Gamma, Psi, Lam)
    assert np.array_equal(as_they_are.Lam, Lam)
    assert not as_they_are.costs.any()
    fewer = SparseLoadings(1).solve(Gamma, Psi)
    assert np.array_equal(swap.Lam[1:], fewer[1:])
    assert np.array_equal(swap.Lam[0], Lam[0])
    costs = objective_of(Gamma, Psi, fewer) - objective_of(Gamma, Psi, Lam)
    assert np.allclose(swap.costs[1:], costs[1:])
    assert (swap.costs[1:] > 0).all()
    assert swap.costs[0] == 0.0


def test_a_graph_with_one_nonzero_gives_it_up_for_another():
    found, A, H = space(SparseLoadings(1), 2)
    Gamma, Psi = component_gram(H), np.einsum("sk,ist,tk->ik", H, A, H)
    Lam = SparseLoadings(1).solve(Gamma, Psi)
    swap, _ = found._choices(Gamma, Psi, Lam)
    assert not swap.Lam.any()
    assert np.allclose(swap.costs, -objective_of(Gamma, Psi, Lam))


@pytest.mark.parametrize("rule", [FreeLoadings(), NonnegativeLoadings(), SparseLoadings(3)])
def test_where_there_is_room_graphs_are_met_as_they_are(rule):
    found, _, _ = space(rule)
    Lam = np.ones((M, 2))
    (only,) = found._choices(np.eye(2), np.ones((M, 2)), Lam)
    assert only.Lam is Lam
    assert not only.costs.any()


# --------------------------------------------------------------------------- where, and who wins


class Told:
    """An ascent whose starts climb to themselves, with told gains."""

    def __init__(self, starts, gains):
        self.starts, self.told, self.finished = starts, np.asarray(gains, dtype=float), []
        self.asked = []

    def climb(self, Y, n_eager, n_steps):
        self.asked.append((len(Y), n_eager, n_steps))
        return Y.copy(), self.told[np.argmax(np.abs(Y @ self.starts.T), axis=1)]

    def maximise(self, y, enough):
        self.finished.append(int(np.argmax(np.abs(self.starts @ y))))
        self.enough = enough
        return y, self.told[self.finished[-1]], enough / 2


@pytest.mark.parametrize(
    ("gains", "finished"),
    [
        ([1.0, 5.0, 4.6, 4.4, 2.0], [1, 2]),  # nine tenths of the best go on
        ([5.0, 4.9, 4.8, 4.7, 4.6], [0, 1, 2]),  # three at most
        ([4.0, 1.0, 1.0, 9.0, 1.0], [3]),
        ([4.5, 1.0, 1.0, 5.0, 1.0], [3, 0]),
    ],
)
def test_the_best_few_go_on_to_their_maxima(gains, finished):
    starts = np.eye(5)
    ascent = Told(starts, gains)
    y, size, agreement = _best_of(ascent, starts, 0, 0.125)
    assert ascent.finished == finished
    assert (ascent.asked, ascent.enough, size) == ([(5, 2, 2)], 0.125, 0.0625)
    assert np.array_equal(y, starts[np.argmax(gains)])
    assert agreement == 0.2


def test_starts_at_one_maximum_count_as_one_and_agree():
    near = unit(np.array([1.0, 0.1, 0.0]))
    starts = np.array([[1.0, 0, 0], near, [0, 1.0, 0], -near])
    ascent = Told(starts, [5.0, 4.9, 4.8, 4.7])
    _, _, agreement = _best_of(ascent, starts, 0, 0.1)
    assert ascent.finished == [0, 2]
    assert agreement == 0.75
    one, size, alone = _best_of(ascent, starts[:1], 1, 0.1)
    assert np.array_equal(one, starts[0])
    assert size == np.inf
    assert np.isnan(alone)


@pytest.mark.parametrize("n_known", [0, 2, 5])
def test_components_of_before_climb_with_thresholds_and_costs_alone(n_known):
    starts = np.eye(5)
    ascent = Told(starts, [1.0, 4.0, 2.0, 3.0, 5.0])
    y, _, agreement = _best_of(ascent, starts, n_known, 0.1)
    asked = [(n_known, 0, 4), (5 - n_known, 2, 2)]
    assert ascent.asked == [each for each in asked if each[0]]
    assert np.array_equal(y, starts[4])
    assert agreement == 0.2


def test_without_any_start_four_are_drawn():
    drawn = unit(np.random.default_rng(6).standard_normal((4, 6)))
    ascent = Told(drawn, [1.0, 3.0, 2.0, 1.0])
    y, _, _ = _best_of(ascent, np.zeros((0, 6)), 0, 0.1)
    assert np.allclose(y, drawn[1])


@pytest.mark.parametrize("rule", [FreeLoadings(), NonnegativeLoadings()])
def test_starts_are_tops_of_the_mean_and_of_the_squares_and_random(rule):
    found, A, _ = space(rule)
    A[:, 0, 0] -= 30.0  # the largest in magnitude is below zero
    R = LeftCores.of(Packing(N).pack(A))
    asked = search()
    mean, squares, random = found._further(asked, 1, R, Packing(N))
    vectors = linalg.eigh(np.tensordot(WEIGHTS, A, axes=1))[1]
    best = vectors[:, -1 if rule.nonnegative else 0]
    assert abs(mean[0] @ best) == pytest.approx(1)
    top = linalg.eigh(np.einsum("i,ist,itu->su", WEIGHTS, A, A))[1][:, -2:]
    assert squares.shape == (2, N)
    assert np.linalg.norm(squares @ top) == pytest.approx(np.sqrt(2))
    assert np.array_equal(random, asked.random[1])
    assert len(found._further(asked, 3, R, Packing(N))) == 2  # none are drawn beyond
    none = search(by_mean=False, n_squares=0)
    assert len(found._further(none, 0, R, Packing(N))) == 1


def test_a_mean_that_is_rounding_gives_way_to_the_squares():
    B = random_symmetric(1, N, 3)[0]
    A = np.stack([B, -B, B, -B, B, -B, 0 * B])
    A[1::2] *= (WEIGHTS[0:6:2] / WEIGHTS[1::2])[:, None, None]
    found, _, _ = space(FreeLoadings(), A=A)
    R = LeftCores.of(Packing(N).pack(A))
    starts = found._further(search(n_squares=0), 0, R, Packing(N))
    assert [len(start) for start in starts] == [1, 6]
    top = linalg.eigh(B @ B)[1][:, -1]
    assert abs(starts[0][0] @ top) == pytest.approx(1)


def test_graphs_of_weight_zero_have_no_say_in_what_is_rounding():
    found, A, _ = space(FreeLoadings())
    found._weights = np.where(np.arange(len(A)) == 0, 0.0, WEIGHTS)
    A[0] *= 1e9
    mean = found._further(search(), 0, LeftCores.of(Packing(N).pack(A)), Packing(N))[0]
    values, vectors = linalg.eigh(np.tensordot(found._weights, A, axes=1))
    assert abs(mean[0] @ vectors[:, np.argmax(np.abs(values))]) == pytest.approx(1)


def test_the_pool_knows_what_each_would_gain_beside_others():
    rule = PenalisedLoadings(0.5)
    rng = np.random.default_rng(2)
    A, Lam = random_symmetric(M, N, 4), rng.standard_normal((M, 2))
    Y, X = unit(rng.standard_normal((5, N))), unit(rng.standard_normal((2, N))).T
    costs, packing = np.linspace(0, 1, M), Packing(N)
    cores = LeftCores.of(packing.pack(A))
    ascent = Ascent(cores.less(Lam, packing.outer(X.T)), WEIGHTS, shrink_of(rule), costs)
    pool = _Pool.of(Y, cores, packing)
    left = A - np.einsum("sk,ik,tk->ist", X, Lam, X)
    T = shrink_of(rule)(np.einsum("bs,ist,bt->bi", Y, left, Y))
    expected = np.maximum(T**2 - costs, 0.0) @ WEIGHTS
    assert np.allclose(pool.gains(ascent, Lam, X), expected, rtol=1e-5)
    some = np.array([3, 1])
    assert np.allclose(pool.only(some).gains(ascent, Lam, X), expected[some], rtol=1e-5)


# ------------------------------------------------------------------------------------ the search


def test_given_components_keep_their_order_and_fixed_ones_their_places():
    found, _, _ = space(FreeLoadings())
    nothing = {"by_mean": False, "n_squares": 0, "n_random": 0}
    best = found.solve(3, search(), np.full(3, 1e-9))
    assert (best.stationarity <= 1e-9).all()
    turned = best.Y[:, [2, 0, 1]]
    kept = found.solve(
        3, search(warm=turned, n_fixed=3, in_order=True, **nothing), np.full(3, 1e-9)
    )
    assert np.allclose(kept.Y, turned)
    assert np.isnan(kept.agreement).all()
    assert np.isnan(kept.stationarity).all()
    anyhow = found.solve(3, search(warm=turned, **nothing), np.full(3, 1e-9))
    assert np.allclose(np.abs((anyhow.Y * best.Y).sum(axis=0)), 1)
    # From a start that leads to a lower maximum, beside the best: those that are settled go first.
    low = np.random.default_rng(4).standard_normal(len(best.Y))
    warm = np.column_stack([low / np.linalg.norm(low), best.Y[:, 0]])
    for n_settled, gain in ((0, best.gains[0]), (1, 71.324)):
        asked = search(warm=warm, n_settled=n_settled, **nothing)
        assert found.solve(1, asked, np.full(1, 1e-9)).gains[0] == pytest.approx(gain, abs=1e-3)
    stayed = found.solve(1, search(warm=turned, n_stayed=1), np.full(1, 1e-9))
    assert np.isnan(stayed.agreement[0])
    assert not np.isnan(best.agreement).any()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_frozen", [0, 2])
def test_gradients_outside_are_those_of_what_each_component_gains(rule, n_frozen):
    found, A, frozen = space(rule, n_frozen, whole=False)
    fit = found.solve(3, search(6), np.full(3, 1e-6))
    r, sizes = found.look_outside(fit)
    H = found.components(fit.Y)
    both = np.column_stack([frozen, H])
    for k in range(3):
        if fit.gains[k] == 0:
            continue
        met = fit.beside[k]
        R = A - np.einsum(
            "sk,ik,tk->ist", both[:, : n_frozen + k], met.Lam, both[:, : n_frozen + k]
        )

        def f(h, R=R, met=met):
            h = h / linalg.norm(h)
            t = shrink_of(rule)(np.einsum("s,ist,t->i", h, R, h))
            return float(WEIGHTS @ np.maximum(t**2 - met.costs, 0.0))

        h = H[:, k]
        assert fit.gains[k] == pytest.approx(f(h))
        assert np.allclose(4 * r[:, k], slope(f, h), atol=1e-5 * f(h))
        forms = np.einsum("s,ist,t->i", h, R, h)
        alone = shrink_of(rule)(forms)
        theta = WEIGHTS @ np.where(alone**2 > met.costs, alone * forms, 0.0)
        assert sizes[k] == pytest.approx(linalg.norm(r[:, k]) / theta)


def test_where_nothing_is_left_the_rest_is_zero():
    h = unit(np.ones(N))
    A = np.outer(h, h)[None] * np.linspace(1, 2, M)[:, None, None]
    found, _, _ = space(NonnegativeLoadings(), A=A)
    fit = found.solve(3, search(), np.full(3, 1e-9))
    assert fit.gains[0] == pytest.approx(WEIGHTS @ np.linspace(1, 2, M) ** 2)
    assert not fit.gains[1:].any()
    assert not fit.Y[:, 1:].any()
    r, sizes = found.look_outside(fit)
    assert r.shape == (N, 3)
    assert not sizes[1:].any()
    negative, _, _ = space(NonnegativeLoadings(), A=-A)
    assert not negative.solve(2, search(d=2), np.full(2, 1e-9)).gains.any()


def test_a_swap_is_what_a_full_graph_meets_first():
    found, _, _ = space(SparseLoadings(1))
    fit = found.solve(2, search(), np.full(2, 1e-9))
    assert not fit.beside[0].costs.any()
    assert (fit.beside[1].costs > 0).all()
    assert not fit.beside[1].Lam.any()
    # Where nobody would swap, the next component fits what is left of the graphs as they are.
    h, other = np.eye(N)[0], np.eye(N)[1]
    A = np.einsum("i,st->ist", np.linspace(5, 6, M), np.outer(h, h))
    A += np.einsum("i,st->ist", np.linspace(1, 2, M), np.outer(other, other))
    found, _, _ = space(SparseLoadings(1), A=A)
    fit = found.solve(2, search(), np.full(2, 1e-9))
    assert not fit.beside[1].costs.any()
    assert fit.beside[1].Lam.all()
    assert fit.gains[1] == pytest.approx(WEIGHTS @ np.linspace(1, 2, M) ** 2)
