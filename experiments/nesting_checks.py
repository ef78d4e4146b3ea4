"""Steps of Figure 1: conversions that keep the distribution, and models that have none.

Loops are ignored, as the caption has it: only the pairs s < t of probabilities are compared. The
diagonal is then free, up to the x_s . x_s <= 1 of a random dot product graph, so what is shown not
to be one is shown for every diagonal.

The random models are drawn in this module too: a run begins a step anew when its module changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import eigengraphs as eg
from eigengraphs.errors import ConversionError

__all__ = [
    "ARROWS", "DRAWS", "GAPS", "SAME_FOR_ALL", "Arrow", "Gap", "arrow", "freed", "gap",
    "identical",
]  # fmt: skip

Array = NDArray[np.float64]
Model = Any  # one of eg.models
Rng = np.random.Generator
GRAPHS = 3  # sampled from each source, to compare likelihoods


def erdos_renyi(rng: Rng) -> eg.models.ErdosRenyi:
    """Draw an edge probability."""
    return eg.models.ErdosRenyi(int(rng.integers(20, 31)), rng.uniform(0.05, 0.95))


def block_definite(rng: Rng) -> eg.models.StochasticBlockModel:
    """Draw 2 to 4 blocks and a positive semidefinite B: inner products of K vectors."""
    K = int(rng.integers(2, 5))
    rows = rng.uniform(size=(K, K))
    rows *= rng.uniform(0.3, 0.95, size=(K, 1)) / np.linalg.norm(rows, axis=1, keepdims=True)
    return eg.models.StochasticBlockModel(rows @ rows.T, blocks(rng, K))


def block(rng: Rng) -> eg.models.StochasticBlockModel:
    """Draw 2 to 4 blocks and any B."""
    K = int(rng.integers(2, 5))
    return eg.models.StochasticBlockModel(symmetric(rng, K), blocks(rng, K))


def block_indefinite(rng: Rng) -> eg.models.StochasticBlockModel:
    """Draw blocks and a B with a negative eigenvalue."""
    while True:
        model = block(rng)
        if np.linalg.eigvalsh(model.B)[0] < -0.05:
            return model


def dot_product(rng: Rng) -> eg.models.RandomDotProductGraph:
    """Draw 1 to 4 dimensions and a position for each vertex, in a cone turned at random."""
    n, d = int(rng.integers(20, 31)), int(rng.integers(1, 5))
    X = rng.uniform(size=(n, d))
    X *= rng.uniform(0.3, 0.95, size=(n, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return eg.models.RandomDotProductGraph(X @ turn)


def eigen_definite(rng: Rng) -> eg.models.MultipleRandomEigenGraphs:
    """Draw 1 to 4 components that are not orthogonal, with loadings above zero."""
    n, d = int(rng.integers(20, 31)), int(rng.integers(1, 5))
    H = rng.uniform(size=(n, d))
    H /= np.linalg.norm(H, axis=0)
    lam = rng.uniform(0.2, 1.0, d)
    return eg.models.MultipleRandomEigenGraphs(H, 0.95 * lam / ((H * lam) @ H.T).max())


def eigen_indefinite(rng: Rng) -> eg.models.MultipleRandomEigenGraphs:
    """Draw 2 to 4 components: one of about 0.5 everywhere, others with loadings of any sign."""
    n, d = int(rng.integers(20, 31)), int(rng.integers(2, 5))
    first = rng.uniform(0.65, 0.75, n)
    others = rng.choice([-1.0, 1.0], (n, d - 1)) * rng.uniform(0.8, 1.2, (n, d - 1))
    lam = rng.uniform(0.5, 1.0, d - 1) * rng.choice([-1.0, 1.0], d - 1)
    lam[0] = -abs(lam[0])
    lam *= 0.4 / np.abs((others * lam) @ others.T).max()
    X = np.column_stack([first, others])
    squares = (X**2).sum(axis=0)
    return eg.models.MultipleRandomEigenGraphs(
        X / np.sqrt(squares), np.concatenate([[1.0], lam]) * squares
    )


def inhomogeneous(rng: Rng) -> eg.models.InhomogeneousErdosRenyi:
    """Draw a probability for every pair, and for every loop."""
    return eg.models.InhomogeneousErdosRenyi(symmetric(rng, int(rng.integers(20, 31))))


def symmetric(rng: Rng, n: int) -> Array:
    """Draw a symmetric matrix with independent entries, uniform on [0.02, 0.98].

    Nearer to 0 and 1 a logarithm would enlarge rounding.
    """
    P = np.triu(rng.uniform(0.02, 0.98, size=(n, n)))
    return np.asarray(P + np.triu(P, 1).T)


def blocks(rng: Rng, K: int) -> NDArray[np.int64]:
    """Draw 4 to 8 vertices for each of K blocks, at least 20 in all, in any order."""
    sizes = rng.integers(4, 9, K)
    sizes[0] += max(0, 20 - int(sizes.sum()))
    return np.asarray(rng.permutation(np.repeat(np.arange(K), sizes)), dtype=np.int64)


DRAWS: dict[str, Callable[[Rng], eg.models.GraphModel]] = {
    "ER": erdos_renyi,
    "SBM, B psd": block_definite,
    "SBM": block,
    "SBM, B indefinite": block_indefinite,
    "RDPG": dot_product,
    "MREG, loadings > 0": eigen_definite,
    "MREG": eigen_indefinite,
    "IER": inhomogeneous,
}


@dataclass(frozen=True)
class Arrow:
    """A model that is another one: how it is converted, and what the paper promises of the end."""

    source: str
    target: str
    convert: Callable[[Model], Model]
    promise: Callable[[Model, Model], bool]


@dataclass(frozen=True)
class Gap:
    """A model that is not another one: the conversion, and a distance that no choice goes below.

    ``least`` returns a lower bound of the largest difference of probabilities between a matrix of
    probabilities and any of the target's, loops ignored.
    """

    source: str
    target: str
    refused: Callable[[Model], bool]
    least: Callable[[Array], float]


def _has_columns(model: Model, found: Model) -> bool:
    """Tell whether h_k is the normalised k-th column of X and lambda_k its squared norm."""
    X = model.positions
    squares = (X**2).sum(axis=0)
    return bool(
        np.allclose(found.latent_positions, X / np.sqrt(squares), rtol=0, atol=1e-12)
        and np.allclose(found.loadings, squares)
    )


def _distinct(X: Array) -> int:
    return len(np.unique(X.round(10), axis=0))


ARROWS = (
    Arrow("ER", "SBM, 1 block", lambda x: x.to_sbm(), lambda _, y: y.n_blocks == 1),
    Arrow("ER", "RDPG, 1 dimension", lambda x: x.to_rdpg(), lambda _, y: y.n_components == 1),
    Arrow("SBM, B psd", "RDPG, at most K distinct positions", lambda x: x.to_rdpg(),
          lambda x, y: y.n_components <= x.n_blocks and _distinct(y.positions) <= x.n_blocks),
    Arrow("RDPG", "MREG, columns of X", lambda x: x.to_mreg(), _has_columns),
    Arrow("SBM", "MREG, d <= K", lambda x: x.to_mreg(), lambda x, y: y.n_components <= x.n_blocks),
    Arrow("MREG, loadings > 0", "RDPG", lambda x: x.to_rdpg(),
          lambda x, y: y.n_components <= x.n_components),
    Arrow("MREG", "IER", lambda x: x.to_ier(), lambda *_: True),
    Arrow("IER", "MREG, d = n", lambda x: x.to_mreg(),
          lambda x, y: y.n_components <= x.n_vertices),
    Arrow("IER", "SBM, n blocks", lambda x: x.to_sbm(), lambda x, y: y.n_blocks == x.n_vertices),
)  # fmt: skip


def _spread(P: Array) -> float:
    """Bound the distance from every constant: half the range of the pairs."""
    pairs = P[np.triu_indices_from(P, 1)]
    return float(np.ptp(pairs)) / 2


def _negative(P: Array) -> float:
    """Bound the distance from every RDPG, whatever its diagonal.

    With Q = X X^T >= 0 and diag(Q) <= 1, on the span N of the eigenvectors of P_0 + I with
    eigenvalues -mu_j < 0 (P_0 is P without diagonal): N^T (Q_0 - P_0) N >= diag(mu), so that
    ||Q_0 - P_0||_F^2 >= sum mu_j^2; the largest of its entries is at least the root of that
    over n.
    """
    values = np.linalg.eigvalsh(_unit_diagonal(P))
    return float(np.sqrt((np.minimum(values, 0.0) ** 2).sum()) / len(P))


def _rows(P: Array) -> float:
    """Bound the distance from every SBM with fewer than n blocks: two rows would be equal."""
    n = len(P)
    least = np.inf
    for s in range(n):
        for t in range(s + 1, n):
            others = np.delete(np.abs(P[s] - P[t]), [s, t])
            least = min(least, float(others.max()) / 2)
    return least


def _corner(P: Array) -> float:
    """Bound the distance from every MREG with fewer than k = n // 2 components.

    Pairs between the first k vertices and the next k hold no loop, and would have rank below k.
    """
    k = len(P) // 2
    return float(np.linalg.svd(P[:k, k : 2 * k], compute_uv=False)[-1] / k)


def _no_rdpg(model: Model) -> bool:
    try:
        model.to_rdpg()
    except ConversionError:
        return True
    return False


def _all_distinct(model: Model) -> bool:
    return bool(model.to_sbm().n_blocks == model.n_vertices)


GAPS = (
    Gap("SBM, B psd", "ER", lambda m: m.n_blocks > 1, _spread),
    Gap("SBM, B indefinite", "RDPG", _no_rdpg, _negative),
    Gap("RDPG", "SBM, fewer than n blocks", _all_distinct, _rows),
    Gap("MREG", "RDPG", _no_rdpg, _negative),
    Gap("MREG", "SBM, fewer than n blocks", _all_distinct, _rows),
    Gap("IER", "MREG, d < n / 2", lambda m: m.to_mreg().n_components == m.n_vertices, _corner),
)
#: Models whose graphs are drawn independently from one P: all of them MREG with one lambda.
SAME_FOR_ALL = ("ER", "SBM", "RDPG", "IER")


def arrow(rng: Rng, *, which: int, draws: int) -> Any:
    """Convert random models; compare probabilities and log-likelihoods of sampled graphs."""
    one = ARROWS[which]
    probability, likelihood, kept = [], [], 0
    for _ in range(draws):
        model = DRAWS[one.source](rng)
        found = one.convert(model)
        graphs = model.sample(GRAPHS, rng)
        probability.append(_difference(model.edge_probabilities(), found.edge_probabilities()))
        likelihood.append(_apart(model.log_likelihood(graphs), found.log_likelihood(graphs)))
        kept += one.promise(model, found)
    return {"probability": probability, "likelihood": likelihood, "kept": kept}


def gap(rng: Rng, *, which: int, draws: int) -> Any:
    """Try to convert random models that are none of the target; bound their distance from it."""
    one = GAPS[which]
    refused, least = [], []
    for _ in range(draws):
        model = DRAWS[one.source](rng)
        refused.append(one.refused(model))
        least.append(one.least(model.edge_probabilities()))
    return {"refused": refused, "least": least}


def freed(rng: Rng, *, size: int, draws: int) -> Any:
    """Count the SBMs with two blocks of a size and indefinite B that are RDPGs all the same.

    With loops ignored the diagonal is free up to 1, and P is that of an RDPG if and only if it is
    psd with ones there. ``error`` is the largest of the representations by such positions.
    """
    count, error = 0, 0.0
    labels = np.repeat([0, 1], size)
    for _ in range(draws):
        B = symmetric(rng, 2)
        while np.linalg.eigvalsh(B)[0] >= 0:
            B = symmetric(rng, 2)
        P = eg.models.StochasticBlockModel(B, labels).edge_probabilities()
        values, V = np.linalg.eigh(_unit_diagonal(P))
        if values[0] >= 0:
            count += 1
            positions = V * np.sqrt(values)
            free = eg.models.RandomDotProductGraph(positions)
            error = max(error, _difference(P, free.edge_probabilities()))
    return {"count": count, "error": error}


def identical(rng: Rng, *, source: str, draws: int) -> Any:
    """Represent independent graphs of one model by an MREG with one row of loadings a graph.

    ``spread`` is, for an MREG whose loadings differ (each graph has a fraction of them), half the
    range over graphs of a pair's probability: no model with one P comes nearer.
    """
    probability, likelihood, spread = [], [], []
    for _ in range(draws):
        model = DRAWS[source](rng)
        one = model.to_mreg()
        Lam = np.tile(one.loadings, (GRAPHS, 1))
        many = eg.models.MultipleRandomEigenGraphs(one.latent_positions, Lam)
        graphs = model.sample(GRAPHS, rng)
        P, Q = model.edge_probabilities(), many.edge_probabilities()
        probability.append(max(_difference(P, one) for one in Q))
        likelihood.append(_apart(model.log_likelihood(graphs), many.log_likelihood(graphs)))
        shares = rng.uniform(0.2, 1.0, size=(GRAPHS, 1))
        other = eg.models.MultipleRandomEigenGraphs(one.latent_positions, shares * Lam)
        ranges = np.ptp(other.edge_probabilities(), axis=0)
        spread.append(float(ranges[np.triu_indices_from(ranges, 1)].max()) / 2)
    return {"probability": probability, "likelihood": likelihood, "spread": spread}


def _unit_diagonal(P: Array) -> Array:
    Q = (P + P.T) / 2
    np.fill_diagonal(Q, 1.0)
    return np.asarray(Q)


def _difference(P: Array, Q: Array) -> float:
    return float(np.abs(P - Q)[np.triu_indices_from(P, 1)].max())


def _apart(one: Array, other: Array) -> float:
    return float(np.abs(one - other).max())
