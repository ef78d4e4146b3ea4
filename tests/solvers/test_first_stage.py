"""The objective on thirty-three stacks is as good as that of the first stage of the library.

That was commit ec8d5e4, of which first_stage.json holds what it reached with 25 seeds. The graphs
are drawn by NumPy alone, from generators that ``pytest --seed`` does not change.
"""

from __future__ import annotations

import json
import statistics
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

import eigengraphs as eg

FIRST = json.loads(Path(__file__).with_name("first_stage.json").read_text())
SEEDS = range(25)  # random_state of the recorded fits
UNIQUE = 1e-6  # spread of the objectives, as a share of the initial one, of a unique maximum

Array = NDArray[Any]


class Stack(NamedTuple):
    """Graphs to build, and how to fit them."""

    name: str
    build: Callable[[], Any]  # an array (m, n, n), or a list of csr_arrays
    d: int
    settings: dict[str, Any]

    def fit(self, graphs: Any, seed: int) -> eg.JointEmbedding:
        """Fit the graphs; classes, where asked for, take turns."""
        y = np.arange(len(graphs)) % 3 if self.settings.get("loadings") == "class" else None
        with warnings.catch_warnings():  # of degenerate components: meant to be there
            warnings.simplefilter("ignore")
            return eg.JointEmbedding(self.d, random_state=seed, **self.settings).fit(graphs, y)


# ------------------------------------------------------------------ graphs


