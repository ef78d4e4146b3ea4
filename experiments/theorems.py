"""Theorems 2.1, 3.1, 4.1 and 4.2, and the lemmas of Appendix A, in numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import eigengraphs as eg
from eigengraphs.errors import InputError
from experiments import drawing
from experiments.frame import Finding, Outcome, Run, Table, embed, grid, judged, new
from experiments.population_theory import PopulationObjective
from experiments.repetitions import Array, Rng, gathered, mean_and_error, measured
from experiments.section_5_1_recovery import sizes_to

SAMPLED = 4000
EXACT = 1e-12
RATE = 1e-4  # of false alarms of a chi-square test, each
DEPENDENT = 1e-7  # distance from the span of earlier components that counts as none
#: Distributions on all graphs of n vertices; in all but the first edges depend on each other by
#: construction.
DISTRIBUTIONS = ("any", "even number of edges", "one edge at most")
STACKS = ("weighted", "binary", "three components")
#: Shapes of h_1, to be normalized; loadings are uniform on 0.3 to 0.9 of the largest possible.
DESIGNS: dict[str, Array] = {
    "n = 10, graded": np.linspace(1.0, 2.0, 10),
    "n = 20, one hub": np.array([2.5] + 19 * [1.0]),
    "n = 50, two groups": np.repeat([1.0, 0.5], 25),
}
LOADINGS = (0.3, 0.9)
#: Graphs with loops; the same without them, taken as they are; and as this library does.
TREATMENTS = ("observed", "hollow", "filled")


def _all_graphs(n: int, loops: bool) -> tuple[Any, Any, Array, Array]:
    """Return the pairs s, t that may be edges, and all graphs, (k, n_pairs) and (k, n, n)."""
    s, t = np.triu_indices(n, 0 if loops else 1)
    edges = (np.arange(2 ** len(s))[:, None] >> np.arange(len(s)) & 1).astype(np.float64)
    graphs = np.zeros((len(edges), n, n))
    graphs[:, s, t] = graphs[:, t, s] = edges
    return s, t, edges, graphs


# ------------------------------------------------------------------------------- Theorem 2.1


def represent(rng: Rng, *, n: int, loops: bool, kind: str, repetition: int) -> Any:  # noqa: ARG001 - a stream
    """Build the MREG of the proof of Theorem 2.1 for a random distribution; compare the two.

    ``error`` is the largest difference of the probability of a graph, over all graphs, and
    ``pvalue`` that of a chi-square test of sampled frequencies. ``covariance`` is the largest of
    two edges. ``pairs`` repeats the comparison with the n (n - 1) / 2 terms of pairs of vertices
    alone, for graphs without loops. ``dimension`` is that of the span of all graphs that occur.
    """
    s, t, edges, graphs = _all_graphs(n, loops)
    p = rng.dirichlet(np.ones(len(edges)))
    if kind == "even number of edges":
        p *= edges.sum(axis=1) % 2 == 0
    elif kind == "one edge at most":
        p *= edges.sum(axis=1) <= 1
    p /= p.sum()
    model = eg.models.MultipleRandomEigenGraphs.from_distribution(graphs, p)
    sampled = model.sample(SAMPLED, rng, loops=loops).dense
    codes = (sampled[:, s, t] @ 2.0 ** np.arange(len(s))).astype(int)
    mean = p @ edges
    covariance = (edges * p[:, None]).T @ edges - np.outer(mean, mean)
    found: dict[str, Any] = {
        "components": model.n_components,
        "error": _error(model, graphs, p, loops),
        "pvalue": _pvalue(np.bincount(codes, minlength=len(p)), p),
        "covariance": float(np.abs(covariance - np.diag(np.diag(covariance))).max()),
        "dimension": int(np.linalg.matrix_rank(edges[p > 0])),
        "pairs": None,
    }
    if not loops:
        H = np.zeros((n, len(s)))
        H[s, np.arange(len(s))] = H[t, np.arange(len(s))] = np.sqrt(0.5)
        points = eg.models.PointMasses(2 * edges, p)
        smaller = eg.models.MultipleRandomEigenGraphs(H, points)
        found["pairs"] = {"components": len(s), "error": _error(smaller, graphs, p, loops)}
    return found


def _error(model: Any, graphs: Array, p: Array, loops: bool) -> float:
    return float(np.abs(np.exp(model.log_likelihood(graphs, loops=loops)) - p).max())


def _pvalue(counts: NDArray[np.int64], p: Array) -> float:
    """Compare frequencies with probabilities; graphs expected less than 5 times are one cell."""
    if counts[p == 0].any():
        return 0.0
    rare = counts.sum() * p < 5
    cells = np.append(counts[~rare], counts[rare].sum())
    expected = counts.sum() * np.append(p[~rare], p[rare].sum())
    used = expected > 0
    return float(stats.chisquare(cells[used], expected[used]).pvalue)


# ------------------------------------------------------------------------------- Theorem 3.1


def greedy(rng: Rng, *, n: int, m: int, kind: str, diagonal: str, repetition: int) -> Any:
    """Fit as many components as there are dimensions, n (n + 1) / 2; look at each as it is added.

    Lists over components: ``distance`` of h_k h_k^T (of norm 1) from the span of the earlier
    ones, ``loading``, the largest |Lambda_ik| of eq. 2 beside the norm of what was left of its
    graph, and ``excess``, how far that is above the distance. For hollow graphs, which the search
    sees with filled diagonals, ``hollow distance`` is that of the pairs s != t, from which the
    reported loadings are taken, and ``reported`` the largest of these beside the largest norm.
    ``left`` is the relative residual at the end.
    """
    A = _stack(rng, n, m, kind)
    if diagonal == "filled":
        A[:, np.arange(n), np.arange(n)] = 0.0
    d = n * (n + 1) // 2
    fit = embed(A, d, repetition, diagonal=diagonal)  # with components beyond what A holds
    H = fit.latent_positions_
    terms = np.einsum("sk,tk->kst", H, H)
    searched = A.copy()
    if diagonal == "filled":
        searched[:, np.arange(n), np.arange(n)] = A.sum(axis=2) / (n - 1)
    distances, loadings, excess = _added(terms, searched)
    hollow = terms * (1 - np.eye(n))
    size = np.linalg.norm(A, axis=(1, 2)).max()
    left = A - np.einsum("sk,ik,tk->ist", H, fit.loadings_, H)
    if diagonal == "filled":
        left *= 1 - np.eye(n)
    return {
        "distance": distances,
        "loading": loadings,
        "excess": excess,
        "hollow distance": _added(hollow, A)[0] if diagonal == "filled" else None,
        "reported": (np.abs(fit.loadings_).max(axis=0) / size).tolist(),
        "left": float(np.linalg.norm(left) / np.linalg.norm(A)),
        "exhausted": fit.stop_reason_.count("exhausted"),
    }


def dependent(rng: Rng, *, n: int, draws: int) -> Any:
    """Add a term that depends on earlier ones, with residuals that are not zero: its loadings.

    Three vectors in a plane span all its rank-one terms, so a fourth in it depends on them.
    """
    largest = 0.0
    for _ in range(draws):
        plane = np.linalg.qr(rng.standard_normal((n, 2)))[0]
        h = np.column_stack([rng.standard_normal((n, 2)), plane @ rng.standard_normal((2, 4))])
        h /= np.linalg.norm(h, axis=0)
        terms = np.einsum("sk,tk->kst", h, h)
        distances, loadings, _ = _added(terms, _stack(rng, n, 5, "weighted"))
        assert distances[-1] < DEPENDENT < min(distances[:-1])
        largest = max(largest, loadings[-1])
    return largest


def _added(terms: Array, A: Array) -> tuple[list[float], list[float], list[float]]:
    """Return, as each term is added: its distance from the earlier, its loadings, their excess."""
    flat, graphs = terms.reshape(len(terms), -1), A.reshape(len(A), -1)
    size = float(np.linalg.norm(graphs, axis=1).max())
    distances, loadings, excess = [], [], []
    for k, term in enumerate(flat):
        unit = term / np.linalg.norm(term)
        basis = _basis(flat[:k])
        left = graphs - graphs @ basis.T @ basis
        distance = float(np.linalg.norm(unit - (basis @ unit) @ basis))
        norms = np.linalg.norm(left, axis=1)
        lam = np.abs(left @ unit)
        # What is left of a graph that is fitted exactly is rounding, and so is its loading.
        shares = lam / np.where(norms > 1e-7 * size, norms, size)
        distances.append(distance)
        loadings.append(float(shares.max()))
        excess.append(float((lam - distance * norms).max() / size))
    return distances, loadings, excess


def _basis(flat: Array) -> Array:
    """Return an orthonormal basis of the span of the rows, as rows."""
    if not len(flat):
        return np.zeros((0, flat.shape[1]))
    _, values, V = np.linalg.svd(flat, full_matrices=False)
    return V[values > 1e-9 * values[0]]


def _stack(rng: Rng, n: int, m: int, kind: str) -> Array:
    if kind == "three components":
        H = np.linalg.qr(rng.standard_normal((n, 3)))[0]
        return np.einsum("sk,ik,tk->ist", H, rng.uniform(0.5, 2.0, (m, 3)), H)
    X = rng.standard_normal((m, n, n)) if kind == "weighted" else rng.integers(0, 2, (m, n, n))
    upper = np.triu(X).astype(np.float64)
    return upper + np.triu(upper, 1).transpose(0, 2, 1)


# ------------------------------------------------------------------------------- Theorems 4.1, 4.2


def _population(design: str, loops: bool) -> PopulationObjective:
    h1 = DESIGNS[design] / np.linalg.norm(DESIGNS[design])
    low, high = (share / float(h1.max()) ** 2 for share in LOADINGS)
    # The second moment of a uniform variable.
    return PopulationObjective(h1, (low + high) / 2, (low**2 + low * high + high**2) / 3, loops)


def converge(rng: Rng, *, design: str, repetition: int, largest: int) -> Any:
    """Embed the first 16, 32, ... graphs of a sample; compare with h' and with h_1.

    By treatment: distances of the estimate from the population minimizer h', up to sign, for
    graphs with loops and hollow ones taken as they are; and from h_1 for all three. Algorithm 1
    is the paper's, and is quick for one component.
    """
    with_loops, hollow = _population(design, True), _population(design, False)
    h1 = with_loops.h1
    low, high = (share / float(h1.max()) ** 2 for share in LOADINGS)
    model = eg.models.MultipleRandomEigenGraphs(
        h1[:, None], rng.uniform(low, high, size=(largest, 1))
    )
    A = model.sample(random_state=rng, loops=True).dense
    A0 = A.copy()
    A0[:, np.arange(h1.size), np.arange(h1.size)] = 0.0
    cases = {
        "observed": (A, "observed", with_loops.minimizer().vector),
        "hollow": (A0, "observed", hollow.minimizer().vector),
        "filled": (A0, "filled", None),
    }
    found: dict[str, Any] = {}
    for treatment, (graphs, diagonal, limit) in cases.items():
        from_limit, from_truth = [], []
        for m in sizes_to(largest):
            fit = embed(graphs[:m], 1, repetition, diagonal=diagonal, solver="algorithm1")
            h = fit.latent_positions_[:, 0]
            from_truth.append(_up_to_sign(h, h1))
            if limit is not None:
                from_limit.append(_up_to_sign(h, limit))
        bias = None if limit is None else _up_to_sign(limit, h1)
        found[treatment] = {"limit": from_limit, "truth": from_truth, "bias": bias}
    return found


def bounds(rng: Rng, *, chunk: int, draws: int) -> Any:  # noqa: ARG001 - a stream of its own
    """Check Theorem 4.2 and both lemmas at h' of random designs, with and without loops.

    A design: 5 to 60 vertices, h_1 from even to concentrated, loadings constant or uniform, from
    sparse to as dense as probabilities allow.
    """
    return [_bound(rng) for _ in range(draws)]


def _bound(rng: Rng) -> dict[str, Any]:
    n = int(rng.integers(5, 61))
    u = rng.gamma(rng.choice([0.5, 2.0, 20.0]), size=n) + 0.01
    u /= np.linalg.norm(u)
    top = 10 ** rng.uniform(-1.5, 0) / float(u.max()) ** 2
    lam = top * (np.linspace(0, 1, 11) if rng.random() < 0.5 else np.ones(1))
    found: dict[str, Any] = {"n": n}
    for loops in (True, False):
        theory = PopulationObjective.from_loadings(u, lam, loops=loops)
        best = theory.minimizer(n_random=1)
        h = best.vector
        try:
            printed = theory.bound(h)
        except InputError:  # hollow graphs, for which the theorem is not proved
            printed = None
        apart, *bounds = theory.noise_distances(h)
        found["loops" if loops else "hollow"] = {
            "distance": best.distance,
            "printed": printed,
            "sharper": theory.distance_bound(),
            "other sign": float(np.linalg.norm(h + theory.h1)),
            "stationarity": best.stationarity,
            "eigenvector": theory.leads_spectrum(h),
            "norm": apart / bounds[0],
            "norm holds": bool(apart <= min(bounds) * (1 + EXACT)),
        }
    return found


def identity(rng: Rng, *, n: int, draws: int) -> Any:
    """Compare E(<A, hh^T> A | P), summed over all graphs, with the second lemma's two displays.

    ``corrected`` has h' in the diag term, ``printed`` h_1: largest differences of entries (for the
    printed one, the smallest over draws of these).
    """
    s, t, edges, A = _all_graphs(n, True)
    corrected, printed = [], []
    for _ in range(draws):
        h1 = rng.uniform(0.1, 1.0, n)
        h1 /= np.linalg.norm(h1)
        lam = rng.uniform(0.1, 1.0) / float(h1.max()) ** 2
        h = PopulationObjective.from_loadings(h1, [lam]).minimizer(n_random=0).vector
        P = lam * np.outer(h1, h1)
        weights = np.prod(np.where(edges == 1, P[s, t], 1 - P[s, t]), axis=1)
        forms = np.einsum("s,ist,t->i", h, A, h)
        exact = np.einsum("i,ist->st", weights * forms, A)
        variance = P * (1 - P)
        rest = 2 * np.outer(h, h) * variance + lam * (h1 @ h) ** 2 * P
        corrected.append(float(np.abs(exact - rest + np.diag(h**2 * np.diag(variance))).max()))
        printed.append(float(np.abs(exact - rest + np.diag(h1**2 * np.diag(variance))).max()))
    return {"corrected": max(corrected), "printed": min(printed)}


def _up_to_sign(h: Array, other: Array) -> float:
    return float(min(np.linalg.norm(h - other), np.linalg.norm(h + other)))


# ------------------------------------------------------------------------------- the experiment


def theory(run: Run) -> Outcome:
    """Build, fit and minimize what the theorems speak of, many times over."""
    graphs = [(3, True), (3, False), (4, False)] + ([(4, True)] if run.full else [])
    times = 5 if run.full else 1
    built = run.repeated(
        represent,
        {(n, loops, kind): {"n": n, "loops": loops, "kind": kind}
         for n, loops in graphs for kind in DISTRIBUTIONS},
        times,
    )  # fmt: skip
    sizes = (3, 4, 5, 6) if run.full else (3, 5)
    tasks = grid({"m": 6}, diagonal=("observed", "filled"), kind=STACKS, n=sizes)
    fits: dict[str, list[Any]] = {"observed": [], "filled": []}
    for (diagonal, _, _), found in run.repeated(greedy, tasks, times).items():
        fits[diagonal].append(found)
    forced = run.repeat(dependent, ({"n": n, "draws": 20 * times} for n in (4, 6, 10)))
    largest, repetitions = (2**14, 10) if run.full else (2**8, 3)
    by_design = run.repeated(converge, grid({"largest": largest}, design=DESIGNS), repetitions)
    chunks = run.repeat(bounds, ({"chunk": i, "draws": 4} for i in range(50 if run.full else 2)))
    designs = [one for chunk in chunks for one in chunk]
    sums = run.repeat(identity, ({"n": n, "draws": 4 * times} for n in (3, 4)))
    m = sizes_to(largest)
    return Outcome(
        [*_represented(built), *_independent(fits, forced), *_converged(by_design, m),
         *_bounded(designs), *_lemmas(designs, sums)],
        _tables(built, by_design, designs, m),
        _picture(m, by_design, designs, fits),
        {"first": m[0], "last": m[-1]},
    )  # fmt: skip


def _represented(built: dict[Any, Any]) -> list[Finding]:
    error, pvalue = (np.concatenate([found[what] for found in built.values()])
                     for what in ("error", "pvalue"))  # fmt: skip
    count, error, pvalue = error.size, error.max(), pvalue.min()
    pairs = max(
        found["pairs"]["error"].max() for (_, loops, _), found in built.items() if not loops
    )
    need = {(n, loops): found["dimension"][-1] for (n, loops, kind), found in built.items()
            if kind == "one edge at most"}  # fmt: skip
    sharp = all(k == n * (n + (1 if loops else -1)) // 2 for (n, loops), k in need.items())
    return [
        judged(
            "theory.any",
            f"{count} random distributions on all graphs of 3 and 4 vertices: the probability "
            f"of every graph within {error:.0e}; sampled frequencies agree (smallest of "
            f"{count} p-values {pvalue:.2g})",
            error <= EXACT and pvalue * count > RATE,
        ),
        judged(
            "theory.enough",
            f"without loops n (n - 1) / 2 are enough (within {pairs:.0e}); where at most one edge "
            "or loop occurs, at least "
            + ", ".join(
                f"{k} for n = {n} {'with' if loops else 'without'} loops"
                for (n, loops), k in need.items()
            )
            + " are needed",
            not (sharp and pairs <= EXACT),
        ),
    ]


def _all(fits: list[Any], what: str) -> Array:
    """Return one kind of numbers of all fits."""
    return np.concatenate([found[what].ravel() for found in fits])


def _independent(fits: dict[str, list[Any]], forced: list[float]) -> list[Finding]:
    #: Distance from the span and largest loading of every component of the observed fits.
    d, lam = (_all(fits["observed"], what) for what in ("distance", "loading"))
    loaded = lam > DEPENDENT
    excess = max(_all(found, "excess").max() for found in fits.values())
    hollow, reported = (_all(fits["filled"], what) for what in ("hollow distance", "reported"))
    beyond = reported[hollow <= DEPENDENT]
    return [
        judged(
            "theory.independent",
            f"observed: of {lam.size} components, {loaded.sum()} have loadings and are at least "
            f"{d[loaded].min():.2g} (of 1) from the span of the earlier, {(~loaded).sum()} have "
            f"none; a dependent term that is forced gets loadings below {max(forced):.0e}",
            d[loaded].min() > DEPENDENT and max(forced) < 1e-9,
            "fits with n (n + 1) / 2 components, all that there can be: they leave "
            f"{_all(fits['observed'], 'left').max():.0e} of the norm. More are refused by this "
            "library",
        ),
        new(
            "theory.near",
            "all loadings are within distance from the span times norm of the residual (largest "
            f"excess {max(excess, 0.0):.0e})",
        ),
        new(
            "theory.hollow",
            f"filled: the components of the search are independent, but {beyond.size} of "
            f"{hollow.size}, those beyond n (n - 1) / 2, are dependent on the pairs s != t, and "
            f"their reported loadings are not zero (up to {beyond.max(initial=0.0):.2f} of the "
            "largest graph's norm)",
        ),
    ]


def slopes(limit: Array, m: list[int]) -> Array:
    """Return for each repetition the slope of log distance from h', (repetitions, sizes)."""
    return np.polyfit(np.log(m), np.log(limit).T, 1)[0]


