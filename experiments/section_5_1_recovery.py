"""Section 5.1: Figures 2 and 3, Table 1, and what hollow graphs do to the same design.

The design: 20 vertices, three components, loadings uniform on 8-16, 0-2 and 0-1. All is reported
for graphs with self-loops, which the loss counts (the paper), and without (what users have).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

import eigengraphs as eg
from eigengraphs.models.paper import LOADINGS_5_1, SECTION_5_1
from experiments import drawing
from experiments.frame import (
    Finding,
    Outcome,
    Run,
    Table,
    claim,
    embed,
    grid,
    judged,
    new,
    published,
)  # fmt: skip
from experiments.repetitions import Array, Rng, error_of, mean_and_error, measured

#: The two treatments that every simulation reports: the paper's letter, and what users have.
DIAGONALS = ("observed", "filled")
SOLVERS = ("subspace", "algorithm1")
PLATEAU = {1: 0.1, 2: 0.2}  # of h_2 and h_3 in Figure 2, as the paper prints them
#: Table 1: settings of the estimator by row; the first four are the paper's.
STARTS: dict[str, dict[str, Any]] = {
    "SVD": {"solver": "algorithm1", "init": "svd"},
    "1 random": {"solver": "algorithm1", "init": "random"},
    "best of 10 random": {"solver": "algorithm1", "init": "random", "n_init": 10},
    "truth": {"solver": "algorithm1", "init": SECTION_5_1},
    "subspace": {"solver": "subspace"},
    "subspace from SVD": {"solver": "subspace", "init": "svd"},
}
PAPER = published("table1")  # objective and seconds
#: Experiment ``hollow``: self-loops drawn or not, and the estimator's ``diagonal``.
CASES = {
    "loops, observed": (True, "observed"),
    "hollow, observed": (False, "observed"),
    "hollow, filled": (False, "filled"),
    "hollow, unobserved": (False, "unobserved"),
}


def draw(m: int, rng: Rng, *, loops: bool) -> tuple[eg.GraphStack, Array]:
    """Draw m graphs and their loadings, (m, 3)."""
    low, high = zip(*LOADINGS_5_1, strict=True)
    Lam = rng.uniform(low, high, size=(m, 3))
    model = eg.models.MultipleRandomEigenGraphs(SECTION_5_1, Lam)
    return model.sample(random_state=rng, loops=loops), Lam


def _fit(graphs: eg.GraphStack, diagonal: str, seed: int, d: int = 3, **settings: Any) -> Any:
    treat = "observed" if diagonal == "observed" else "auto"
    return embed(graphs, d, seed, diagonal=treat, **settings)


def _signed(H: Array) -> Array:
    return H * np.where((H * SECTION_5_1).sum(axis=0) < 0, -1.0, 1.0)


# ------------------------------------------------------------------------------- Figure 2


def sizes_to(largest: int) -> list[int]:
    """Return the numbers of graphs: 16, doubled until ``largest``."""
    return [2**k for k in range(4, largest.bit_length())]


def grow(rng: Rng, *, repetition: int, diagonal: str, largest: int) -> Any:
    """Fit the first 16, 32, ... of ``largest`` graphs; compare with the truth and the fit before.

    Components are taken in the order in which they are found, as in the paper, with their signs
    set by the truth. ``bias`` and ``change`` are lists over sizes of one value per component.
    """
    graphs, _ = draw(largest, rng, loops=diagonal == "observed")
    found = {}
    for solver in SOLVERS:
        fits = (_fit(graphs[:m], diagonal, repetition, solver=solver) for m in sizes_to(largest))
        H = np.array([_signed(fit.latent_positions_) for fit in fits])
        change = np.minimum(np.linalg.norm(H[1:] - H[:-1], axis=1),
                            np.linalg.norm(H[1:] + H[:-1], axis=1))  # fmt: skip
        bias = np.linalg.norm(H - SECTION_5_1, axis=1)
        found[solver] = {"bias": bias.tolist(), "change": change.tolist()}
    return found


def figure2(run: Run) -> Outcome:
    """Bias of the positions, and their change: 2^4 to 2^12 graphs, 20 times, by both solvers."""
    largest, repetitions = (4096, 20) if run.full else (512, 3)
    #: (repetitions, sizes, 3) by diagonal, solver and what.
    values = run.repeated(grow, grid({"largest": largest}, diagonal=DIAGONALS), repetitions)
    m = sizes_to(largest)
    rows = [
        (diagonal, solver, size, f"h{k + 1}", *mean_and_error(x["bias"][:, i, k]),
         *(mean_and_error(x["change"][:, i - 1, k]) if i else (None, None)))
        for diagonal, found in values.items() for solver, x in found.items()
        for i, size in enumerate(m) for k in range(3)
    ]  # fmt: skip
    return Outcome(
        [one for diagonal in DIAGONALS for one in _bias_findings(diagonal, m, values[diagonal])],
        [Table(rows, shown=False)],
        _bias_picture(m, values),
    )


def _bias_findings(diagonal: str, sizes: list[int], values: dict[str, Any]) -> list[Finding]:
    bias, change = (values["subspace"][what] for what in ("bias", "change"))
    algorithm1 = values["algorithm1"]["bias"]
    m, few = sizes[-1], sizes.index(64)
    ours, theirs = bias[:, few, 2], algorithm1[:, few, 2]
    # A plateau is a ratio near 1 over two doublings; errors that fall as the root of m halve.
    ratios = [bias[:, -1, k] / bias[:, -3, k] for k in PLATEAU]
    falling = all(ratio.mean() + 2 * error_of(ratio) < 0.8 for ratio in ratios)
    changes = change.mean(axis=0)
    below = all(bias[:, -1, k].mean() <= plateau for k, plateau in PLATEAU.items())
    apart = float(np.abs(bias[:, -1] - algorithm1[:, -1]).max())
    if falling:
        reason = (
            "the errors keep falling with m: the plateau is not that of the optimum. Both solvers "
            f"end in the same place (largest difference in bias {apart:.1e})"
        )
    else:
        reason = "the errors fall by less than a fifth over two doublings"
    return [
        judged(
            "figure2.converge",
            f"{diagonal}: at m = {m}, " + ", ".join(measured(change[:, -1, k]) for k in range(3)),
            (changes[-1] < 0.5 * changes.max(axis=0)).all(),
        ),
        Finding(
            claim("figure2.plateau"),
            f"{diagonal}: at m = {m}, {measured(bias[:, -1, 1])} and {measured(bias[:, -1, 2])}, "
            f"which is {measured(ratios[0])} and {measured(ratios[1])} of that at m = {m // 4}",
            ("better" if below else "differs") if falling else "reproduced",
            reason,
        ),
        new(
            "figure2.solvers",
            f"{diagonal}: at m = 64, error of h_3 {measured(ours)} by the subspace solver "
            f"and {measured(theirs)} by Algorithm 1",
            "with few graphs the highest maxima of the objective are noise; the start from the "
            "SVD of the mean stays nearer to the truth than a search for the highest maximum"
            if ours.mean() > theirs.mean()
            else "both find the component equally well",
        ),
    ]


def _bias_picture(m: list[int], values: dict[str, Any]) -> Any:
    figure, axes = drawing.figure(7.2, 5.0, 2, 2, sharex=True, sharey="row")
    labels = {"bias": r"$\|\hat h_k^m - h_k\|$", "change": r"$\|\hat h_k^m - \hat h_k^{m/2}\|$"}
    for column, diagonal in enumerate(DIAGONALS):
        for row, (what, label) in enumerate(labels.items()):
            panel = axes[row, column]
            for k in range(3):
                for solver, style, marker in zip(SOLVERS, "-:", "ox", strict=True):
                    x = values[diagonal][solver][what][..., k]
                    drawing.band(panel, m[-x.shape[1] :], x, f"$h_{k + 1}$, {solver}",
                                 drawing.COLORS[k], style, marker)  # fmt: skip
            for k, plateau in PLATEAU.items() if what == "bias" else ():
                panel.axhline(plateau, color=drawing.COLORS[k], linewidth=0.7, alpha=0.6,
                              label=f"$h_{k + 1}$, the paper's plateau")  # fmt: skip
            drawing.tidy(panel, "number of graphs m" if row else "", "" if column else label,
                         "" if row else drawing.LOOPS[diagonal], scales="2y")  # fmt: skip
    drawing.legend_below(figure, axes[0, 0], 4)
    return figure


# ------------------------------------------------------------------------------- Figure 3


def oracle(rng: Rng, *, repetition: int, diagonal: str, m: int) -> Any:
    """Estimate the first loadings with the fitted h_1 and with the true one; return differences.

    Also the root mean square errors of both against the loadings that were drawn.
    """
    graphs, Lam = draw(m, rng, loops=diagonal == "observed")
    estimated = _fit(graphs, diagonal, repetition, d=1).loadings_[:, 0]
    h = SECTION_5_1[:, 0]
    known = np.einsum("s,ist,t->i", h, graphs.dense, h)
    if diagonal != "observed":  # least squares on the pairs s != t, as the library's loadings
        known = known / (1.0 - (h**4).sum())
    errors = [float(np.sqrt(((x - Lam[:, 0]) ** 2).mean())) for x in (estimated, known)]
    return {"difference": (estimated - known).tolist(), "errors": errors}


def figure3(run: Run) -> Outcome:
    """First loadings with the estimated first component, against the oracle that knows it."""
    sizes, repetitions = ((16, 64, 256, 1024, 4096), 20) if run.full else ((16, 64, 256), 3)
    found = run.repeated(oracle, grid({}, diagonal=DIAGONALS, m=sizes), repetitions)
    gaps = {key: results["difference"].ravel() for key, results in found.items()}
    rows = [
        (*key, float(gaps[key].mean()), float(gaps[key].std()), float(np.abs(gaps[key]).max()),
         *map(measured, results["errors"].T))
        for key, results in found.items()
    ]  # fmt: skip
    findings = []
    figure, axes = drawing.figure(7.2, 2.8, 1, 2, sharey=True)
    for panel, diagonal in zip(axes, DIAGONALS, strict=True):
        results = found[diagonal, sizes[-1]]
        typical = np.sqrt((results["difference"] ** 2).mean(axis=1))
        noise = results["errors"][:, 1].mean()
        findings.append(
            judged(
                "figure3.small",
                f"{diagonal}: at m = {sizes[-1]}, root mean square {measured(typical, 4)}, beside "
                f"an error of {noise:.3f} of the oracle itself",
                np.mean(typical) < 0.1 * noise,
            )
        )
        shown = [gaps[diagonal, m] for m in sizes]
        for body in panel.violinplot(shown, showextrema=False, widths=0.8)["bodies"]:
            body.set(facecolor=drawing.COLORS[0], alpha=0.35)
        panel.boxplot(shown, widths=0.12, showfliers=False,
                      medianprops={"color": drawing.COLORS[1]})  # fmt: skip
        panel.set_xticks(range(1, len(sizes) + 1), [str(m) for m in sizes])
        drawing.tidy(panel, "number of graphs m", "", drawing.LOOPS[diagonal])
    axes[0].set_ylabel("estimated minus oracle")
    return Outcome(
        findings,
        [Table(rows)],
        figure,
    )


# ------------------------------------------------------------------------------- Table 1


def start(rng: Rng, *, repetition: int, diagonal: str) -> Any:
    """Embed 16 graphs from every start; the loss on 16 others, and the seconds that it took."""
    train, test = (draw(16, rng, loops=diagonal == "observed")[0] for _ in range(2))
    total = float((test.dense**2).sum())
    found = {}
    for name, settings in STARTS.items():
        begin = time.perf_counter()
        fit = _fit(train, diagonal, repetition, **settings)
        seconds = time.perf_counter() - begin
        found[name] = {
            "objective": (1.0 - fit.score(test)) * total,
            "training": float(fit.objective_path_[-1]),
            "seconds": seconds,
        }
    return found


def table1(run: Run) -> Outcome:
    """Four starts of Algorithm 1, and the subspace solver: the loss on 16 other graphs."""
    repetitions = 100 if run.full else 20
    #: (repetitions,) by diagonal, start and kind.
    found = run.repeated(start, grid({}, diagonal=DIAGONALS), repetitions, timed=True)
    rows: list[Any] = []
    findings: list[Finding] = []
    figure, axes = drawing.figure(7.2, 2.9, 1, 2, sharey=True)
    for panel, diagonal in zip(axes, DIAGONALS, strict=True):
        results = found[diagonal]
        rows += _start_rows(diagonal, results)
        findings += _start_findings(diagonal, results)
        truth = results["truth"]["objective"]
        gaps = [100 * (results[name]["objective"] / truth - 1) for name in STARTS]
        panel.axvline(0, color=drawing.GRAY, linewidth=0.8)
        panel.boxplot(gaps, orientation="horizontal", showfliers=True, widths=0.5,
                      flierprops={"markersize": 2}, medianprops={"color": drawing.COLORS[1]},
                      showmeans=True)  # fmt: skip
        panel.set_yticks(range(1, len(STARTS) + 1), list(STARTS))
        drawing.tidy(panel, "test objective over the truth start's (%)", "",
                     drawing.LOOPS[diagonal])  # fmt: skip
    axes[0].invert_yaxis()
    return Outcome(
        findings,
        [Table(rows)],
        figure,
    )


def _better(first: Any, second: Any) -> float:
    """Return the p-value of ``first`` having the smaller objective, paired by repetition."""
    gap = first["objective"] - second["objective"]
    # Equal results (to rounding, not to taste) say nothing about who is better.
    gap = np.where(np.abs(gap) < 1e-9 * second["objective"], 0.0, gap)
    return 1.0 if not gap.any() else float(wilcoxon(gap, alternative="less").pvalue)


def _start_rows(diagonal: str, results: dict[str, Any]) -> list[Any]:
    truth = results["truth"]["objective"].mean()
    return [
        (diagonal, name, measured(values["objective"], 2),
         f"{values['objective'].mean() / truth:.5f}",
         f"{PAPER[name][0] / PAPER['truth'][0]:.5f}" if name in PAPER else None,
         measured(values["training"], 2), measured(values["seconds"], 4),
         *(None if name == other else f"{_better(values, results[other]):.2g}"
           for other in ("1 random", "best of 10 random")))
        for name, values in results.items()
    ]  # fmt: skip


def _start_findings(diagonal: str, results: dict[str, Any]) -> list[Finding]:
    def over_truth(name: str) -> float:
        return results[name]["objective"].mean() / results["truth"]["objective"].mean() - 1

    findings = []
    for other in ("1 random", "best of 10 random"):
        pair = [_better(results[name], results[other]) for name in ("SVD", "truth")]
        printed = PAPER[other][0] / PAPER["truth"][0] - 1
        findings.append(judged(
            f"starts from the SVD and the truth are significantly better than {other}",
            f"{diagonal}: Wilcoxon p = {pair[0]:.2g} and {pair[1]:.2g}; {other} is "
            f"{over_truth(other):.2%} above the truth (the paper: {printed:.1%})",
            max(pair) < 0.01,
            "the effect is smaller than printed; perhaps because Algorithm 1 runs to convergence "
            "here, so that only other local optima are left",
            "run to convergence, random starts end in optima as good on new graphs",
        ))  # fmt: skip
    times = {name: np.median(values["seconds"]) for name, values in results.items()}
    ratios = ", ".join(f"{name} {times[name] / times['truth']:.1f} (the paper: "
                       f"{PAPER[name][1] / PAPER['truth'][1]:.1f})"
                       for name in ("SVD", "1 random", "best of 10 random"))  # fmt: skip
    lower = results["truth"]["training"].mean() / results["subspace"]["training"].mean() - 1
    return [
        *findings,
        judged(
            "table1.times",
            f"{diagonal}: median time over that of the start from the truth: {ratios}",
            5 < times["best of 10 random"] / times["truth"] < 20,
        ),
        new(
            "table1.subspace",
            f"{diagonal}: test objective {over_truth('subspace'):+.3%} of the truth start's, "
            f"{over_truth('subspace from SVD'):+.3%} when it starts from the SVD; median time "
            f"{times['subspace'] / times['SVD']:.2f} of Algorithm 1 from the SVD",
            f"it finds lower training objectives than the start from the truth ({lower:.2%}), and "
            "what it gains there is noise of the 16 graphs",
        ),
    ]


# ------------------------------------------------------------------------------- hollow graphs


def step(rng: Rng, *, repetition: int, m: int) -> dict[str, Any]:
    """Return the errors of h_1 to h_3 and the mean errors of the loadings, by case."""
    found = {}
    for case, (loops, diagonal) in CASES.items():
        graphs, Lam = draw(m, rng, loops=loops)
        fit = eg.JointEmbedding(3, diagonal=diagonal, random_state=repetition).fit(graphs)
        H = _signed(fit.latent_positions_)
        found[case] = {
            "error": np.linalg.norm(H - SECTION_5_1, axis=0).tolist(),
            "bias": (fit.loadings_ - Lam).mean(axis=0).tolist(),
        }
    return found


def hollow(run: Run) -> Outcome:
    """Fit graphs with and without self-loops, under every treatment of the diagonal."""
    sizes, repetitions = ((64, 256, 1024, 4096), 20) if run.full else ((64, 256, 1024), 3)
    #: (repetitions, 3) by number of graphs, case and what.
    values = run.repeated(step, grid({}, m=sizes), repetitions)
    last = sizes[-1]

    def words(case: str) -> str:
        return " and ".join(measured(values[last][case]["error"][:, k]) for k in (1, 2))

    naive, filled = (values[last][f"hollow, {diagonal}"]["error"].mean(axis=0)
                     for diagonal in ("observed", "filled"))  # fmt: skip
    figure, axes = drawing.figure(7.2, 2.6, 1, 3, sharey=True)
    for k, panel in enumerate(axes):
        for color, case in zip(drawing.COLORS, CASES, strict=False):
            errors = np.stack([values[m][case]["error"][:, k] for m in sizes], axis=1)
            drawing.band(panel, sizes, errors, case, color)
        drawing.tidy(panel, "number of graphs m", "" if k else "error of the component",
                     f"$h_{k + 1}$", scales="2y")  # fmt: skip
    axes[0].legend()
    rows = [
        (case, m, *(measured(values[m][case][what][:, k]) for what in ("error", "bias")
                    for k in range(3))) for case in CASES for m in sizes
    ]  # fmt: skip
    return Outcome(
        [
            judged(
                "hollow.theory",
                f"at m = {last}, errors of h_2 and h_3: with loops {words('loops, observed')}; "
                f"hollow graphs by the letter of eq. 1 {words('hollow, observed')}",
                naive[1] <= 1.0,
            ),
            new(
                "hollow.filled",
                f"at m = {last}, hollow graphs: filled {words('hollow, filled')}, unobserved "
                f"{words('hollow, unobserved')}",
                "with each diagonal entry at the mean of its row, hollow graphs do as well as "
                "graphs with loops"
                if (filled[1:] < 0.2).all()
                else "filling does not recover the components at this number of graphs",
            ),
        ],
        [Table(rows)],
        figure,
    )
