"""What tests of operators share: graphs, their treatment written out, and the contract."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy import sparse

from eigengraphs import GraphStack

# Storage, precision, direction, diagonal, and whether graphs are centered.
KINDS = list(
    product(
        ["dense", "sparse"],
        [np.float32, np.float64],
        [False, True],
        ["observed", "filled", "hollow"],
        [False, True],
    )
)


def graphs(m, n, dtype, directed, seed=0, density=0.4, weighted=True):
    """Draw graphs (m, n, n) with loops, symmetric unless directed."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, n, n)) if weighted else np.ones((m, n, n))
    A *= rng.random((m, n, n)) < density
    if not directed:
        A = np.triu(A) + np.triu(A, 1).transpose(0, 2, 1)
    return A.astype(dtype)


def stacked(A, storage):
    """Return a stack of the graphs in one storage."""
    if storage == "dense":
        return GraphStack(A)
    return GraphStack([sparse.csr_array(a) for a in A])


def treated(A, rule, mean, scale):
    """Return scale (A_i + Diag(D_i) - (M + Diag(D_M))), written out."""

    def on_diagonal(X):
        X = X.astype(np.float64)
        n = len(X)
        if rule == "observed":
            return X
        off = X - np.diag(np.diag(X))
        fill = (off.sum(axis=0) + off.sum(axis=1)) / 2 / max(n - 1, 1)
        return off + (np.diag(fill) if rule == "filled" else 0)

    found = np.stack([on_diagonal(a) for a in A])
    return scale * (found if mean is None else found - on_diagonal(mean))


def close(found, wanted, dtype):
    """Compare by the largest number that is wanted."""
    assert found.shape == wanted.shape
    if wanted.size:
        error = np.abs(found - wanted).max()
        assert error <= (3e-6 if dtype == np.float32 else 1e-13) * max(1, np.abs(wanted).max())


