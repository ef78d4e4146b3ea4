"""``eigengraphs report``: the page once more, from its data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigengraphs.cli.wording import say
from eigengraphs.errors import InputError

__all__ = ["report"]


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="OUT", help="A folder of results, or its report.json.")
    ],
    title: Annotated[str, typer.Option(help="Another heading of the page.")] = "",
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page; by default OUT/report.html.")
    ] = None,
) -> None:
    """Write report.html once more from report.json alone; no graphs are needed.

    Example: eigengraphs report results --title "Thirty people" --output thirty.html
    """
    from dataclasses import replace

    from eigengraphs.report import read_summary, write_page

    data = folder / "report.json" if folder.is_dir() else folder
    page = data.with_name("report.html") if output is None else output
    if page.resolve() == data.resolve():
        raise InputError(f"{str(page)!r} holds the data of the report; name another file")
    summary = read_summary(data)
    say(f"wrote {write_page(replace(summary, title=title or summary.title), page)}")