def draws(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def mirrored(A: Array, k: int = 0) -> Array:
    """Copy the upper triangles to the lower ones; k=1 empties the diagonal."""
    upper = np.triu(A, k)
    return upper + np.triu(upper, 1).swapaxes(1, 2)


def probabilities(m: int, n: int, blocks: int, rng: np.random.Generator) -> Array:
    """Blocks of vertices, and for each graph its own probabilities, (m, n, n)."""
    labels = np.sort(rng.integers(blocks, size=n))
    B = rng.uniform(0.05, 0.7, (m, blocks, blocks))
    return B[:, labels][:, :, labels]


def block_graphs(m: int, n: int, blocks: int, seed: int, *, directed: bool = False) -> Array:
    rng = draws(seed)
    A = (rng.random((m, n, n)) < probabilities(m, n, blocks, rng)).astype(np.float64)
    return A if directed else mirrored(A, 1)


def looped_blocks(m: int, n: int, blocks: int, seed: int) -> Array:
    rng = draws(seed)
    P = mirrored(probabilities(m, n, blocks, rng))
    return mirrored((rng.random((m, n, n)) < P).astype(np.float64))


def lognormal(m: int, n: int, seed: int, dtype: Any = np.float64, k: int = 0) -> Array:
    rng = draws(seed)
    scale = 0.2 + 2 * probabilities(m, n, 4, rng)
    return mirrored(scale * rng.lognormal(0.0, 0.5, (m, n, n)), k).astype(dtype)


def correlations(m: int, n: int, seed: int) -> Array:
    rng = draws(seed)
    factors = rng.standard_normal((n, 5))
    series = rng.standard_normal((m, 60, 5)) * rng.uniform(0.2, 1.5, (m, 1, 5)) @ factors.T
    series += 1.5 * rng.standard_normal(series.shape)
    return np.stack([np.corrcoef(x.T) for x in series]).round(12)


def mice() -> Array:
    A: Array = np.asarray(eg.datasets.load_mice().graphs)[::2, ::3, ::3]
    return np.asarray(np.log1p(A))


def counts(m: int, n: int, seed: int) -> Array:
    """Draw counts between vertices of uneven size that differs from graph to graph: hubs."""
    rng = draws(seed)
    size = rng.lognormal(0.0, 0.8, n) * rng.lognormal(0.0, 0.3, (m, n))
    near = np.exp(-np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / 10)
    return mirrored(rng.poisson(20 * near * size[:, :, None] * size[:, None]), 1).astype(float)


def planted(m: int, n: int, overlap: float, seed: int) -> Array:
    rng = draws(seed)
    H = rng.standard_normal((n, 4)) + overlap * np.sqrt(n) * rng.standard_normal((n, 1)) / 4
    H /= np.linalg.norm(H, axis=0)
    Lam = np.array([8, 6, 4, 3]) * (1 + rng.standard_normal((m, 4)))
    A = np.einsum("sk,ik,tk->ist", H, Lam, H)
    A += mirrored(0.15 * rng.standard_normal((m, n, n)))
    return np.asarray(A)


def noise(m: int, n: int, seed: int) -> Array:
    return mirrored(draws(seed).standard_normal((m, n, n)))


def sparse_blocks(m: int, n: int, seed: int, *, directed: bool = False) -> list[sparse.csr_array]:
    rng = draws(seed)
    A = (rng.random((m, n, n)) < 0.2 * probabilities(m, n, 4, rng)).astype(np.float64)
    return [sparse.csr_array(graph) for graph in (A if directed else mirrored(A, 1))]


def pareto(m: int, n: int, seed: int) -> list[sparse.csr_array]:
    rng = draws(seed)
    size = np.minimum(1 + rng.pareto(2.0, (m, n)), 6)
    P = 0.05 * probabilities(m, n, 3, rng) * size[:, :, None] * size[:, None]
    return [sparse.csr_array(A) for A in mirrored((rng.random((m, n, n)) < P).astype(float), 1)]


def stars(m: int, n: int, seed: int, *, rest: float = 0.0) -> Array:
    """Draw graphs that are stars with their own center, with a share of other edges."""
    rng = draws(seed)
    A = (rng.random((m, n, n)) < rest).astype(np.float64)
    centers = rng.integers(max(2, n // 4), size=m)
    A[np.arange(m), centers] = A[np.arange(m), :, centers] = 1.0
    return mirrored(A, 1)


def hidden(A: Array, share: float, seed: int) -> Array:
    mask = np.triu(draws(seed).random(A.shape) < share, 1)
    return np.where(mask | mask.swapaxes(1, 2), np.nan, A)


# ------------------------------------------------------------------ the stacks

SEEN, FILLED, UNSEEN = ({"diagonal": word} for word in ("observed", "filled", "unobserved"))
CENTERED, REFINED, DIRECTED = {"center": True}, {"refine": True}, {"directed": True}
NONNEGATIVE, SHARED, CLASS = ({"loadings": word} for word in ("nonnegative", "shared", "class"))
PURSUIT = {"loadings": "sparse", "max_nonzeros": 2}
LASSO = {"loadings": "sparse", "l1_penalty": 0.1}
MISSING = {"missing": "unobserved"}

STACKS = [
    Stack("blocks, small", lambda: looped_blocks(20, 30, 3, 1), 5, SEEN),
    Stack("blocks, large", lambda: looped_blocks(60, 120, 4, 2), 8, SEEN),
    Stack("blocks, large, centered", lambda: looped_blocks(60, 120, 4, 2), 6, SEEN | CENTERED),
    Stack("blocks without loops", lambda: block_graphs(30, 110, 3, 3), 5, FILLED),
    Stack("blocks, unobserved diagonal", lambda: block_graphs(20, 40, 3, 4), 3, UNSEEN),
    Stack("blocks, nonnegative", lambda: looped_blocks(20, 100, 3, 5), 4, SEEN | NONNEGATIVE),
    Stack("blocks, shared", lambda: block_graphs(15, 40, 3, 6), 3, SHARED),
    Stack("lognormal, float32", lambda: lognormal(40, 110, 7, np.float32), 6, SEEN),
    Stack("lognormal, float64", lambda: lognormal(40, 110, 7), 6, SEEN),
    Stack("lognormal, centered", lambda: lognormal(30, 60, 8), 5, SEEN | CENTERED),
    Stack("lognormal, two nonzeros", lambda: lognormal(30, 40, 9), 4, SEEN | PURSUIT),
    Stack("lognormal, L1", lambda: lognormal(30, 40, 9), 4, SEEN | LASSO),
    Stack("lognormal, classes", lambda: lognormal(30, 40, 9), 4, SEEN | CLASS),
    Stack("correlations", lambda: correlations(30, 60, 10), 6, {}),
    Stack("correlations, centered", lambda: correlations(30, 120, 10), 6, CENTERED),
    Stack("correlations, nonnegative", lambda: correlations(20, 60, 11), 4, NONNEGATIVE),
    Stack("mice", mice, 6, {}),
    Stack("mice, centered", mice, 6, CENTERED),
    Stack("counts with hubs, log1p", lambda: np.log1p(counts(50, 100, 12)), 8, {}),
    Stack("planted, small overlap", lambda: planted(25, 40, 0.3, 14), 4, SEEN),
    Stack("planted, large overlap", lambda: planted(25, 110, 0.9, 15), 4, SEEN),
    Stack("planted, refined", lambda: planted(25, 110, 0.9, 15), 4, SEEN | REFINED),
    Stack("noise", lambda: noise(30, 40, 16), 3, SEEN),
    Stack("noise, centered, filled", lambda: noise(15, 120, 17), 3, FILLED | CENTERED),
    Stack("sparse blocks", lambda: sparse_blocks(15, 120, 18), 5, {}),
    Stack("sparse blocks, two nonzeros", lambda: sparse_blocks(15, 80, 19), 4, PURSUIT),
    Stack("sparse, Pareto degrees", lambda: pareto(20, 120, 20), 5, {}),
    Stack("directed blocks", lambda: block_graphs(20, 110, 3, 21, directed=True), 5, DIRECTED),
    Stack("directed, sparse", lambda: sparse_blocks(12, 100, 22, directed=True), 3, DIRECTED),
    Stack("stars", lambda: stars(20, 30, 23), 3, FILLED),
    Stack("hubs, unobserved diagonal", lambda: stars(20, 30, 24, rest=0.2), 3, UNSEEN),
    Stack("missing entries", lambda: hidden(lognormal(15, 25, 32), 0.1, 33), 3, SEEN | MISSING),
    Stack(
        "missing entries, centered",
        lambda: hidden(planted(15, 20, 0.3, 34), 0.2, 35),
        3,
        MISSING | CENTERED,
    ),
]


# ------------------------------------------------------------------ the comparison


def share(model: eg.JointEmbedding) -> float:
    """Return the final objective as a share of the initial one, an L1 penalty included."""
    path = model.objective_path_
    final = path[-1]
    if model.l1_penalty is not None:  # objective_path_ is without it; typical norm of a graph
        typical = np.sqrt(path[0] / len(model.loadings_))
        final += 2 * model.l1_penalty * typical * np.abs(model.loadings_).sum()
    return float(final / path[0])


@pytest.mark.parametrize("stack", STACKS, ids=[stack.name for stack in STACKS])
def test_objective_is_as_good_as_recorded(stack, pytestconfig):
    first = FIRST[stack.name]
    if pytestconfig.getoption("--seed") and not first["unique"]:
        pytest.skip("recorded for these seeds, and there are several maxima")
    bound = first["median"] + (UNIQUE if first["unique"] else 1e-4)
    graphs = stack.build()
    # A few seeds decide where they suffice, and all of them where they do not.
    for seeds in (SEEDS[:2] if first["unique"] else SEEDS[:5], SEEDS):
        models = [stack.fit(graphs, seed) for seed in seeds]
        # The same entries count, or the comparison means nothing.
        assert models[0].objective_path_[0] == pytest.approx(first["initial"], rel=1e-6)
        median = statistics.median(share(model) for model in models)
        if median <= bound:
            return
    assert median <= bound


def test_all_stacks_are_recorded():
    assert [stack.name for stack in STACKS] == list(FIRST)
    assert len(FIRST) == 33
