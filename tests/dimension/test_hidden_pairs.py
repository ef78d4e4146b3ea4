"""Hidden pairs are predicted by what the other pairs tell, and by nothing else."""

import numpy as np
import pytest
from known_graphs import noiseless, random_symmetric, stored

from eigengraphs import GraphStack
from eigengraphs.dimension.selection_rules import _shrunken, prediction_errors, smallest_good
from eigengraphs.fitting.plan import Treatment


def hide(A, hidden):
    """Return the graphs with nan for the pairs within the hidden vertices."""
    seen = A.copy()
    seen[:, np.ix_(hidden, hidden)[0], np.ix_(hidden, hidden)[1]] = np.nan
    return seen


def written_out(seen, hidden, H, k, weights, *, hollow):
    """Return the predicted entries with k components, (m, |S|, |S|), from what is seen alone."""
    counts = ~np.isnan(seen[0])
    if hollow:
        counts &= ~np.eye(len(hidden), dtype=bool)
    within = counts & ~hidden[:, None] & ~hidden

    def staged(H, entries):
        """Return orthonormal stages (k, n, n) on some entries, their coordinates and the noise."""
        Q = []
        for h in H.T:
            q = np.outer(h, h) * entries
            for other in Q:
                q = q - (q * other).sum() * other
            Q.append(q / np.linalg.norm(q))
        A = np.where(entries, seen, 0.0)
        Z = np.einsum("ist,kst->ik", A, Q)
        noise = 2 * ((A**2).sum() - (Z**2).sum()) / len(A) / entries.sum()
        return np.array(Q), _shrunken(Z, noise)

    inner = np.zeros((len(hidden), H.shape[1]))
    inner[~hidden] = H
    # All components take part in the estimate of the noise, as many as are asked for in the rest.
    Q, Z = staged(inner, within)
    whole = inner.copy()
    for j in range(H.shape[1]):
        basis = np.array([(np.outer(h, h) * within).ravel() for h in inner[:, : j + 1].T])
        fits = np.einsum("ik,kst->ist", Z[:, : j + 1], Q[: j + 1]).reshape(len(Z), -1)
        Lam = np.linalg.lstsq(basis.T, fits.T)[0].T
        known = np.einsum("ik,sk,tk->ist", Lam[:, :j], whole[:, :j], inner[:, :j])
        R = (seen - known)[:, hidden][:, :, ~hidden]
        lam = weights * Lam[:, j]
        whole[hidden, j] = np.einsum("i,ist,t->s", lam, R, H[:, j]) / (lam @ Lam[:, j])
    Q, Z = staged(whole, counts)
    basis = np.array([(np.outer(h, h) * counts).ravel() for h in whole[:, :k].T])
    fits = np.einsum("ik,kst->ist", Z[:, :k], Q[:k]).reshape(len(Z), -1)
    Lam = np.linalg.lstsq(basis.T, fits.T)[0].T
    return np.einsum("ik,sk,tk->ist", Lam, whole[hidden, :k], whole[hidden, :k])


@pytest.mark.parametrize("hollow", [False, True])
def test_errors_are_those_of_predictions_from_the_seen_pairs_alone(hollow, storage):
    rng = np.random.default_rng(0)
    A = random_symmetric(6, 11, 0, hollow=hollow) + 0.8 * (1 - hollow * np.eye(11))
    hidden = np.isin(np.arange(11), [1, 4, 9])
    H = np.linalg.qr(rng.standard_normal((8, 3)) + 1)[0]
    weights = rng.uniform(0.5, 1, 6)
    stack = stored(GraphStack(A), storage)
    treatment = Treatment.learn(stack, "auto", False, weights)
    assert treatment.hollow == hollow
    errors = prediction_errors(stack, treatment, hidden, H, weights)
    block = A[:, hidden][:, :, hidden]
    off = ~(hollow * np.eye(3, dtype=bool))
    assert errors[0] == pytest.approx(treatment.scale**2 * weights @ (block**2).sum(axis=(1, 2)))
    for k in (1, 2, 3):
        predicted = written_out(hide(A, hidden), hidden, H, k, weights, hollow=hollow)
        apart = (block - predicted) * off
        expected = treatment.scale**2 * weights @ (apart**2).sum(axis=(1, 2))
        assert errors[k] == pytest.approx(expected, rel=1e-8)


def test_centred_graphs_are_predicted_as_such():
    A = random_symmetric(6, 11, 0, hollow=True)
    hidden = np.arange(11) < 3
    H = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 2)))[0]
    both = []
    for graphs, center in ((A, True), (A - A.mean(axis=0), False)):
        stack = GraphStack(graphs)
        treatment = Treatment.learn(stack, "auto", center, np.ones(6))
        errors = prediction_errors(stack, treatment, hidden, H, np.ones(6))
        both.append(errors / treatment.scale**2)
    assert np.allclose(*both, rtol=1e-8)


def test_without_noise_hidden_pairs_are_known():
    known = noiseless(24, 8, 1, 0)
    hidden = np.arange(24) % 4 == 0
    treatment = Treatment.learn(known.stack, "auto", False, np.ones(8))
    H = known.H[~hidden] / np.linalg.norm(known.H[~hidden], axis=0)
    errors = prediction_errors(known.stack, treatment, hidden, H, np.ones(8))
    assert errors[1] < 1e-12 * errors[0]


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ([[10, 5, 5.1], [10, 6, 5.9], [10, 4, 4.0]], 1),
        ([[10, 5, 4], [10, 6, 5], [10, 4.1, 3]], 2),
        ([[10, 10.1, 10], [10, 9.9, 10.1], [10, 10, 10]], 0),
        ([[1e6, 5e5, 5.1e5], [1, 0.6, 0.59], [1, 0.4, 0.4]], 1),  # hubs do not outweigh the rest
        ([[10, 1e-12, 0], [10, 1e-12, 0], [10, 1e-12, 0]], 1),  # rounding is no difference
    ],
)
def test_the_smallest_number_that_predicts_as_well(errors, expected):
    choice, curve, margins = smallest_good(np.array(errors), alpha=0.05)
    assert choice == expected
    assert curve[0] == 1
    assert curve.shape == margins.shape == (3,)
