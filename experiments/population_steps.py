"""Steps about the one-dimensional model of section 4: Theorems 4.1 and 4.2 and their lemmas."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import eigengraphs as eg
from eigengraphs.errors import InputError

__all__ = ["DESIGNS", "TREATMENTS", "bounds", "converge", "identity", "sizes"]

Array = NDArray[np.float64]
Rng = np.random.Generator
Population = eg.models.theory.PopulationObjective
#: Shapes of h_1, to be normalised; loadings are uniform on 0.3 to 0.9 of the largest possible.
DESIGNS: dict[str, Array] = {
    "n = 10, graded": np.linspace(1.0, 2.0, 10),
    "n = 20, one hub": np.array([2.5] + 19 * [1.0]),
    "n = 50, two groups": np.repeat([1.0, 0.5], 25),
}
LOADINGS = (0.3, 0.9)
#: Graphs with loops; the same without them, taken as they are; and as this library does.
TREATMENTS = ("observed", "hollow", "filled")


def sizes(largest: int) -> list[int]:
    """Return the numbers of graphs: 16, doubled until ``largest``."""
    return [2**k for k in range(4, largest.bit_length())]


def _population(design: str, loops: bool) -> Population:
    h1 = DESIGNS[design] / np.linalg.norm(DESIGNS[design])
    low, high = (share / float(h1.max()) ** 2 for share in LOADINGS)
    # The second moment of a uniform variable.
    return Population(h1, (low + high) / 2, (low**2 + low * high + high**2) / 3, loops)


def converge(rng: Rng, *, design: str, repetition: int, largest: int) -> Any:
    """Embed the first 16, 32, ... graphs of a sample; compare with h' and with h_1.

    By treatment: distances of the estimate from the population minimiser h', up to sign, for
    graphs with loops and hollow ones taken as they are; and from h_1 for all three. Algorithm 1
    is the paper's, and is quick for one component.
    """
    with_loops, hollow = _population(design, True), _population(design, False)
    h1 = with_loops.h1
    low, high = (share / float(h1.max()) ** 2 for share in LOADINGS)
    model = eg.models.MultipleRandomEigenGraphs(
        h1[:, None], rng.uniform(low, high, size=(largest, 1))
    )
    A = model.sample(random_state=rng, loops=True).dense
    A0 = A.copy()
    A0[:, np.arange(h1.size), np.arange(h1.size)] = 0.0
    cases = {
        "observed": (A, "observed", with_loops.minimizer().vector),
        "hollow": (A0, "observed", hollow.minimizer().vector),
        "filled": (A0, "filled", None),
    }
    found: dict[str, Any] = {}
    for treatment, (graphs, diagonal, limit) in cases.items():
        from_limit, from_truth = [], []
        for m in sizes(largest):
            embedding = eg.JointEmbedding(
                1, diagonal=diagonal, solver="algorithm1", random_state=repetition
            )
            h = embedding.fit(graphs[:m]).latent_positions_[:, 0]
            from_truth.append(_up_to_sign(h, h1))
            if limit is not None:
                from_limit.append(_up_to_sign(h, limit))
        bias = None if limit is None else _up_to_sign(limit, h1)
        found[treatment] = {"limit": from_limit, "truth": from_truth, "bias": bias}
    return found


def bounds(rng: Rng, *, chunk: int, draws: int) -> Any:  # noqa: ARG001 - a stream of its own
    """Check Theorem 4.2 and both lemmas at h' of random designs, with and without loops.

    A design: 5 to 60 vertices, h_1 from even to concentrated, loadings constant or uniform, from
    sparse to as dense as probabilities allow.
    """
    return [_bound(rng) for _ in range(draws)]


def _bound(rng: Rng) -> dict[str, Any]:
    n = int(rng.integers(5, 61))
    u = rng.gamma(rng.choice([0.5, 2.0, 20.0]), size=n) + 0.01
    u /= np.linalg.norm(u)
    top = 10 ** rng.uniform(-1.5, 0) / float(u.max()) ** 2
    lam = top * (np.linspace(0, 1, 11) if rng.random() < 0.5 else np.ones(1))
    found: dict[str, Any] = {"n": n}
    for loops in (True, False):
        theory = Population.from_loadings(u, lam, loops=loops)
        best = theory.minimizer(n_random=1)
        h = best.vector
        try:
            printed = theory.bound(h)
        except InputError:  # hollow graphs, for which the theorem is not proved
            printed = None
        eigenvector, distance = theory.lemma_eigenvector(h), theory.lemma_distance(h)
        found["loops" if loops else "hollow"] = {
            "distance": best.distance,
            "printed": printed,
            "sharper": theory.distance_bound(),
            "other sign": float(np.linalg.norm(h + theory.h1)),
            "stationarity": best.stationarity,
            "eigenvector": eigenvector.holds(),
            "norm": distance.distance / distance.bound,
            "norm holds": distance.holds,
        }
    return found


def identity(rng: Rng, *, n: int, draws: int) -> Any:
    """Compare E(<A, hh^T> A | P), summed over all graphs, with the second lemma's two displays.

    ``corrected`` has h' in the diag term, ``printed`` h_1: largest differences of entries (for the
    printed one, the smallest over draws of these).
    """
    s, t = np.triu_indices(n)
    edges = (np.arange(2 ** len(s))[:, None] >> np.arange(len(s)) & 1).astype(np.float64)
    A = np.zeros((len(edges), n, n))
    A[:, s, t] = A[:, t, s] = edges
    corrected, printed = [], []
    for _ in range(draws):
        h1 = rng.uniform(0.1, 1.0, n)
        h1 /= np.linalg.norm(h1)
        lam = rng.uniform(0.1, 1.0) / float(h1.max()) ** 2
        h = Population.from_loadings(h1, [lam]).minimizer(n_random=0).vector
        P = lam * np.outer(h1, h1)
        weights = np.prod(np.where(edges == 1, P[s, t], 1 - P[s, t]), axis=1)
        forms = np.einsum("s,ist,t->i", h, A, h)
        exact = np.einsum("i,ist->st", weights * forms, A)
        variance = P * (1 - P)
        rest = 2 * np.outer(h, h) * variance + lam * (h1 @ h) ** 2 * P
        corrected.append(float(np.abs(exact - rest + np.diag(h**2 * np.diag(variance))).max()))
        printed.append(float(np.abs(exact - rest + np.diag(h1**2 * np.diag(variance))).max()))
    return {"corrected": max(corrected), "printed": min(printed)}


def _up_to_sign(h: Array, other: Array) -> float:
    return float(min(np.linalg.norm(h - other), np.linalg.norm(h + other)))
