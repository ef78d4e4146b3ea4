"""Figure 1: which random graph models hold which others, on one graph and on many.

Loops are ignored, as the caption has it: only the pairs s < t of probabilities are compared. The
diagonal is then free, up to the x_s . x_s <= 1 of a random dot product graph, so what is shown not
to be one is shown for every diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import eigengraphs as eg
from eigengraphs.errors import ConversionError
from experiments import drawing
from experiments.frame import CATALOG, Finding, Outcome, Run, Table, embed, grid, judged, new
from experiments.repetitions import Array, Rng

Model = Any  # one of eg.models
GRAPHS = 3  # sampled from each source, to compare likelihoods
PROBABILITY = 1e-12  # largest difference that rounding explains
LIKELIHOOD = 1e-9
BLOCKS = (2, 3, 4, 5)
HALVES = (2, 4, 8, 16)  # vertices in each of two blocks


# ------------------------------------------------------------------------------- random models


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
    model = block(rng)
    while np.linalg.eigvalsh(model.B)[0] >= -0.05:
        model = block(rng)
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
    return P + np.triu(P, 1).T


def blocks(rng: Rng, K: int) -> NDArray[np.int64]:
    """Draw 4 to 8 vertices for each of K blocks, at least 20 in all, in any order."""
    sizes = rng.integers(4, 9, K)
    sizes[0] += max(0, 20 - int(sizes.sum()))
    return rng.permutation(np.repeat(np.arange(K), sizes))


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


# ------------------------------------------------------------------------------- arrows and gaps


class Arrow(NamedTuple):
    """A model that is another one: how it is converted, and what the paper promises of the end.

    ``region`` is the number in the picture whose models the arrow places.
    """

    source: str
    target: str
    convert: str  # a method of the source
    promise: Callable[[Model, Model], bool]
    region: int | None = None


class Gap(NamedTuple):
    """A model that is not another one: the conversion, and a distance that no choice goes below.

    ``least`` returns a lower bound of the largest difference of probabilities between a matrix of
    probabilities and any of the target's, loops ignored.
    """

    source: str
    target: str
    refused: Callable[[Model], bool]
    least: Callable[[Array], float]
    region: int


def _has_columns(model: Model, found: Model) -> bool:
    """Tell whether h_k is the normalized k-th column of X and lambda_k its squared norm."""
    X = model.positions
    squares = (X**2).sum(axis=0)
    return bool(
        np.allclose(found.latent_positions, X / np.sqrt(squares), rtol=0, atol=1e-12)
        and np.allclose(found.loadings, squares)
    )


def _few_positions(model: Model, found: Model) -> bool:
    distinct = len(np.unique(found.positions.round(10), axis=0))
    return found.n_components <= model.n_blocks and distinct <= model.n_blocks


ARROWS = (
    Arrow("ER", "SBM, 1 block", "to_sbm", lambda _, y: y.n_blocks == 1, 1),
    Arrow("ER", "RDPG, 1 dimension", "to_rdpg", lambda _, y: y.n_components == 1, 1),
    Arrow("SBM, B psd", "RDPG, at most K distinct positions", "to_rdpg", _few_positions, 2),
    Arrow("RDPG", "MREG, columns of X", "to_mreg", _has_columns, 4),
    Arrow("SBM", "MREG, d <= K", "to_mreg", lambda x, y: y.n_components <= x.n_blocks, 3),
    Arrow("MREG, loadings > 0", "RDPG", "to_rdpg", lambda x, y: y.n_components <= x.n_components),
    Arrow("MREG", "IER", "to_ier", lambda *_: True, 5),
    Arrow("IER", "MREG, d = n", "to_mreg", lambda x, y: y.n_components <= x.n_vertices, 6),
    Arrow("IER", "SBM, n blocks", "to_sbm", lambda x, y: y.n_blocks == x.n_vertices, 6),
)


def _spread(P: Array) -> float:
    """Bound the distance from every constant: half the range of the pairs."""
    return float(np.ptp(P[np.triu_indices_from(P, 1)])) / 2


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
    pairs = ((s, t) for s in range(len(P)) for t in range(s))
    return min(float(np.delete(np.abs(P[s] - P[t]), [s, t]).max()) / 2 for s, t in pairs)


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
    Gap("SBM, B psd", "ER", lambda m: m.n_blocks > 1, _spread, 2),
    Gap("SBM, B indefinite", "RDPG", _no_rdpg, _negative, 3),
    Gap("RDPG", "SBM, fewer than n blocks", _all_distinct, _rows, 4),
    Gap("MREG", "RDPG", _no_rdpg, _negative, 5),
    Gap("MREG", "SBM, fewer than n blocks", _all_distinct, _rows, 5),
    Gap("IER", "MREG, d < n / 2", lambda m: m.to_mreg().n_components == m.n_vertices, _corner, 6),
)
#: Models whose graphs are drawn independently from one P: all of them MREG with one lambda.
SAME_FOR_ALL = ("ER", "SBM", "RDPG", "IER")


# ------------------------------------------------------------------------------- steps


def arrow(rng: Rng, *, which: int, draws: int) -> Any:
    """Convert random models; compare probabilities and log-likelihoods of sampled graphs."""
    one = ARROWS[which]
    probability, likelihood, kept = [], [], 0
    for _ in range(draws):
        model = DRAWS[one.source](rng)
        found = getattr(model, one.convert)()
        graphs = model.sample(GRAPHS, rng)
        probability.append(_difference(model.edge_probabilities(), found.edge_probabilities()))
        likelihood.append(_apart(model.log_likelihood(graphs), found.log_likelihood(graphs)))
        kept += one.promise(model, found)
    return {"probability": probability, "likelihood": likelihood, "kept": kept}


def gap(rng: Rng, *, which: int, draws: int) -> Any:
    """Try to convert random models that are none of the target; bound their distance from it."""
    one = GAPS[which]
    models = [DRAWS[one.source](rng) for _ in range(draws)]
    return {
        "refused": [one.refused(model) for model in models],
        "least": [one.least(model.edge_probabilities()) for model in models],
    }


def freed(rng: Rng, *, size: int, draws: int) -> Any:
    """Count the SBMs with two blocks of a size and indefinite B that are RDPGs all the same.

    With loops ignored the diagonal is free up to 1, and P is that of an RDPG if and only if it is
    psd with ones there. ``error`` is the largest of the representations by such positions.
    """
    errors = [0.0]
    labels = np.repeat([0, 1], size)
    for _ in range(draws):
        B = symmetric(rng, 2)
        while np.linalg.eigvalsh(B)[0] >= 0:
            B = symmetric(rng, 2)
        P = eg.models.StochasticBlockModel(B, labels).edge_probabilities()
        values, V = np.linalg.eigh(_unit_diagonal(P))
        if values[0] >= 0:
            free = eg.models.RandomDotProductGraph(V * np.sqrt(values))
            errors.append(_difference(P, free.edge_probabilities()))
    return {"count": len(errors) - 1, "error": max(errors)}


def identical(rng: Rng, *, source: str, draws: int) -> Any:
    """Represent independent graphs of one model by an MREG with one row of loadings per graph.

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


