"""The sections from the components on: what was found, how well, and by what means."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from numpy.typing import NDArray

from eigengraphs.report.glossary import GLOSSARY
from eigengraphs.report.payload import Shown
from eigengraphs.report.records import Component, Edge, Prediction
from eigengraphs.report.sentences import DOUBTFUL, doubt, verdicts
from eigengraphs.report.summary import Summary
from eigengraphs.report.tags import a_name, definitions, number, paragraphs, percent, table
from eigengraphs.system.labels import shortened

__all__ = ["components", "glossary", "methods", "prediction", "provenance", "timeline", "worst"]


def components(summary: Summary, shown: Shown) -> str:
    """Return each component: heat map, strongest vertices and pairs, and doubts."""
    directed = summary.positions_right is not None
    intro = (
        "The matrix of each component, vertices in input order: red pairs are joined more strongly "
        "in a graph with a positive loading, blue pairs less; with a negative loading it is the "
        "other way round. Colours end at the value that all but one in 200 pairs stay below. "
    )
    if directed:
        intro += "Rows are where edges start, columns where they end."
    condition = ""
    if summary.n_components > 1:
        condition = (
            f"How nearly components are sums of each other (condition number): "
            f"{number(summary.gamma_condition, 3)}; 1 is not at all, above 100 is a problem."
        )
    cards = [_card(summary, k, directed) for k in range(shown.components)]
    notes = [shown.notes.get("components", ""), shown.notes.get("maps", "")]
    return paragraphs([intro, condition]) + paragraphs(notes, "note") + "".join(cards)


def _card(summary: Summary, k: int, directed: bool) -> str:
    part = summary.components[k]
    verdict = verdicts(summary).get(k, "not tested")
    doubts = [*part.remarks]
    if verdict in DOUBTFUL:
        text = doubt(summary, verdict, [k])
        doubts.append(f"{text[:1].upper()}{text[1:]}.")
    remarks = "".join(f'<p class="remark">{escape(text)}</p>' for text in doubts)
    H, names = summary.positions, summary.vertex_names
    if directed and summary.positions_right is not None:
        G = summary.positions_right
        lists = [
            _vertices("Edges from, positive", part.high, H[:, k], names),
            _vertices("Edges from, negative", part.low, H[:, k], names),
            _vertices("Edges to, positive", part.right_high, G[:, k], names),
            _vertices("Edges to, negative", part.right_low, G[:, k], names),
        ]
    else:
        lists = [
            _vertices("Vertices on one side (+)", part.high, H[:, k], names),
            _vertices("On the other (−)", part.low, H[:, k], names),
        ]
    lists.append(_edges("Strongest pairs", part.edges, names, directed))
    return (
        f'<article class="component" id="component-{k + 1}"><h3>Component {k + 1}: explains '
        f"{percent(part.explained)}</h3>{remarks}"
        f'<div class="heatmap" data-component="{k}"></div>'
        f'<div class="lists">{"".join(lists)}{_certificate(part, verdict)}</div></article>'
    )


def _certificate(part: Component, verdict: str) -> str:
    agree = "" if part.start_agreement is None else f"; {part.start_agreement:.0%} of starts agree"
    text = (
        f"Halves of the graphs: {verdict}. Search: {part.stop_reason}, relative gradient "
        f"{part.stationarity:.0e}{agree}."
    )
    return f'<p class="note">{escape(text)}</p>'


def _vertices(title: str, which: Sequence[int], h: NDArray[Any], names: Sequence[str]) -> str:
    if not which:
        return f"<div><h4>{title}</h4><p class='note'>none</p></div>"
    items = "".join(_item(a_name(names[s], 60), float(h[s])) for s in which)
    return f"<div><h4>{title}</h4><ol>{items}</ol></div>"


def _edges(title: str, edges: Sequence[Edge], names: Sequence[str], directed: bool) -> str:
    if not edges:
        return ""
    sign = " → " if directed else " – "
    items = "".join(
        _item(
            f'<span class="pair">{a_name(names[e.source], 40)}{sign}'
            f"{a_name(names[e.target], 40)}</span>",
            e.weight,
        )
        for e in edges
    )
    return f'<div class="edges"><h4>{title}</h4><ol>{items}</ol></div>'


def _item(name: str, value: float) -> str:
    return f'<li><span>{name}<span class="value">{number(value, 3)}</span></span></li>'


def worst(summary: Summary, shown: Shown) -> str:
    """Return the graphs that are described worst, beside their reconstructions."""
    most = summary.worst[: shown.limits.worst]
    text = (
        "The graphs of which the fit misses the largest share of the squared weights"
        f"{', mean graph included' if summary.centred else ''}: something is in them that the "
        "components, and so most other graphs, do not have, or they are noisier. "
        "Vertices in input order, one scale for the three pictures."
    )
    left_out = len(summary.worst) - len(most)
    notes = [shown.notes.get("maps", "")]
    if left_out:
        notes.append(f"Pictures of {left_out} more are left out to keep this file small.")
    if not summary.worst:
        return paragraphs(["Nothing is missed in any graph."])
    parts = [paragraphs([text]), paragraphs(notes, "note")]
    for w, graph in enumerate(most):
        name = summary.graph_names[graph.graph]
        pictures = "".join(
            f'<figure><figcaption>{words}</figcaption><div class="heatmap" data-worst="{w}" '
            f'data-map="{which}"></div></figure>'
            for which, words in (
                ("observed", "the graph"),
                ("reconstruction", "its reconstruction"),
                ("residual", "what is left (residual)"),
            )
        )
        edges = ""
        if graph.edges:
            sign = " → " if summary.positions_right is not None else " – "
            listed = ", ".join(
                f"{shortened(summary.vertex_names[e.source], 40)}{sign}"
                f"{shortened(summary.vertex_names[e.target], 40)} ({number(e.weight, 3)})"
                for e in graph.edges
            )
            edges = paragraphs([f"Largest residuals: {listed}."], "note")
        parts.append(
            f"<h3>{a_name(name)}: residual {_residual(summary, graph.graph)}</h3>"
            f'<div class="three">{pictures}</div>{edges}'
        )
    return "".join(parts)


def _residual(summary: Summary, i: int) -> str:
    own = percent(1.0 - float(summary.explained_by_graph[i]))
    if not summary.centred:
        return own
    whole = percent(float(summary.residual_with_mean[i]))
    return f"{own} around the mean graph, {whole} of the whole graph"


def prediction(summary: Summary, _: Shown) -> str:
    """Return how well the label of held-out graphs is found."""
    guess = summary.prediction
    if guess is None or not guess.methods:
        text = "The fit predicted no label of held-out graphs."
        if any(found.key.startswith("evaluate ") for found in summary.findings):
            text += " Predictions that were asked for later are under what was asked of the fit."
        return paragraphs([text], "note")
    header: list[str | tuple[str]] = [
        "method",
        ("right" if guess.kind == "classes" else "variance explained",),
        ("standard error",),
        ("numbers in its components",),
    ]
    rows = [
        f'<tr><th scope="row">{a_name(method.name)}</th>'
        f'<td class="number">{percent(method.score)}</td>'
        f'<td class="number">{percent(method.se)}</td>'
        f'<td class="number">{"–" if method.n_parameters is None else f"{method.n_parameters:,}"}'
        "</td></tr>"
        for method in guess.methods
    ]
    rows.append(
        f'<tr><th scope="row">chance</th><td class="number">{percent(guess.chance)}</td>'
        '<td class="number">–</td><td class="number">–</td></tr>'
    )
    return (
        paragraphs([_what_was_predicted(guess), guess.protocol])
        + _bars(guess)
        + table(header, rows, f"{guess.measure.capitalize()} by method")
    )


def _what_was_predicted(guess: Prediction) -> str:
    of = "" if guess.n_graphs is None else f" It is known of {guess.n_graphs} graphs."
    name = shortened(guess.label, 200)
    if guess.kind == "classes":
        few = len(guess.classes) <= 12
        names = ", ".join(guess.classes) if few else f"{len(guess.classes)} classes"
        classes = f" ({shortened(names, 300)})" if guess.classes else ""
        return (
            f"The label is {name}{classes}.{of} Shown is the share of held-out graphs whose label "
            "was found; chance is always naming the most frequent one."
        )
    return (
        f"The label is {name}, a quantity.{of} Shown is the explained variance of held-out graphs: "
        "100% is a perfect prediction, 0% is no better than naming the mean of all graphs, and "
        "below zero is worse. Chance is always naming the mean of the graphs that were not held "
        "out."
    )


def _bars(guess: Prediction) -> str:
    colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
    bars = [(method.name, method.score, colours[k % 4]) for k, method in enumerate(guess.methods)]
    bars.append(("chance", guess.chance, "#8d98a3"))
    return '<div class="bars" aria-hidden="true">' + "".join(
        f"{a_name(name)}<svg viewBox='0 0 100 8' preserveAspectRatio='none'>"
        f"<rect width='{100 * min(max(value, 0.0), 1.0):.2f}' height='8' fill='{colour}'/></svg>"
        f"<span>{percent(value)}</span>"
        for name, value, colour in bars
    ) + "</div>"  # fmt: skip


def timeline(summary: Summary, shown: Shown) -> str:
    """Return the loadings over time, of ordered graphs."""
    line = summary.timeline
    if line is None:
        return paragraphs(["The graphs have no order in time."], "note")
    words = "Loadings of each component, the graphs in the order of "
    if line.by:
        first, last = shortened(line.labels[0], 60), shortened(line.labels[-1], 60)
        words += f"{shortened(line.by, 60)}, from {first} to {last}."
        if len(set(line.labels)) < len(line.labels):
            words += (
                " Graphs of the same time stand side by side, in the order of the input, and the "
                "line goes through their means."
            )
    else:
        words += "the input."
    words += " Steps are equal: how far two points are apart does not say how much time passed."
    more = "The first 12 components are shown." if shown.components > 12 else ""
    return (
        paragraphs([words])
        + paragraphs([shown.notes.get("loadings", ""), more], "note")
        + '<div id="timeline-plot"></div>'
    )


def methods(summary: Summary, _: Shown) -> str:
    """Return the methods paragraph."""
    return "".join(map(_block, summary.methods.split("\n\n")))


def _block(text: str) -> str:
    """Return one block of the little Markdown that methods have: a heading, a list, or words."""
    lines = [line for line in text.split("\n") if line.strip()]
    if lines and all(line.startswith("- ") for line in lines):
        return "<ul>" + "".join(f"<li>{escape(line[2:])}</li>" for line in lines) + "</ul>\n"
    if len(lines) == 1 and lines[0].startswith("**") and lines[0].endswith("**"):
        return f"<h3>{escape(lines[0].strip('*'))}</h3>\n"
    return paragraphs(lines)


def glossary(_: Summary, __: Shown) -> str:
    """Return what the words mean."""
    return definitions(GLOSSARY)


def provenance(summary: Summary, _: Shown) -> str:
    """Return where things come from."""
    return definitions((shortened(name, 200), text[:4000]) for name, text in summary.provenance)
