"""The report as one HTML file that loads nothing from the network, and the same as JSON.

``assets/page.html`` holds the sections and their sentences; here is what it needs beside the
summary and the payload.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import isfinite, isnan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError
from eigengraphs.report.records import Cell, Column, Finding, Intervals, json_ready
from eigengraphs.report.sentences import DOUBTFUL, asset, doubt, percent, verdicts, whole_methods
from eigengraphs.report.summary import Summary
from eigengraphs.report.worst_fits import block_size, sums_of_rows, symmetric_limit
from eigengraphs.system.extras import need
from eigengraphs.system.labels import component_column, component_name, measure_words, shortened
from eigengraphs.system.whole_files import (
    output_folder,
    replace_together,
    scratch_folder,
    whole_file,
)

MOST_BYTES = 10_000_000
#: By id: the link in the navigation, and the heading.
SECTIONS = {
    "problems": ("Problems", "Problems"),
    "quality": ("Input", "Input"),
    "dimension": ("Dimension", "Number of components"),
    "loadings": ("Graphs", "Graphs by their loadings"),
    "vertices": ("Vertices", "Vertices by their positions"),
    "components": ("Components", "Components"),
    "worst": ("Worst fits", "Graphs with the worst fit"),
    "prediction": ("Prediction", "Prediction on held-out graphs"),
    "findings": ("Analyses", "Further analyses"),
    "timeline": ("Time", "Loadings over time"),
    "methods": ("Methods", "Methods"),
    "glossary": ("Glossary", "Glossary"),
    "provenance": ("Provenance", "Provenance"),
}
_SCRIPTS = ("dom", "colors", "scatter", "heatmap", "lines", "loadings", "vertices", "main")
_BAR_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_MOST_CATEGORIES = 28  # more colors and shapes cannot be told apart by eye
_LOADINGS_IN_TABLE = 12
_ROWS_OF_FINDING = 60
_TINY_P = 0.0001  # how much smaller a p value is depends on tails that nobody knows
_WIDTH, _ROW, _NAMES = 720, 22, 210  # of a plot of intervals, its rows, and their names


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
    """Write only the page, as a whole file; an existing file is replaced.

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
    """Return the page; where it would be too large, it leaves things out and says so."""
    template = _templates().get_template("page.html")
    for limits in LIMITS:
        text = str(template.render(_context(summary, limits)))
        size = len(text.encode("utf-8"))
        if size < most_bytes:
            return text
    raise InputError(
        f"the report would take {size:,} bytes, more than {most_bytes:,}; pass fewer columns, or "
        "shorter texts in methods, problems and provenance"
    )


@cache
def _templates() -> Any:
    jinja2 = need("jinja2", "report", "writing a report")
    found = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    found.filters |= {
        "number": number, "number_under": _number_under, "percent": percent, "sha256": _sha256,
        "shortened": shortened,
    }  # fmt: skip
    return found


