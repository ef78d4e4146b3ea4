"""Graphs that are rows of a table, one column a pair of vertices; and back."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError

__all__ = ["LAYOUTS", "PairColumns"]

LAYOUTS = ("auto", "full", "triangle", "strict", "partial")


class PairColumns:
    """Which pair of vertices each column of a table stands for.

    Parameters
    ----------
    pairs : (p, 2)
        Vertices of each column, from 0.
    n_vertices
        Number of vertices, n.
    mirrored
        Whether a column (s, t) stands for (t, s) as well.
    """

    def __init__(self, pairs: NDArray[np.intp], n_vertices: int, *, mirrored: bool) -> None:
        self.pairs, self.n_vertices, self.mirrored = pairs, n_vertices, mirrored

    @classmethod
    def of(cls, layout: Any, n_columns: int, *, directed: bool) -> PairColumns:
        """Return the columns of a layout: one of ``LAYOUTS``, or an array (p, 2) of vertices."""
        if not isinstance(layout, str):
            return cls._given(layout, n_columns, directed=directed)
        if layout not in LAYOUTS:
            raise InputError(
                f"layout must be one of {', '.join(map(repr, LAYOUTS))}, or an array (p, 2) with "
                f"the two vertices of each column; got layout={layout!r}"
            )
        if layout == "auto":
            layout = _only_layout(n_columns, directed=directed)
        if directed and layout != "full":
            raise InputError(
                f"layout={layout!r} has one column for both directions, and a directed embedding "
                "needs each; use layout='full', or an array (p, 2) of vertices"
            )
        n = _vertices(layout, n_columns)
        if n is None:
            raise InputError(_wrong_number(layout, n_columns))
        if layout == "full":
            pairs = np.indices((n, n)).reshape(2, -1).T
            return cls(pairs, n, mirrored=False)
        if layout == "partial":  # a vertex more is a few columns more, at the end
            t, s = np.tril_indices(n)
            return cls(np.stack([s, t], axis=1)[:n_columns], n, mirrored=True)
        pairs = np.stack(np.triu_indices(n, 1 if layout == "strict" else 0), axis=1)
        return cls(pairs, n, mirrored=True)

    @classmethod
    def _given(cls, layout: Any, n_columns: int, *, directed: bool) -> PairColumns:
        try:
            pairs = np.asarray(layout)
        except ValueError:
            pairs = np.empty(0)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise InputError(
                "layout must be a name, or an array (p, 2) of whole numbers, the two vertices of "
                f"each column; got layout={layout!r}"
            )
        if len(pairs) != n_columns:
            raise InputError(f"layout has {len(pairs)} pairs of vertices for {n_columns} columns")
        if (pairs < 0).any():
            raise InputError("layout must hold vertices from 0; some are negative")
        key = pairs if directed else np.sort(pairs, axis=1)
        if len(np.unique(key, axis=0)) < len(pairs):
            raise InputError("layout has two columns for one pair of vertices")
        return cls(pairs.astype(np.intp), int(pairs.max()) + 1, mirrored=not directed)

    def graphs(self, X: Any) -> Any:
        """Return rows (m, p) as graphs: an array (m, n, n), or a list of sparse graphs."""
        n, (s, t) = self.n_vertices, self.pairs.T
        if not sparse.issparse(X):
            A = np.zeros((X.shape[0], n, n), dtype=X.dtype)
            A[:, s, t] = X
            if self.mirrored:
                A[:, t, s] = X
            return A
        graphs = []
        make: Any = sparse.csr_array
        rows = make(X)
        for lo, hi in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            values, columns = rows.data[lo:hi], rows.indices[lo:hi]
            one = make((values, (s[columns], t[columns])), shape=(n, n))
            off = s[columns] != t[columns]
            if self.mirrored:
                ends = (t[columns][off], s[columns][off])
                one = one + make((values[off], ends), shape=(n, n))
            graphs.append(one)
        return graphs

    def rows(self, A: NDArray[Any]) -> NDArray[Any]:
        """Return graphs (m, n, n) as rows (m, p)."""
        return np.asarray(A[:, self.pairs[:, 0], self.pairs[:, 1]])


def _vertices(layout: str, p: int) -> int | None:
    """Return the number of vertices of so many columns, or None if there is none."""
    if layout == "full":
        n = isqrt(p)
        return n if n * n == p else None
    n = (isqrt(8 * p + 1) - 1) // 2  # the largest with n (n + 1) / 2 <= p
    whole = n * (n + 1) // 2 == p
    if layout == "partial":
        return n if whole else n + 1
    if not whole:
        return None
    return n + 1 if layout == "strict" else n


def _only_layout(p: int, *, directed: bool) -> str:
    if directed:
        return "full"
    full, triangle = _vertices("full", p), _vertices("triangle", p)
    if full is not None and triangle is not None and p > 1:
        raise InputError(
            f"{p} columns are all pairs of {full} vertices, and the triangle of {triangle}; name "
            "one: layout='full' or layout='triangle'"
        )
    if full is None and triangle is None:
        raise InputError(_wrong_number("auto", p))
    return "triangle" if full is None else "full"


def _wrong_number(layout: str, p: int) -> str:
    numbers = {
        "auto": "n^2 (all pairs) or n(n+1)/2 (a triangle with its diagonal)",
        "full": "n^2 (all pairs)",
        "strict": "n(n-1)/2 (a triangle without its diagonal)",
        "triangle": "n(n+1)/2 (a triangle with its diagonal)",
    }
    return (
        f"X has {p} feature(s), expected {numbers[layout]} for layout={layout!r}; columns of "
        "other graphs are told by layout=pairs, an array (p, 2) of vertices"
    )
