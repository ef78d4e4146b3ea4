"""Messages of the library in the words of the command line: options instead of arguments."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import TextIO

__all__ = ["files_left_out", "for_shell", "say", "say_notes", "table_width", "visible"]

# Control characters but tab and end of line, directions of writing, and halves of characters.
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


def files_left_out(count: int) -> str:
    """Return the end of the last line of a command, where files of the input were not read."""
    return f"; {count} file{'s' * (count > 1)} of IN left out, see the notes" if count else ""


def visible(text: object) -> str:
    """Return a text that is shown as it is: marks that steer a terminal are written as escapes.

    Names of files, graphs and vertices may hold them: to change what stands above, the title of
    the window, or the direction of writing.
    """
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], str(text))


def say(*texts: object, file: TextIO | None = None, flush: bool = False) -> None:
    """Print texts that may hold names from files."""
    print(*map(visible, texts), file=file, flush=flush)


def table_width() -> int | None:
    """Return the width of a table that no terminal shows, wide enough for its words."""
    return None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160


def say_notes(texts: Iterable[str]) -> None:
    """Print what was met on the way, a line each, on standard error."""
    for text in texts:
        say(f"note: {for_shell(text)}", file=sys.stderr)
