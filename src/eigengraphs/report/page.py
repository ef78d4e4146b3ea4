"""One self-contained page about an embedding: no script, nothing loaded from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path

from eigengraphs.report.files import whole_file

__all__ = ["write_page"]

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto;
 padding: 0 1rem }}
img {{ max-width: 100%; height: auto }}
.wide {{ overflow-x: auto }}
table {{ border-collapse: collapse; font-size: 0.92em }}
th, td {{ padding: 0.25em 0.8em; text-align: left; border-bottom: 1px solid #ddd }}
</style>
</head>
<body>
<h1>{title}</h1>
{paragraphs}
<p><img alt="{alt}" src="data:image/png;base64,{picture}"></p>
<h2>Components</h2>
<div class="wide"><table><thead><tr>{header}</tr></thead><tbody>
{rows}
</tbody></table></div>
<p>{footer}</p>
</body>
</html>
"""


def write_page(
    path: Path,
    *,
    title: str,
    paragraphs: Sequence[str],
    picture: Path,
    alt: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    footer: str,
) -> None:
    """Write an HTML page of some paragraphs, one PNG picture and one table."""
    cells = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    text = _PAGE.format(
        title=escape(title),
        paragraphs="\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs),
        alt=escape(alt, quote=True),
        picture=base64.b64encode(picture.read_bytes()).decode("ascii"),
        header="".join(f"<th>{escape(cell)}</th>" for cell in header),
        rows=cells,
        footer=escape(footer),
    )
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
