"""The rules for the number of components: elbow, pairs, and two on halves of the graphs.

*Elbow*: the objective on all graphs flattens out. *Pairs*: hidden pairs of vertices are predicted
best. *Loadings*: components that were found on some graphs explain something of these even where
there is nothing to find. To other graphs, a component of noise is a direction like any other with
the same entries up to signs: flipping the signs of vertices at random gives as many such directions
as needed, and with them the size of the noise, whatever its variance from pair to pair. *Halves*:
both halves are fitted, and their components compared.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from eigengraphs.alignment.component_pairs import match_components
from eigengraphs.dimension.dimension_choice import Evidence
from eigengraphs.fitting.plan import Treatment
from eigengraphs.operators.protocol import Operator
from eigengraphs.solvers.rules import component_gram
from eigengraphs.solvers.solution import Array
from eigengraphs.stack import GraphStack
from eigengraphs.system.parallel import one_blas_thread

if TYPE_CHECKING:
    from eigengraphs.dimension.choose_components import Job

_SPLITS = 15  # at most; with 3, real graphs gave 4 or 9 components depending on the seed
_FEW = 3  # splits that tell whether more components must be looked at
_CLEAR = 2 / 3  # of the splits that should support a decision
_NOISE_VALUES = 400  # of loadings of noise that a variance is estimated from
_FEWEST_FLIPS, _MOST_FLIPS = 4, 64
_COLUMNS = 48  # that the graphs are multiplied with at a time
_DEPENDENT = 1e-9  # of its own squared norm that a component adds to the span of those before it
_THE_SAME = 0.5  # cosine; below, components may be alike beyond chance, but are not the same
_TILTS = np.geomspace(1e-1, 1e3, 200)


def by_splits(job: Job, wanted: list[str]) -> dict[str, Evidence]:
    """Find components on halves of the graphs: test loadings, compare components.

    Looks at a few components first, and at more as long as the last of them still counts.
    """
    for d in job.looks(job.max_components):
        found = _splits(job, d, wanted)
        if _ended(found, d):
            break
    return found


def _ended(found: dict[str, Evidence], d: int) -> bool:
    # One component beyond the last that is found again may be a matter of their order.
    return all(one.choice < d - (rule == "halves") for rule, one in found.items())


def _splits(job: Job, d: int, wanted: list[str]) -> dict[str, Evidence]:
    m = job.stack.n_graphs
    seeds = job.seeds(0, min(_SPLITS, comb(m, m // 2) // (1 if m % 2 else 2)))
    p_values: dict[str, list[Array]] = {rule: [] for rule in wanted}
    compared: list[Replication] = []
    found: dict[str, Evidence] = {}
    for b, seed in enumerate(seeds, start=1):
        job.tell(f"halves of the graphs: split {b} of at most {len(seeds)}, {d} components")
        rng = np.random.default_rng(seed)
        order = rng.permutation(m)
        halves = np.sort(order[: m // 2]), np.sort(order[m // 2 :])
        stacks = [job.stack[half] for half in halves]
        H = [job.positions(stacks[a], d, job.weights[halves[a]], seed) for a in (0, 1)]
        if "halves" in wanted:
            compared.append(replication(H[0], H[1], job.alpha / 2))  # twice the median is taken
            p_values["halves"].append(compared[-1].p_values)
        for own, other in ((0, 1), (1, 0)) if "loadings" in wanted else ():
            # A mean of their own: relative to the training graphs' mean, all would share its noise.
            held_out, n_training = stacks[other], len(halves[own])
            treatment = job.treat(held_out, job.treatment.diagonal, np.ones(len(halves[other])))
            p_values["loadings"].append(
                noise_p_values(treatment, held_out, H[own], n_training, rng)
            )
        found = {rule: _judged(job, rule, np.array(p), compared) for rule, p in p_values.items()}
        if b == _FEW and d < job.max_components and not _ended(found, d):
            break  # more components are looked at, with all splits
        if all(_settled(job, rule, np.array(p), b, len(seeds)) for rule, p in p_values.items()):
            break
    return found


def _judged(job: Job, rule: str, p_values: Array, compared: list[Replication]) -> Evidence:
    p = combined(p_values)
    choice = _number(rule, p, job.alpha)
    if rule == "loadings":
        return Evidence(choice, p, np.full(len(p), job.alpha))
    similarities, _, levels = np.median(compared, axis=0)
    return Evidence(choice, similarities, levels, _doubt(p_values <= job.alpha / 2, choice))


def _settled(job: Job, rule: str, p_values: Array, done: int, total: int) -> bool:
    """Return whether the remaining splits cannot change what a rule says."""
    rest = (len(p_values) // done * (total - done), p_values.shape[1])
    extremes = (combined(np.vstack([p_values, np.full(rest, value)])) for value in (0.0, 1.0))
    return len({_number(rule, p, job.alpha) for p in extremes}) == 1


def _number(rule: str, p_values: Array, alpha: float) -> int:
    """Return the number of components that p-values (d,) support.

    For loadings, those before the first that looks like noise. For halves the largest number of
    which all are found again, and not the first before a failure: halves may find equally strong
    components in different orders, and then agree on three but not on the first.
    """
    if rule == "loadings":
        above = np.flatnonzero(p_values > alpha)
        return int(above[0]) if above.size else len(p_values)
    found = np.flatnonzero(p_values <= alpha)
    return int(found[-1]) + 1 if found.size else 0


def _doubt(found_again: NDArray[np.bool_], choice: int) -> str:
    """Say in words that splits (b, d) do not clearly support a choice; empty if they do."""
    share = np.concatenate([[1.0], found_again.mean(axis=0)])  # of 0, 1, ... components
    rival = choice + 1 + int(np.argmax(share[choice + 1 :])) if choice + 1 < len(share) else choice
    if share[choice] >= _CLEAR and (rival == choice or share[rival] <= 1 - _CLEAR):
        return ""
    splits = f"{share[choice]:.0%} of {len(found_again)} splits"
    also = "" if rival == choice else f", and {rival} in {share[rival]:.0%}"
    return f"{choice} components are found again in {splits}{also}"


def combined(p_values: Array) -> Array:
    """Return one p-value for several, (b, d) to (d,), that may depend on each other in any way.

    Twice the median: if half of them are below t, their share below t is 1/2 where t is expected.
    """
    return np.minimum(1.0, 2 * np.median(p_values, axis=0))


# ------------------------------------------------------------------ loadings of held-out graphs


@one_blas_thread()
def noise_p_values(
    treatment: Treatment, graphs: GraphStack, H: Array, n_training: int, rng: np.random.Generator
) -> Array:
    """Return p-values of "component k adds nothing to those before it", (d,).

    The loading of a graph on what component k adds, z_i = <A_i, Q_k>, has mean zero then, and the
    variance v of a random direction. Two alternatives are tested, and twice the smaller p-value
    is returned: a mean other than zero, and squares that are larger than v, as of loadings that
    are different from graph to graph around zero. Of centered graphs only the second.

    Parameters
    ----------
    treatment
        Learned on these very graphs.
    graphs
        Graphs that took no part in finding ``H``.
    H : (n, d)
        Components found on other graphs.
    n_training
        Number of graphs that ``H`` was found on.
    rng
        Source of the signs.
    """
    view, hollow = treatment.operator(graphs, loss=True), treatment.hollow
    m, centered = graphs.n_graphs, treatment.mean is not None
    W = staged_basis(component_gram(H, hollow=hollow))
    Z = view.forms(H) @ W
    flips = int(np.clip(-(-_NOISE_VALUES // m), _FEWEST_FLIPS, _MOST_FLIPS))
    noise = _noise_squares(view, H, W, Z, flips, rng, hollow=hollow)  # (m, d)

    # Degrees of freedom as if all graphs had noise of one size (Satterthwaite); the squares of
    # means over few flips are too large by 2 / flips, as of normal values.
    squares = (noise**2).sum(axis=0) / (1 + 2 / flips)
    alike = noise.sum(axis=0) ** 2 / np.maximum(squares, 1e-300)
    df = np.clip(alike - (1 if centered else 0), 1.0, m)
    v = np.maximum(noise.mean(axis=0), max(10 * view.rounding().mean(), 1e-300))
    c = _error_of_earlier(H, W)
    p = stats.f.sf((Z**2).mean(axis=0) / (v * (1 + c / n_training)), df, flips * df)
    if not centered:
        z = Z.sum(axis=0) / np.sqrt(m * v * (1 + c * m / n_training))
        p = np.minimum(1.0, 2 * np.minimum(p, 2 * stats.t.sf(np.abs(z), flips * df)))
    return np.where(W.any(axis=0), p, 1.0)


def _noise_squares(
    view: Operator, H: Array, W: Array, Z: Array, flips: int, rng: np.random.Generator, *,
    hollow: bool,
) -> Array:  # fmt: skip
    """Return the mean square of <R_i, Q_k with signs of vertices flipped>, (m, d).

    R_i is what the components before k leave of A_i. (Component k itself, and all after it, are
    noise if k is; subtracting them as well would remove most of the noise where they sit on few
    vertices.) The expectation is the variance of <E_i, Q_k> for noise E_i that is independent
    from pair to pair, with squares of residuals in place of variances.
    """
    n, d = H.shape
    at_once = max(1, _COLUMNS // d)
    squares = np.zeros(Z.shape)
    for first in range(0, flips, at_once):
        many = min(at_once, flips - first)
        flipped = [rng.choice([-1.0, 1.0], size=(n, 1)) * H for _ in range(many)]
        Psi = view.forms(np.hstack(flipped))
        for b, directions in enumerate(flipped):
            G = (H.T @ directions) ** 2  # <h_j h_j^T, h_k h_k^T with signs flipped>
            if hollow:
                G -= (H**2).T @ H**2
            of_earlier = Z @ np.triu(W.T @ G @ W, 1)
            squares += (Psi[:, b * d : (b + 1) * d] @ W - of_earlier) ** 2
    return squares / flips


def _error_of_earlier(H: Array, W: Array) -> Array:
    """Return how much the errors of earlier components add to the noise of later ones, (d,).

    h_l is known up to an error of variance sigma^2 / (sum of lam_il^2) per entry. What
    lam_il h_l h_l^T leaves behind is 2 lam_il h_l^T Q_k (error) in all graphs alike, so that its
    variance relative to that of the noise, 2 sigma^2, is c / (number of training graphs) with
    c = 2 sum_l |Q_k h_l|^2, less the part along h_l, which has no error.
    """
    C = H.T @ H
    Y = W.T[:, None] * C  # (k, l, :): Q_k h_l = sum_j Y_klj h_j
    squares = np.einsum("kli,ij,klj->kl", Y, C, Y) - (Y * C).sum(axis=2) ** 2
    return np.asarray(np.clip(2 * np.tril(squares, -1).sum(axis=1), 0.0, 2.0))


def staged_basis(Gamma: Array) -> Array:
    """Return W (d, d), upper triangular, with which Q_k = sum_l W_lk h_l h_l^T are orthonormal.

    Gram and Schmidt's: Q_k is what h_k h_k^T adds to h_1 h_1^T, ..., h_{k-1} h_{k-1}^T. With
    Psi_ik = <A_i, h_k h_k^T>, the coordinates <A_i, Q_k> are Psi W, and the least-squares
    loadings for the first k components are (Psi W)[:, :k] W[:k, :k]^T. A component that adds
    nothing has a zero column.

    Parameters
    ----------
    Gamma : (d, d)
        Inner products <h_j h_j^T, h_k h_k^T> over the entries that count.
    """
    W = np.zeros_like(Gamma)
    for k, w in enumerate(np.eye(len(Gamma))):
        for _ in range(2):  # twice: once loses digits where components are nearly dependent
            w -= W @ (W.T @ (Gamma @ w))
        left = float(w @ Gamma @ w)
        if left > _DEPENDENT * max(Gamma[k, k], 1e-300) and Gamma[k, k] > 1e-8:
            W[:, k] = w / np.sqrt(left)
    return W


# ------------------------------------------------------------------ components found again


class Replication(NamedTuple):
    """How the first 1, 2, ..., K components of two fits compare."""

    similarities: Array  # (K,) |cosine| of the pair that is least alike
    p_values: Array  # (K,) of "not all are found again"
    levels: Array  # (K,) similarity that the pair with the largest p-value needs


def replication(H_a: Array, H_b: Array, alpha: float) -> Replication:
    """Compare the first d components of two fits, for d = 1, 2, ..., K.

    Components are paired. All d should be found again, so the largest p-value of a pair tests
    whether they are. A pair with a cosine below 1/2 is not the same component, whatever the test.

    Parameters
    ----------
    H_a, H_b : (n, K)
        Components of the two fits; zero columns are never found again.
    alpha : float
        Level for a single p-value.
    """
    found = []
    for d in range(1, H_a.shape[1] + 1):
        match = match_components(H_a[:, :d], H_b[:, :d])
        products = H_a[:, match.components] * H_b[:, match.order]
        p, least = [chance(x) for x in products.T], match.similarities.min()
        level = max(needed(products[:, int(np.argmax(p))], alpha), _THE_SAME)
        found.append((least, max(p) if least >= _THE_SAME else 1.0, level))
    return Replication(*np.array(found).T)


def chance(products: Array) -> float:
    """Bound the probability that components with nothing in common are as much alike.

    Then signs are independent from vertex to vertex. Given the sizes of the entries, the cosine
    is |sum_s e_s x_s| with random signs e_s and x_s = a_s b_s, and Chernoff's bound for it is
    2 min_t exp(sum_s log cosh(t x_s) - t |cosine|). Components of noise that sit on the same few
    noisy vertices in both halves do not pass for the same.

    Parameters
    ----------
    products : (n,)
        a_s b_s of two unit vectors.
    """
    tilts, cumulants = _tilted(products)
    exponent = float((cumulants - tilts * abs(products.sum())).min())
    return min(1.0, 2 * float(np.exp(exponent)))


def needed(products: Array, alpha: float) -> float:
    """Return the |cosine| for which `chance` is alpha with entries of these sizes, 1 if none is."""
    tilts, cumulants = _tilted(products)
    level = float(((cumulants - np.log(alpha / 2)) / tilts).min())
    return min(level, 1.0) if products.any() else 1.0


def _tilted(products: Array) -> tuple[Array, Array]:
    """Return tilts t in the scale of the products, and sum_s log cosh(t x_s) for each."""
    tilts = _TILTS / max(float(np.sqrt((products**2).sum())), 1e-300)
    tx = np.abs(tilts[:, None] * products)
    return tilts, np.asarray((tx + np.log1p(np.exp(-2 * tx)) - np.log(2)).sum(axis=1))


# ------------------------------------------------- the elbow rule


_LOOKS_AT = 8  # components at least: it takes gains of noise to see where they begin

# All of logarithms of gains.
_ALIKE = 0.03  # least standard deviation: differences of three percent do not count
_APART = 0.2  # least distance of two groups
_FALL = 0.2  # largest decrease of noise from one component to the next
_FEWEST = 4  # gains that can be two groups on a slope, with one left to estimate the spread
_NOTHING = 1e-12  # of the squared norm: a smaller gain is rounding


def by_elbow(job: Job) -> Evidence:
    """Find where the objective of one fit flattens out."""
    d = min(job.possible, max(job.max_components, _LOOKS_AT))
    job.tell(f"elbow: {d} components on all graphs")
    fit = job.fit(job.stack, d, job.weights, job.seed)
    choice = min(elbow(fit.objective_path_), job.max_components)
    return Evidence(choice, np.asarray(fit.explained_ratio_))


def elbow(path: Array) -> int:
    """Return the number of components after which the objective flattens out, 0 to K.

    Zhu and Ghodsi's split, on the logarithms of the gains, with two changes. Both groups decrease
    by a common gentle slope, as gains of noise do. And the split is made again on the
    gains after it as long as there is one: otherwise a first component ten times as strong as the
    second would hide it. There is a split where two groups beat one by BIC as for change points
    (Zhang and Siegmund, 2007).

    Two groups are never none or all. Without any split the answer is 0, or all if what
    they leave is less than what the last of them gained.

    Parameters
    ----------
    path : (K + 1,)
        Objective with 0, 1, ..., K components.
    """
    if path[0] <= 0:
        return 0
    gains = np.maximum(-np.diff(path), _NOTHING * path[0])
    values = np.log(gains)
    first = 0
    while len(values) - first >= _FEWEST:
        q = _split(values[first:])
        if q == 0:
            break
        first += q
    return len(gains) if first == 0 and path[-1] < gains[-1] else first


def profile_likelihood(values: Array, fall: float = 0.0) -> Array:
    """Return the log likelihood of groups after the first 0, 1, ..., K - 1 values, (K,).

    Both groups are normal with means of their own and one variance (Zhu and Ghodsi, 2006), and
    decrease by a common slope between 0 and ``fall`` per value. The first entry is that of one
    group.
    """
    return np.array([_two_groups(values, q, fall)[0] for q in range(len(values))])


def _split(values: Array) -> int:
    """Return how many values the first group has, or 0 if there are no two groups."""
    profile = profile_likelihood(values, _FALL)
    q = int(profile.argmax())
    if profile[q] - max(profile[0], _straight(values)) <= 1.5 * np.log(len(values)):
        return 0
    return q if _two_groups(values, q, _FALL)[1] > _APART else 0


def _straight(values: Array) -> float:
    """Return the log likelihood of gains on a straight line, as they are at their end."""
    gains, t = np.exp(values - values.max()), np.arange(len(values))
    line = np.polyval(np.polyfit(t, gains, 1), t)
    residuals = values - values.max() - np.log(np.maximum(line, gains.min() / 2))
    return _log_likelihood(float((residuals**2).sum()), len(values))


def _two_groups(values: Array, q: int, fall: float) -> tuple[float, float]:
    """Return the log likelihood of two groups and their distance, at the best slope."""
    t = np.arange(len(values), dtype=np.float64)
    groups = [slice(q), slice(q, None)] if q else [slice(None)]
    t_within, v_within = (np.concatenate([x[g] - x[g].mean() for g in groups]) for x in (t, values))
    slope = float(t_within @ v_within) / max(float(t_within @ t_within), 1e-300)
    slope = min(max(slope, -fall), 0.0)
    means = [(values - slope * t)[group].mean() for group in groups]
    squares = float(((v_within - slope * t_within) ** 2).sum())
    return _log_likelihood(squares, len(values)), float(means[0] - means[-1])


def _log_likelihood(sum_of_squares: float, K: int) -> float:
    variance = max(sum_of_squares / K, _ALIKE**2)
    return -K / 2 * (float(np.log(2 * np.pi * variance)) + 1)


# ----------------------------- the pairs rule


_SETS = 5  # of vertices, whose pairs are hidden in turn
_ROUNDS = 2  # of sets; after one, the number depends on the seed where gains are small


def by_hidden_pairs(job: Job) -> Evidence | str:
    """Hide the pairs within sets of vertices in turn, and predict them; or say why not."""
    n = job.stack.n_vertices
    n_sets = min(_SETS, n // 2)
    sets = []
    for seed in job.seeds(1, _ROUNDS):
        member = np.random.default_rng(seed).permutation(n) % n_sets
        sets += [member == j for j in range(n_sets)]
    left = n - max(int(hidden.sum()) for hidden in sets)
    most = min(job.max_components, left * (left - 1) // 2)
    rounding = 1e-5 if job.stack.dtype == np.float32 else 1e-9
    for d in job.looks(most):
        errors = []
        for j, hidden in enumerate(sets, start=1):
            job.tell(f"hidden pairs: set {j} of {len(sets)}, {d} components")
            others = job.stack.select_vertices(~hidden)
            H = job.positions(others, d, job.weights, job.seed)
            errors.append(prediction_errors(job.stack, job.treatment, hidden, H, job.weights))
        kept = np.array([error for error in errors if error[0] > 0])
        if len(kept) < 3:
            return "there are hardly any edges among the hidden pairs, so none can be predicted"
        found = Evidence(*smallest_good(kept, job.alpha, rounding))
        if found.choice < d - 1:
            break
    return found


@one_blas_thread()
def prediction_errors(
    stack: GraphStack, treatment: Treatment, hidden: NDArray[np.bool_], H: Array, weights: Array
) -> Array:
    """Return the squared error over the hidden pairs with 0, 1, ..., d components, (d + 1,).

    Parameters
    ----------
    stack
        Graphs.
    treatment
        Learned on all of them.
    hidden : (n,) of bool
        The vertices in S.
    H : (n - |S|, d)
        Components of the graphs on the other vertices.
    weights : (m,)
        Of the graphs.
    """
    d, hollow = H.shape[1], treatment.hollow
    complete = treatment.operator(stack, loss=True)
    others, within = (_part(stack, treatment, part) for part in (~hidden, hidden))
    n_entries = [v * (v - hollow) for v in (len(hidden), len(H), len(hidden) - len(H))]
    whole = np.zeros((len(hidden), d))
    whole[~hidden] = H

    # Components are extended to the hidden vertices, one after the other.
    W = staged_basis(component_gram(H, hollow=hollow))
    Z = others.forms(H) @ W
    left = others.squared_norms() - (Z**2).sum(axis=1)
    Z = _shrunken(Z, 2 * left.mean() / n_entries[1])
    own = Z * np.diag(W)  # loading of each component when it is the last
    sums = complete.combine(own * weights[:, None], whole)[0][hidden]
    cosines = H.T @ H
    H_S = np.zeros((len(hidden) - len(H), d))
    for k in range(d):
        squares = float(weights @ own[:, k] ** 2)
        if squares > 0:
            earlier = Z[:, : k + 1] @ W[:k, : k + 1].T
            known = H_S[:, :k] @ ((weights * own[:, k]) @ earlier * cosines[:k, k])
            H_S[:, k] = (sums[:, k] - known) / squares

    # Loadings from all pairs but the hidden ones.
    whole[hidden] = H_S
    Gamma_S, Psi_S = component_gram(H_S, hollow=hollow), within.forms(H_S)
    W = staged_basis(component_gram(whole, hollow=hollow) - Gamma_S)
    Z = (complete.forms(whole) - Psi_S) @ W
    squares_S = within.squared_norms()
    left = complete.squared_norms() - squares_S - (Z**2).sum(axis=1)
    Z = _shrunken(Z, 2 * left.mean() / (n_entries[0] - n_entries[2]))

    errors = [squares_S]
    for k in range(1, d + 1):
        Lam = Z[:, :k] @ W[:k, :k].T
        cross = np.einsum("ik,ik->i", Lam, 2 * Psi_S[:, :k] - Lam @ Gamma_S[:k, :k])
        errors.append(squares_S - cross)
    return np.asarray(errors) @ weights


def _part(stack: GraphStack, treatment: Treatment, part: NDArray[np.bool_]) -> Operator:
    """Return the graphs on some of the vertices, as the loss sees them."""
    mean = None if treatment.mean is None else treatment.mean[part][:, part]
    seen: Operator = replace(treatment, mean=mean).operator(stack.select_vertices(part), loss=True)
    return seen


def _shrunken(Z: Array, noise: float) -> Array:
    """Shrink coordinates (m, d) with noise of this variance to their means, and these to zero.

    Each is the posterior mean of the coordinate, if all come from one normal distribution. Least
    squares would predict with all of the noise, and lose more by it than a weak component gains.
    """
    noise = max(noise, 0.0)
    mean, variance = Z.mean(axis=0), Z.var(axis=0)
    keep = np.clip(1 - noise / np.maximum(variance, 1e-300), 0.0, 1.0)
    trust = np.clip(1 - noise / len(Z) / np.maximum(mean**2, 1e-300), 0.0, 1.0)
    return np.asarray(trust * mean + keep * (Z - mean))


def smallest_good(errors: Array, alpha: float, rounding: float = 1e-9) -> tuple[int, Array, Array]:
    """Return the least number of components that predicts as well as the best, from 0.

    As well: not worse beyond what the sets of hidden pairs differ in, by a t-test of level alpha.

    Parameters
    ----------
    errors : (n_sets, d + 1)
        Squared errors for each set of hidden pairs, at least two; none without an edge.
    alpha : float
        Level of the tests.
    rounding : float
        Differences up to this share of the error without components do not count.

    Returns
    -------
    choice : int
    curve : (d + 1,)
        Mean over the sets of the error, relative to that without any component.
    margins : (d + 1,)
        How much worse than the best is as good.
    """
    # Each set relative to its own error: one with the hubs would outweigh all others.
    share = errors / errors[:, :1]
    curve = share.mean(axis=0)
    apart = share - share[:, [int(curve.argmin())]]
    spread = apart.std(axis=0, ddof=1) / np.sqrt(len(share))
    margins = stats.t.isf(alpha / 2, len(share) - 1) * spread + rounding
    return int(np.flatnonzero(apart.mean(axis=0) <= margins)[0]), curve, margins
