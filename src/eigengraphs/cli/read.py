"""``eigengraphs read``: what components are, and which can be trusted."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from eigengraphs.cli.options import Json, MovedGraphs, Results
from eigengraphs.cli.wording import say
from eigengraphs.job.events import Event

__all__ = ["read"]


def read(
    folder: Results,
    graphs: MovedGraphs = None,
    splits: Annotated[int, typer.Option(min=1, help="Random halvings of the graphs.")] = 6,
    as_json: Json = False,
) -> None:
    """Read the components: who carries and expresses each, whether it replicates or is noise.

    Example: eigengraphs read results
    """
    from eigengraphs.cli.progress import showing

    with showing(as_json, Event("read", f"reading the graphs of {folder}")) as listen:
        from eigengraphs.job.finished import FinishedFit
        from eigengraphs.job.reading import components_of

        told, files = components_of(FinishedFit(Path(folder)), graphs, splits=splits, listen=listen)
    if as_json:
        say(json.dumps({
            "event": "done",
            "components": [asdict(one) | {"verdict": one.verdict} for one in told],
            "files": [str(file) for file in files],
        }))  # fmt: skip
        return
    for one in told:
        sides = [", ".join(name for name, _ in side[:3]) for side in (one.high, one.low) if side]
        say(
            f"component {one.number}: {one.verdict} (explains {one.explained:.1%}, replicability "
            f"{one.replicability:.2f}); vertices {' against '.join(sides)}"
        )
    say(f"wrote {', '.join(str(file) for file in files)}")