def family(rng: Rng, *, K: int, repetition: int) -> Any:
    """Represent graphs whose B_i all differ, with K and with K (K + 1) / 2 components.

    Residuals are relative Frobenius norms over all graphs. ``least`` is that of the best subspace
    of K dimensions over the pairs s < t: H diag(lambda_i) H^T stays within one, so no MREG with
    d = K does better, whatever its diagonal. ``last`` is the same with one dimension less than
    K (K + 1) / 2. ``fitted`` is what refined joint embeddings of the matrices reach.
    """
    full = K * (K + 1) // 2
    labels = rng.permutation(np.repeat(np.arange(K), rng.integers(4, 9, K)))
    upper = np.triu(rng.uniform(size=(2 * full, K, K)))
    B = upper + np.triu(upper, 1).transpose(0, 2, 1)
    P = B[:, labels][:, :, labels]
    model = eg.models.MultipleRandomEigenGraphs.from_block_models(labels, B)
    s, t = np.triu_indices(len(labels), 1)
    pairs = P[:, s, t]
    values = np.linalg.svd(pairs, compute_uv=False)
    size = float(np.linalg.norm(values))
    exact = model.expected_adjacency()[:, s, t]
    return {
        "dimension": int((values > 1e-10 * values[0]).sum()),
        "components": model.n_components,
        "exact": float(np.linalg.norm(exact - pairs)) / size,
        "least": float(np.linalg.norm(values[K:])) / size,
        "last": float(np.linalg.norm(values[full - 1 :])) / size,
        "fitted": {str(d): _fitted(P, d, repetition) for d in (K, full)},
        "planted": _planted(rng, K),
    }


