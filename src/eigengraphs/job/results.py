"""The folder of results: tables, the model, the report, and where it all came from."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from eigengraphs.errors import InputError
from eigengraphs.job.analysis import Analysis
from eigengraphs.job.events import Event, Listener, silent
from eigengraphs.job.provenance import in_words
from eigengraphs.report import records
from eigengraphs.report.page import write_report
from eigengraphs.report.summary import Summary, summarize
from eigengraphs.system.tables import write_table
from eigengraphs.system.whole_files import is_left_over, whole_folder

__all__ = [
    "FILES",
    "answers_in",
    "check_output",
    "quality_rows",
    "summary_of",
    "write_loadings",
    "write_results",
]

#: What a folder of results holds; anything else in it is somebody else's.
FILES = (
    "loadings.tsv", "positions.tsv", "components.tsv", "qc.tsv", "model.eg", "provenance.json",
    "methods.md", "report.html", "report.json",
)  # fmt: skip
# Tables of what was asked afterwards, which a new fit makes void.
_ASKED = ("compare-*.tsv", "evaluate-*.tsv", "read-*.tsv", "cluster-*.tsv", "changes*.tsv",
         "uncertainty-*.tsv")  # fmt: skip


def answers_in(folder: Path) -> list[str]:
    """Return the names of the tables of what was asked of a fit, which another one removes."""
    return sorted(item.name for pattern in _ASKED for item in folder.glob(pattern))


def check_output(folder: Path) -> None:
    """Refuse a place that cannot be written, before hours are spent."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{str(folder)!r} is a file; name a folder for the results")
    if folder.is_dir():
        asked = answers_in(folder)
        others = sorted(
            item.name
            for item in folder.iterdir()
            if item.name not in FILES and item.name not in asked and not is_left_over(item)
        )
        if others:
            raise InputError(
                f"the folder {str(folder)!r} holds other things ({', '.join(others[:3])}); name a "
                "new folder, or one with earlier results alone"
            )
    above = folder.absolute().parent
    while not above.exists():
        above = above.parent
    if not os.access(above, os.W_OK):
        raise InputError(f"cannot write to {str(above)!r}; name another folder for the results")


def write_results(analysis: Analysis, folder: Path, listen: Listener = silent) -> list[Path]:
    """Write all files, whole, or none of them."""
    check_output(folder)
    listen(Event("write", f"writing {folder}"))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(folder, replacing=True) as temporary:
        _write(analysis, temporary)
    for name in answers_in(folder):  # where folders cannot change places, they stayed
        (folder / name).unlink()
    return [folder / name for name in FILES]


def _write(analysis: Analysis, folder: Path) -> None:
    je, data = analysis.embedding, analysis.inputs
    write_loadings(
        folder / "loadings.tsv", je, data.graphs, data.columns, je.loadings_,
    )  # fmt: skip
    names = [f"je{k + 1}" for k in range(je.n_components_)]
    if je.directed:
        rows: Iterable[Sequence[Any]] = (
            (name, *map(float, h), *map(float, g))
            for name, h, g in zip(je.vertex_names_, je.latent_positions_,
                                  je.latent_positions_right_, strict=True)
        )  # fmt: skip
        write_table(
            folder / "positions.tsv", ["vertex", *names, *(f"{x}_right" for x in names)], rows
        )
    else:
        places = zip(je.vertex_names_, je.latent_positions_, strict=True)
        write_table(
            folder / "positions.tsv",
            ["vertex", *names],
            ((name, *map(float, h)) for name, h in places),
        )
    write_table(
        folder / "components.tsv",
        ["component", "objective", "explained", "stationarity", "start_agreement", "stop_reason",
         "converged", "degenerate", "passes"],
        ((name, float(je.objective_path_[k + 1]), float(je.explained_ratio_[k]),
          float(je.stationarity_[k]), float(je.start_agreement_[k]), je.stop_reason_[k],
          je.stop_reason_[k] not in ("stalled", "max_iter", "interrupted"),
          bool(je.degenerate_[k]), je.n_passes_)
         for k, name in enumerate(names)),
    )  # fmt: skip
    write_table(folder / "qc.tsv", *quality_rows(data.quality))
    je.save(folder / "model.eg")
    text = json.dumps(analysis.provenance, indent=1, ensure_ascii=False)
    (folder / "provenance.json").write_text(text + "\n", encoding="utf-8")
    # Names of columns are in it, which are text to a reader of Markdown and never tags or links.
    plain = re.sub(r"[<\[]", r"\\\g<0>", analysis.methods)
    (folder / "methods.md").write_text(plain, encoding="utf-8")
    write_report(summary_of(analysis), folder)


def summary_of(analysis: Analysis) -> Summary:
    """Return what the report shows."""
    data = analysis.inputs
    summary = summarize(
        analysis.embedding,
        data.graphs,
        title=analysis.title,
        columns=data.columns,
        label=analysis.settings.label,
        coordinates=data.coordinates,
        vertex_columns=data.vertex_columns,
        quality=data.quality,
        problems=analysis.problems,
        prediction=analysis.prediction,
        choice=getattr(analysis.embedding, "dimension_choice_", None),
        ordered=analysis.ordered,
        methods=analysis.methods,
        provenance=in_words(analysis.provenance),
    )
    return replace(summary, findings=analysis.findings)


def write_loadings(
    path: Path,
    embedding: Any,
    graphs: Any,
    columns: Any,
    loadings: Any,
    missing: str | None = None,
) -> None:
    """Write one row per graph: its name, what is known of it, loadings, and what they leave."""
    residuals = embedding.residuals(graphs, missing=missing)
    names = [f"je{k + 1}" for k in range(embedding.n_components_)]
    known = _renamed(columns, {"id", "residual", *names})
    write_table(
        path,
        ["id", *known, *names, "residual"],
        ((name, *(values[i] for values in known.values()),
          *map(float, loadings[i]), float(residuals[i]))
         for i, name in enumerate(graphs.graph_names)),
    )  # fmt: skip


def _renamed(columns: Mapping[str, Any], taken: set[str]) -> dict[str, Any]:
    """Return columns under names of their own: ``id_`` for one that is called as ours are."""
    found: dict[str, Any] = {}
    for name, values in columns.items():
        free = name
        while free in taken or free in found or (free != name and free in columns):
            free += "_"
        found[free] = values
    return found


def quality_rows(
    quality: Sequence[records.GraphQuality],
) -> tuple[list[str], Iterable[list[Any]]]:
    """Return header and rows of the table of graphs as they were read."""
    header = [field.name for field in fields(records.GraphQuality)]
    rows = (
        ["; ".join(row.messages) if name == "messages" else getattr(row, name) for name in header]
        for row in quality
    )
    return header, rows
