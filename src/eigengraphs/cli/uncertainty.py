"""``eigengraphs uncertainty``: how sure loadings and positions are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from eigengraphs.cli.options import Json, MovedGraphs, Results
from eigengraphs.cli.wording import say
from eigengraphs.job.events import Event

__all__ = ["uncertainty"]


def uncertainty(
    folder: Results,
    graphs: MovedGraphs = None,
    resamples: Annotated[int, typer.Option(min=10, help="Fits of the bootstrap.")] = 100,
    as_json: Json = False,
) -> None:
    """Give every cross-fitted loading an interval and every position a standard error.

    Example: eigengraphs uncertainty results
    """
    from eigengraphs.cli.progress import showing

    with showing(as_json, Event("read", f"reading the graphs of {folder}")) as listen:
        from eigengraphs.job.finished import FinishedFit
        from eigengraphs.job.reading import uncertainty_of

        found, finding, files = uncertainty_of(
            FinishedFit(Path(folder)), graphs, resamples=resamples, listen=listen
        )
    names = (
        "same_in_bootstrap", "same_low", "same_high", "alignment", "error_of_a_loading",
        "spread_of_loadings", "reliability_given_positions", "fitted_inside",
    )  # fmt: skip
    told: list[dict[str, Any]] = [
        {"component": k + 1, "weak": bool(found.weak[k]), **dict(zip(names, row[1:], strict=True))}
        for k, row in enumerate(finding.rows)
    ]
    if as_json:
        say(json.dumps({"event": "done", "law": found.law, "estimate": "cross-fitted",
                          "components": told, "files": [str(file) for file in files]}))  # fmt: skip
        return
    for one in told:
        weak = " (weak: the pattern is known only roughly)" if one["weak"] else ""
        say(
            f"component {one['component']}: error of a cross-fitted loading "
            f"{one['error_of_a_loading']:.3g}, cosine with the bootstrap "
            f"{one['same_in_bootstrap']:.3f}, c² of positions {one['alignment']:.2f}{weak}"
        )
    say(f"wrote {', '.join(str(file) for file in files)}")
