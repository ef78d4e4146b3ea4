"""What an alignment gives back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError
from eigengraphs.stack import GraphStack

__all__ = ["Alignment"]


@dataclass(frozen=True, repr=False)
class Alignment:
    """Graphs put into the order of a reference; see :func:`~eigengraphs.align`.

    Attributes
    ----------
    stack : GraphStack
        The graphs, all with their vertices in the order of the reference.
    permutations : (m, n)
        ``permutations[i, s]`` is the vertex of graph i, by its place in the order that was
        given, that goes with vertex s of the reference:
        ``stack[i] = given[i][p][:, p]`` with ``p = permutations[i]``.
    score : (m,)
        Correlation of the weights of graph and reference, off the diagonal (and of loops, centred
        apart): the inner product of the matched graphs relative to their norms. 1 is the same
        graph. Chance is more than 0, because the best matching is taken.
    score_before : (m,)
        The same in the order that was given.
    confidence : (m, n)
        How sure the match of each vertex is, in [0, 1]: a product of two shares.

        - Agreement: the share of starts that match it alike. Where the score is beyond chance (more
          than 1.5 sqrt(4 (log n - 1) / n), or 1.5 sqrt(2 (log n - 1) / n) for directed graphs),
          starts that did not come within 5 % of it failed, and do not count.
        - Certainty: 1 / (1 + sum_t exp(-l_st)), where l_st is the logarithm of the likelihood
          ratio of this matching and the one with s and t swapped, if weights were normal with the
          correlation found. Two vertices with the same edges have at most 1/2 each.

        It compares with single swaps and with other starts only: a matching that is wrong as a
        whole can look sure where all starts end in it, or with ``n_init=1``. Near chance it is
        lower than the share of right matches. Seeds, and all vertices of a reference that is
        one of the graphs, have 1; all others 0 in a graph whose weights are all the same.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> A = eg.models.ErdosRenyi(8, 0.5).sample(1, random_state=0)[0]
    >>> found = eg.align([A, A[::-1, ::-1]], random_state=0)
    >>> found.score.round(3), bool(found.moved[0].any())
    (array([1., 1.]), False)
    """

    stack: GraphStack
    permutations: NDArray[np.intp]
    score: NDArray[np.float64]
    score_before: NDArray[np.float64]
    confidence: NDArray[np.float64]

    @property
    def moved(self) -> NDArray[np.bool_]:
        """Which vertices were not where they were put, (m, n)."""
        return np.asarray(self.permutations != np.arange(self.permutations.shape[1]))

    def uncertain(self, threshold: float = 0.5) -> NDArray[np.bool_]:
        """Return which matches have a confidence below ``threshold``, (m, n).

        Parameters
        ----------
        threshold : float
            From 0 to 1.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> A = eg.models.ErdosRenyi(8, 0.5).sample(1, random_state=0)[0]
        >>> found = eg.align([A, A[::-1, ::-1]], random_state=0)
        >>> found.uncertain(0.9).shape
        (2, 8)
        """
        number = isinstance(threshold, int | float | np.number) and not isinstance(threshold, bool)
        if not number or not 0 <= threshold <= 1:
            raise InputError(f"threshold must be a number from 0 to 1, got threshold={threshold!r}")
        return np.asarray(self.confidence < threshold)

    def __repr__(self) -> str:
        m, n = self.permutations.shape
        return (
            f"Alignment({m} graphs, {n} vertices, {int(self.moved.sum())} of {m * n} vertices "
            f"moved, {int(self.uncertain().sum())} uncertain, mean score "
            f"{self.score_before.mean():.3f} -> {self.score.mean():.3f})"
        )
