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
from eigengraphs.inference.studies.designs import read_design
from eigengraphs.report.records import Finding, Intervals
from eigengraphs.system.extras import need

_STRONGEST = 20  # rows of the report and on the terminal; the files have all
_OF = {"networks": "pairs of networks", "regions": "regions", "edges": "edges"}


def effects(asked: Effects, listen: Listener) -> Outcome:
    """Test edges, regions and pairs of networks for an effect."""
    fit = FinishedFit(asked.folder)
    given, question = read_question(fit, asked)
    networks = None if asked.by is None else _networks(fit, asked.by)
    design = (given[key] for key in ("group", "covariates", "subjects", "name"))
    read_design(np.eye(len(fit.summary.loadings)), *design)  # or refuses, before graphs are read
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
    title += f" ({found.compared})" * bool(found.compared)
    more, shown, strongest = dict[str, Any](), list[str | Table](), dict[str, Finding]()
    for what, words in _OF.items():
        if what not in found.pattern:
            continue
        table = found.table(what)  # type: ignore[arg-type]
        header, keys = tuple(table), _sorted_by(table)
        p = np.nan_to_num(table[keys[0]], nan=1.0)
        order = np.lexsort((-np.nan_to_num(table[keys[1]]), p))
        rows = tuple(tuple(table[name][i] for name in header) for i in order[:_STRONGEST])
        drawn = None
        if "pattern_effect" in header:
            place = header.index("pattern_effect")
            drawn = Intervals(place, place + 1, place + 2, 0.0, "effect on the pattern")
        most = "The strongest" if len(order) > _STRONGEST else "All"
        if not (p <= found.level).any():
            most = "Largest statistics (none is significant) of"
        said = f"{most} {words}, sorted by {' and '.join(keys)}"
        strongest[what] = Finding(
            f"{what} of {' '.join(named)}", f"{title}: {words}", (f"{said}.",), header, rows, drawn,
        )  # fmt: skip
        more[f"{stem}.{what}.tsv"] = table
        shown += [f"{said}:", Table.of(header, rows, _columns(header, found.effect_name))]
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


def _sorted_by(table: Mapping[str, Sequence[Any]]) -> tuple[str, str]:
    """Return the columns by which rows are sorted, the smallest p value and largest F first."""
    if "p_combined" in table:
        return "p_combined", "pattern_F"
    of = "weights" if "weights_F" in table else "pattern"
    return f"{of}_p_family", f"{of}_F"


def _columns(header: Sequence[str], measure: str) -> list[str]:
    """Return the columns for a terminal."""
    size = "effect" if "pattern_effect" in header else measure
    both = [f"{of}_{name}" for name in (size, "p_family") for of in ("pattern", "weights")]
    wanted = ["region", "ends", "region 2", "network", "network 2", *both, "p_combined", "named_by"]
    return [name for name in wanted if name in header]


def _picture(found: inference.EdgeEffects) -> Any:
    """Return a figure of the effect on the pattern, and on the weights of named edges."""
    panels = 2 if found.weights else 1
    figure = need("matplotlib.figure", "report", "drawing a picture").Figure(
        figsize=(6.5 * panels, 5.4), layout="constrained"
    )
    axes = figure.subplots(1, panels, squeeze=False)[0]
    drawn = [found.matrix()]
    if found.weights and found.named().any():
        drawn.append(found.matrix("weights"))
    limit = float(np.nanquantile(np.abs(drawn), 0.995)) or None
    plot.edge_effects(found, limit=limit, ax=axes[0])
    if found.weights:
        plot.edge_effects(found, "weights", named=True, limit=limit, ax=axes[1])
    return figure
