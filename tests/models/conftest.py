import numpy as np
import pytest
from scipy import stats

from eigengraphs.models import edge_means, likelihood, sampling

# Chance that a correct sampler fails one statistical check, over all its pairs (Bonferroni).
FALSE_ALARM_RATE = 1e-6


def force_engine(monkeypatch, engine):
    """Draw by events or pair by pair, and store as arrays or as sparse matrices."""
    events, sparse = engine.startswith("events"), engine.endswith("sparse")
    monkeypatch.setattr(sampling, "_SMALL_GRAPH", 0 if events else 10**9)
    monkeypatch.setattr(sampling, "_EVENT_DENSITY", 2.0 if events else -1.0)
    monkeypatch.setattr(sampling, "_DENSE_ENTRIES", 0 if sparse else 10**12)
    monkeypatch.setattr(sampling, "_DENSE_DENSITY", 2.0)


@pytest.fixture(params=["pairs-dense", "pairs-sparse", "events-dense", "events-sparse"])
def engine(request, monkeypatch):
    force_engine(monkeypatch, request.param)
    return request.param


@pytest.fixture(params=[None, 10], ids=["usual blocks", "small blocks"])
def block_entries(request, monkeypatch):
    """Entries of the blocks in which means are worked on."""
    for module in (sampling, edge_means, likelihood) if request.param else ():
        monkeypatch.setattr(module, "BLOCK_ENTRIES", request.param)


@pytest.fixture
def check_frequencies():
    """Exact two-sided binomial test of every pair at once."""

    def check(stack, P, *, loops=False, directed=False, rate=FALSE_ALARM_RATE):
        A = stack.to_dense().dense
        assert set(np.unique(A)) <= {0.0, 1.0}
        n = len(P)
        if not directed:
            assert np.array_equal(A, A.transpose(0, 2, 1))
        if not loops:
            assert not np.einsum("iss->is", A).any()
        s, t = np.nonzero(np.ones((n, n))) if directed else np.triu_indices(n)
        keep = np.full(len(s), True) if loops else s != t
        s, t = s[keep], t[keep]
        counts = A[:, s, t].sum(axis=0)
        law = stats.binom(len(A), P[s, t])
        p_values = 2 * np.minimum(law.cdf(counts), law.sf(counts - 1))
        worst = int(np.argmin(p_values))
        assert p_values[worst] > rate / len(s), (
            f"pair ({s[worst]}, {t[worst]}): {counts[worst]} of {len(A)}, P = {P[s, t][worst]:.4f}"
        )

    return check


class CountingGenerator(np.random.Generator):
    """Counts the numbers that are drawn."""

    def __init__(self, seed=0):
        super().__init__(np.random.PCG64(seed))
        self.n_numbers = 0

    def _count(self, values):
        self.n_numbers += np.size(values)
        return values

    def random(self, *args, **kwargs):
        return self._count(super().random(*args, **kwargs))

    def integers(self, *args, **kwargs):
        return self._count(super().integers(*args, **kwargs))

    def poisson(self, *args, **kwargs):
        return self._count(super().poisson(*args, **kwargs))


@pytest.fixture
def counting_rng():
    return CountingGenerator()
