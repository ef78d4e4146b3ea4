"""What a command prints: results, notes, tables, progress; names from files are never trusted."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from eigengraphs.errors import EigengraphsError
from eigengraphs.system.labels import count_of

if TYPE_CHECKING:
    from pathlib import Path

    from eigengraphs.stack import GraphStack

__all__ = [
    "Listener", "counting", "described", "files_left_out", "for_shell", "noting", "say", "say_json",
    "say_notes", "say_written", "sentence", "show_table", "showing", "silent", "visible",
]  # fmt: skip

SECONDS = 5.0  # between lines of progress where there is no terminal

# Control characters except tab and newline, writing directions, and lone surrogates.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)

# What a function calls an argument, and what a command calls the option. In this order.
_OPTIONS = [
    (r"Add the rows, leave the graphs out, or pass missing='keep'",
     "Add the rows, or leave the graphs out"),
    (r"(?<!\()\bmissing='unobserved'", "--allow-missing"),
    (r"or pass another delimiter=(?!\w|')", "or pass another --delimiter"),
    (r"pass the right delimiter=(?!\w|')", "pass the right --delimiter"),
    (r"\bdelimiter=('[^']*'|\"[^\"]*\")", r"--delimiter \1"),
    (r"\b(decimal|thousands)=('[^']*')", r"--\1 \2"),
    (r"^(decimal|thousands) must be", r"--\1 must be"),
    (r"\bid_pattern=('[^']*'|\"[^\"]*\")", r"--id-pattern \1"),
    (r"\bid_pattern=(?!\w|')", "--id-pattern"),
    (r"\bkey='([\w.-]+)'", r"--key \1"),
    (r"\bkey=('[^']*')", r"--key \1"),
    (r"\bvertices='(\w+)'", r"--align \1"),
    (r"^vertices must be", "--align must be"),
    (r"\bmax_bytes=(?!\w|')", "--max-bytes"),
    (r"^max_bytes must be (.*), got max_bytes=", r"--max-bytes must be \1, got "),
    (r"\blabels=(?!\w)", "--vertices"),
    (r" \(select_vertices\)", " of the files"),
    (r"\bdirected=True\b", "--directed"),
    (r"takes format= one of", "takes --to one of"),
    (r"^n_components must be (.*), got n_components=(\S+)", r"--components must be \1, got \2"),
    (r"\bn_components=(\d+)", r"--components \1"),
    (r"\bn_components=\"auto\"", "--components auto"),
    (r"^(loadings|diagonal) must be (.*), got \1=", r"--\1 must be \2, got "),
    (r"^format must be", "--format must be"),
    (r"^a step of preprocess must be one of (.*), or a function from GraphStack to GraphStack; "
     r"several stand in a list, and None means no step; got",
     r"--transform must be one of \1; several are given as several --transform; got"),
]  # fmt: skip


def for_shell(text: str) -> str:
    """Return a message with options where it names arguments of functions."""
    for pattern, words in _OPTIONS:
        text = re.sub(pattern, words, text, flags=re.DOTALL)
    return text


def visible(text: object) -> str:
    """Return a text with escapes in place of characters that control a terminal.

    Names of files, graphs and vertices may hold them: to change what stands above, the title of
    the window, or the direction of writing.
    """
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], str(text))


def say(*texts: object, file: TextIO | None = None, flush: bool = False) -> None:
    """Print texts that may hold names from files."""
    print(*map(visible, texts), file=file, flush=flush)


def say_notes(texts: Iterable[str]) -> None:
    """Print notes on standard error, one per line."""
    for text in texts:
        say(f"note: {for_shell(text)}", file=sys.stderr)


def say_json(**facts: Any) -> None:
    """Print the last event of a command, with its results."""
    from eigengraphs.report.records import json_ready

    files = [str(file) for file in facts.pop("files", ())]
    say(json.dumps(json_ready({"event": "done", **facts} | ({"files": files} if files else {}))))


def say_written(files: Sequence[Path], left_out: int = 0) -> None:
    """Print the last line of a command that has written files."""
    say(f"wrote {', '.join(map(str, files))}{files_left_out(left_out)}")


def files_left_out(count: int) -> str:
    """Return the end of the last line, if some files of the input were not read."""
    return f"; {count_of(count, 'file')} of IN left out, see the notes" if count else ""


def sentence(text: str) -> str:
    """Return a note as a sentence."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def described(graphs: GraphStack) -> str:
    """Return how many graphs of which kind there are, and on how many vertices."""
    direction = "directed" if graphs.is_directed else "undirected"
    weights = "weighted" if graphs.is_weighted else "unweighted"
    return (
        f"{count_of(graphs.n_graphs, f'{direction} {weights} graph')} on "
        f"{count_of(graphs.n_vertices, 'vertex', 'vertices')}"
    )


