"""Docstrings write absolute values with bars, which reStructuredText takes for something else."""

from __future__ import annotations

import re
from typing import Any

# Literals, code of examples and mathematics stay as they are.
_PLAIN = re.compile(r"(``.*?``|:math:`.*?`)|\|")


def escape(lines: list[str]) -> None:
    """Escape bars in place."""
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[k] = _PLAIN.sub(lambda match: match[1] or r"\|", line)


def setup(app: Any) -> dict[str, Any]:
    """Have Sphinx ask for every docstring, before numpydoc reads it."""

    def process(_: Any, __: str, ___: str, ____: Any, _____: Any, lines: list[str]) -> None:
        escape(lines)

    app.connect("autodoc-process-docstring", process, priority=100)
    return {"parallel_read_safe": True}