def _converged(by_design: dict[str, Any], m: list[int]) -> list[Finding]:
    words, good = [], True
    for treatment in ("observed", "hollow"):
        limits = [found[treatment]["limit"] for found in by_design.values()]
        words.append(f"{treatment}: {', '.join(measured(slopes(x, m), 2) for x in limits)}")
        falls = [x.mean(axis=0)[-1] / x.mean(axis=0)[0] for x in limits]
        good = good and max(falls) < 2 * np.sqrt(m[0] / m[-1])
    truth = {t: ", ".join(f"{found[t]['truth'][:, -1].mean():.3f}" for found in by_design.values())
             for t in TREATMENTS}  # fmt: skip
    return [
        judged(
            "theory.converges",
            f"slopes of log distance from h' against log m, {len(by_design)} designs: "
            + "; ".join(words),
            good,
        ),
        new(
            "theory.limit",
            f"distances from h_1 at m = {m[-1]}: "
            + "; ".join(f"{t} {distances}" for t, distances in truth.items()),
        ),
    ]


def _bounded(designs: list[Any]) -> list[Finding]:
    loops, hollow = (gathered([one[kind] for one in designs]) for kind in ("loops", "hollow"))
    ratio = (loops["distance"] / loops["printed"]).max()
    sharper = (loops["distance"] / loops["sharper"]).max()
    gain = np.median(loops["printed"] / loops["sharper"])
    opposite = (loops["other sign"] > loops["printed"]).sum()
    printed = hollow["printed"].astype(float)  # nan where it is not proved
    proved = np.isfinite(printed)
    hollow_ratio = (hollow["distance"] / printed).max(where=proved, initial=0.0)
    hollow_sharper = (hollow["distance"] / hollow["sharper"]).max()
    paper = PopulationObjective.erdos_renyi(100, 0.5)
    intervals = " u ".join(f"[{low:.2f}, {high:.2f}]" for low, high in paper.allowed_distances())
    return [
        judged(
            "theory.bound",
            f"{len(designs)} random designs: largest ratio of left to right {ratio:.2f}; with the "
            f"other sign of h', also a minimizer, the inequality fails in {opposite}",
            ratio <= 1,
        ),
        judged(
            "theory.er",
            f"{intervals}; the minimizer is within {max(paper.minimizer().distance, 1e-15):.0e} of "
            f"h_1, and a bound that needs no h' says {paper.distance_bound():.1e}",
            intervals == "[0.00, 0.04] u [1.28, 1.52]",
        ),
        new(
            "theory.interval",
            "||h' - h_1|| <= 2 sin(phi / 2), sin(phi) = 2 E(lambda) max h_1^2 / (E(lambda^2) + "
            f"noise): largest ratio {sharper:.2f}, smaller than the printed bound by a factor of "
            f"{gain:.1f} (median). Hollow: {hollow_sharper:.2f} for its own such bound; the "
            f"printed one is proved in {proved.sum()} of {len(proved)} designs, ratio "
            f"{hollow_ratio:.2f}",
        ),
    ]


