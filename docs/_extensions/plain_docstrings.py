"""Docstrings are read in a terminal, too: they name pages by path, and write |x| with bars.

In the site, the path of a page is a link, and a bar is a bar and not reStructuredText.
"""

from __future__ import annotations

import re
from typing import Any

# Literals, code of examples and mathematics stay as they are.
_PLAIN = re.compile(r"(``.*?``|:math:`.*?`)|\|")
_PAGE = re.compile(r"``docs(/[\w/-]+)\.md``")


def escape(lines: list[str]) -> None:
    """Escape bars, and link pages, in place."""
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            plain = _PLAIN.sub(lambda match: match[1] or r"\|", line)
            lines[k] = _PAGE.sub(r":doc:`\1`", plain)


def setup(app: Any) -> dict[str, Any]:
    """Have Sphinx ask for every docstring, before numpydoc reads it."""

    def process(_: Any, __: str, ___: str, ____: Any, _____: Any, lines: list[str]) -> None:
        escape(lines)

    app.connect("autodoc-process-docstring", process, priority=100)
    return {"parallel_read_safe": True}
