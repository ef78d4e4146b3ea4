"""Components of graphs with hidden entries, one after the other.

    minimise sum_i w_i || M_i o (A_i - sum_k Lam_ik h_k h_k^T) ||^2

greedily: each component maximises f of :mod:`masked_quotient` on what the earlier ones left, then
all loadings are solved again, each graph's with its own inner products (:mod:`loadings_each`).

Cost. A component is found in 10 to 30 passes, one for each step of the climbs from all its starts
together, and three for the starts; a component of noise may take 100. A pass reads the graphs once
and the hidden entries once for every eight of b (k + 2) columns, b climbs being under way
after k components. Memory is 10 m n numbers a climb. No graph is copied.

Beginning from the components of graphs with the mean in place of hidden entries (the subspace
solver's, at the cost of a copy) was tried: it saves two or three of about ten passes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigengraphs.solvers.loadings import component_gram, rounding_share
from eigengraphs.solvers.loadings_each import solve_loadings_each
from eigengraphs.solvers.masked_climb import Climb, way_up
from eigengraphs.solvers.masked_quotient import FADES, Loss
from eigengraphs.solvers.masked_residuals import MaskedResiduals
from eigengraphs.solvers.protocol import Array, Fit, MaskedGraphs, Progress, Stage, Watcher
from eigengraphs.solvers.start import Start, leading_eigenvector, random_unit

__all__ = ["masked"]

_SKETCH = 8  # columns from which the top eigenvector of sum_i R_i^2 is guessed
_RANDOM = 1  # random starts beyond n_init, beside the spectral ones
_NEGLIGIBLE = 1e-4  # a mean residual smaller than this beside the residuals is rounding
_EARLY = 5  # iterations before which no climb is given up
_HOPE = 10.0  # a climb with relative gradient g may still get 1 + 10 g times as high
_SAME = 0.999  # |cosine| of two climbs that are one
_NOTHING = 1e-12  # share of what is left that a component must take off to be one
_ROUNDING = 100.0  # roots of the precision that a gradient may be from zero by rounding
_GIVEN_UP = ("same", "lower")
_ESCAPES = 5  # saddle points that one search may leave
_EPS = float(np.finfo(np.float64).eps)


class _Job(NamedTuple):
    """What does not change from component to component."""

    weights: Array  # (m,)
    loss: Loss
    visible: Array  # (n,) 1 for vertices of which some graph observes something, 0 for others
    n_init: int
    tol: float
    max_iter: int
    nothing: float  # a theta below this is none
    rounding: float  # a relative gradient below this may be rounding
    watch: Watcher | None


def masked(
    graphs: MaskedGraphs,
    d: int,
    *,
    weights: Array,
    init: Start | Array,
    n_init: int,
    tol: float,
    max_iter: int,
    seed: np.random.SeedSequence,
    hollow: bool = False,
    resume: Fit | None = None,
    watch: Watcher | None = None,
) -> Fit:
    """Find d components greedily.

    Parameters
    ----------
    graphs
        The graphs and their masks, through products with them.
    d
        Number of components.
    weights : (m,)
        Weight of each graph in the objective.
    init
        Where a component is searched from: "svd", the top singular vector of the mean residual
        over the graphs that observe an entry, or, where that is nothing, of the sum of squared
        residuals; "random"; "auto", from both of these and at random; or an array (n, any), one
        column a component, with "auto" for components beyond its columns.
    n_init
        Starts of each component, further ones being random; one more random one with "auto".
    tol
        Stop a component when ||r|| <= tol * theta.
    max_iter
        Most iterations of a component.
    seed
        Child k starts component k, so d does not change the first components.
    hollow
        No pair s = t is observed. Then a component may shrink to a single vertex and its star,
        and q is bent upwards beyond sum_s h_s^4 = 1/2, as in the subspace solver.
    resume
        A fit whose components are kept as they are.
    watch
        Called after each iteration.
    """
    n, m = graphs.n_vertices, graphs.n_graphs
    total = float(weights @ graphs.squared_norms())
    noise = float(weights @ graphs.rounding())
    observed = graphs.observed()
    loss = Loss(weights, FADES * np.where(observed > 0, observed, 1.0), hollow)
    visible = _visible(graphs, weights)
    rounding = _ROUNDING * float(np.sqrt(np.finfo(graphs.dtype).eps))
    job = _Job(weights, loss, visible, n_init, tol, max_iter, _EPS**2 * total, rounding, watch)
    H, Psi, stages = np.zeros((n, 0)), np.zeros((m, 0)), list[Stage]()
    Gammas = np.zeros((m, 0, 0))
    n_passes = 1  # the norms
    interrupted = False
    try:
        if resume is not None:
            for h in resume.H.T:
                Gammas, H = _appended(graphs, Gammas, H, h)
            Psi, stages = resume.Psi, list(resume.stages)
        for k in range(len(stages), d):
            on = np.array([stage.stop_reason != "exhausted" for stage in stages], dtype=bool)
            # All loadings again, after each component: Gamma_i lam_i = Psi_i.
            seen, forms = Gammas[:, on][:, :, on], Psi[:, on]
            whole = component_gram(H[:, on], hollow=hollow)
            Lam = solve_loadings_each(seen, forms, whole, observed)
            left = total - float(weights @ np.einsum("ik,ik->i", Lam, forms))
            residuals = MaskedResiduals(graphs, H[:, on], Lam, weights, n_passes)
            rng = np.random.default_rng(_child(seed, k))
            h = random_unit(n, rng) * visible if visible.any() else random_unit(n, rng)
            stage, h, t = Stage(0, "exhausted", 0.0, 0.0, "none"), h / linalg.norm(h), None
            if left > max(rounding_share(n) * total, noise):
                kind = _kind(init, k)
                best, agreement = _search(residuals, job, kind, left, k, rng)
                if best.place is not None and best.theta > max(n * noise, _NOTHING * left):
                    h, t = best.place.h, best.place.t
                    stage = Stage(
                        best.n_iter, best.reason, best.stationarity, best.theta, best.start,
                        agreement,
                    )  # fmt: skip
            n_passes = residuals.n_passes
            Gammas, H = _appended(graphs, Gammas, H, h)
            if t is None:
                psi = graphs.multiply(h[:, None])[:, 0] @ h
                n_passes += 1
            else:  # what the components before it have of it was left out of R_i
                psi = t + np.einsum("ij,ij->i", Lam, Gammas[:, -1, :-1][:, on])
            Psi = np.column_stack([Psi, psi])
            stages.append(stage)
    except KeyboardInterrupt:
        if not stages:
            raise
        interrupted = True
    done = len(stages)
    return Fit(H[:, :done], Psi[:, :done], tuple(stages), n_passes, interrupted=interrupted)


def _appended(graphs: MaskedGraphs, Gammas: Array, H: Array, h: Array) -> tuple[Array, Array]:
    """Return the inner products (m, k + 1, k + 1) and the components with one more."""
    H = np.column_stack([H, h])
    m, k = len(Gammas), H.shape[1]
    longer = np.empty((m, k, k))
    longer[:, :-1, :-1] = Gammas
    longer[:, -1] = longer[:, :, -1] = graphs.mask_forms(H * h[:, None])
    return longer, H


def _visible(graphs: MaskedGraphs, weights: Array) -> Array:
    """Return 1 for the vertices that have a part in the loss, (n,)."""
    ones = np.ones((len(weights), 1, graphs.n_vertices))
    counts = graphs.mask_sum_multiply((weights > 0)[:, None, None] * ones)[:, 0]
    return np.where(counts > 0.5, 1.0, 0.0)


def _child(seed: np.random.SeedSequence, k: int) -> np.random.SeedSequence:
    """Return the source of what component k draws, whatever was drawn before."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, k))


