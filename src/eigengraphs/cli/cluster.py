"""``eigengraphs cluster``: clusters of vertices, or of graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from eigengraphs.cli.options import Json, Results
from eigengraphs.cli.wording import say

__all__ = ["cluster"]


def cluster(
    folder: Results,
    of: Annotated[str, typer.Option(help="vertices or graphs.")] = "vertices",
    clusters: Annotated[str, typer.Option(help="Their number, or auto.")] = "auto",
    method: Annotated[str, typer.Option(help="mixture or kmeans.")] = "mixture",
    truth: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Known classes to compare with.")
    ] = None,
    graph: Annotated[
        str | None, typer.Option(metavar="NAME", help="Positions of vertices in this graph.")
    ] = None,
    degree_corrected: Annotated[
        bool, typer.Option("--degree-corrected", help="Divide positions by their length.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the starts.")] = 0,
    as_json: Json = False,
) -> None:
    """Cluster vertices by their positions, or graphs by their loadings.

    Example: eigengraphs cluster results --of graphs --truth group
    """
    from eigengraphs.job.clustering import clusters_of
    from eigengraphs.job.finished import FinishedFit

    if clusters != "auto" and not (clusters.isdecimal() and int(clusters) > 0):
        raise typer.BadParameter(
            f"--clusters must be a whole number >= 1, or 'auto', got {clusters!r}"
        )
    fit = FinishedFit(Path(folder))
    found, files = clusters_of(
        fit, of, number="auto" if clusters == "auto" else int(clusters), method=method,
        truth=truth, graph=graph, degree_corrected=degree_corrected, seed=seed,
    )  # fmt: skip
    if as_json:
        say(json.dumps({
            "event": "done", "of": of, "clusters": found.n_clusters, "sizes": found.sizes.tolist(),
            "labels": (found.labels + 1).tolist(), "bic": found.bic, "ari": found.ari,
            "purity": found.purity, "files": [str(file) for file in files],
        }))  # fmt: skip
        return
    told = next(one for one in fit.summary.findings if one.key == f"cluster {of}")
    say("\n".join(told.words))
    say(f"wrote {', '.join(str(file) for file in files)}")