def check(operator, X, rng, b=5):
    """Hold every product of an operator to the treated graphs X (m, n, n)."""
    m, n, _ = X.shape
    dtype, two = operator.dtype, operator.directed
    assert (operator.n_graphs, operator.n_vertices) == (m, n)
    columns = [rng.normal(size=(n, b + k)) for k in range(1 + two)]
    bases = [rng.normal(size=(n, 3 + k)) for k in range(1 + two)]
    sides = [rng.normal(size=(n, 4)) for _ in range(1 + two)]
    Xs = (X, X.transpose(0, 2, 1))[: 1 + two]  # B^T X_i on the left, and with X_i^T on the right

    for P, B, T in zip(operator.products(*columns), columns, Xs, strict=True):
        assert P.dtype == dtype
        close(P, np.einsum("sb,ist->ibt", B, T), dtype)
    rooms = tuple(np.full((m, B.shape[1] + 1, n), np.nan, dtype) for B in columns)
    places = tuple(room[:, 1:] for room in rooms)  # not in one piece
    for P, place in zip(operator.products(*columns, out=places), places, strict=True):
        assert np.shares_memory(P, place)
    for P, B, T in zip(places, columns, Xs, strict=True):
        close(P, np.einsum("sb,ist->ibt", B, T), dtype)

    for V in (bases, [base[:, :0] for base in bases]):
        found = operator.project(tuple(V), tuple(columns))
        Z = np.column_stack([V[0], columns[0]])
        wanted = [np.einsum("sz,ist,tb->izb", Z, X, columns[-1])]
        if two:
            wanted.append(np.einsum("tz,ist,sb->izb", V[1], X, columns[0]))
        for cores, expected in zip(found, wanted, strict=True):
            assert cores.dtype == np.float64
            close(cores, expected, dtype)

    W = rng.normal(size=(m, 4))
    H, G = sides[0], sides[-1]
    wanted = [np.einsum("ik,ist,tk->sk", W, X, G)]
    if two:
        wanted.append(np.einsum("ik,ist,sk->tk", W, X, H))
    for total, expected in zip(operator.combine(W, *sides), wanted, strict=True):
        close(total, expected, dtype)
    close(operator.forms(*sides), np.einsum("sk,ist,tk->ik", H, X, G), dtype)

    w = rng.random(m)
    w[: m // 2] = 0
    for (squares, sums), T in zip(operator.sketch(columns[0], w), Xs, strict=True):
        close(squares, np.einsum("i,ist,iut,ub->sb", w, T, T, columns[0]), dtype)
        close(sums, np.einsum("i,ist,tb->sb", w, T, columns[0]), dtype)
    mean = operator.mean(w)
    mean = mean @ np.eye(n)  # an array, sparse, or an operator
    close(mean, np.einsum("i,ist->st", w, X) / w.sum(), dtype)
    close(operator.squared_norms(), (X**2).sum(axis=(1, 2)), dtype)
    close(operator.total(moment, w), np.einsum("i,ist->st", w, X), dtype)


def moment(operator, weights):
    """Return the weighted sum of some graphs: a task of :meth:`Operator.total`."""
    (P, *_) = operator.products(*[np.eye(operator.n_vertices)] * (1 + operator.directed))
    assert operator.n_graphs == len(weights) == len(P)
    return np.einsum("i,ist->st", weights, P.astype(np.float64))


def hidden_graphs(m, n, dtype, directed, storage):
    """Return a stack with absent vertices and hidden pairs; the graphs with zeros; the mask."""
    rng = np.random.default_rng(3)
    A = graphs(m, n, dtype, directed, seed=4)
    gone = rng.random((m, n, n)) < 0.1
    if not directed:
        gone |= gone.transpose(0, 2, 1)
    absent = rng.random((m, n)) < 0.1
    absent[m // 2 :] = absent[0]
    gone |= absent[:, :, None] | absent[:, None, :]
    gone[0, n - 1, : n - 1] = gone[0, : n - 1, n - 1] = True  # nothing off the diagonal is left
    A[gone] = np.nan
    if storage == "sparse":
        stack = GraphStack([sparse.csr_array(a) for a in A], missing="unobserved")
    else:
        stack = GraphStack(A, missing="unobserved")
    seen = ~gone
    if not directed:
        assert stack.mask.toarray().sum() == seen.sum()
    return stack, np.where(gone, 0, A).astype(float), seen.astype(float)


def written_out(A, seen, rule, mean, scale):
    """Return Ã_i and M̃_i, (m, n, n)."""
    X, S = A - (0 if mean is None else seen * mean), seen.copy()
    n = X.shape[1]
    eye = np.eye(n, dtype=bool)
    if rule != "observed":
        X[:, eye], S[:, eye] = 0, 0
    if rule == "filled":
        others = S.sum(axis=1) + S.sum(axis=2)
        sums = X.sum(axis=1) + X.sum(axis=2)
        X[:, eye] = np.divide(sums, others, out=np.zeros_like(sums), where=others > 0)
        S[:, eye] = others > 0
    return scale * X, S


def check_mask(operator, X, S, rng):
    """Hold what is asked of the mask to S (m, n, n), and means of residuals to both."""
    m, n, _ = X.shape
    columns = [rng.normal(size=(n, 3 + k)) for k in range(1 + operator.directed)]
    Ss = (S, S.transpose(0, 2, 1))
    for Q, B, T in zip(operator.mask_products(*columns), columns, Ss, strict=False):
        close(Q, np.einsum("sb,ist->ibt", B, T), np.float64)
    x, z, *_ = H, G, *_ = rng.normal(size=(2, n, 4))
    close(operator.mask_forms(x, z), np.einsum("sk,ist,tk->ik", x, S, z), np.float64)
    sides = (H, G)[: 1 + operator.directed]
    G = sides[-1]
    wanted = np.einsum("sj,tj,ist,sk,tk->ijk", H, G, S, H, G)
    close(operator.grams(*sides), wanted, np.float64)
    close(operator.observed(), S.mean(axis=(1, 2)), np.float64)
    w, Lam = rng.random(m) + 0.1, rng.normal(size=(m, 4))
    left = X - S * np.einsum("ik,sk,tk->ist", Lam, H, G)
    counts = np.einsum("i,ist->st", w, S)
    total = np.einsum("i,ist->st", w, left)
    mean = np.divide(total, counts, out=np.zeros_like(total), where=counts > 1e-9)
    close(operator.mean_residual(w, sides, Lam), mean, operator.dtype)
