"""``eigengraphs effects``: which edges, regions and networks differ between groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eigengraphs import inference, plot
from eigengraphs.cli.command_options import Effects
from eigengraphs.cli.commands.compare import read_question
from eigengraphs.cli.input_files import named_in
from eigengraphs.cli.results_folder import FinishedFit
from eigengraphs.cli.terminal import Listener, Outcome, Table
from eigengraphs.errors import InputError
from eigengraphs.report.records import Finding, Intervals
from eigengraphs.system.extras import need

_STRONGEST = 20  # rows of the report and on the terminal; the files have all
_OF = {"networks": "pairs of networks", "regions": "regions", "edges": "edges"}


def effects(asked: Effects, listen: Listener) -> Outcome:
    """Test edges, regions and pairs of networks for an effect."""
    fit = FinishedFit(asked.folder)
    given, question = read_question(fit, asked)
    networks = None if asked.by is None else _networks(fit, asked.by)
    graphs = None
    if not asked.pattern_only:
        graphs = fit.inputs(asked.graphs, listen).graphs
        if tuple(graphs.graph_names) != tuple(fit.summary.graph_names):
            raise InputError(
                "the graphs have other names than those of the fit; fit them, and use the results "
                "of that"
            )
    listen("test", "testing edges")
    found = inference.edge_effects(
        fit.embedding, graphs=graphs, networks=networks, level=asked.level, **given
    )
    by = () if asked.by is None else ("by", asked.by)
    named = question.named("effects", found.group, *by)
    spelled = question.table("effects", found.group, *by)
    stem, title = spelled.removesuffix(".tsv"), f"Effects of {found.group}{question.adjusted}"
    more, shown, strongest = dict[str, Any](), list[str | Table](), dict[str, Finding]()
    for what, words in _OF.items():
        if what not in found.pattern:
            continue
        table = found.table(what)  # type: ignore[arg-type]
        header, order = tuple(table), _strongest(table)
        rows = tuple(tuple(table[name][i] for name in header) for i in order[:_STRONGEST])
        drawn = None
        if "effect" in header:
            place = header.index("effect")
            drawn = Intervals(place, place + 1, place + 2, 0.0, "effect on the pattern")
        said = f"The strongest {words}" if len(order) > _STRONGEST else f"All {words}"
        strongest[what] = Finding(
            f"{what} of {' '.join(named)}", f"{title}: {words}", (f"{said}.",), header, rows, drawn,
        )  # fmt: skip
        more[f"{stem}.{what}.tsv"] = table
        shown += [f"{said}:", Table.of(header, rows, _columns(header))]
    edges, tests = strongest.pop("edges"), ("combined", "pattern", "weights", "connected")
    connected = found.connected
    facts = {
        "group": found.group, "formula": asked.formula, "kind": found.kind, "design": found.design,
        "graphs": found.n_graphs, "units": found.n_units, "levels": found.levels,
        "level": found.level, "effect": found.effect_name, "edges": len(found.pattern["edges"].F),
        "named": {by: int(found.named(by).sum())  # type: ignore[arg-type]
                  for by in (tests if found.weights else tests[:1])},
        "strongest_edges": edges.cells,
        **{f"strongest_{what}": finding.cells for what, finding in strongest.items()},
        "connected": None if connected is None else [
            {"edges": int(size), "p": float(p)}
            for size, p in zip(connected.sizes, connected.p_values, strict=True)],
        "permutations": found.n_permutations, "exact": found.exact,
    }  # fmt: skip
    return fit.answer(
        named, title, found.words, edges.header, edges.rows, facts, shown=shown,
        careful=(*question.notes, *found.notes), methods=found.methods, column=found.group,
        table=spelled, intervals=edges.intervals, more=more, further=[*strongest.values()],
        drawn={f"{stem}.png": _picture(found)},
    )  # fmt: skip


def _networks(fit: FinishedFit, name: str) -> list[Any]:
    """Return a column of the vertices."""
    columns = {column.name: column for column in fit.summary.vertex_columns}
    absent = f"there is no column {name!r} of the vertices for --by in {str(fit.folder)!r}"
    none = "none (fit with --vertices, a table of the vertices)"
    return list(named_in(columns, name, absent, none).known)


def _strongest(table: Mapping[str, Sequence[Any]]) -> Any:
    """Return the places of the rows, the strongest first; of sums, by the weights."""
    p = next(key for key in ("p_combined", "weights_p_family", "p_family") if key in table)
    F = "weights_F" if p == "weights_p_family" else "F"
    return np.lexsort((-np.nan_to_num(table[F]), np.nan_to_num(table[p], nan=1.0)))


def _columns(header: Sequence[str]) -> list[str]:
    """Return the columns for a terminal."""
    left_out = {"F", "p", "p_fdr", "named"}
    return [name for name in header if name not in left_out and not name.startswith("weights_")] + [
        name for name in ("weights_effect", "weights_p_family") if name in header
    ]


def _picture(found: inference.EdgeEffects) -> Any:
    """Return a figure of the effect on the pattern, and on the weights of named edges."""
    panels = 2 if found.weights else 1
    figure = need("matplotlib.figure", "report", "drawing a picture").Figure(
        figsize=(6.5 * panels, 5.4), layout="constrained"
    )
    axes = figure.subplots(1, panels, squeeze=False)[0]
    plot.edge_effects(found, ax=axes[0])
    if found.weights:
        plot.edge_effects(found, "weights", named=True, ax=axes[1])
    return figure