def _fitted(P: Array, d: int, seed: int) -> float:
    # With too few components, refining may run to its bound: there is no best fit then.
    fit = embed(P, d, seed, diagonal="observed", refine=True)
    H = fit.latent_positions_
    left = P - np.einsum("sk,ik,tk->ist", H, fit.loadings_, H)
    return float(np.linalg.norm(left) / np.linalg.norm(P))


def _planted(rng: Rng, K: int) -> float:
    """Return the residual of K components for B_i with p_i within and q_i between equal blocks.

    All B_i have the same eigenvectors then, and K components are enough.
    """
    size, m = 5, K * (K + 1)
    p, q = rng.uniform(size=(2, m, 1))
    turned = np.linalg.qr(np.column_stack([np.ones(K), rng.standard_normal((K, K - 1))]))[0]
    H = np.repeat(turned, size, axis=0) / np.sqrt(size)
    Lam = size * np.hstack([p + (K - 1) * q, np.repeat(p - q, K - 1, axis=1)])
    B = q[:, :, None] + (p - q)[:, :, None] * np.eye(K)
    labels = np.repeat(np.arange(K), size)
    P = B[:, labels][:, :, labels]
    found = eg.models.MultipleRandomEigenGraphs(H, Lam).expected_adjacency()
    return float(np.linalg.norm(found - P) / np.linalg.norm(P))


def _unit_diagonal(P: Array) -> Array:
    Q = (P + P.T) / 2
    np.fill_diagonal(Q, 1.0)
    return Q


def _difference(P: Array, Q: Array) -> float:
    return float(np.abs(P - Q)[np.triu_indices_from(P, 1)].max())


def _apart(one: Array, other: Array) -> float:
    return float(np.abs(one - other).max())


# ------------------------------------------------------------------------------- the experiment


def figure1(run: Run) -> Outcome:
    """Convert random models along every arrow, and bound distances where there is none."""
    draws, families = (200, 20) if run.full else (20, 3)
    arrows = run.each(arrow, {x: {"which": i, "draws": draws} for i, x in enumerate(ARROWS)})
    gaps = run.each(gap, {x: {"which": i, "draws": draws} for i, x in enumerate(GAPS)})
    freed_by = run.each(freed, grid({"draws": draws}, size=HALVES))
    same = run.each(identical, grid({"draws": draws}, source=SAME_FOR_ALL))
    by_K = run.repeated(family, grid({}, K=BLOCKS), families)
    spread = [x for one in same.values() for x in one["spread"]]
    rows: list[Any] = []
    for (source, target, *_), one in arrows.items():
        rows.append(("one graph", source, target, draws, *_largest(one), _word(_kept(one))))
    for (source, target, *_), one in gaps.items():
        least = min((x for x in one["least"] if x > PROBABILITY), default=None)
        held = f"holds in {_set_apart(one)}"
        rows.append(("one graph", source, f"no {target}", draws, least, None, held))
    for name, one in same.items():
        rows.append(("many graphs", f"{name}, i.i.d.", "MREG, equal loadings", draws,
                     *_largest(one), _word(_holds(one))))  # fmt: skip
    beyond = f"holds in {sum(x > PROBABILITY for x in spread)}"
    rows.append(("many graphs", "MREG, loadings that differ", "no i.i.d. model", len(spread),
                 min(spread), None, beyond))  # fmt: skip
    numbers = _numbers(arrows, gaps, draws)
    drawn = [one for name, one in same.items() if name != "IER"]
    exact, last, planted = (np.concatenate([found[what] for found in by_K.values()])
                            for what in ("exact", "last", "planted"))  # fmt: skip
    numbers[7] = sum(draws for x in drawn if _holds(x)), draws * len(drawn)
    numbers[8] = sum(x > PROBABILITY for x in spread), len(spread)
    numbers[9] = (planted <= PROBABILITY).sum(), planted.size
    numbers[10] = ((last > PROBABILITY) & (exact <= PROBABILITY)).sum(), last.size
    return Outcome(
        [*_one_graph(arrows, gaps, freed_by, draws), *_many_graphs(same, by_K, spread, draws)],
        [
            Table(rows),
            Table([_family_row(K, found) for K, found in by_K.items()], part="families"),
        ],
        _picture(numbers),
        {"families": families},
    )


