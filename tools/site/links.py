"""Links inside of a site: each leads to a file, and to a place in it, or is dead."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["dead_links", "pages"]


class _Page(HTMLParser):
    """What a page links to, and the places that others may link to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links and names."""
        for name, value in attrs:
            if value is None:
                continue
            if name in ("id", "name"):
                self.places.add(value)
            elif (tag, name) in (
                ("a", "href"),
                ("img", "src"),
                ("script", "src"),
                ("link", "href"),
            ):
                self.links.append(value)


def pages(site: Path) -> list[Path]:
    """Return the pages for readers, without Sphinx's own index of modules."""
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def dead_links(site: Path) -> list[str]:
    """Return links that lead nowhere, with the page that they are on."""
    parsed = {path: _Page(path.read_text(encoding="utf-8")) for path in pages(site)}
    dead = []
    for path, page in parsed.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                dead.append(f"{path.relative_to(site)}: {link} is not there")
            elif parts.fragment and target in parsed and parts.fragment != "#":
                places = parsed[target].places
                if unquote(parts.fragment) not in places and parts.fragment not in places:
                    dead.append(f"{path.relative_to(site)}: {link} has no such place")
    return dead
