"""``eigengraphs cluster``: clusters of vertices by their positions, or of graphs by loadings."""

from __future__ import annotations

from typing import Any

from eigengraphs import inference
from eigengraphs.cli.command_options import Cluster
from eigengraphs.cli.input_files import named_in
from eigengraphs.cli.results_folder import FinishedFit
from eigengraphs.cli.terminal import Listener, Outcome
from eigengraphs.errors import InputError
from eigengraphs.system.labels import count_of


def cluster(asked: Cluster, listen: Listener) -> Outcome:
    """Cluster the vertices or the graphs of a fit."""
    fit, of, graph, truth = FinishedFit(asked.folder), asked.of, asked.graph, asked.truth
    if of not in ("vertices", "graphs"):
        raise InputError(f"--of must be vertices or graphs, got {of!r}")
    if of == "graphs" and (graph is not None or asked.normalize_rows or asked.stability):
        raise InputError("--graph, --normalize-rows and --stability are for clusters of vertices")
    known = None if truth is None else _known(fit, of, truth)
    loadings, said = fit.loadings if of == "graphs" else (None, ())
    options: Any = {"n_clusters": asked.clusters, "method": asked.method, "truth": known,
                    "random_state": asked.seed}  # fmt: skip
    if of == "graphs":
        names, what, scaled = fit.summary.graph_names, "standardized loadings", ""
        found = inference.cluster_graphs(loadings, **options)
    else:
        names, what = fit.summary.vertex_names, "positions"
        scaled = ", each divided by its length" if asked.normalize_rows else ""
        if asked.stability:
            data = fit.inputs(asked.graphs, listen)
            options |= {"graphs": data.graphs, "groups": data.participants,
                        "n_boot": asked.stability}  # fmt: skip
        found = inference.cluster_vertices(
            fit.embedding, graph=graph, normalize_rows=asked.normalize_rows, **options
        )
    count, sizes = count_of(found.n_clusters, "cluster"), ", ".join(map(str, found.sizes.tolist()))
    words = [f"{count} of {of}; sizes: {sizes}."]
    if found.ari is not None:
        words.append(
            f"Agreement with {truth}: adjusted Rand index {found.ari:.3f} (1: identical, 0: as by "
            f"chance), purity {found.purity:.3f}."
        )
    if found.stability is not None:
        words.append(
            f"Stability: mean adjusted Rand index {found.stability:.3f} with the clusters of "
            f"{asked.stability} fits to graphs drawn with replacement."
        )
    note = "Gaussian mixture" if asked.method == "mixture" else "k-means"
    if asked.clusters == "auto":
        curve = ", ".join(f"{c}: {value:.1f}" for c, value in found.bic.items())
        note += (
            f" of {what}{scaled}; the number of clusters was chosen by the Bayesian information "
            f"criterion ({curve})."
        )
    else:
        note += f" with {count}, as given."
    labels = (found.labels + 1).tolist()
    columns = {
        "vertex" if of == "vertices" else "graph": names,
        "cluster": map(float, labels),
        **({} if known is None else {str(truth): known}),
    }
    facts = {
        "of": of, "clusters": found.n_clusters, "sizes": found.sizes, "labels": labels,
        "bic": found.bic, "ari": found.ari, "purity": found.purity, "stability": found.stability,
    }  # fmt: skip
    title = f"Clusters of the {of}{'' if graph is None else f' in graph {graph}'}"
    rows = zip(*columns.values(), strict=True)
    return fit.answer(
        ["cluster", of], title, words, [*columns], rows, facts, shown=said, notes=(*said, note)
    )


def _known(fit: FinishedFit, of: str, truth: str) -> list[str]:
    """Return the known class of every vertex or graph."""
    if of == "graphs":
        column = fit.column(truth, "--truth")
    else:
        columns = {column.name: column for column in fit.summary.vertex_columns}
        absent = f"vertices have no column {truth!r} for --truth"
        column = named_in(columns, truth, absent, "none (fit with --vertices, a table)")
    if None in column.values:
        raise InputError(f"--truth {truth} must have a value for all; complete the column")
    return [column.text(i) for i in range(len(column.values))]
