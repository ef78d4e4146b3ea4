"""What the components of a fit are, how sure they are, and what groups vertices and graphs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigengraphs.cli.shared_options import Json, MovedGraphs, Results, count_or_auto
from eigengraphs.cli.terminal import (
    Listener,
    counting,
    say,
    say_json,
    say_written,
    sentence,
    showing,
    silent,
)
from eigengraphs.errors import InputError, WeakPositionsWarning
from eigengraphs.system.labels import count_of

if TYPE_CHECKING:
    from eigengraphs.cli.input_files import Inputs
    from eigengraphs.embedding import JointEmbedding
    from eigengraphs.inference import Bootstrap, ComponentReading, LoadingIntervals
    from eigengraphs.report.records import Finding

__all__ = ["cluster", "read", "reading_finding", "uncertainty"]

_NAMED = 5  # vertices, pairs and graphs in a table
_SPLITS = 6  # random halvings of the graphs


def read(
    folder: Results,
    graphs: MovedGraphs = None,
    splits: Annotated[
        int, typer.Option(min=1, help="Number of random halvings of the graphs.")
    ] = _SPLITS,
    as_json: Json = False,
) -> None:
    """Describe the components: their vertices and graphs, and whether they replicate.

    Example: eigengraphs read results
    """
    with showing(as_json, "read", f"reading the graphs of {folder}") as listen:
        from eigengraphs.cli.results_folder import FinishedFit

        fit = FinishedFit(folder)
        finding, told = reading_finding(fit.embedding, fit.inputs(graphs, listen), splits, listen)
        files = fit.add(finding, "read-components.tsv")
    if as_json:
        say_json(components=[asdict(one) | {"verdict": one.verdict} for one in told], files=files)
        return
    for one in told:
        sides = [", ".join(name for name, _ in side[:3]) for side in (one.high, one.low) if side]
        say(
            f"component {one.number}: {one.verdict} (explains {one.explained:.1%}, replicability "
            f"{one.replicability:.2f}); vertices {' against '.join(sides)}"
        )
    say_written(files)


def reading_finding(
    embedding: JointEmbedding, data: Inputs, splits: int = _SPLITS, listen: Listener = silent
) -> tuple[Finding, tuple[ComponentReading, ...]]:
    """Return what there is to say about components, as a table of a report."""
    from eigengraphs.inference import read_components
    from eigengraphs.report.records import Finding

    told = read_components(
        embedding, data.graphs, most=_NAMED, n_splits=splits, groups=data.participants,
        on_split=counting(listen, "halves", "components on halves of the graphs,"),
    )  # fmt: skip
    good = [str(one.number) for one in told if one.verdict == "replicates"]
    which = f": {', '.join(good)}" if 0 < len(good) < len(told) else ""
    words = (
        f"{len(good)} of {count_of(len(told), 'component')} "
        f"{'replicates' if len(good) == 1 else 'replicate'} on halves of the graphs{which}."
    )
    together = " Graphs of one participant are in the same half." if data.participants else ""

    def names(pairs: Sequence[tuple[str, float]]) -> str:
        return ", ".join(name for name, _ in pairs)

    finding = Finding(
        key="read",
        title="What the components are, and which replicate",
        words=(words,),
        header=(
            "component", "explained", "spread over vertices", "replicability", "p (chance)",
            "p (noise)", "verdict", "one side", "other side", "strongest pairs", "most in",
            "least in",
        ),
        rows=tuple(
            (f"je{one.number}", one.explained, one.spread, one.replicability, one.p_not_replicated,
             one.p_noise, one.verdict, names(one.high), names(one.low),
             ", ".join(f"{a} – {b}" for a, b, _ in one.pairs), names(one.most), names(one.least))
            for one in told
        ),
        notes=(
            "Replicability: mean cosine between the positions found in two random halves of the "
            f"graphs, over {splits} halvings. p (chance): probability of such agreement for random "
            "signs. p (noise): probability of such loadings if they were noise around zero in the "
            f"held-out half; not computed for directed or incomplete graphs.{together}",
            "A component that is not shown to replicate may be real, but halves of the graphs find "
            "another pattern for it, or are too few to tell: do not interpret it alone. One that "
            "looks like noise is found again, but its loadings are no larger than noise (both p "
            "are 1); weak patterns may look like this, too.",
            "Spread: 1 / sum of h^4, from 1 for a single vertex to the number of vertices.",
        ),
    )  # fmt: skip
    return finding, told


def uncertainty(
    folder: Results,
    graphs: MovedGraphs = None,
    resamples: Annotated[int, typer.Option(min=10, help="Number of bootstrap fits.")] = 100,
    as_json: Json = False,
) -> None:
    """Give every cross-fitted loading an interval and every position a standard error.

    Example: eigengraphs uncertainty results
    """
    with showing(as_json, "read", f"reading the graphs of {folder}") as listen:
        from eigengraphs.cli.results_folder import FinishedFit
        from eigengraphs.inference import bootstrap, loading_intervals

        fit = FinishedFit(folder)
        data = fit.inputs(graphs, listen)
        listen("fit", "loadings on positions from the other graphs")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", WeakPositionsWarning)
            found = loading_intervals(fit.embedding, data.graphs, groups=data.participants)
        weak = [str(w.message) for w in caught if issubclass(w.category, WeakPositionsWarning)]
        drawn = bootstrap(
            fit.embedding, data.graphs, n_resamples=resamples, groups=data.participants,
            on_fit=counting(listen, "fit", "bootstrap, fit"),
        )  # fmt: skip
        finding = _uncertainty_finding(found, drawn, fit.embedding, weak)
        # The intervals are of another estimate than je1 in loadings.tsv, and it has another name.
        loadings = {"_cross_fitted": found.loadings, "_low": found.low, "_high": found.high}
        positions = {"": drawn.estimate[0], "_se": drawn.position_errors}
        vertices = fit.embedding.vertex_names_
        files = fit.add(
            finding,
            "uncertainty-components.tsv",
            {
                "uncertainty-loadings.tsv":
                    lambda path: _write_side_by_side(path, "id", found.graph_names, loadings),
                "uncertainty-positions.tsv":
                    lambda path: _write_side_by_side(path, "vertex", vertices, positions),
            },
        )  # fmt: skip
    names = (
        "same_in_bootstrap", "same_low", "same_high", "alignment", "error_of_a_loading",
        "spread_of_loadings", "reliability_given_positions", "fitted_inside",
    )  # fmt: skip
    told: list[dict[str, Any]] = [
        {"component": k + 1, "weak": bool(found.weak[k]), **dict(zip(names, row[1:], strict=True))}
        for k, row in enumerate(finding.rows)
    ]
    if as_json:
        say_json(law=found.law, estimate="cross-fitted", components=told, files=files)
        return
    for one in told:
        doubt = " (weak: the pattern is known only roughly)" if one["weak"] else ""
        say(
            f"component {one['component']}: error of a cross-fitted loading "
            f"{one['error_of_a_loading']:.3g}, cosine with the bootstrap "
            f"{one['same_in_bootstrap']:.3f}, c² of positions {one['alignment']:.2f}{doubt}"
        )
    say_written(files)


def _uncertainty_finding(
    found: LoadingIntervals, drawn: Bootstrap, embedding: JointEmbedding, weak: list[str]
) -> Finding:
    import numpy as np

    from eigengraphs.inference.intervals_and_bootstrap import N_SPLITS
    from eigengraphs.report.records import Finding, Intervals

    similar = drawn.similarities  # (resamples, d)
    resamples, d = similar.shape
    spread = found.loadings.std(axis=0, ddof=1)
    noise = np.sqrt((found.standard_errors**2).mean(axis=0))
    inside = (found.low <= embedding.loadings_) & (embedding.loadings_ <= found.high)
    columns = [
        np.median(similar, axis=0),
        *np.quantile(similar, [0.025, 0.975], axis=0),
        np.full(d, np.nan) if found.alignment is None else found.alignment,
        noise,
        spread,
        1.0 - np.minimum((noise / np.where(spread > 0, spread, np.inf)) ** 2, 1.0),
        inside.mean(axis=0),
    ]
    return Finding(
        key="uncertainty",
        title="Uncertainty of loadings and positions",
        words=tuple(map(sentence, weak)) or ("Positions of all components are well determined.",),
        header=(
            "component", "same in the bootstrap", "low", "high", "with the truth (c²)",
            "error of a loading", "spread of loadings", "reliability given positions",
            "fitted loadings inside",
        ),
        rows=tuple(
            (f"je{k + 1}", *values) for k, values in enumerate(np.transpose(columns).tolist())
        ),
        intervals=Intervals(1, 2, 3, 1.0, "cosine of positions with those of the bootstrap"),
        notes=(
            f"Same in the bootstrap: median cosine of positions with those of {resamples} fits to "
            "graphs drawn with replacement; low and high contain 95 % of them. c²: squared cosine "
            f"of positions with the true ones, from the agreement of halves ({N_SPLITS} "
            "halvings).",
            "Errors and intervals are of cross-fitted loadings (on positions from the other "
            "graphs, divided by c²), not of the fitted loadings, which are biased towards the "
            "noise of their own graph; the last column is the share of fitted loadings inside.",
            "Reliability given positions: share of the variance of loadings that is not error, if "
            "the pattern is taken as it was found. c² says how well the pattern is known.",
            "Every cross-fitted loading with its interval is in uncertainty-loadings.tsv, every "
            "position with its standard error in uncertainty-positions.tsv.",
        ),
    )  # fmt: skip


def _write_side_by_side(
    path: Path, first: str, names: Sequence[str], tables: dict[str, Any]
) -> None:
    """Write tables (rows, d) with their columns side by side: ``je1``, ``je1_se``, ``je2``, ..."""
    import numpy as np

    from eigengraphs.system.tables import write_table

    joined = np.stack(list(tables.values()), axis=2)
    header = [f"je{k + 1}{end}" for k in range(joined.shape[1]) for end in tables]
    rows = zip(names, joined.reshape(len(joined), -1).tolist(), strict=True)
    write_table(path, [first, *header], ([name, *values] for name, values in rows))


def cluster(
    folder: Results,
    of: Annotated[str, typer.Option(help="What to cluster: vertices or graphs.")] = "vertices",
    clusters: Annotated[
        Any,
        typer.Option(help="Number of clusters, or auto.", metavar="N", parser=count_or_auto),
    ] = "auto",
    method: Annotated[str, typer.Option(help="mixture or kmeans.")] = "mixture",
    truth: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Known classes to compare with.")
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Use the positions of vertices in this graph."),
    ] = None,
    degree_corrected: Annotated[
        bool, typer.Option("--degree-corrected", help="Divide positions by their length.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the starts.")] = 0,
    as_json: Json = False,
) -> None:
    """Cluster vertices by their positions, or graphs by their loadings.

    Example: eigengraphs cluster results --of graphs --truth group
    """
    from eigengraphs import inference
    from eigengraphs.cli.input_files import column_values, named_in
    from eigengraphs.cli.results_folder import FinishedFit
    from eigengraphs.report.records import Finding

    fit = FinishedFit(folder)
    summary = fit.summary
    known = None
    options: Any = {"n_clusters": clusters, "method": method, "random_state": seed}
    if of == "graphs":
        if graph is not None or degree_corrected:
            raise InputError("--graph and --degree-corrected are for clusters of vertices")
        names, what = summary.graph_names, "standardized loadings"
        known = None if truth is None else fit.values(truth, "--truth")
    elif of == "vertices":
        names, what = summary.vertex_names, "positions"
        options |= {"graph": graph, "degree_corrected": degree_corrected}
        if truth is not None:
            columns = {column.name: column for column in summary.vertex_columns}
            absent = f"vertices have no column {truth!r} for --truth"
            none = "none (fit with --vertices, a table)"
            known = column_values(named_in(columns, truth, absent, none))
    else:
        raise InputError(f"--of must be vertices or graphs, got {of!r}")
    if known is not None:
        if None in known:
            raise InputError(f"--truth {truth} must have a value for all; complete the column")
        known = [f"{value:.6g}" if isinstance(value, float) else str(value) for value in known]
    if of == "graphs":
        found = inference.cluster_graphs(summary.loadings, truth=known, **options)
    else:
        found = inference.cluster_vertices(fit.embedding, truth=known, **options)
    sizes = ", ".join(map(str, found.sizes.tolist()))
    words = [f"{count_of(found.n_clusters, 'cluster')} of {of}; sizes: {sizes}."]
    if found.ari is not None:
        words.append(
            f"Agreement with {truth}: adjusted Rand index {found.ari:.3f} (1: identical, 0: as by "
            f"chance), purity {found.purity:.3f}."
        )
    how = "Gaussian mixture" if method == "mixture" else "k-means"
    if clusters == "auto":
        curve = ", ".join(f"{c}: {value:.1f}" for c, value in found.bic.items())
        scaled = ", each divided by its length" if degree_corrected else ""
        note = (
            f"{how} of {what}{scaled}; the number of clusters was chosen by the Bayesian "
            f"information criterion ({curve})."
        )
    else:
        note = f"{how} with {count_of(found.n_clusters, 'cluster')}, as given."
    labels = (found.labels + 1).tolist()
    finding = Finding(
        key=f"cluster {of}",
        title=f"Clusters of the {of}{'' if graph is None else f' in graph {graph}'}",
        words=tuple(words),
        header=("vertex" if of == "vertices" else "graph", "cluster", *([truth] if truth else [])),
        rows=tuple(
            (name, float(label), *([] if known is None else [known[i]]))
            for i, (name, label) in enumerate(zip(names, labels, strict=True))
        ),
        notes=(note,),
    )
    files = fit.add(finding, f"cluster-{of}.tsv")
    if as_json:
        say_json(
            of=of, clusters=found.n_clusters, sizes=found.sizes, labels=labels, bic=found.bic,
            ari=found.ari, purity=found.purity, files=files,
        )  # fmt: skip
        return
    say("\n".join(words))
    say_written(files)