def show_table(
    header: Sequence[str], rows: Iterable[Sequence[object]], whole: Sequence[str] = ()
) -> None:
    """Print a table, as narrow as can be; all columns but those of ``whole`` may be folded.

    Names are shown as they are, even such as ``[bold]``. Where there is no terminal, the table is
    wide enough for its words.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for name in header:
        table.add_column(name, no_wrap=name in whole, overflow="fold")
    for row in rows:
        table.add_row(*map(visible, row))
    shown = sys.stdout.isatty() or "COLUMNS" in os.environ
    Console(markup=False, emoji=False, highlight=False, width=None if shown else 160).print(table)


@contextmanager
def noting(words: Callable[[], str]) -> Iterator[None]:
    """Add words on how to continue to what ends the ``with`` block, a signal or an error."""
    try:
        yield
    except BaseException as end:
        note = words()
        if not isinstance(end, EigengraphsError):  # which says itself what to do
            end.add_note(note)
        raise


# ------------------------------------------------------------------------------------ progress


#: Takes one step of a command: its stage, a text, and how many of how many are done.
Listener: TypeAlias = Callable[..., None]


def silent(*_: object) -> None:
    """Show nothing."""


def counting(listen: Listener, stage: str, what: str) -> Callable[[int, int], None]:
    """Return a callback for a loop: ``what`` 3 of 10."""
    return lambda done, total: listen(stage, f"{what} {done} of {total}", done, total)


@contextmanager
def showing(as_json: bool, stage: str, text: str) -> Iterator[Listener]:
    """Give a listener: JSON lines on standard output, else a bar or lines on standard error.

    The first step is shown at once, before the caller imports what takes seconds. A job that begins
    with the same step says nothing new.
    """
    with _listener(as_json) as show:
        last: tuple[Any, ...] = ()

        def listen(*step: Any) -> None:
            nonlocal last
            if step != last:
                last = step
                show(*step)

        listen(stage, text)
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
        shown = ""

        def listen(
            stage: str, text: str, done: int | None = None, total: int | None = None
        ) -> None:
            nonlocal shown
            if stage != shown:
                shown = stage
                bars.reset(task, total=total)
            words = visible(f"{stage}: {text}")
            bars.update(task, description=words, total=total, completed=done or 0)

        yield listen


def _print_json(
    stage: str, text: str, done: int | None = None, total: int | None = None, /
) -> None:
    words = {"event": stage, "text": text, "done": done, "total": total}
    say(json.dumps({key: value for key, value in words.items() if value is not None}), flush=True)


class _Lines:
    """One line for each new stage, one every few seconds within it, and one at its end."""

    def __init__(self) -> None:
        self._stage = ""
        self._last = 0.0

    def __call__(
        self, stage: str, text: str, done: int | None = None, total: int | None = None
    ) -> None:
        now = time.monotonic()
        ends = total is not None and done == total
        if stage != self._stage or now - self._last > SECONDS or ends:
            self._stage, self._last = stage, now
            say(f"{stage}: {text}", file=sys.stderr, flush=True)
