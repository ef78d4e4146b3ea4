"""The fits that the rules ask for: rough ones, all treated alike."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from eigengraphs.errors import DegenerateWarning, NotAvailableError
from eigengraphs.fitting.settings import check_settings
from eigengraphs.operators.treatment import Treatment
from eigengraphs.solvers.protocol import Array
from eigengraphs.stack import GraphStack
from eigengraphs.system.parallel import one_blas_thread

__all__ = ["EstimatorFactory", "RoughFits"]

EstimatorFactory: TypeAlias = Callable[[int], Any]

# A direction serves a test as it is: components of noise, which take most of the rounds, need not
# be found exactly. The first ones must: what they leave of a strong component would look real.
_ROUNDS = {"subspace": 10, "algorithm1": 200}


class RoughFits:
    """Fit graphs, or parts of them, with the settings of one estimator.

    Parameters
    ----------
    stack
        All graphs; what is done about their diagonal is decided on them, before any split.
    make_estimator
        Makes an estimator that is not fitted, for a number of components.
    weights : (m,)
        Of the graphs, positive.
    """

    def __init__(self, stack: GraphStack, make_estimator: EstimatorFactory, weights: Array) -> None:
        template = make_estimator(1)
        _check(template.get_params(deep=False))
        self.centered = bool(template.center)
        self.treatment = self.treat(stack, template.diagonal, weights)
        self._make_estimator = make_estimator

    def treat(self, graphs: GraphStack, diagonal: str, weights: Array) -> Treatment:
        """Return the treatment that is learnt on graphs."""
        with one_blas_thread():
            return Treatment.learn(graphs, diagonal, self.centered, weights)

    def fit(self, graphs: GraphStack, d: int, weights: Array, seed: np.random.SeedSequence) -> Any:
        """Return an estimator fitted to some graphs."""
        estimator = self._make_estimator(d)
        given = estimator.get_params(deep=False)
        rough: dict[str, Any] = {
            "diagonal": self.treatment.diagonal,
            "max_iter": min(given["max_iter"], _ROUNDS.get(given["solver"], given["max_iter"])),
            "random_state": seed,
            "verbose": 0,
            "callback": None,
            "refine": False,  # which would undo that components are nested
        }
        if not isinstance(given["init"], str):
            rough["init"] = "auto"  # given starts fit neither more components nor fewer vertices
        estimator.set_params(**rough)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", DegenerateWarning)
            return estimator.fit(graphs, sample_weight=weights)

    def positions(
        self, graphs: GraphStack, d: int, weights: Array, seed: np.random.SeedSequence
    ) -> Array:
        """Return the components of some graphs, (n, d); zero columns for those that are nothing."""
        estimator = self.fit(graphs, d, weights, seed)
        H = np.asarray(estimator.latent_positions_, dtype=np.float64)
        return np.where(estimator.degenerate_, 0.0, H)


def _check(settings: dict[str, Any]) -> None:
    check_settings(settings)
    for name, needed in (("directed", False), ("loadings", "free")):
        if settings[name] != needed:
            raise NotAvailableError(
                f"the number of components cannot be chosen with {name}={settings[name]!r}; choose "
                f"it with {name}={needed!r}, and give the number"
            )
