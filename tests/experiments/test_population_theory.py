"""The population theory of section 4: sums over all graphs, bounds and lemmas."""

import itertools
import math

import numpy as np
import pytest
from experiments.population_theory import PopulationObjective

from eigengraphs.errors import InputError

LOOPS = pytest.mark.parametrize("loops", [True, False], ids=["loops", "hollow"])


def unit(*entries: float) -> np.ndarray:
    return np.array(entries) / np.linalg.norm(entries)


def random_unit(rng: np.random.Generator, n: int) -> np.ndarray:
    return unit(*rng.standard_normal(n))


def random_theory(rng: np.random.Generator, loops: bool) -> PopulationObjective:
    """From even to hub-like h_1, from weak to strong loadings."""
    n = int(rng.integers(2, 9))
    h1 = unit(*(0.05 + rng.random(n) ** rng.choice([0.3, 1, 3])))
    second, first = np.sort(h1)[-2:]
    largest = 1 / (first * (first if loops else second))
    loadings = largest * rng.random(3) ** rng.choice([0.2, 1, 4])
    return PopulationObjective.from_loadings(h1, loadings, loops=loops)


def every_graph(h1, loadings, loops):
    """All graphs on n vertices with their loading and probability: (A, P, probability)."""
    n = len(h1)
    pairs = [(s, t) for s in range(n) for t in range(s, n) if loops or s != t]
    for lam in loadings:
        P = lam * np.outer(h1, h1)
        if not loops:
            np.fill_diagonal(P, 0)
        for bits in itertools.product([0, 1], repeat=len(pairs)):
            A, probability = np.zeros((n, n)), 1 / len(loadings)
            for (s, t), bit in zip(pairs, bits, strict=True):
                A[s, t] = A[t, s] = bit
                probability *= P[s, t] if bit else 1 - P[s, t]
            yield A, P, probability


@LOOPS
@pytest.mark.parametrize("h1", [(1, 1, 1), (3, 2, 1), (5, 1, 0), (-1, -2, -2)])
def test_formulas_equal_the_sum_over_all_graphs_of_three_vertices(loops, h1):
    h1, loadings = unit(*h1), [0.2, 0.2, 0.7, 1.0]
    theory = PopulationObjective.from_loadings(h1, loadings, loops=loops)
    graphs = list(every_graph(h1, loadings, loops))
    assert sum(probability for _, _, probability in graphs) == pytest.approx(1, abs=1e-14)
    rng = np.random.default_rng(0)
    for h in [h1, unit(1, 0, 0), unit(1, -1, 0), *(random_unit(rng, 3) for _ in range(5))]:
        hh = np.outer(h, h)

        def mean(value, hh=hh):
            return sum(probability * value(A, P, hh) for A, P, probability in graphs)

        signal = mean(lambda A, P, hh: np.sum(P * hh) ** 2)
        noise = mean(lambda A, P, hh: np.sum((A - P) * hh) ** 2)
        second = mean(lambda A, P, hh: np.sum(A * hh) ** 2)
        norm = mean(lambda A, P, hh: np.sum(A**2))
        objective = mean(lambda A, P, hh: np.sum((A - np.sum(A * hh) * hh) ** 2))
        M = mean(lambda A, P, hh: np.sum(A * hh) * A)
        assert theory.signal(h) == pytest.approx(signal, abs=1e-12)
        assert theory.noise(h) == pytest.approx(noise, abs=1e-12)
        assert theory.second_moment(h) == pytest.approx(second, abs=1e-12)
        assert theory.squared_norm() == pytest.approx(norm, abs=1e-12)
        assert theory.objective(h) == pytest.approx(objective, abs=1e-12)
        np.testing.assert_allclose(theory.expected_weighted_adjacency(h), M, atol=1e-12)
        np.testing.assert_allclose(theory.gradient(h), -4 * (M @ h - second * h), atol=1e-12)


@LOOPS
def test_minimizer_beats_random_vectors_and_satisfies_lemma_and_bounds(loops):
    rng = np.random.default_rng(5)
    n_proved = 0
    for _ in range(40):
        theory = random_theory(rng, loops)
        best = theory.minimizer()
        h = best.vector
        assert best.stationarity <= 1e-9
        assert best.objective == pytest.approx(theory.objective(h), rel=1e-12)
        assert best.distance == pytest.approx(np.linalg.norm(h - theory.h1))
        assert best.distance <= math.sqrt(2) + 1e-12
        assert theory.leads_spectrum(h)
        others = (random_unit(rng, h.size) for _ in range(50))
        assert all(theory.objective(g) >= best.objective for g in [theory.h1, *others])
        assert best.distance <= theory.distance_bound() + 1e-12
        try:
            assert best.distance <= theory.bound(h) + 1e-12
            assert theory.distance_bound() <= math.sqrt(2) * theory.bound(theory.h1) + 1e-12
            n_proved += 1
        except InputError:
            assert not loops
    assert n_proved == 40 if loops else n_proved > 5
