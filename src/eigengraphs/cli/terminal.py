"""Output of commands: results, notes, tables, progress; names from files are escaped."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from eigengraphs.errors import EigengraphsError
from eigengraphs.system.labels import count_of

if TYPE_CHECKING:
    from pathlib import Path

    from eigengraphs.stack import GraphStack

_LONG = 60.0  # seconds
SECONDS = 5.0  # between lines of progress where there is no terminal

# Control characters except tab and newline, writing directions, and lone surrogates.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)

# Options of commands, by the arguments of functions that they set.
_OPTIONS = {
    "decimal": "decimal", "delimiter": "delimiter", "diagonal": "diagonal", "format": "format",
    "id_pattern": "id-pattern", "key": "key", "labels": "vertices", "loadings": "loadings",
    "max_bytes": "max-bytes", "n_components": "components", "thousands": "thousands",
    "unseen": "unseen-sites", "vertices": "align",
}  # fmt: skip
_ARGUMENT = "|".join(_OPTIONS)
# Messages, or parts of them, that a command says in another way. In this order.
_WORDS: list[tuple[str, Any]] = [
    (r"Add the rows, leave the graphs out, or pass missing='keep'",
     "Add the rows, or leave the graphs out"),
    (r"(?<!\()\bmissing='unobserved'", "--allow-missing"),
    (r"\bdirected=True\b", "--directed"),
    (r"\bpass mean_only=True", "take out locations alone (--location-only)"),
    (r"\bpass unseen='estimate'", "allow it to be estimated (--unseen-sites estimate)"),
    (r" \(select_vertices\)", " of the files"),
    (r"takes format= one of", "takes --to one of"),
    (r"^a step of preprocess must be one of (.*), or a function from GraphStack to GraphStack; "
     r"pass several in a list, and None for no step; got",
     r"--transform must be one of \1; several are given as several --transform; got"),
    (rf"^({_ARGUMENT}) must be (.*), got \1=", r"\1 must be \2, got "),
    (rf"^({_ARGUMENT}) must be", lambda found: f"--{_OPTIONS[found[1]]} must be"),
    # A value is in quotes only if a shell needs them.
    (rf"\b(?!format)({_ARGUMENT})=(?:'([\w.-]+)'|\"([\w.-]+)\"|('[^']*'|\"[^\"]*\"|\d+))?(?!\w)",
     lambda found: " ".join([f"--{_OPTIONS[found[1]]}", *filter(None, found.groups()[1:])])),
]  # fmt: skip


def for_shell(text: str) -> str:
    """Return a message with options where it names arguments of functions."""
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text, flags=re.DOTALL)
    return text


def visible(text: object) -> str:
    """Return a text with escapes in place of characters that control a terminal.

    Names of files, graphs and vertices may contain them, to change earlier lines, the title of
    the window, or the direction of writing.
    """
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], str(text))


def say(*texts: object, file: TextIO | None = None, flush: bool = False) -> None:
    """Print texts that may hold names from files."""
    print(*map(visible, texts), file=file, flush=flush)


@dataclass(frozen=True)
class Table:
    """Rows below a header, printed as narrow as possible; columns in ``whole`` are never folded."""

    header: Sequence[str]
    rows: Iterable[Sequence[object]]
    whole: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        header: Sequence[str],
        rows: Iterable[Sequence[Any]],
        only: Sequence[str],
        interval: str = "interval",
    ) -> Table:
        """Return some columns of a result, rounded; two ends of an interval are one column."""
        ends = {low: high for low, high in pairwise(only)
                if low.endswith("low") and high == f"{low[:-3]}high"}  # fmt: skip
        shown = [name for name in only if name not in ends.values()]

        def text(row: Mapping[str, Any], name: str) -> str:
            both = [_rounded(name, row[end]) for end in (name, ends.get(name)) if end]
            return " to ".join(both) if all(both) else ""

        cells = (dict(zip(header, row, strict=True)) for row in rows)
        words = [interval if name in ends else name.replace("_", " ") for name in shown]
        return cls(words, [[text(row, name) for name in shown] for row in cells])


def _rounded(name: str, value: Any) -> str:
    if value is None or value != value:
        return ""
    digits = ".2g" if re.search(r"(^|_)p(_|\b)", name) else ".3g"
    return f"{value:{digits}}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Outcome:
    """The output of a command at its end.

    Attributes
    ----------
    text
        For people: lines and tables.
    facts
        For programs: the last event of ``--json``.
    notes
        For people, on standard error and before the text, one per line.
    code
        Exit code of the command.
    """

    text: Sequence[str | Table]
    facts: Mapping[str, Any]
    notes: Iterable[str] = ()
    code: int = 0


def tell(outcome: Outcome, as_json: bool) -> None:
    """Print the outcome of a command."""
    if as_json:
        from eigengraphs.report.records import json_ready

        say(json.dumps(json_ready({"event": "done", **outcome.facts}), default=os.fspath))
        return
    for note in outcome.notes:
        say(f"note: {for_shell(note)}", file=sys.stderr)
    for part in outcome.text:
        if isinstance(part, Table):
            _show(part)
        else:
            say(part)


def written(files: Sequence[Path], left_out: int = 0) -> str:
    """Return the last line of a command that has written files."""
    return f"wrote {', '.join(map(str, files))}{files_left_out(left_out)}"


def files_left_out(count: int) -> str:
    """Return the end of the last line, if some files of the input were not read."""
    return f"; {count_of(count, 'file')} of IN left out, see the notes" if count else ""


def sentence(text: str) -> str:
    """Return a note as a sentence."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def duration(seconds: float) -> str:
    """Return a time for people."""
    if seconds < 100:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def described(graphs: GraphStack) -> str:
    """Return how many graphs of which kind there are, and on how many vertices."""
    direction = "directed" if graphs.is_directed else "undirected"
    weights = "weighted" if graphs.is_weighted else "unweighted"
    return (
        f"{count_of(graphs.n_graphs, f'{direction} {weights} graph')} on "
        f"{count_of(graphs.n_vertices, 'vertex')}"
    )


