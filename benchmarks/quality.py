"""How good components are, recomputed from the plain arrays in float64 and apart from the package.

Everyone's components are judged by the same rule: the loadings are those of least squares, stage
by stage as the greedy problem has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

__all__ = ["Assessment", "assess"]

Array: TypeAlias = NDArray[np.float64]

_BLOCK = 2**23  # entries in float64 at a time


@dataclass(frozen=True, eq=False)
class Assessment:
    """What d components achieve.

    Attributes
    ----------
    path : (d + 1,)
        Objective, eq. 1, with the first 0, ..., d components and the loadings of least squares.
    stationarity : (d,)
        ||sum_i lam_i R_i h - theta h|| / theta, with R_i what the earlier components leave of A_i,
        lam_i = h^T R_i h and theta = sum_i lam_i^2.
    """

    path: Array
    stationarity: Array

    @property
    def objective(self) -> float:
        """Value of eq. 1 with all components."""
        return float(self.path[-1])

    @property
    def explained(self) -> float:
        """Share of the sum of squares that all components explain."""
        return float(1 - self.path[-1] / self.path[0])

    @property
    def beyond_first(self) -> float:
        """Sum of squares that the components after the first explain.

        The first is the mean graph, nearly, and so large that it would hide the others.
        """
        return float(self.path[1] - self.path[-1])

    def lead(self, other: Assessment) -> float:
        """Return the sum of squares explained where two searches part, over the other's.

        The greedy problem asks for the best next component. Where two searches have found the same
        so far, the better one is the one that then explains more. Which of them explains more at
        the end is luck: a poor component may leave more for those that follow.
        """
        apart = np.abs(self.path - other.path) > 1e-4 * (self.path[1] - self.path[-1])
        if not apart.any():
            return 1.0
        k = int(np.argmax(apart))
        before = min(k - 1, 1)
        return float((self.path[before] - self.path[k]) / (other.path[before] - other.path[k]))

    @property
    def worst(self) -> float:
        """Largest stationarity of all components."""
        return float(self.stationarity.max())


def assess(graphs: Any, H: NDArray[Any]) -> Assessment:
    """Judge the columns of H (n, d), of any length but zero, on the graphs A_i.

    Parameters
    ----------
    graphs
        An array (m, n, n), or a flat csr_array (m n, n).
    H
        The h_k.
    """
    H = np.asarray(H, dtype=np.float64)
    H = H / linalg.norm(H, axis=0)
    d = H.shape[1]
    forms, total = [], 0.0
    for block, rows in _blocks(graphs):
        products = (rows @ H).reshape(block, *H.shape)
        forms.append(np.einsum("isk,sk->ik", products, H))
        total += float(np.sum(np.square(rows if isinstance(rows, np.ndarray) else rows.data)))
    Psi = np.concatenate(forms)  # h_k^T A_i h_k
    overlap = H.T @ H
    Gamma = overlap**2

    # Loadings of the first k components, and the forms h_k^T R_i h_k of what they leave.
    loadings = [np.zeros((len(Psi), 0))]
    path, lam = [total], np.empty_like(Psi)
    for k in range(d):
        lam[:, k] = Psi[:, k] - loadings[k] @ Gamma[:k, k]
        Lam = linalg.lstsq(Gamma[: k + 1, : k + 1], Psi[:, : k + 1].T)[0].T
        loadings.append(Lam)
        path.append(total - float(np.sum(Lam * Psi[:, : k + 1])))

    # sum_i lam_ik A_i h_k needs a second read, for the lam need all forms.
    S, first = np.zeros_like(H), 0
    for block, rows in _blocks(graphs):
        products = (rows @ H).reshape(block, *H.shape)
        S += np.einsum("ik,isk->sk", lam[first : first + block], products)
        first += block
    stationarity = np.empty(d)
    for k in range(d):
        left = S[:, k] - H[:, :k] @ (overlap[:k, k] * (lam[:, k] @ loadings[k]))
        theta = float(lam[:, k] @ lam[:, k])
        stationarity[k] = linalg.norm(left - theta * H[:, k]) / theta
    return Assessment(np.array(path), stationarity)


def _blocks(graphs: Any) -> Iterator[tuple[int, Any]]:
    """Yield a number of graphs, and these graphs as the rows of one float64 matrix."""
    n = graphs.shape[-1]
    m = len(graphs) if isinstance(graphs, np.ndarray) else graphs.shape[0] // n
    size = graphs.size if isinstance(graphs, np.ndarray) else graphs.nnz + m * n
    step = max(1, _BLOCK * m // size)
    for lo in range(0, m, step):
        hi = min(m, lo + step)
        if isinstance(graphs, np.ndarray):
            yield hi - lo, np.asarray(graphs[lo:hi], dtype=np.float64).reshape(-1, n)
        else:
            yield hi - lo, graphs[lo * n : hi * n].astype(np.float64)