def _largest(one: dict[str, Any]) -> tuple[float, float]:
    return max(one["probability"]), max(one["likelihood"])


def _holds(one: dict[str, Any]) -> bool:
    probability, likelihood = _largest(one)
    return probability <= PROBABILITY and likelihood <= LIKELIHOOD


def _kept(one: dict[str, Any]) -> bool:
    """Tell whether an arrow holds in all draws, with what the paper promises of its end."""
    return _holds(one) and one["kept"] == len(one["probability"])


def _word(holds: bool) -> str:
    return "holds" if holds else "fails"


def _set_apart(one: dict[str, Any]) -> int:
    """Count the draws that are refused and shown to be apart from all of the target."""
    return sum(
        refused and x > PROBABILITY for refused, x in zip(one["refused"], one["least"], strict=True)
    )


def _numbers(
    arrows: dict[Arrow, Any], gaps: dict[Gap, Any], draws: int
) -> dict[int, tuple[int, int]]:
    """Return for each number in the first panel how many of how many draws lie in its region."""
    held = dict.fromkeys(range(1, 7), draws)
    for one, found in arrows.items():
        if one.region and not _kept(found):
            held[one.region] = 0
    for one, found in gaps.items():
        held[one.region] = min(held[one.region], _set_apart(found))
    return {region: (count, draws) for region, count in held.items()}


def _family_row(K: int, found: dict[str, Any]) -> tuple[Any, ...]:
    full = K * (K + 1) // 2
    return (
        K, full, ", ".join(map(str, np.unique(found["dimension"]))), found["exact"].max(),
        found["least"].mean(), found["fitted"][str(K)].mean(), found["fitted"][str(full)].max(),
        found["last"].mean(), found["planted"].max(),
    )  # fmt: skip


def _one_graph(
    arrows: dict[Arrow, Any], gaps: dict[Gap, Any], freed_by: dict[int, Any], draws: int
) -> list[Finding]:
    worst, likelihood = np.max([_largest(one) for one in arrows.values()], axis=0)
    indefinite = [one for gap, one in gaps.items() if gap.target == "RDPG"]
    others = [_set_apart(one) for gap, one in gaps.items() if gap.target != "RDPG"]
    refused = sum(sum(one["refused"]) for one in indefinite)
    apart = sum(_set_apart(one) for one in indefinite)
    return [
        judged(
            "figure1.conversions",
            f"{len(ARROWS)} conversions, {draws} random models each: probabilities within "
            f"{worst:.0e}, log-likelihoods of sampled graphs within {likelihood:.0e}",
            all(_kept(one) for one in arrows.values()),
        ),
        judged(
            "figure1.strict",
            f"the conversion to RDPG is refused in {refused} of {2 * draws} indefinite models; in "
            f"{apart} no RDPG comes near, whatever its diagonal (the rest: next row); the other "
            f"strict inclusions hold in {sum(others)} of {len(others) * draws}",
            min(others) == draws and apart > 0,
        ),
        new(
            "figure1.caption",
            "SBMs of two blocks, B indefinite, are nevertheless RDPGs in "
            + ", ".join(f"{one['count']}" for one in freed_by.values())
            + f" of {draws} draws with n = "
            + ", ".join(str(2 * size) for size in HALVES)
            + f" (probabilities within {max(one['error'] for one in freed_by.values()):.0e})",
        ),
    ]


