"""The report as one file that asks the network for nothing, and the same as JSON."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from eigengraphs.errors import InputError
from eigengraphs.report import sections, sections_more
from eigengraphs.report.findings import findings
from eigengraphs.report.payload import LIMITS, Limits, Shown, choose_shown, page_data
from eigengraphs.report.records import json_ready
from eigengraphs.report.summary import Summary
from eigengraphs.report.tags import paragraphs
from eigengraphs.system.labels import shortened
from eigengraphs.system.whole_files import (
    output_folder,
    replace_together,
    scratch_folder,
    whole_file,
)

__all__ = ["MOST_BYTES", "SECTIONS", "render", "write_page", "write_report"]

MOST_BYTES = 10_000_000
_SCRIPTS = ("dom", "colours", "scatter", "heatmap", "lines", "loadings", "vertices", "main")

Section = Callable[[Summary, Shown], str]
SECTIONS: tuple[tuple[str, str, str, Section], ...] = (
    ("problems", "Problems", "Problems", sections.problems),
    ("quality", "Input", "The graphs as they came", sections.quality),
    ("dimension", "How many", "How many components", sections.dimension),
    ("loadings", "Graphs", "The graphs by their loadings", sections.loadings),
    ("vertices", "Vertices", "The vertices by their positions", sections.vertices),
    ("components", "Components", "The components", sections_more.components),
    ("worst", "Worst fits", "The graphs that fit worst", sections_more.worst),
    ("prediction", "Prediction", "The label of graphs not seen", sections_more.prediction),
    ("findings", "Findings", "What was asked of the fit", findings),
    ("timeline", "Time", "Over time", sections_more.timeline),
    ("methods", "Methods", "Methods", sections_more.methods),
    ("glossary", "Glossary", "What the words mean", sections_more.glossary),
    ("provenance", "Provenance", "Provenance", sections_more.provenance),
)

_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; \
style-src '$style_hash'; script-src '$script_hash'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="eigengraphs">
<link rel="icon" href="data:,">
<title>$title</title>
<style>$style</style>
</head>
<body>
<a class="skip" href="#loadings">Skip to the plot of the graphs</a>
<a class="skip" href="#components">Skip to the components</a>
<header>
<h1>$title</h1>
<div class="lead">
$lead</div>
</header>
<nav aria-label="Sections"><ul>$links</ul></nav>
<noscript><p class="remark">Plots and the table of graphs need JavaScript, which is switched off \
here. Their numbers are in report.json.</p></noscript>
<main>
$sections</main>
<footer>One file, nothing loaded from elsewhere. The same as data: report.json.</footer>
<script type="application/json" id="report-data">$data</script>
<script>$script</script>
</body>
</html>
""")


def write_report(summary: Summary, folder: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write ``report.html``, under 10 MB, and ``report.json`` into a folder.

    Parameters
    ----------
    summary : Summary
        From :func:`~eigengraphs.report.summarize`.
    folder : str or path
        Made if it does not exist.

    Returns
    -------
    tuple of Path
        The page, and the same as data: the whole summary, where the page may leave things out.

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> from eigengraphs.report import summarize, write_report
    >>> graphs = eg.models.ErdosRenyi(8, 0.5).sample(6, random_state=0)
    >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
    >>> summary = summarize(je, graphs, title="Six graphs")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_report(summary, folder)]
    ['report.html', 'report.json']
    """
    home = output_folder(folder)
    page, data = home / "report.html", home / "report.json"
    with scratch_folder(page) as scratch:
        (scratch / page.name).write_text(render(summary), encoding="utf-8", newline="\n")
        with (scratch / data.name).open("w", encoding="utf-8") as file:
            file.writelines(summary.json_pieces())
        replace_together([(scratch / data.name, data), (scratch / page.name, page)])
    return page, data


def write_page(summary: Summary, path: str | os.PathLike[str]) -> Path:
    """Write the page alone, whole, in place of the file that is there.

    Parameters
    ----------
    summary : Summary
        From :func:`~eigengraphs.report.summarize` or :func:`~eigengraphs.report.read_summary`.
    path : str or path
        The file, in a folder that exists.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> from eigengraphs.report import summarize, write_page
    >>> graphs = eg.models.ErdosRenyi(8, 0.5).sample(6, random_state=0)
    >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
    >>> summary = summarize(je, graphs, title="Six graphs")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page(summary, folder + "/page.html").name
    'page.html'
    """
    page = Path(path)
    text = render(summary)
    if page.is_dir():
        raise InputError(f"{str(page)!r} is a folder; name a file for the page")
    try:
        with whole_file(page) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(
            f"cannot write {str(page)!r}: {error.strerror}; name another file"
        ) from None
    return page


def render(summary: Summary, most_bytes: int = MOST_BYTES) -> str:
    """Return the page; what it leaves out, if it would be too large, it says."""
    for limits in LIMITS:
        text = _render(summary, limits)
        if len(text.encode("utf-8")) < most_bytes:
            return text
    raise InputError(
        f"the report would take {len(text.encode('utf-8')):,} bytes, more than {most_bytes:,}; "
        "pass fewer columns, or shorter texts in methods, problems and provenance"
    )


def _render(summary: Summary, limits: Limits) -> str:
    shown = choose_shown(summary, limits)
    script, style = _script(), _asset("report.css")
    body = "".join(
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>\n'
        f"{make(summary, shown)}</section>\n"
        for name, _, title, make in SECTIONS
    )
    links = "".join(f'<li><a href="#{name}">{link}</a></li>' for name, link, _, _ in SECTIONS)
    return _PAGE.substitute(
        title=escape(shortened(summary.title, 300)),
        lead=paragraphs(summary.words),
        links=links,
        sections=body,
        data=_data(page_data(summary, shown)),
        script=script,
        style=style,
        script_hash=_hash(script),
        style_hash=_hash(style),
    )


def _script() -> str:
    """Return the modules as one script with names of its own."""
    modules = "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{modules}}})();\n'


def _asset(name: str) -> str:
    text = (files("eigengraphs.report") / "assets" / name).read_text(encoding="utf-8")
    # A checkout may have other line ends; the browser hashes what it reads, with \n.
    return text.replace("\r\n", "\n")


def _data(payload: dict[str, object]) -> str:
    text = json.dumps(
        json_ready(payload), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    # Nothing in it may end the script element or open a comment.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