def _lemmas(designs: list[Any], sums: list[Any]) -> list[Finding]:
    checks = gathered([one[kind] for one in designs for kind in ("loops", "hollow")])
    first, second = (checks[what].sum() for what in ("eigenvector", "norm holds"))
    count, norm = len(checks["norm"]), checks["norm"].max()
    corrected = max(one["corrected"] for one in sums)
    printed = min(one["printed"] for one in sums)
    return [
        judged(
            "theory.lemmas",
            f"hold in {first} and {second} of {count} cases with and without loops (for "
            "these with the diagonal of h_1 h_1^T left out); the largest distance is "
            f"{norm:.2f} of the second bound",
            first == second == count,
        ),
        judged(
            "theory.second",
            f"summed over all graphs of 3 and 4 vertices, it is off by {printed:.0e} or more; with "
            f"diag(h'h'^T * P * (J - P)) it holds within {corrected:.0e}",
            not corrected <= EXACT < printed,
        ),
    ]


def _tables(
    built: dict[Any, Any], by_design: dict[str, Any], designs: list[Any], m: list[int]
) -> list[Table]:
    rows: list[Any] = []
    for (n, loops, kind), of in built.items():
        pairs = (
            (None, None) if loops else (of["pairs"]["components"][0], of["pairs"]["error"].max())
        )
        rows.append((
            n, "yes" if loops else "no", kind, of["components"][0], of["error"].max(),
            of["pvalue"].min(), of["covariance"].max(), *pairs,
            of["dimension"][0] if kind == "one edge at most" else None,
        ))  # fmt: skip
    estimates: list[Any] = []
    slope_rows: list[Any] = []
    for design, found in by_design.items():
        for treatment, one in found.items():
            limit, truth = one["limit"], one["truth"]
            known = limit.size > 0  # there is no h' of filled graphs
            slope = measured(slopes(limit, m), 3) if known else None
            slope_rows.append((design, treatment, slope, one["bias"][0], measured(truth[:, -1], 4)))
            for i, size in enumerate(m):
                near = mean_and_error(limit[:, i]) if known else (None, None)
                estimates.append((design, size, treatment, *near, *mean_and_error(truth[:, i])))
    return [
        Table(rows), Table(estimates, "estimates", shown=False), Table(slope_rows, "slopes"),
        Table([(one["n"], *(one[kind][name] for kind in ("loops", "hollow")
                            for name in ("distance", "printed", "sharper"))) for one in designs],
              "bounds", shown=False),
    ]  # fmt: skip