def _kind(init: Start | Array, k: int) -> Start | Array:
    """Return how component k is started."""
    if not isinstance(init, np.ndarray):
        return init
    return init[:, k] if k < init.shape[1] else "auto"


def _search(
    residuals: MaskedResiduals,
    job: _Job,
    kind: Start | Array,
    left: float,
    k: int,
    rng: np.random.Generator,
) -> tuple[Climb, float]:
    """Return the highest of the climbs for component k, and the share of them that end there."""

    def climb(name: str, h: Array) -> Climb:
        # A vertex that nobody sees would keep what a start has there: f does not depend on it.
        seen = h * job.visible
        if not seen.any():
            seen = random_unit(len(h), rng) * job.visible
        return Climb(name, seen, job.loss, job.tol, job.max_iter, job.nothing, job.rounding)

    def run(climbs: list[Climb]) -> Climb:
        while under_way := [c for c in climbs if not c.reason]:
            answers = residuals.products([c.wants for c in under_way])
            for c, answer in zip(under_way, answers, strict=True):
                c.go_on(answer)
            best = _highest(climbs)
            _give_up(under_way, best)
            if job.watch is not None:
                job.watch(Progress(best.n_iter, k, best.stationarity, k, residuals.n_passes))
        return _highest(climbs)

    climbs = [climb(name, h) for name, h in _starts(kind, residuals, job, left, rng)]
    best = run(climbs)
    if best.reason == "flat":
        # h^T R_i h = 0 for all i, as on one side of bipartite graphs: no way is up from there,
        # but almost any other start does.
        climbs = [climb("random", random_unit(residuals.n_vertices, rng))]
        best = run(climbs)
    there = [c for c in climbs if _cosine(c, best) > _SAME]
    agreement = len(there) / len(climbs) if len(climbs) > 1 else float("nan")
    if not any(c.start == "random" for c in there):  # which has no symmetry to keep
        for _ in range(_ESCAPES):
            if best.place is None or best.reason != "stationary":
                break
            beyond = way_up(residuals, best.place, job.loss, rng)
            if beyond is None:
                break
            other = run([climb(best.start, beyond)])
            if other.theta <= best.theta:
                break
            other.n_iter += best.n_iter
            best = other
    return best, agreement


