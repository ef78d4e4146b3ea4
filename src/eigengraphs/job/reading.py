"""Questions to a finished fit: what its components are, and how sure loadings and positions are."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import WeakPositionsWarning
from eigengraphs.inference.component_meaning import ComponentReading, read_components
from eigengraphs.inference.intervals_and_bootstrap import (
    N_SPLITS,
    Bootstrap,
    LoadingIntervals,
    bootstrap,
    loading_intervals,
)
from eigengraphs.job.events import Event, Listener, silent
from eigengraphs.job.finished import FinishedFit
from eigengraphs.job.inputs import Inputs
from eigengraphs.report.records import Finding, Intervals
from eigengraphs.system.labels import count_of
from eigengraphs.system.tables import write_table

__all__ = ["components_of", "reading_finding", "uncertainty_of"]

_NAMED = 5  # vertices, pairs and graphs in a table


def components_of(
    fit: FinishedFit,
    source: Path | None = None,
    *,
    splits: int = N_SPLITS,
    listen: Listener = silent,
) -> tuple[tuple[ComponentReading, ...], list[Path]]:
    """Describe and test the components; the answer goes into the report.

    Parameters
    ----------
    fit
        What ``eigengraphs fit`` left.
    source
        Where the graphs are now, if they were moved.
    splits
        Random halvings of the graphs.
    listen
        Told of every step.
    """
    data = fit.inputs(source, listen)
    finding, told = reading_finding(fit.embedding, data, splits=splits, listen=listen)
    return told, fit.add(finding, "read-components.tsv")


def reading_finding(
    embedding: JointEmbedding, data: Inputs, *, splits: int = N_SPLITS, listen: Listener = silent
) -> tuple[Finding, tuple[ComponentReading, ...]]:
    """Return what there is to say about components, as a table of a report."""

    def on_split(done: int, total: int) -> None:
        text = f"components on halves of the graphs, {done} of {total}"
        listen(Event("halves", text, done, total))

    people = data.participants
    told = read_components(
        embedding, data.graphs, most=_NAMED, n_splits=splits, groups=people, on_split=on_split
    )
    good = [f"{one.number}" for one in told if one.verdict == "replicates"]
    words = (
        f"{len(good)} of {count_of(len(told), 'component')} "
        f"{'replicates' if len(good) == 1 else 'replicate'} on halves of the graphs"
        f"{': ' + ', '.join(good) if 0 < len(good) < len(told) else ''}."
    )
    together = " Graphs of one participant are in the same half." if people is not None else ""
    return Finding(
        key="read",
        title="What the components are, and which replicate",
        words=(words,),
        header=(
            "component", "explained", "spread over vertices", "replicability", "p (chance)",
            "p (noise)", "verdict", "one side", "other side", "strongest pairs", "most in",
            "least in",
        ),
        rows=tuple(_row(one) for one in told),
        notes=(
            f"Replicability: mean cosine of the positions that two random halves of the graphs "
            f"find, over {splits} halvings; p (chance): of agreement no better than of random "
            "signs. p (noise): of loadings that are noise around zero in the held-out half; "
            f"none for directed graphs and graphs with gaps.{together}",
            "A component that is not shown to replicate may be real, but halves of the graphs find "
            "another pattern for it, or are too few to tell: do not interpret it alone. One that "
            "looks like noise is found again and expressed no more than noise is (both p are 1), "
            "as weak patterns may be, too.",
            "Spread: 1 / sum of h^4, from 1 for a single vertex to their number.",
        ),
    ), told  # fmt: skip


def _row(one: ComponentReading) -> tuple[str | float | None, ...]:
    return (
        f"je{one.number}", one.explained, one.spread, one.replicability, one.p_not_replicated,
        one.p_noise, one.verdict,
        ", ".join(name for name, _ in one.high), ", ".join(name for name, _ in one.low),
        ", ".join(f"{a} – {b}" for a, b, _ in one.pairs),
        ", ".join(name for name, _ in one.most), ", ".join(name for name, _ in one.least),
    )  # fmt: skip


def uncertainty_of(
    fit: FinishedFit,
    source: Path | None = None,
    *,
    resamples: int = 100,
    listen: Listener = silent,
) -> tuple[LoadingIntervals, Finding, list[Path]]:
    """Give loadings intervals and positions standard errors; both as tables, and in the report.

    Parameters
    ----------
    fit
        What ``eigengraphs fit`` left.
    source
        Where the graphs are now, if they were moved.
    resamples
        Fits of the bootstrap over graphs (or participants).
    listen
        Told of every step.
    """
    data = fit.inputs(source, listen)
    embedding, people = fit.embedding, data.participants
    listen(Event("fit", "loadings on positions from the other graphs"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", WeakPositionsWarning)
        found = loading_intervals(embedding, data.graphs, groups=people)
    weak = [str(w.message) for w in caught if issubclass(w.category, WeakPositionsWarning)]

    def on_fit(done: int, total: int) -> None:
        listen(Event("fit", f"bootstrap, fit {done} of {total}", done, total))

    drawn = bootstrap(embedding, data.graphs, n_resamples=resamples, groups=people, on_fit=on_fit)
    finding = _uncertain(found, drawn, np.asarray(embedding.loadings_), weak, resamples)
    files = fit.add(
        finding,
        "uncertainty-components.tsv",
        {
            "uncertainty-loadings.tsv": partial(_write_loadings, found),
            "uncertainty-positions.tsv": partial(_write_positions, embedding, drawn),
        },
    )
    return found, finding, files


def _uncertain(
    found: LoadingIntervals,
    drawn: Bootstrap,
    fitted: NDArray[np.float64],
    weak: list[str],
    resamples: int,
) -> Finding:
    similar = drawn.similarities
    low, high = np.quantile(similar, [0.025, 0.975], axis=0)
    alignment = (
        found.alignment if found.alignment is not None else np.full(similar.shape[1], np.nan)
    )
    spread = found.loadings.std(axis=0, ddof=1)
    noise = np.sqrt((found.standard_errors**2).mean(axis=0))
    reliability = 1.0 - np.minimum((noise / np.where(spread > 0, spread, np.inf)) ** 2, 1.0)
    inside = ((found.low <= fitted) & (fitted <= found.high)).mean(axis=0)
    rows = tuple(
        (f"je{k + 1}", float(np.median(similar[:, k])), float(low[k]), float(high[k]),
         float(alignment[k]), float(noise[k]), float(spread[k]), float(reliability[k]),
         float(inside[k]))
        for k in range(similar.shape[1])
    )  # fmt: skip
    return Finding(
        key="uncertainty",
        title="How sure loadings and positions are",
        words=tuple(f"{text[:1].upper()}{text[1:]}." for text in weak)
        or ("Positions of all components are well determined.",),
        header=(
            "component", "same in the bootstrap", "low", "high", "with the truth (c²)",
            "error of a loading", "spread of loadings", "reliability given positions",
            "fitted loadings inside",
        ),
        rows=rows,
        intervals=Intervals(1, 2, 3, 1.0, "cosine of positions with those of the bootstrap"),
        notes=(
            f"Same in the bootstrap: median cosine of positions with those of {resamples} fits to "
            "graphs drawn with replacement; low and high hold 95 % of them. c²: squared cosine of "
            f"positions with the true ones, by the agreement of halves ({N_SPLITS} halvings).",
            "Errors and intervals are of cross-fitted loadings (on positions from the other "
            "graphs, divided by c²), not of those of the fit, which lean towards the noise of "
            "their own graph; the last column is the share of fitted loadings inside.",
            "Reliability given positions: share of the spread of loadings that is not error, if "
            "the pattern is taken as it was found. How well the pattern is known, c² tells.",
            "Every cross-fitted loading with its interval is in uncertainty-loadings.tsv, every "
            "position with its standard error in uncertainty-positions.tsv.",
        ),
    )  # fmt: skip


def _write_loadings(found: LoadingIntervals, path: Path) -> None:
    d = found.loadings.shape[1]
    ends = ("_cross_fitted", "_low", "_high")  # another estimate than je1 in loadings.tsv
    header = ["id", *(f"je{k + 1}{end}" for k in range(d) for end in ends)]
    columns = np.stack([found.loadings, found.low, found.high], axis=2).reshape(-1, 3 * d)
    rows = zip(found.graph_names, columns, strict=True)
    write_table(path, header, ([name, *map(float, values)] for name, values in rows))


def _write_positions(embedding: Any, drawn: Bootstrap, path: Path) -> None:
    H, se = drawn.estimate[0], drawn.position_errors
    d = H.shape[1]
    header = ["vertex", *(f"je{k + 1}{end}" for k in range(d) for end in ("", "_se"))]
    columns = np.stack([H, se], axis=2).reshape(-1, 2 * d)
    rows = zip(embedding.vertex_names_, columns, strict=True)
    write_table(path, header, ([name, *map(float, values)] for name, values in rows))
