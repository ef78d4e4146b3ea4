"""``eigengraphs uncertainty``: how sure loadings and positions are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

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
    """Give every loading an interval and every position a standard error.

    Example: eigengraphs uncertainty results
    """
    from eigengraphs.cli.progress import showing

    with showing(as_json, Event("read", f"reading the graphs of {folder}")) as listen:
        from eigengraphs.job.finished import FinishedFit
        from eigengraphs.job.reading import uncertainty_of

        found, drawn, files = uncertainty_of(
            FinishedFit(Path(folder)), graphs, resamples=resamples, listen=listen
        )
    errors = (found.standard_errors**2).mean(axis=0) ** 0.5
    told = [
        {"component": k + 1, "same_in_bootstrap": float(drawn.similarities[:, k].mean()),
         "alignment": None if found.alignment is None else float(found.alignment[k]),
         "weak": bool(found.weak[k]), "error_of_a_loading": float(errors[k])}
        for k in range(len(errors))
    ]  # fmt: skip
    if as_json:
        say(json.dumps({"event": "done", "law": found.law, "components": told,
                          "files": [str(file) for file in files]}))  # fmt: skip
        return
    for one in told:
        weak = "; positions are weak, loadings mean little" if one["weak"] else ""
        say(
            f"component {one['component']}: error of a loading {one['error_of_a_loading']:.3g}, "
            f"cosine with the bootstrap {one['same_in_bootstrap']:.3f}{weak}"
        )
    say(f"wrote {', '.join(str(file) for file in files)}")
