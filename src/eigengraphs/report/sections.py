"""The sections before the components: problems, input, number of components, both plots."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from eigengraphs.report.payload import Shown
from eigengraphs.report.records import GraphQuality
from eigengraphs.report.summary import Summary
from eigengraphs.report.tags import a_name, definitions, number, paragraphs, percent, select, table

__all__ = ["dimension", "loadings", "problems", "quality", "vertices"]

_NOTE_PRINT = (
    '<p class="note in-print">Of a large table, the first 100 rows and 10 columns are printed.</p>'
)


def problems(summary: Summary, shown: Shown) -> str:
    """Return what was refused, repaired, or did not go well."""
    found = summary.problems
    if not found:
        return '<p class="good">None: nothing was refused or repaired, and the fit converged.</p>'
    most = shown.limits.problems
    items = "".join(
        f'<li class="{problem.level}"><strong>{problem.level}:</strong> '
        f"{escape(problem.text[:2000])}</li>"
        for problem in found[:most]
    )
    more = (
        paragraphs([f"{len(found) - most} more are in report.json."]) if len(found) > most else ""
    )
    return f'<ul class="problems">{items}</ul>{more}'


def quality(summary: Summary, shown: Shown) -> str:
    """Return the table of the graphs as they came."""
    rows = summary.quality
    known = [row.density for row in rows if row.density is not None]
    isolated = [row.isolated for row in rows if row.isolated]
    notices = sum(row.verdict == "notice" for row in rows)
    refused = sum(row.verdict == "refused" for row in rows)
    facts = [("graphs read", str(len(rows))), ("used", str(summary.n_graphs))]
    if known:
        low, high = min(known), max(known)
        facts.append(("density", number(low, 3) if low == high else f"{low:.3g} to {high:.3g}"))
    facts += [
        ("with isolated vertices", str(len(isolated))),
        ("with remarks", str(notices)),
        ("refused", str(refused)),
    ]
    files = any(row.file for row in rows)
    header: list[str | tuple[str]] = ["graph", *(["file"] if files else []), "verdict"]
    header += [("density",), ("total weight",), ("isolated vertices",), ("correlation",), "remarks"]
    kept = _kept(rows, shown.limits.graphs)
    note = [f"{len(kept)} of {len(rows)} rows are shown."] if len(kept) < len(rows) else []
    folder = _folder([row.file for row in rows if row.file])
    if folder:
        note.append(f"Files are in {folder[: shown.limits.name]}.")
    body = (_quality_row(row, files, len(folder), shown.limits.name) for row in kept)
    return (
        definitions(facts, "facts")
        + paragraphs(note, "note")
        + table(header, body, "Quality of each graph", tall=len(kept) > 12)
        + (_NOTE_PRINT if len(kept) > 100 else "")
    )


def _kept(rows: Sequence[GraphQuality], most: int) -> list[GraphQuality]:
    """Return as many rows as fit, all with a verdict before others, in input order."""
    if len(rows) <= most:
        return list(rows)
    order = sorted(range(len(rows)), key=lambda i: rows[i].verdict == "ok")[:most]
    return [rows[i] for i in sorted(order)]


def _folder(files: list[str]) -> str:
    """Return the folder that all files are in, with its last slash; empty if there is none."""
    least, most = min(files, default=""), max(files, default="")
    same = next(
        (k for k, (a, b) in enumerate(zip(least, most, strict=False)) if a != b), len(least)
    )
    return least[: max(least.rfind("/", 0, same), least.rfind("\\", 0, same)) + 1]


def _quality_row(row: GraphQuality, files: bool, folder: int, most: int) -> str:
    file = f"<td>{a_name(row.file[folder:], most)}</td>" if files else ""
    isolated = "–" if row.isolated is None else str(row.isolated)
    return (
        f'<tr class="{row.verdict}"><th scope="row">{a_name(row.id, most)}</th>{file}'
        f'<td>{row.verdict}</td><td class="number">{number(row.density)}</td>'
        f'<td class="number">{number(row.total_weight, 6)}</td>'
        f'<td class="number">{isolated}</td><td class="number">{number(row.correlation, 3)}</td>'
        f'<td class="words">{escape("; ".join(row.messages)[:1000])}</td></tr>'
    )


def dimension(summary: Summary, shown: Shown) -> str:
    """Return the objective by number of components, and why there are as many as there are."""
    parts = [paragraphs([summary.dimension_reason])]
    if summary.dimension_rules:
        rules = (
            f'<tr><th scope="row">{escape(rule)}</th><td class="number">{number}</td></tr>'
            for rule, number in summary.dimension_rules
        )
        parts.append(table(["rule", ("components",)], rules, "What each rule says"))
    parts.append('<div id="objective-plot" class="plot"></div>')
    parts.append(
        '<p class="note">Left: objective, the sum of all squared residuals. Below: number of '
        "components. The large dot is the number used.</p>"
    )
    explained = np.cumsum([part.explained for part in summary.components])
    rows = []
    for k, value in enumerate(summary.objective[: shown.components + 1]):
        own = percent(summary.components[k - 1].explained) if k else "–"
        total = percent(float(explained[k - 1])) if k else percent(0.0)
        kind = ' class="chosen"' if k == summary.n_components else ""
        rows.append(
            f'<tr{kind}><th scope="row">{k}</th><td class="number">{number(float(value), 6)}</td>'
            f'<td class="number">{own}</td><td class="number">{total}</td></tr>'
        )
    header: list[str | tuple[str]] = [
        "components",
        ("objective",),
        ("the last one explains",),
        ("together",),
    ]
    parts.append(table(header, rows, "Objective by number of components", tall=len(rows) > 14))
    return "".join(parts)


def loadings(summary: Summary, shown: Shown) -> str:
    """Return the plot of the graphs, its controls, and the table that it filters."""
    axes = [
        (f"k{k}", f"component {k + 1} ({percent(summary.components[k].explained)})")
        for k in range(shown.components)
    ]
    axes.append(("order", "place in the input"))
    axes += [
        (f"n{c}", column.name) for c, column in enumerate(shown.columns) if column.kind == "number"
    ]
    colours = [("", "one colour")]
    too_many = []
    for c, column in enumerate(shown.columns):
        if column.kind == "number" or len(column.categories) <= 28:
            colours.append((str(c), column.name))
        else:
            too_many.append(column.name)
    wanted = [str(c) for c, column in enumerate(summary.columns) if column.name == summary.label]
    first = next((c for c in [*wanted, *dict(colours[1:])] if c in dict(colours)), "")
    x, y = ("k0", "k1") if shown.components > 1 else ("order", "k0")
    notes = [shown.notes.get("loadings", ""), shown.notes.get("columns", "")]
    if too_many:
        notes.append(
            f"Too many categories to colour by: {', '.join(too_many)[:300]}. They are in the table."
        )
    header: list[str | tuple[str]] = ["graph"]
    header += [
        (column.name,) if column.kind == "number" else column.name for column in shown.columns
    ]
    header += [("residual",)]
    header += [(f"component {k + 1}",) for k in range(min(shown.components, 12))]
    notes.append(
        "Residual: share of the graph's "
        + ("sum of squares around the mean graph" if summary.centred else "sum of squares")
        + " that the components leave; 100% less what they explain."
    )
    return (
        "<p>Each point is one graph. Graphs that lie close together are similar networks, as far "
        "as these two components see. Hover over a point to see which graph it is; drag a "
        "rectangle, and the table below lists the graphs inside. By keyboard: Tab into the plot, "
        "arrow keys to walk, Enter to choose, Escape to choose none.</p>"
        '<div class="controls">'
        + select("loadings-x", "Across", axes, x)
        + select("loadings-y", "Up", axes, y)
        + select("loadings-colour", "Colour and shape", colours, first)
        + '<button type="button" id="loadings-reset">Reset selection</button></div>'
        + '<div id="loadings-legend"></div><div id="loadings-plot" class="plot"></div>'
        + paragraphs(notes, "note")
        + '<h3 id="graphs">The graphs</h3><div class="controls"><label for="graph-search">Search'
        '<input id="graph-search" type="search" autocomplete="off"></label>'
        '<button type="button" id="graph-more" hidden>List all</button></div>'
        '<p id="graph-count" aria-live="polite"></p>'
        + table(header, [], "The graphs with their columns and loadings", tall=True)
        .replace("<table><thead>", '<table class="graphs"><thead>')
        .replace("<tbody>", '<tbody id="graph-rows">')
        + (_NOTE_PRINT if len(shown.graphs) > 100 or len(header) > 10 else "")
        + _more_loadings(shown)
    )


def _more_loadings(shown: Shown) -> str:
    if shown.components <= 12:
        return ""
    return paragraphs(["The table has the first 12 loadings; all are in report.json."], "note")


def vertices(summary: Summary, shown: Shown) -> str:
    """Return the plot of the vertices, and the map where they have coordinates."""
    sides = [("l", ", edges from"), ("r", ", edges to")]
    if summary.positions_right is None:
        sides = [("l", "")]
    axes = [
        (f"{side}{k}", f"component {k + 1}{words}")
        for k in range(shown.components)
        for side, words in sides
    ]
    colours = [("", "one colour")] + [
        (str(c), column.name)
        for c, column in enumerate(shown.vertex_columns)
        if column.kind == "number" or len(column.categories) <= 28
    ]
    # Groups of vertices (lobes, say) tell more than numbers, which are often no more than an index.
    groups = [value for value, _ in colours[1:] if shown.vertex_columns[int(value)].categories]
    first = next(iter([*groups, *dict(colours[1:])]), "")
    x, y = ("l0", "l1") if shown.components > 1 else ("order", "l0")
    text = (
        "<p>Each point is one vertex. Far from zero it matters in that component, near zero it "
        "does not. Two vertices on the same side are joined more strongly in graphs with a large "
        "loading, on opposite sides less.</p>"
        '<div class="controls">'
        + select("vertices-x", "Across", [*axes, ("order", "place in the input")], x)
        + select("vertices-y", "Up", [*axes, ("order", "place in the input")], y)
        + select("vertices-colour", "Colour and shape", colours, first)
        + '</div><div id="vertices-legend"></div><div id="vertices-plot" class="plot"></div>'
        + paragraphs([shown.notes.get("vertices", "")], "note")
    )
    if summary.coordinates is None:
        return text
    where = "on their map" if summary.coordinates.shape[1] == 2 else "in space, from three sides"
    return text + (
        f'<h3>The vertices {where}</h3><div class="controls">'
        + select("map-component", "Component", axes, "l0")
        + "</div><p class='note'>Red circles: positive positions; blue squares: negative ones; the "
        "larger, the further from zero.</p>"
        + f'<div id="map-plot"{"" if summary.coordinates.shape[1] == 2 else " class=three"}></div>'
    )