def _show(table: Table) -> None:
    """Print a table; names are shown as they are, even such as ``[bold]``.

    Where there is no terminal, the table is wide enough for its words.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as Drawn

    drawn = Drawn(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for name in table.header:
        drawn.add_column(name, no_wrap=name in table.whole, overflow="fold")
    for row in table.rows:
        drawn.add_row(*map(visible, row))
    shown = sys.stdout.isatty() or "COLUMNS" in os.environ
    Console(markup=False, emoji=False, highlight=False, width=None if shown else 160).print(drawn)


@contextmanager
def noting(words: Callable[[], str]) -> Iterator[None]:
    """Add a note on how to continue to the signal or error that ends the ``with`` block."""
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
    """Return a callback for a loop: ``what`` 3 of 10, and how long the rest takes, if long."""
    begin = time.monotonic()

    def told(done: int, total: int) -> None:
        nonlocal begin
        if done == 0:
            begin = time.monotonic()
            return
        left = (time.monotonic() - begin) / done * (total - done)
        rest = f", about {duration(left)} left" if left > _LONG else ""
        listen(stage, f"{what} {done} of {total}{rest}", done, total)

    return told


@contextmanager
def showing(as_json: bool, first: tuple[str, str] | None) -> Iterator[Listener]:
    """Give a listener: JSON lines on standard output, else a bar or lines on standard error.

    The first step is shown at once, before the caller imports what takes seconds. A job that begins
    with the same step says nothing new. Without a first step, nothing is shown.
    """
    if first is None:
        yield silent
        return
    with _listener(as_json) as show:
        show(*first)
        last: tuple[Any, ...] = first

        def listen(*step: Any) -> None:
            nonlocal last
            if step != last:
                last = step
                show(*step)

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
    from rich.markup import escape
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("starting", total=None)
        shown = ""

        def listen(
            stage: str, text: str, done: int | None = None, total: int | None = None
        ) -> None:
            nonlocal shown
            if stage != shown:
                shown = stage
                bars.reset(task, total=total)
            words = escape(visible(f"{stage}: {text}"))
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