def _highest(climbs: list[Climb]) -> Climb:
    return max((c for c in climbs if c.reason not in _GIVEN_UP), key=lambda c: c.theta)


def _give_up(climbs: list[Climb], best: Climb) -> None:
    """End climbs that are where the best one is, or will not get as high."""
    for c in climbs:
        if c is best or c.reason:
            continue
        if _cosine(c, best) > _SAME:
            c.reason = "same"
        elif c.n_iter >= _EARLY and c.theta * (1 + _HOPE * c.stationarity) < best.theta:
            c.reason = "lower"


def _cosine(a: Climb, b: Climb) -> float:
    return abs(float(a.wants[0] @ b.wants[0]))


def _starts(
    kind: Start | Array,
    residuals: MaskedResiduals,
    job: _Job,
    left: float,
    rng: np.random.Generator,
) -> list[tuple[str, Array]]:
    """Return named vectors (n,) from which to search; see :func:`masked`."""
    n = residuals.n_vertices
    found: list[tuple[str, Array]] = []
    n_random = job.n_init - 1
    if isinstance(kind, np.ndarray):
        found.append(("given", kind))
    elif kind == "random":
        n_random += 1
    else:
        value, svd = leading_eigenvector(residuals.mean(), random_unit(n, rng))
        says_something = abs(value) > _NEGLIGIBLE * np.sqrt(left / job.weights.sum())
        if says_something:
            found.append(("svd", svd))
        if kind == "auto":
            n_random += 1 + _RANDOM
        if kind == "auto" or not says_something:
            guess = residuals.square_multiply(rng.standard_normal((n, min(n, _SKETCH))))
            found.append(("squares", linalg.svd(guess, full_matrices=False)[0][:, 0]))
    return found + [("random", random_unit(n, rng)) for _ in range(n_random)]