def _picture(
    m: list[int], by_design: dict[str, Any], designs: list[Any], fits: dict[str, Any]
) -> Any:
    """Draw one panel for each theorem: 3.1, 4.1 and 4.2."""
    figure, (independence, convergence, bound) = drawing.figure(7.4, 2.9, 1, 3)
    for (diagonal, found), marker, color in zip(fits.items(), "ox", drawing.COLORS, strict=False):
        x, y = (_all(found, what) for what in ("distance", "loading"))
        independence.plot(x, y, marker, color=color, alpha=0.4, markersize=2.5, label=diagonal)
    independence.plot([0, 1], [0, 1], color=drawing.GRAY, linewidth=0.8)
    drawing.tidy(independence, r"distance of $h_k h_k^T$ from the span",
                 "largest loading / residual", "Theorem 3.1", legend=True)  # fmt: skip
    first = []
    for (design, found), color in zip(by_design.items(), drawing.COLORS, strict=False):
        for treatment, line, marker in (("observed", "-", "o"), ("hollow", ":", "x")):
            x = found[treatment]["limit"]
            label = design if treatment == "observed" else ""
            drawing.band(convergence, m, x, label, color, line, marker)
            first.append(float(x.mean(axis=0)[0]))
    guide = 1.8 * max(first) * np.sqrt(m[0] / np.array(m))
    convergence.plot(m, guide, color=drawing.GRAY, linewidth=0.8)
    convergence.text(m[-2], guide[-2] * 1.2, r"$m^{-1/2}$", color=drawing.GRAY)
    convergence.set_ylim(bottom=0.12 * guide[-1] * min(first) / max(first))  # room for the legend
    drawing.tidy(convergence, "number of graphs m", r"$\|\hat h^m - h'\|$",
                 "Theorem 4.1 (dotted: hollow)", scales="2y")  # fmt: skip
    convergence.legend(loc="lower left")
    for color, (kind, what, marker, label) in zip(drawing.COLORS, (
        ("loops", "printed", "o", "with loops"),
        ("hollow", "printed", "x", "hollow"),
        ("loops", "sharper", "+", "with loops, sharper bound"),
    ), strict=False):  # fmt: skip
        chosen = [one[kind] for one in designs if one[kind][what] is not None]
        bound.plot([one[what] for one in chosen], [one["distance"] for one in chosen], marker,
                   color=color, markersize=3, alpha=0.7, label=label)  # fmt: skip
    ends = np.array([min(one["loops"]["distance"] for one in designs), np.sqrt(2)])
    bound.plot(ends, ends, color=drawing.GRAY, linewidth=0.8)
    drawing.tidy(bound, "bound", r"$\|h' - h_1\|$", "Theorem 4.2", scales="xy")
    bound.set_ylim(bottom=ends[0] / 300)  # room for the legend
    bound.legend(loc="lower right")
    return figure
