"""Match one graph to a reference: several starts, FAQ from each, swaps, the best one kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, quadratic_assignment

Start: TypeAlias = Literal["auto", "order", "spectral"]
Array: TypeAlias = NDArray[np.float64]
Order: TypeAlias = NDArray[np.intp]

_SHUFFLED = 0.5  # share of the vertices whose given order a restart ignores
_NEAR = 0.05  # restarts count when their score is within this share of the best
_ROUNDING = 1e-12  # of scores, which are at most 1


def standardize(graph: Any) -> Array:
    """Return one graph (n, n) as an array, centered and of Frobenius norm 1.

    Weights off the diagonal and loops are centered apart. Then <R, B> of two graphs is the
    correlation of their weights and lies in [-1, 1]. For permutations the mean does not matter;
    between them, where the search goes, the absent diagonal of graphs without loops would count
    for as many absent edges. A graph whose weights are all the same has nothing to match by and
    becomes zero.
    """
    A: NDArray[Any] = graph if isinstance(graph, np.ndarray) else graph.toarray()
    largest = float(np.abs(A).max(initial=0.0))
    if largest == 0:
        return np.zeros(A.shape)
    A = A / np.float64(largest)  # squares of 1e300 would leave the range
    n = len(A)
    diagonal = np.diag(A).copy()
    if n > 1:
        A -= (A.sum() - diagonal.sum()) / (n * (n - 1))
    np.fill_diagonal(A, diagonal - diagonal.mean())
    norm = float(np.linalg.norm(A))
    return A / norm if norm > 1e-12 * n else np.zeros(A.shape)


@dataclass(frozen=True)
class Match:
    """One graph matched: its vertex ``order[s]`` corresponds to vertex s of the reference."""

    order: Order  # (n,)
    score: float
    score_before: float
    confidence: Array  # (n,)


def match(
    R: Array, B: Array, seeds: Order, *, start: Start, n_init: int, max_iter: int,
    rng: np.random.Generator,
) -> Match:  # fmt: skip
    """Find the order of B's vertices with the largest <R, B[order][:, order]>.

    Parameters
    ----------
    R, B : (n, n)
        Reference and graph, centered and of norm 1 (or zero).
    seeds : (k, 2)
        Pairs (vertex of R, vertex of B) that are known.
    start, n_init, max_iter, rng
        See :func:`~eigengraphs.align`.
    """
    n = len(R)
    free_r = np.setdiff1d(np.arange(n), seeds[:, 0])
    free_b = np.setdiff1d(np.arange(n), seeds[:, 1])
    fixed = np.empty(n, dtype=np.intp)
    fixed[seeds[:, 0]] = seeds[:, 1]
    before = _score(R, B, np.arange(n))
    if len(free_r) == 0 or not (R.any() and B.any()):
        fixed[free_r] = free_b[_keep_order(free_r, free_b)]
        confidence = np.zeros(n)
        confidence[seeds[:, 0]] = 1.0
        return Match(fixed, _score(R, B, fixed), before, confidence)

    # The best of n! matchings of unrelated graphs scores about so much, were they independent;
    # half as much again is not chance.
    n_pairs = n * (n - 1) / (2 if np.array_equal(R, R.T) and np.array_equal(B, B.T) else 1)
    clear = 1.5 * np.sqrt(2 * n * max(np.log(n) - 1, 0.0) / n_pairs)
    orders: list[Order] = []
    scores: list[float] = []
    k = len(free_r)
    for columns in _starts(R, B, seeds, free_r, free_b, start, n_init, rng):
        P0 = np.full((k, k), 0.5 / k)
        P0[np.arange(k), columns] += 0.5
        options: Any = {
            "maximize": True, "P0": P0, "partial_match": seeds, "maxiter": max_iter, "tol": 1e-2,
            "rng": rng,  # not used; without it, scipy warns of seeds that others set
        }  # fmt: skip
        found = quadratic_assignment(R, B, method="faq", options=options).col_ind
        order = improve_by_swaps(R, B, np.asarray(found, dtype=np.intp), free_r)
        score = _score(R, B, order)
        again = any(np.array_equal(order, other) for other in orders) and score >= max(scores)
        orders.append(order)
        scores.append(score)
        if again and score > clear:  # more starts would find it again
            break
    score = max(scores)
    best = orders[scores.index(score)]
    least = (1 - _NEAR) * score if score > clear else -np.inf
    near = [o for o, other in zip(orders, scores, strict=True) if other >= least]
    agreement = np.mean([order == best for order in near], axis=0)
    confidence = agreement * _certainty(R, B[np.ix_(best, best)], score, free_r, n_pairs)
    confidence[seeds[:, 0]] = 1.0
    return Match(best, score, before, confidence)


def _starts(
    R: Array, B: Array, seeds: Order, free_r: Order, free_b: Order, start: Start, n_init: int,
    rng: np.random.Generator,
) -> Iterator[Order]:  # fmt: skip
    """Yield matchings of the free vertices to start from, (k,) places among ``free_b``.

    The first of each kind is the plain one, the others are variants: the order with half of it
    shuffled, similarities with other constants. (Similarities with noise were right less often.)
    "auto" looks at the order twice, which is cheap where it is mostly right, and then no more.
    """
    given = _keep_order(free_r, free_b)
    for trial in range(n_init):
        by_order = start == "order" or (start == "auto" and trial < 2)
        plain = trial == 0 or (start == "auto" and trial == 2)
        if by_order:
            columns = given.copy()
            if not plain:
                some = rng.permutation(len(given))[: round(_SHUFFLED * len(given))]
                columns[some] = columns[rng.permutation(some)]
            yield columns
        else:
            other = {} if plain else {"width": 0.07 * 7 ** rng.random(), "level": rng.random()}
            alike = similarity(R, B, seeds, **other)[np.ix_(free_r, free_b)]
            yield np.asarray(linear_sum_assignment(alike, maximize=True)[1], dtype=np.intp)


def _keep_order(free_r: Order, free_b: Order) -> Order:
    """Match vertices of the same number where both are free, and the rest in turn."""
    columns = np.full(len(free_r), -1, dtype=np.intp)
    _, r, b = np.intersect1d(free_r, free_b, return_indices=True)
    columns[r] = b
    columns[columns < 0] = np.setdiff1d(np.arange(len(free_b)), b)
    return columns


def _score(R: Array, B: Array, order: Order) -> float:
    return float((R * B[np.ix_(order, order)]).sum())


def _certainty(R: Array, B: Array, score: float, free: Order, n_pairs: float) -> Array:
    """Return 1 / (1 + sum_t exp(-l_st)) for each s, where l_st is the evidence against swapping.

    Were weights normal, with the correlation that was found, l_st would be the logarithm of the
    likelihood ratio of this matching and that with s and t swapped.
    """
    n = len(R)
    rho = np.clip(score, 0.0, 1 - 1e-9)
    losses = swap_losses(R, B)[np.ix_(free, free)]
    evidence = rho / (1 - rho**2) * n_pairs * np.maximum(losses, 0.0)
    np.fill_diagonal(evidence, np.inf)
    certainty = np.ones(n)
    certainty[free] = 1.0 / (1.0 + np.exp(-evidence).sum(axis=1))
    return certainty


# ------------------------------------------------------------------ similarity of vertices


def similarity(
    R: Array, B: Array, seeds: Order, *, width: float = 0.2, level: float = 0.65
) -> Array:
    """Return a similarity of vertex s of R and vertex t of B that knows no order, (n, n).

    Vertices are alike when they stand alike in eigenvectors of near eigenvalues, over all pairs
    of eigenvectors (the regularized quadratic program of Fan, Mao, Wu and Xu, 2020):

        X = sum_jk  u_j u_j^T 1 1^T v_k v_k^T / ((a_j - b_k)^2 + width^2),

    with ``width`` in parts of the largest eigenvalue; once for the centered weights and once with a
    constant added to all of them, of ``level`` times their norm, because each is the better one
    for some graphs. Direction enters by Hermitian matrices, (A + A^T) / 2 + i (A - A^T) / 2.
    Seeds (k, 2), pairs that are known, add how alike the rows are in the columns of the seeds.
    """
    n = len(R)
    total = np.zeros((n, n))
    for constant in (0.0, level / n):
        total += _double_centered(_spectral(R + constant, B + constant, width))
    if len(seeds):
        r, b = seeds.T
        shared = R[:, r] @ B[:, b].T + R[r].T @ B[b]
        total += np.sqrt(len(seeds)) * _double_centered(shared)
    return total


def _spectral(R: Array, B: Array, width: float) -> Array:
    a, U = np.linalg.eigh(_hermitian(R))
    b, V = np.linalg.eigh(_hermitian(B))
    largest = max(np.abs(a).max(), np.abs(b).max())
    if largest == 0:
        return np.zeros(R.shape)
    near = 1.0 / (((a[:, None] - b) / largest) ** 2 + width**2)
    weight = near * np.outer(U.sum(axis=0).conj(), V.sum(axis=0))
    return np.asarray((U @ weight @ V.conj().T).real)


def _hermitian(A: Array) -> Array | NDArray[np.complex128]:
    if np.array_equal(A, A.T):
        return A
    return (A + A.T) / 2 + 0.5j * (A - A.T)


def _double_centered(X: Array) -> Array:
    """Center rows and columns, which matter to no assignment, and scale to deviation 1."""
    X = X - X.mean(axis=0)
    X -= X.mean(axis=1, keepdims=True)
    deviation = X.std()
    return X / deviation if deviation > 0 else X


# ------------------------------------------------------------------ swaps of matched vertices


def swap_losses(R: Array, B: Array) -> Array:
    """Return by how much <R, B> falls when vertices s and t of B are swapped, (n, n).

    Sums over all third vertices are one matrix product; the entries among s and t themselves
    are removed from it and added as they are after the swap.
    """
    M = R @ B.T + R.T @ B
    own = np.diag(M)
    gain = M + M.T - own[:, None] - own
    r, b = np.diag(R), np.diag(B)
    # Terms of the sum with the third vertex s or t, for rows and for columns ...
    gain -= (r[:, None] - R.T) * (B.T - b[:, None]) + (R - r) * (b - B)
    gain -= (r[:, None] - R) * (B - b[:, None]) + (R.T - r) * (b - B.T)
    # ... and what the four entries truly gain.
    gain += (r[:, None] - r) * (b - b[:, None]) + (R - R.T) * (B.T - B)
    return -gain


def improve_by_swaps(R: Array, B: Array, order: Order, free: Order, max_rounds: int = 200) -> Order:
    """Swap matched vertices among ``free`` as long as some swap raises <R, B[order][:, order]>.

    A round takes all swaps that pay and share no vertex, the best first; if together they gain
    less than the best of them alone, that one.
    """
    order = order.copy()
    matched = B[np.ix_(order, order)]
    value = float((R * matched).sum())
    for _ in range(max_rounds):
        gains = -swap_losses(R, matched)[np.ix_(free, free)]
        s, t = np.nonzero(np.triu(gains, 1) > _ROUNDING)
        if s.size == 0:
            break
        best_first = np.argsort(-gains[s, t], kind="stable")
        pairs: list[tuple[int, int]] = []
        taken: set[int] = set()
        for a, b in zip(s[best_first].tolist(), t[best_first].tolist(), strict=True):
            if not taken & {a, b}:
                taken |= {a, b}
                pairs.append((a, b))
        least = value + float(gains[pairs[0]])
        for chosen in (pairs, pairs[:1]):
            trial = order.copy()
            for a, b in chosen:
                trial[free[[a, b]]] = trial[free[[b, a]]]
            rearranged = B[np.ix_(trial, trial)]
            new = float((R * rearranged).sum())
            if new >= least - _ROUNDING:
                break
        if new <= value:
            break
        order, matched, value = trial, rearranged, new
    return order
