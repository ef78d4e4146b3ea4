"""Links of pages to files of the repository, which have other names in the site, or none.

Pages are read in the repository too, where ``[benchmarks](../../benchmarks/RESULTS.md)`` leads to
the file. In the site, a file that some page includes is that page, and any other is given to be
downloaded.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

_INCLUDED = re.compile(r"^```\{include\} (\S+)", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#:\s]+)((?:#[^)]*)?)\)")
_PICTURES = {".png", ".svg"}


def included_files(docs: Path) -> dict[Path, str]:
    """Return the page, as a name of Sphinx's, of every file that a page of the site is made of."""
    found = {(docs.parent / "README.md").resolve(): "index.md"}
    for page in docs.rglob("*.md"):
        for name in _INCLUDED.findall(page.read_text(encoding="utf-8")):
            found[(page.parent / name).resolve()] = str(page.relative_to(docs))
    return found


def rewrite(text: str, file: Path, docs: Path, pages: dict[Path, str]) -> str:
    """Return the text of a file with links that lead somewhere in the site."""

    def one(match: re.Match[str]) -> str:
        name, place = match.groups()
        if name.startswith("/"):
            return match[0]
        target = (file.parent / name).resolve()
        if target.suffix in _PICTURES:  # Sphinx takes "/" for the folder of the documentation
            return f"](/{os.path.relpath(target, docs)})"
        if target in pages:
            return f"](/{pages[target]}{place})"
        if target.is_relative_to(docs) and target.is_file():
            return f"](/{target.relative_to(docs)}{place})"
        if target.is_dir():
            return "](/develop/architecture.md)"
        return match[0]

    return _LINK.sub(one, text)


def setup(app: Any) -> dict[str, Any]:
    """Have Sphinx ask for every page and every included file."""
    docs = Path(app.srcdir).resolve()
    pages = included_files(docs)

    def read(_: Any, name: str, source: list[str]) -> None:
        file = docs / f"{name}.md"
        if file.is_file():
            source[0] = rewrite(source[0], file, docs, pages)

    def include(_: Any, path: Path, __: str, content: list[str]) -> None:
        content[0] = rewrite(content[0], (docs / path).resolve(), docs, pages)

    app.connect("source-read", read)
    app.connect("include-read", include)
    return {"parallel_read_safe": True}
