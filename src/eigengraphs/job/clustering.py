"""Questions to a finished fit: clusters of its vertices, and of its graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eigengraphs.errors import InputError
from eigengraphs.inference.clusters import Clusters, cluster_graphs, cluster_vertices
from eigengraphs.job.finished import FinishedFit
from eigengraphs.report.records import Column, Finding

__all__ = ["clusters_of"]


def clusters_of(
    fit: FinishedFit,
    of: str,
    *,
    number: int | str = "auto",
    method: str = "mixture",
    truth: str | None = None,
    graph: str | None = None,
    degree_corrected: bool = False,
    seed: int = 0,
) -> tuple[Clusters, list[Path]]:
    """Cluster vertices or graphs; the answer goes into the report.

    Parameters
    ----------
    fit
        What ``eigengraphs fit`` left.
    of
        "vertices" or "graphs".
    number, method, degree_corrected, seed
        As in :func:`~eigengraphs.inference.cluster_vertices`.
    truth
        Column with known classes of the vertices, or of the graphs.
    graph
        Name of a graph: vertices by their positions in it.
    """
    summary = fit.summary
    options: Any = {"n_clusters": number, "method": method, "random_state": seed}
    if of == "graphs":
        if graph is not None or degree_corrected:
            raise InputError("--graph and --degree-corrected are for clusters of vertices")
        known = None if truth is None else fit.values(truth, "--truth")
        names = summary.graph_names
        found = cluster_graphs(summary.loadings, truth=_whole(known, truth), **options)
    elif of == "vertices":
        known = None if truth is None else _vertex_values(summary.vertex_columns, truth)
        names = summary.vertex_names
        found = cluster_vertices(
            fit.embedding, graph=graph, degree_corrected=degree_corrected,
            truth=_whole(known, truth), **options,
        )  # fmt: skip
    else:
        raise InputError(f"clusters are of vertices or graphs, got {of!r}")
    how = "Gaussian mixture" if method == "mixture" else "k-means"
    sizes = ", ".join(map(str, found.sizes.tolist()))
    count = "1 cluster" if found.n_clusters == 1 else f"{found.n_clusters} clusters"
    words = [f"{count} of {of}, with {sizes} in {'it' if found.n_clusters == 1 else 'them'}."]
    if found.ari is not None:
        words.append(
            f"Agreement with {truth}: adjusted Rand index {found.ari:.3f} (1 the same, 0 by "
            f"chance), purity {found.purity:.3f}."
        )
    curve = ", ".join(f"{c}: {value:.1f}" for c, value in found.bic.items())
    place = f" in graph {graph}" if graph is not None else ""
    corrected = ", each divided by its length" if degree_corrected else ""
    finding = Finding(
        key=f"cluster {of}",
        title=f"Clusters of the {of}{place}",
        words=tuple(words),
        header=("vertex" if of == "vertices" else "graph", "cluster", *([truth] if truth else [])),
        rows=tuple(
            (name, float(label + 1), *([str(known[i])] if known is not None else []))
            for i, (name, label) in enumerate(zip(names, found.labels.tolist(), strict=True))
        ),
        notes=(
            f"{how} of {'positions' if of == 'vertices' else 'standardised loadings'}{corrected}; "
            f"the number by the Bayesian information criterion ({curve})."
            if number == "auto"
            else f"{how} with {found.n_clusters} clusters, as asked.",
        ),
    )
    return found, fit.add(finding, f"cluster-{of}.tsv")


def _vertex_values(columns: tuple[Column, ...], name: str) -> list[Any]:
    for column in columns:
        if column.name == name:
            return [column.text(s) or None for s in range(len(column.values))]
    known = ", ".join(column.name for column in columns) or "none (fit with --vertices, a table)"
    raise InputError(f"vertices have no column {name!r} for --truth; columns are: {known}")


def _whole(known: Any, name: str | None) -> Any:
    if known is not None and any(value is None for value in known):
        raise InputError(f"--truth {name} must be known of all; complete the column")
    return known
