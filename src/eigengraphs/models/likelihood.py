"""Log-likelihoods of graphs, at the cost of their edges plus one sum over pairs of the means."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln, xlogy

from eigengraphs.errors import InputError
from eigengraphs.graphs import GraphStack
from eigengraphs.models.laws import EdgeLaw, Gaussian, Poisson
from eigengraphs.models.means import BLOCK_ENTRIES, Means
from eigengraphs.models.validation import Floats, Ints

__all__ = ["PairTerms", "log_likelihoods"]


class PairTerms:
    """What the empty graph contributes: sums over all pairs of the means, (n_distinct,)."""

    def __init__(self, means: Means, law: EdgeLaw, *, loops: bool, directed: bool) -> None:
        n = means.n_distinct

        def over_pairs(f: Callable[[Floats], Floats]) -> Floats:
            sums = means.pair_sum(f, directed)
            return sums + f(means.diagonal(0, n)).sum(axis=1) if loops else sums

        if isinstance(law, Poisson):
            self.empty = over_pairs(np.negative)
            self.certain = np.zeros(n)
        else:
            self.empty = over_pairs(_log_absent)
            self.certain = over_pairs(lambda p: (p >= 1).astype(np.float64))
