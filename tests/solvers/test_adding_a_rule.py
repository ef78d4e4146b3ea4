"""A rule of one's own, as the page for engineers describes it: loadings with an upper bound."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from solvers.solving import (
    GENERAL,
    LARGE,
    is_maximum,
    metric_of,
    planted,
    reasons,
    sides_of,
    solve,
    written_out,
)

from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.rules import LoadingRule


@dataclass(frozen=True)
class BoundedLoadings(LoadingRule):
    """Loadings of at least ``lower`` and at most ``upper``, of components of norm 1."""

    lower: float
    upper: float

    def bounds(self):
        """Return the interval of the loading of one component."""
        return self.lower, self.upper

    def solve(self, Gamma, Psi, previous=None, seen=None):
        """Return the loadings, (m, d), by bounded least squares on a root of Gamma."""
        lengths = np.sqrt(np.diagonal(Gamma))
        values, vectors = np.linalg.eigh(Gamma)
        on = values > 1e-12 * values.max(initial=0.0)
        root = np.sqrt(values[on])[:, None] * vectors[:, on].T
        Lam = np.zeros_like(Psi)
        used = lengths > 0
        if used.any():
            goals = (Psi @ vectors[:, on]) / np.sqrt(values[on])
            bounds = self.lower / lengths[used], self.upper / lengths[used]
            for i, goal in enumerate(goals):
                Lam[i, used] = lsq_linear(root[:, used], goal, bounds, method="bvls").x
        return Lam


RULES = [BoundedLoadings(0.0, 4.0), BoundedLoadings(-np.inf, 4.0)]

every_rule = pytest.mark.parametrize("rule", RULES, ids=["between", "below"])
every_geometry = pytest.mark.parametrize("directed", [False, True], ids=["symmetric", "pair"])
every_metric = pytest.mark.parametrize("hollow", [False, True], ids=["all", "off"])


@every_rule
@every_geometry
@every_metric
@pytest.mark.parametrize(
    ("n", "options"), [(8, DEFAULTS), (LARGE, GENERAL)], ids=["whole", "basis"]
)
def test_the_solver_takes_it_as_it_is(rule, directed, hollow, n, options):
    A, _ = planted(6, n, 2, directed=directed, hollow=hollow)
    weights = np.linspace(0.5, 1.5, 6)
    fit = solve(A, 3, directed=directed, hollow=hollow, rule=rule, weights=weights, tol=1e-6,
                options=options)  # fmt: skip
    assert set(reasons(fit)) == {"stationary"}
    for stage, (f, x) in zip(
        fit.stages, written_out(A, sides_of(fit), weights, rule, hollow=hollow), strict=True
    ):
        assert stage.gain == pytest.approx(f(x), rel=1e-8)
        assert f.stationarity(x, 1e-6) < 1e-5
        assert is_maximum(f, x, step=1e-4)
    # The loadings: within their bounds, and no slope leads on but out of them.
    Gamma = metric_of(hollow).gram(sides_of(fit))
    Lam = rule.solve(Gamma, fit.Psi)
    scaled = Lam * np.sqrt(np.diagonal(Gamma))
    assert (scaled >= rule.lower - 1e-9).all()
    assert (scaled <= rule.upper + 1e-9).all()
    assert (scaled > rule.upper - 1e-9).any()  # the bound is met
    slope = (fit.Psi - Lam @ Gamma) / np.abs(fit.Psi).max()
    assert (slope[scaled < rule.upper - 1e-9] < 1e-7).all()
    assert (slope[scaled > rule.lower + 1e-9] > -1e-7).all()
