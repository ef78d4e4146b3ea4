"""Figure 8: joint latent positions of Wikipedia pages, by category."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from experiments import drawing, wiki_steps
from experiments.outcome import Finding, Outcome, Table, measured
from experiments.run import Run
from experiments.table2 import PAPER_CLASSES, PAPER_N, THINGS

__all__ = ["run"]

D = 3
Array = NDArray[np.float64]
Results = dict[tuple[str, int], Any]  # by diagonal and number of dimensions
CLASSES = (("people", drawing.COLOURS[0]), ("math", drawing.COLOURS[1]))


def run(run: Run) -> Outcome:
    """Fit three dimensions to both graphs; then more, to see where categories appear."""
    repetitions = 50 if run.full else 10
    more = (10, 30, 100) if run.full else (10,)
    keys = [(diagonal, d) for diagonal in ("auto", "observed") for d in (D, *more)]
    steps = run.repeat(
        wiki_steps.separate,
        ({"diagonal": diagonal, "d": d, "repetitions": repetitions} for diagonal, d in keys),
    )
    results: Results = dict(zip(keys, steps, strict=True))
    rows = tuple(
        (diagonal, str(d), measured(one["accuracy"]), measured(one["chance"]),
         f"{_majority(one):.3f}", f"{one['silhouette']:.3f}",
         *(f"{area:.3f}" for area in one["AUC"][:D]))
        for (diagonal, d), one in results.items()
    )  # fmt: skip
    return Outcome(
        "Joint latent positions of Wikipedia pages (section 5.4)",
        "graphs without self-loops. *observed*: zeros on the diagonal are data, as in the paper; "
        "*auto*: filled in the search, left out of the loss (this library's default; drawn).",
        tuple(_findings(results)),
        (Table(("diagonal", "d", "accuracy", "with shuffled labels", "larger class", "silhouette",
                *(f"AUC of {k + 1}" for k in range(D))), rows),),
        (_picture(run, results["auto", D]),),
        "704 pages, two classes (the paper's things and math terms are one). Accuracy: linear "
        "discriminant analysis of positions with rows of norm 1, 5-fold cross-validation; errors "
        f"over {repetitions} repetitions with other folds. Silhouette: of the classes, same "
        "positions; 1 is apart, 0 is mixed. AUC: area under the curve of each dimension alone.",
    )  # fmt: skip


def _findings(results: Results) -> Iterable[Finding]:
    for diagonal in ("auto", "observed"):
        yield _apart(diagonal, results[diagonal, D])
    yield _more(results)


def _majority(one: Any) -> float:
    """Return the accuracy of always guessing the larger class."""
    share = float(np.mean(one["labels"]))
    return max(share, 1 - share)


def _apart(diagonal: str, one: Any) -> Finding:
    """Judge by what could be told apart if math alone were: things would go with people."""
    n = len(one["labels"])
    accuracy, shuffled = float(np.mean(one["accuracy"])), float(np.mean(one["chance"]))
    error = float(np.sqrt(accuracy * (1 - accuracy) / n))
    guessing = max(shuffled, _majority(one))
    like_paper = (PAPER_CLASSES["people"] + PAPER_CLASSES["math"]) / PAPER_N
    apart = accuracy + 2 * error >= like_paper
    clear = accuracy - 2 * error > guessing
    best = int(np.argmax(one["AUC"]))
    return Finding(
        "the latent positions of math terms are separated from the others",
        f"{diagonal}: accuracy {accuracy:.3f} [{error:.3f}, of a share of {n} pages], beside "
        f"{_majority(one):.3f} by guessing the larger class and {measured(one['chance'])} with "
        f"shuffled labels; silhouette {one['silhouette']:.3f}; best dimension {best + 1}, area "
        f"{one['AUC'][best]:.3f}",
        "reproduced" if apart else "differs",
        f"as many are told apart as math terms would be by themselves, {like_paper:.2f}"
        if apart
        else f"accuracy {(accuracy - guessing) / error:+.1f} standard errors from guessing: "
        + ("better, but mixed" if clear else "not clearly better")
        + f". {THINGS[0].upper()}{THINGS[1:]}; that alone would leave math terms apart and an "
        f"accuracy of {like_paper:.2f}, which is not seen",
    )


def _more(results: Results) -> Finding:
    largest = max(d for _, d in results)
    return Finding(
        "(more dimensions are not in the paper) are the classes in the graphs at all?",
        "; ".join(f"{diagonal}, d = {d}: {measured(one['accuracy'])}"
                  for (diagonal, d), one in results.items()),
        "new",
        f"accuracy {'rises' if _rises(results, largest) else 'does not rise'} with d: the three "
        "strongest directions of these graphs are other groups than people and math",
    )  # fmt: skip


def _rises(results: Results, largest: int) -> bool:
    return all(np.mean(results[diagonal, largest]["accuracy"])
               > np.mean(results[diagonal, D]["accuracy"])
               + 2 * np.std(results[diagonal, D]["accuracy"])
               for diagonal in ("auto", "observed"))  # fmt: skip


def _picture(run: Run, one: Any) -> str:
    H, labels = np.array(one["H"]), np.array(one["labels"])
    groups = [labels == value for value in range(2)]
    figure, axes = drawing.figure(7.2, 6.8, D + 1, D + 1)
    margin = 0.12 * (H.max(axis=0) - H.min(axis=0))
    low, high = H.min(axis=0) - margin, H.max(axis=0) + margin  # every page is shown
    for j in range(D + 1):
        for k in range(D + 1):
            panel = axes[j, k]
            if j == k == D:
                panel.bar([name for name, _ in CLASSES], [group.sum() for group in groups],
                          color=[colour for _, colour in CLASSES], width=0.6)  # fmt: skip
                for x, group in enumerate(groups):
                    panel.annotate(str(group.sum()), (x, group.sum()), ha="center", va="bottom")
                panel.margins(y=0.15)
            elif j == D:
                _histograms(panel, H[:, k], groups, (low[k], high[k]))
            elif k == D:
                _boxes(panel, H[:, j], groups, (low[j], high[j]))
            elif j == k:
                _densities(panel, H[:, k], groups, (low[k], high[k]))
            else:
                for (name, colour), group in zip(CLASSES, groups, strict=True):
                    panel.scatter(H[group, k], H[group, j], s=3, lw=0, color=colour, alpha=0.5,
                                  label=name)  # fmt: skip
                panel.set(xlim=(low[k], high[k]), ylim=(low[j], high[j]))
            panel.tick_params(labelsize=6, length=2, pad=1)
    for k in range(D):
        axes[0, k].set_title(f"$h_{k + 1}$")
        axes[k, 0].set_ylabel(f"$h_{k + 1}$")
    axes[0, D].set_title("by category")
    axes[D, 0].set_ylabel("pages")
    handles, names = axes[0, 1].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, markerscale=3)
    return drawing.save(run, figure)


def _densities(panel: Any, h: Array, groups: list[Any], limits: tuple[float, float]) -> None:
    grid = np.linspace(*limits, 300)
    for (_, colour), group in zip(CLASSES, groups, strict=True):
        density = gaussian_kde(h[group])(grid)
        panel.plot(grid, density, color=colour, linewidth=1.0)
        panel.fill_between(grid, density, color=colour, alpha=0.2, linewidth=0)
    panel.set(xlim=limits)
    panel.set_ylim(bottom=0)


def _histograms(panel: Any, h: Array, groups: list[Any], limits: tuple[float, float]) -> None:
    panel.hist([h[group] for group in groups], bins=24, range=limits,
               color=[colour for _, colour in CLASSES])  # fmt: skip
    panel.set(xlim=limits)


def _boxes(panel: Any, h: Array, groups: list[Any], limits: tuple[float, float]) -> None:
    boxes = panel.boxplot([h[group] for group in groups], widths=0.5, patch_artist=True,
                          flierprops={"markersize": 1.5, "markeredgewidth": 0.4},
                          medianprops={"color": "black"})  # fmt: skip
    for box, (_, colour) in zip(boxes["boxes"], CLASSES, strict=True):
        box.set(facecolor=colour, alpha=0.6)
    panel.set_xticks([1, 2], [name for name, _ in CLASSES])
    panel.set(ylim=limits)