def _context(summary: Summary, limits: Limits) -> dict[str, Any]:
    """Return what the template reads."""
    payload = page_payload(summary, limits)
    verdict_of = verdicts(summary)
    scores = [] if summary.prediction is None else [
        *((method.name, method.score, _BAR_COLORS[k % 4])
          for k, method in enumerate(summary.prediction.methods)),
        ("chance", summary.prediction.chance, "#8d98a3"),
    ]  # fmt: skip
    modules = "\n".join(asset(f"{name}.js") for name in _SCRIPTS)
    data = json.dumps(
        json_ready(payload), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return {
        "summary": summary,
        "limits": limits,
        "payload": payload,
        "sections": SECTIONS,
        "quality": _quality(summary, limits),
        "graphs": _graph_choices(summary, payload),
        "vertices": _vertex_choices(summary, payload),
        "verdicts": verdict_of,
        "doubts": {k: (doubt(summary, verdict, [k]),)
                   for k, verdict in verdict_of.items() if verdict in DOUBTFUL},
        "bars": scores,
        "measures": [] if summary.prediction is None else [
            (measure_words(name), True)
            for method in summary.prediction.methods[:1] for name, _ in method.measures
        ],
        "evaluated": any(found.key.startswith("evaluate ") for found in summary.findings),
        "findings": [_finding(found, summary.n_components) for found in summary.findings],
        "methods": _blocks(whole_methods(summary)),
        "provenance": [(shortened(name, 200), text[:4000]) for name, text in summary.provenance],
        "style": asset("report.css"),
        # One script with names of its own.
        "script": f'(() => {{\n"use strict";\n{modules}}})();\n',
        # Nothing in it may end the script element or open a comment.
        "data": data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
    }  # fmt: skip


def _sha256(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _quality(summary: Summary, limits: Limits) -> dict[str, Any]:
    """Return facts and rows of the table of the input; rows with remarks before others."""
    rows = summary.quality
    verdict_of = [row.verdict for row in rows]
    densities = [row.density for row in rows if row.density is not None]
    facts: list[tuple[str, Any]] = [("graphs read", len(rows)), ("used", summary.n_graphs)]
    if densities:
        low, high = number(min(densities), 3), number(max(densities), 3)
        facts.append(("density", low if low == high else f"{low} to {high}"))
    facts += [
        ("with isolated vertices", sum(bool(row.isolated) for row in rows)),
        ("with remarks", verdict_of.count("notice")),
        ("refused", verdict_of.count("refused")),
    ]
    order = sorted(range(len(rows)), key=lambda i: verdict_of[i] == "ok")[: limits.graphs]
    notes = []
    if len(order) < len(rows):
        notes.append(f"{len(order)} of {len(rows)} rows are shown.")
    paths = [row.file for row in rows if row.file]
    same = os.path.commonprefix(paths)  # noqa: RUF071 (of texts: paths of any system)
    folder = same[: max(same.rfind("/"), same.rfind("\\")) + 1]
    if folder:
        notes.append(f"Files are in {folder[: limits.name]}.")
    texts = ["graph", "file", "verdict"] if paths else ["graph", "verdict"]
    figures = ["density", "total weight", "isolated vertices", "correlation"]
    return {
        "facts": facts,
        "notes": notes,
        "files": bool(paths),
        "folder": folder,
        "header": [*((text, False) for text in texts), *((text, True) for text in figures),
                   ("remarks", False)],
        "rows": [rows[i] for i in sorted(order)],
    }  # fmt: skip


def _graph_choices(summary: Summary, payload: dict[str, Any]) -> dict[str, Any]:
    """Return axes and colors of the plot of the graphs, and the header of their table."""
    columns, d = payload["columns"], len(payload["loadings"])
    colors, too_many = _colors(columns)
    label = [str(c) for c, column in enumerate(summary.columns) if column.name == summary.label]
    return {
        "axes": [
            *((f"k{k}", f"{component_name(k)} ({percent(summary.components[k].explained)})")
              for k in range(d)),
            ("order", "place in the input"),
            *((f"n{c}", column["name"]) for c, column in enumerate(columns)
              if column["kind"] == "number"),
        ],
        "colors": colors,
        "color": next((c for c in [*label, *dict(colors[1:])] if c in dict(colors)), ""),
        "too_many": too_many,
        "header": [
            ("graph", False),
            *((column["name"], column["kind"] == "number") for column in columns),
            ("residual", True),
            *((component_name(k), True) for k in range(min(d, _LOADINGS_IN_TABLE))),
        ],
    }  # fmt: skip


def _vertex_choices(summary: Summary, payload: dict[str, Any]) -> dict[str, Any]:
    """Return axes and colors of the plot of the vertices."""
    sides = {"l": ", edges from", "r": ", edges to"}
    if summary.positions_right is None:
        sides = {"l": ""}
    colors, _ = _colors(payload["vertexColumns"])
    # Groups of vertices (lobes) tell more than numbers, which are often only an index.
    groups = [c for c, _ in colors[1:] if payload["vertexColumns"][int(c)]["kind"] == "category"]
    return {
        "axes": [(f"{side}{k}", f"{component_name(k)}{words}")
                 for k in range(len(payload["loadings"])) for side, words in sides.items()],
        "colors": colors,
        "color": next(iter([*groups, *dict(colors[1:])]), ""),
    }  # fmt: skip


def _colors(columns: list[dict[str, Any]]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the columns to color by, as choices, and the names of those with too many values."""
    choices, too_many = [("", "one color")], []
    for c, column in enumerate(columns):
        if len(column.get("categories", ())) <= _MOST_CATEGORIES:
            choices.append((str(c), column["name"]))
        else:
            too_many.append(column["name"])
    return choices, too_many


def _finding(found: Finding, d: int) -> dict[str, Any]:
    words: dict[Cell, Cell] = {component_column(k): component_name(k) for k in range(d)}
    rows = tuple((words.get(row[0], row[0]), *row[1:]) for row in found.rows[:_ROWS_OF_FINDING])
    numbers = [
        all(not isinstance(cell, str) for cell in cells) for cells in zip(*rows, strict=True)
    ]
    return {
        "title": found.title,
        "words": found.words,
        "notes": found.notes,
        "header": [(name, i > 0 and (not rows or numbers[i]))
                   for i, name in enumerate(found.header)],
        "rows": rows,
        "more": len(found.rows) - len(rows),
        "forest": _forest(found.intervals, rows),
    }  # fmt: skip


def _forest(drawn: Intervals | None, rows: Sequence[Sequence[Cell]]) -> dict[str, Any] | None:
    """Return where points and intervals are drawn, one row under the other on one axis."""
    if drawn is None:
        return None
    lines = []
    for row in rows:
        ends = [row[place] for place in (drawn.value, drawn.low, drawn.high)]
        known = [float(end) for end in ends if isinstance(end, int | float) and isfinite(end)]
        if len(known) == 3:
            texts = [cell for cell in row[: drawn.value] if isinstance(cell, str)]
            lines.append((" ".join(texts), known))
    if not lines:
        return None
    marks = [end for _, ends in lines for end in ends]
    marks += [] if drawn.reference is None else [drawn.reference]
    least, span = min(marks), (max(marks) - min(marks)) or 1.0
    room = _WIDTH - _NAMES - 30

    def across(value: float) -> float:
        return round(_NAMES + 10 + room * (value - least) / span, 1)

    return {
        "width": _WIDTH,
        "height": _ROW * len(lines) + 40,
        "left": _NAMES,
        "middle": _NAMES + 10 + room / 2,
        "axis": drawn.axis,
        "reference": None if drawn.reference is None else across(drawn.reference),
        "lines": [(shortened(name, 30), *map(across, ends), _ROW * (i + 0.5) + 4)
                  for i, (name, ends) in enumerate(lines)],
        "ticks": [(across(x), x) for x in (least, least + span / 2, least + span)],
    }  # fmt: skip


def _blocks(text: str) -> list[tuple[str, list[str]]]:
    """Return the blocks of the little Markdown that methods have: headings, lists and text."""
    found = []
    for block in text.split("\n\n"):
        lines = [line for line in block.split("\n") if line.strip()]
        if lines and all(line.startswith("- ") for line in lines):
            found.append(("list", [line[2:] for line in lines]))
        elif len(lines) == 1 and lines[0].startswith("**") and lines[0].endswith("**"):
            found.append(("heading", [lines[0].strip("*")]))
        else:
            found.append(("text", lines))
    return found


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with few digits, or a dash for None and nan."""
    if value is None or isnan(value):
        return "–"
    size = abs(value)
    if 9999.5 <= size < 1e9:
        text = f"{value:,.0f}"
    elif 10.0**digits * (1 - 0.5 * 10.0**-digits) <= size < 1e9:
        text = f"{value:.0f}"  # rounded to so many digits, it would have an exponent
    else:
        text = f"{value:.{digits}g}".replace("inf", "∞")
    return text.replace("-", "−")


def _number_under(value: float | None, heading: str) -> str:
    """Return a number of a table; p values that are very small by their upper bound."""
    is_p = heading == "p" or heading.startswith(("p (", "p_"))
    return f"< {_TINY_P}" if is_p and value is not None and value < _TINY_P else number(value)


# ---------------------------------------------------------------- what the script of the page reads


@dataclass(frozen=True)
class Limits:
    """How much a page holds; ``name`` is the number of characters of a name."""

    graphs: int = 4000
    vertices: int = 4000
    components: int = 40
    columns: int = 40
    worst: int = 3
    name: int = 200
    problems: int = 200


# The first that makes a page small enough is used.
LIMITS = (
    Limits(),
    Limits(graphs=2000, vertices=2000, components=20, columns=20, worst=1, name=100),
    Limits(graphs=500, vertices=500, components=12, columns=10, worst=0, name=60, problems=50),
)


def page_payload(summary: Summary, limits: Limits) -> dict[str, Any]:
    """Return what the page shows and its script reads; ``notes`` say what was left out, by section.

    Graphs, vertices and columns stay in input order.
    """
    m, n, d, most = summary.n_graphs, summary.n_vertices, summary.n_components, limits.name
    notes = {}
    graphs = np.arange(m)
    if m > limits.graphs:
        graphs = np.linspace(0, m - 1, limits.graphs).round().astype(np.intp)
        notes["loadings"] = (
            f"{limits.graphs} of {m} graphs are shown, at equal steps of the input order; all are "
            "in report.json."
        )
    vertices = np.arange(n)
    H, G = summary.positions, summary.positions_right
    if n > limits.vertices:
        # By the best component of each: a vertex may matter in one component alone.
        size = ((H if G is None else np.hstack([H, G])) ** 2).max(axis=1)
        vertices = np.sort(np.argsort(-size, kind="stable")[: limits.vertices])
        notes["vertices"] = (
            f"{limits.vertices} of {n} vertices are shown, those with the largest positions in any "
            "component; all are in report.json."
        )
    shown = min(d, limits.components)
    if shown < d:
        notes["components"] = f"The first {shown} of {d} components are shown."
    block = block_size(n)
    if block > 1:
        notes["maps"] = (
            f"There are {n} vertices: each cell of a heat map is the mean over {block} by {block} "
            "neighboring vertices in input order, so narrow patterns look paler than they are."
        )
    left_out = len(summary.columns) - limits.columns
    if left_out > 0:
        notes["columns"] = f"The first {limits.columns} columns are shown; {left_out} are left out."

    def names(all_names: tuple[str, ...], places: Any) -> list[str]:
        return [shortened(all_names[place], most) for place in places]

    def columns(given: tuple[Column, ...], places: NDArray[np.intp]) -> list[dict[str, Any]]:
        return [_column(column, places, most) for column in given[: limits.columns]]

    def by_component(X: NDArray[np.float64] | None) -> list[list[float | None]] | None:
        return None if X is None else [_rounded(x) for x in X.T[:shown]]

    # Block means of the positions: the block means of h h^T are their products.
    sizes = sums_of_rows(np.ones((n, 1)), block)
    left = sums_of_rows(H, block) / sizes
    right = None if G is None else sums_of_rows(G, block) / sizes
    cells = names(summary.vertex_names, range(0, n, block))
    if block > 1:
        lasts = names(summary.vertex_names, [min(lo + block, n) - 1 for lo in range(0, n, block)])
        cells = [f"{first} to {last}" for first, last in zip(cells, lasts, strict=True)]
    X = summary.coordinates
    if X is not None:
        X = np.where(np.isnan(X).any(axis=1, keepdims=True), np.nan, X)[vertices]
    return {
        "graphs": names(summary.graph_names, graphs),
        "columns": columns(summary.columns, graphs),
        "explained": [_round(part.explained) for part in summary.components[:shown]],
        "loadings": by_component(summary.loadings[graphs]),
        "residual": _rounded(1.0 - summary.explained_by_graph[graphs]),
        "vertices": names(summary.vertex_names, vertices),
        "vertexPlaces": vertices.tolist(),
        "vertexColumns": columns(summary.vertex_columns, vertices),
        "positions": by_component(H[vertices]),
        "right": None if G is None else by_component(G[vertices]),
        "coordinates": None if X is None else [_rounded(x) for x in X.T],
        "objective": _rounded(summary.objective),
        "cells": {
            "positions": by_component(left),
            "right": by_component(right),
            "limits": [
                _round(symmetric_limit(np.outer(h, g)))
                for h, g in zip(left.T[:shown], (left if right is None else right).T, strict=False)
            ],
            "names": cells,
        },
        "timeline": _timeline(summary, graphs),
        "worst": [
            {
                "name": shortened(summary.graph_names[worst.graph], most),
                "observed": vars(worst.observed),
                "reconstruction": vars(worst.reconstruction),
                "residual": vars(worst.residual),
            }
            for worst in summary.worst[: limits.worst]
        ],
        "notes": notes,
    }


def _timeline(summary: Summary, graphs: NDArray[np.intp]) -> dict[str, Any] | None:
    """Return the time line of the graphs that are shown, by their places on the page."""
    line = summary.timeline
    if line is None:
        return None
    place = {graph: k for k, graph in enumerate(graphs.tolist())}
    kept = [(place[i], label) for i, label in zip(line.order, line.labels, strict=True)
            if i in place]  # fmt: skip
    return {
        "by": shortened(line.by, 60),
        "order": [k for k, _ in kept],
        "labels": [shortened(label, 40) for _, label in kept],
    }


def _column(column: Column, places: NDArray[np.intp], most: int) -> dict[str, Any]:
    values = [column.values[place] for place in places]
    name = shortened(column.name, most)
    if column.kind == "number":
        rounded = [None if value is None else _round(value, 7) for value in values]
        return {"name": name, "kind": "number", "values": rounded}
    # Categories of graphs that are not shown would only fill the legend.
    used = sorted({int(value) for value in values if value is not None})
    code = {c: k for k, c in enumerate(used)}
    return {
        "name": name,
        "kind": "category",
        "categories": [shortened(column.categories[c], most) for c in used],
        "values": [None if value is None else code[int(value)] for value in values],
    }


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    return [_round(value) for value in values.tolist()]


def _round(value: float, digits: int = 6) -> float | None:
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None
