"""How a running command shows where it is: a bar, a line now and then, or events as JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from eigengraphs.cli.wording import say, visible
from eigengraphs.job.events import Event, Listener

__all__ = ["showing"]

SECONDS = 5.0  # between lines where there is no terminal


@contextmanager
def showing(as_json: bool, first: Event | None = None) -> Iterator[Listener]:
    """Give a listener for events: JSON lines on standard output, else words on standard error.

    ``first`` is shown at once, before the caller imports what takes seconds. A job that begins
    with the same event says nothing new.
    """
    with _listener(as_json) as show:
        last: Event | None = None

        def listen(event: Event) -> None:
            nonlocal last
            if event != last:
                last = event
                show(event)

        if first is not None:
            listen(first)
        yield listen


@contextmanager
def _listener(as_json: bool) -> Iterator[Listener]:
    if as_json:
        yield _print_json
        return
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn(),
               TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("starting", total=None)
        stage = ""

        def listen(event: Event) -> None:
            nonlocal stage
            if event.stage != stage:
                stage = event.stage
                bars.reset(task, total=event.total)
            words = visible(f"{event.stage}: {event.text}")
            bars.update(task, description=words, total=event.total, completed=event.done or 0)

        yield listen


def _print_json(event: Event) -> None:
    words = {"event": event.stage, "text": event.text, "done": event.done, "total": event.total}
    say(json.dumps({key: value for key, value in words.items() if value is not None}), flush=True)


class _Lines:
    """A line for each new stage, one every few seconds within it, and one at its end."""

    def __init__(self) -> None:
        self._stage = ""
        self._last = 0.0

    def __call__(self, event: Event) -> None:
        now = time.monotonic()
        ends = event.total is not None and event.done == event.total
        if event.stage != self._stage or now - self._last > SECONDS or ends:
            self._stage, self._last = event.stage, now
            say(f"{event.stage}: {event.text}", file=sys.stderr, flush=True)
