"""``python -m tools.architecture``: draw the layers and what imports what.

Parts and imports come from the source (grimp, on which import-linter stands), rows from the layers
in ``pyproject.toml``. An arrow is left out where a longer way leads to the same part. The
picture is ``docs/images/architecture.svg``; with ``--check`` nothing is written, and the exit
code says whether the picture is that of the source.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "architecture.svg"
_WIDTH, _ROW, _BOX = 1120, 62, 30


def layers() -> list[list[str]]:
    """Return the layers from the top down, each a list of parts."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    rows = next(c["layers"] for c in contracts["contracts"] if c["type"] == "layers")
    return [[name.strip() for name in row.split("|")] for row in rows]


def imports(parts: set[str]) -> set[tuple[str, str]]:
    """Return pairs of parts, the first of which imports the second."""
    graph = grimp.build_graph("eigengraphs", cache_dir=None)

    def part(module: str) -> str:
        return module.split(".")[1] if "." in module else ""

    found = set()
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            pair = part(module), part(other)
            if pair[0] != pair[1] and set(pair) <= parts:
                found.add(pair)
    return found


def shortest(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Leave out pairs between which a longer way leads."""
    below: dict[str, set[str]] = {}
    for a, b in pairs:
        below.setdefault(a, set()).add(b)

    def reaches(a: str, b: str, seen: set[str]) -> bool:
        for c in below.get(a, ()):
            if c == b:
                return True
            if c not in seen:
                seen.add(c)
                if reaches(c, b, seen):
                    return True
        return False

    return {
        (a, b) for a, b in pairs if not any(reaches(c, b, {a}) for c in below[a] if c != b)
    }  # fmt: skip


def draw() -> str:
    """Return the picture."""
    rows = layers()
    parts = {name for row in rows for name in row}
    place: dict[str, tuple[float, float, float]] = {}
    for y, row in enumerate(rows):
        widths = [9.2 * len(name) + 22 for name in row]
        gap = (_WIDTH - sum(widths)) / (len(row) + 1)
        x = gap
        for name, width in zip(row, widths, strict=True):
            place[name] = (x, 14.0 + y * _ROW, width)
            x += width + gap
    lines = []
    for a, b in sorted(shortest(imports(parts))):
        (xa, ya, wa), (xb, yb, wb) = place[a], place[b]
        x1, y1, x2, y2 = xa + wa / 2, ya + _BOX, xb + wb / 2, yb
        bend = max(18.0, (y2 - y1) / 2)
        lines.append(
            f'<path d="M{x1:.0f} {y1:.0f}C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} '
            f'{x2:.0f} {y2:.0f}" marker-end="url(#a)"><title>{a} imports {b}</title></path>'
        )
    boxes = [
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{w:.0f}" height="{_BOX}" rx="4"/>'
        f'<text x="{x + w / 2:.0f}" y="{y + 20:.0f}">{name}</text>'
        for name, (x, y, w) in sorted(place.items())
    ]
    height = len(rows) * _ROW
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
            'font-family="monospace" font-size="15">',
            '<rect width="100%" height="100%" fill="#fff"/>',
            '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#567"/></marker></defs>',
            '<g fill="none" stroke="#567" stroke-width="1" stroke-opacity="0.6">',
            *lines,
            "</g>",
            '<g fill="#eef4fa" stroke="#357" text-anchor="middle">',
            *[box.replace("<text", '<text fill="#123" stroke="none"') for box in boxes],
            "</g>",
            "</svg>\n",
        ]
    )


def main() -> int:
    """Write the picture, or compare it."""
    sys.path.insert(0, str(ROOT / "src"))
    picture = draw()
    if "--check" in sys.argv[1:]:
        same = PICTURE.is_file() and PICTURE.read_text(encoding="utf-8") == picture
        if not same:
            print(f"{PICTURE.name} is not of this source: python -m tools.architecture")
        return not same
    PICTURE.write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