def _many_graphs(
    same: dict[str, Any], by_K: dict[int, Any], spread: list[float], draws: int
) -> list[Finding]:
    needs = {K: np.unique(found["dimension"]).tolist() for K, found in by_K.items()}
    exact, planted = (max(found[what].max() for found in by_K.values())
                      for what in ("exact", "planted"))  # fmt: skip
    corrected = all(needs[K] == [K * (K + 1) // 2] for K in BLOCKS) and exact < PROBABILITY
    return [
        judged(
            "figure1.equal",
            f"log-likelihoods within {max(_largest(one)[1] for one in same.values()):.0e} in "
            f"{len(same) * draws} samples; graphs with other loadings have probabilities at least "
            f"{min(spread):.2g} from any common P",
            all(_holds(one) for one in same.values()) and min(spread) > PROBABILITY,
        ),
        judged(
            "figure1.family",
            "dimensions needed for K = "
            + ", ".join(map(str, BLOCKS))
            + ": "
            + ", ".join("/".join(map(str, needs[K])) for K in BLOCKS)
            + f" (then exact, residual {exact:.0e}); with d = K at least "
            + ", ".join(f"{by_K[K]['least'].min():.1%}" for K in BLOCKS)
            + " of the norm is left",
            not corrected,
            "the B_i of K blocks span K (K + 1) / 2 dimensions and H diag(lambda) H^T only d. "
            "One term for each block and one for each pair of blocks do it; K are enough if the "
            "B_i share eigenvectors, as p_i within and q_i between equal blocks do "
            f"(residual {planted:.0e})",
        ),
    ]


# ------------------------------------------------------------------------------- the picture


def _picture(numbers: dict[int, tuple[int, int]]) -> Any:
    """Draw both panels; below, how many of how many random models lie where their point is."""
    figure, axes = drawing.figure(7.4, 4.7, 2, 2, height_ratios=[3.1, 1.0])
    for column, panel in enumerate(CATALOG["figure1"]["panels"]):
        _regions(axes[0, column], panel["regions"], panel["title"])
        legend = axes[1, column]
        legend.set(xlim=(0, 10), ylim=(6.0, -0.2))
        legend.axis("off")
        for row, (number, place, words) in enumerate(panel["points"]):
            held, of = numbers[number]
            # A dark disc if any model was found there, else an empty one.
            fill, text = ("#222222", "white") if held else ("white", "#222222")
            axes[0, column].plot(*place, "o", markersize=11, markeredgecolor="#222222",
                                 markerfacecolor=fill)  # fmt: skip
            axes[0, column].text(*place, str(number), ha="center", va="center_baseline",
                                 fontsize=7, color=text)  # fmt: skip
            legend.text(0.35, row + 0.4, str(number), ha="right", va="center", fontsize=7.5,
                        weight="bold")  # fmt: skip
            legend.text(0.55, row + 0.4, words, va="center", fontsize=7.2)
            legend.text(10.0, row + 0.4, f"{held} of {of}", ha="right", va="center", fontsize=7.2)
    return figure


def _regions(axes: Any, boxes: list[Any], title: str) -> None:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import FancyBboxPatch

    for x, y, width, height, color, label, place, line in boxes:
        r = min(0.45, width / 5, height / 5)
        axes.add_patch(FancyBboxPatch(
            (x + r, y + r), width - 2 * r, height - 2 * r, boxstyle=f"round,pad={r}",
            facecolor=to_rgba(color, 0.09), edgecolor=color, linewidth=1.2, linestyle=line,
        ))  # fmt: skip
        axes.text(*place, label, color=color, va="center", fontsize=8)
    axes.set(xlim=(-0.1, 10.1), ylim=(-0.1, 6.7))
    axes.axis("off")
    axes.set_title(title)
