"""``eigengraphs report``: the page of a report again, from its data."""

from __future__ import annotations

from dataclasses import replace

from eigengraphs.cli.command_options import Report
from eigengraphs.cli.terminal import Listener, Outcome, written
from eigengraphs.errors import InputError
from eigengraphs.report import read_summary, write_page


def report(asked: Report, _: Listener) -> Outcome:
    """Write the page of the report that report.json holds."""
    data = asked.folder / "report.json" if asked.folder.is_dir() else asked.folder
    page = asked.output or data.with_name("report.html")
    if page.resolve() == data.resolve():
        raise InputError(f"{str(page)!r} holds the data of the report; name another file")
    summary = read_summary(data)
    files = [write_page(replace(summary, title=asked.title or summary.title), page)]
    return Outcome([written(files)], {"files": files})
