"""``eigengraphs transform``: loadings of new graphs under a model."""

from __future__ import annotations

from dataclasses import replace

from eigengraphs.cli.command_options import Transform
from eigengraphs.cli.input_files import gather, on_vertices
from eigengraphs.cli.results_folder import load_model, write_loadings
from eigengraphs.cli.terminal import Listener, Outcome, written
from eigengraphs.system.labels import count_of


def transform(asked: Transform, listen: Listener) -> Outcome:
    """Project new graphs on the components of a model, and write their loadings."""
    embedding, study = load_model(asked.model), asked.study
    missing = "unobserved" if study.allow_missing else None
    if missing and study.align == "auto":
        # The model says which vertices there are, so that a wrong name is refused anyway.
        study = replace(study, align="union")
    data = gather(asked.source, study, listen)
    graphs, notes = on_vertices(data, embedding, missing)
    loadings = embedding.transform(graphs, missing=missing)
    residual = embedding.residuals(graphs, missing=missing).tolist()
    write_loadings(asked.output, graphs, data.columns, loadings, residual=residual)
    m, d, notes = graphs.n_graphs, embedding.n_components_, [*data.notes, *notes]
    last = written([asked.output], data.left_out)
    facts = {"graphs": m, "components": d, "notices": notes, "left_out": data.left_out,
             "files": [asked.output]}  # fmt: skip
    return Outcome([f"{count_of(m, 'graph')} on {count_of(d, 'component')}; {last}"], facts, notes)
