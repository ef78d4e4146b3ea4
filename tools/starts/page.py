"""What a page tells its reader to type, and what it says will come."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Step", "missing_lines", "steps_of"]

_BLOCK = re.compile(r"^```(sh|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A block of commands or of Python, and the lines that the page shows below it."""

    language: str
    text: str
    shown: tuple[str, ...] = ()


def steps_of(page: Path) -> list[Step]:
    """Return the steps of a page, in order."""
    steps: list[Step] = []
    for language, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "text":
            last = steps.pop()
            steps.append(Step(last.language, last.text, (*last.shown, *text.splitlines())))
        else:
            steps.append(Step(language, text))
    return steps


def missing_lines(shown: tuple[str, ...], printed: str) -> list[str]:
    """Return the lines that a page shows and that were not printed, in their order.

    Three dots in a shown line stand for anything, such as a time.
    """
    lines = iter(printed.splitlines())
    missing = []
    for line in shown:
        pattern = re.compile(".*".join(map(re.escape, line.split("..."))))
        if not any(pattern.fullmatch(other.rstrip()) for other in lines):
            missing.append(line)
            lines = iter(printed.splitlines())
    return missing
