"""``eigengraphs uncertainty``: intervals of loadings, and standard errors of positions."""

from __future__ import annotations

import warnings

import numpy as np

from eigengraphs.cli.command_options import Uncertainty
from eigengraphs.cli.results_folder import FinishedFit, by_component
from eigengraphs.cli.terminal import Listener, Outcome, Table, counting, sentence
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import WeakPositionsWarning
from eigengraphs.inference import Bootstrap, LoadingIntervals, bootstrap, loading_intervals
from eigengraphs.inference.intervals_and_bootstrap import N_SPLITS
from eigengraphs.report.records import Intervals
from eigengraphs.system.labels import component_column, component_name

# Columns of the table of components: in JSON, and in the table itself.
_COLUMNS = {
    "same_in_bootstrap": "same in the bootstrap",
    "same_low": "low",
    "same_high": "high",
    "alignment": "with the truth (c²)",
    "error_of_a_loading": "error of a loading",
    "spread_of_loadings": "spread of loadings",
    "reliability_given_positions": "reliability given positions",
    "fitted_inside": "fitted loadings inside",
}


def uncertainty(asked: Uncertainty, listen: Listener) -> Outcome:
    """Find how precise the loadings and positions of a fit are."""
    fit = FinishedFit(asked.folder)
    embedding, data = fit.embedding, fit.inputs(asked.graphs, listen)
    listen("fit", "loadings on positions from the other graphs")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", WeakPositionsWarning)
        found = loading_intervals(embedding, data.graphs, groups=data.participants)
    weak = [str(w.message) for w in caught if issubclass(w.category, WeakPositionsWarning)]
    drawn = bootstrap(
        embedding, data.graphs, n_resamples=asked.resamples, groups=data.participants,
        on_fit=counting(listen, "fit", "bootstrap, fit"),
    )  # fmt: skip
    numbers = _numbers(found, drawn, embedding)
    told = [
        {"component": component_column(k), "weak": bool(found.weak[k]),
         **dict(zip(_COLUMNS, row, strict=True))}
        for k, row in enumerate(numbers)
    ]  # fmt: skip
    header = ("component", *_COLUMNS.values())
    rows = [(component_name(k), *row) for k, row in enumerate(numbers)]
    # The intervals are of another estimate than je1 in loadings.tsv, and it has another name.
    loadings = {"_cross_fitted": found.loadings, "_low": found.low, "_high": found.high}
    positions = {"": drawn.estimate[0], "_se": drawn.position_errors}
    return fit.answer(
        ["uncertainty"],
        "Uncertainty of loadings and positions",
        [*map(sentence, weak)] or ["All positions are well determined."],
        header,
        fit.in_tables(rows),
        {"law": found.law, "estimate": "cross-fitted", "components": told},
        shown=[Table.of(header, rows, header)],
        table="uncertainty-components.tsv",
        intervals=Intervals(1, 2, 3, 1.0, "cosine of positions with those of the bootstrap"),
        notes=(
            f"Same in the bootstrap: median cosine of positions with those of "
            f"{len(drawn.similarities)} fits to graphs drawn with replacement; low and high "
            "contain 95 % of them. c²: squared cosine of positions with the true ones, from the "
            f"agreement of halves ({N_SPLITS} halvings).",
            "Errors and intervals are of cross-fitted loadings (on positions from the other "
            "graphs, divided by c²), not of the fitted loadings, which are biased towards the "
            "noise of their own graph; the last column is the share of fitted loadings inside.",
            "Reliability given positions: share of the variance of loadings that is not error, if "
            "the pattern is taken as it was found. c² says how well the pattern is known.",
            "Every cross-fitted loading with its interval is in uncertainty-loadings.tsv, every "
            "position with its standard error in uncertainty-positions.tsv.",
        ),
        more={
            "uncertainty-loadings.tsv": {"id": found.graph_names, **by_component(loadings)},
            "uncertainty-positions.tsv":
                {"vertex": embedding.vertex_names_, **by_component(positions)},
        },
    )  # fmt: skip


def _numbers(
    found: LoadingIntervals, drawn: Bootstrap, embedding: JointEmbedding
) -> list[list[float]]:
    """Return the columns of the table for each component."""
    similar = drawn.similarities  # (resamples, d)
    spread = found.loadings.std(axis=0, ddof=1)
    noise = np.sqrt((found.standard_errors**2).mean(axis=0))
    inside = (found.low <= embedding.loadings_) & (embedding.loadings_ <= found.high)
    columns = [
        np.median(similar, axis=0),
        *np.quantile(similar, [0.025, 0.975], axis=0),
        np.full(len(spread), np.nan) if found.alignment is None else found.alignment,
        noise,
        spread,
        1.0 - np.minimum((noise / np.where(spread > 0, spread, np.inf)) ** 2, 1.0),
        inside.mean(axis=0),
    ]
    return np.transpose(columns).tolist()  # type: ignore[no-any-return]
