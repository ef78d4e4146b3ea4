"""``eigengraphs plan``: what a fit will cost."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from eigengraphs.cli.options import Json
from eigengraphs.cli.wording import say

__all__ = ["plan"]


def plan(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="A store, made by convert.")],
    components: Annotated[
        int, typer.Option("--components", "-d", min=1, help="Number of components.")
    ] = 8,
    memory: Annotated[
        str | None, typer.Option(help="Memory of the fit, such as 1G; a quarter of all if absent.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Blocks worked on at a time; the cores if absent.")
    ] = None,
    directed: Annotated[
        bool, typer.Option("--directed", help="Components of directed graphs.")
    ] = False,
    center: Annotated[bool, typer.Option("--center", help="Subtract the mean graph.")] = False,
    as_json: Json = False,
) -> None:
    """Forecast passes, bytes read, peak memory and time of a fit, after a trial on a few blocks.

    Example: eigengraphs plan graphs.egs -d 8 --memory 1G
    """
    from eigengraphs.job.forecast import forecast_fit
    from eigengraphs.store import open_store

    found = forecast_fit(
        open_store(store, memory), components, directed=directed, center=center, workers=workers
    )
    say(json.dumps(asdict(found)) if as_json else found.words())
