"""Pair the components of two fits, which agree only up to sign and order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from eigengraphs.errors import InputError
from eigengraphs.system.tables import short_repr

_RIGHT = "latent_positions_right_"


@dataclass(frozen=True)
class ComponentMatch:
    """The component of b that matches each component of a; see :func:`match_components`.

    Attributes
    ----------
    order : (p,)
        Component of b that matches component `components[j]` of a.
    components : (p,)
        Components of a that found a partner, rising.
    signs : (p,)
        +1 or -1.
    similarities : (p,)
        Cosines without signs, 1 for the same; of directed fits the product of both sides.

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs import match_components
    >>> match = match_components(np.eye(3), np.eye(3)[:, [2, 0]])
    >>> match.components, match.order, match.similarity
    (array([0, 2]), array([1, 0]), 1.0)
    """

    order: NDArray[np.intp]
    components: NDArray[np.intp]
    signs: NDArray[np.float64]
    similarities: NDArray[np.float64]

    __repr__ = short_repr

    @property
    def similarity(self) -> float:
        """Mean of the similarities."""
        return float(self.similarities.mean())

    def apply(self, positions: Any) -> NDArray[np.float64]:
        """Return the columns of b's positions in the order and with the signs of a's.

        Parameters
        ----------
        positions : (n, d_b)
            Components of b in columns.

        Returns
        -------
        array (n, p)

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs import match_components
        >>> a, b = np.eye(2), -np.eye(2)[:, ::-1]
        >>> match_components(a, b).apply(b)
        array([[1., 0.],
               [0., 1.]])
        """
        return np.asarray(positions)[:, self.order] * self.signs


def match_components(a: Any, b: Any) -> ComponentMatch:
    """Pair the components of two fits in sign and order.

    The pairs maximize the sum of ``|h_a . h_b|`` over all ways to pair them; between two directed
    fits, of ``|h_a . h_b| |g_a . g_b|``, with the signs of the h.

    Parameters
    ----------
    a, b
        Fits, models with ``latent_positions``, or arrays (n, d) with components in columns.

    Returns
    -------
    ComponentMatch
        Order, signs and similarities of the pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs import match_components
    >>> match = match_components(np.eye(3)[:, :2], -np.eye(3)[:, [1, 0]])
    >>> match.order, match.signs
    (array([1, 0]), array([-1., -1.]))
    """
    H_a, H_b = _positions(a, "a"), _positions(b, "b")
    if H_a.shape[0] != H_b.shape[0]:
        raise InputError(
            f"a and b must have the same vertices, got {H_a.shape[0]} and {H_b.shape[0]}"
        )
    cosines = H_a.T @ H_b
    likeness = np.abs(cosines)
    if hasattr(a, _RIGHT) and hasattr(b, _RIGHT):
        likeness *= np.abs(_unit(getattr(a, _RIGHT), "a").T @ _unit(getattr(b, _RIGHT), "b"))
    rows, order = linear_sum_assignment(likeness, maximize=True)
    signs = np.where(cosines[rows, order] < 0, -1.0, 1.0)
    return ComponentMatch(order, rows, signs, likeness[rows, order])


def _positions(fit: Any, name: str) -> NDArray[np.float64]:
    for attribute in ("latent_positions_", "latent_positions"):
        if hasattr(fit, attribute):
            fit = getattr(fit, attribute)
            break
    return _unit(fit, name)


def _unit(fit: Any, name: str) -> NDArray[np.float64]:
    """Return an array of components (n, d) with columns of length 1."""
    try:
        H = np.asarray(fit, dtype=np.float64)
    except (TypeError, ValueError):
        H = np.empty(0)
    if H.ndim != 2 or H.size == 0:
        raise InputError(f"{name} must be a fit or an array (n, d), got {type(fit).__name__}")
    if not np.isfinite(H).all():
        raise InputError(f"{name} must hold finite numbers; some are not")
    norms = np.sqrt((H**2).sum(axis=0))
    return H / np.where(norms == 0, 1.0, norms)
