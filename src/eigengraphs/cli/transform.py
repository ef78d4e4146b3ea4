"""``eigengraphs transform``: loadings of new graphs under a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from eigengraphs.cli.options import (
    Align,
    Decimal,
    Delimiter,
    Directed,
    Format,
    IdPattern,
    Key,
    MaxBytes,
    Missing,
    Participants,
    Source,
    Thousands,
    Vertices,
    input_settings,
)  # fmt: skip
from eigengraphs.cli.wording import files_left_out, say, say_notes
from eigengraphs.system.labels import count_of

__all__ = ["transform"]


def transform(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, or its folder.")],
    source: Source,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Table of loadings to write.")],
    participants: Participants = None,
    vertices: Vertices = None,
    file_format: Format = "auto",
    key: Key = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    id_pattern: IdPattern = None,
    align: Align = "auto",
    directed: Directed = False,
    allow_missing: Missing = False,
    max_bytes: MaxBytes = None,
) -> None:
    """Project new graphs on the components of a model; nothing is learnt from them.

    Example: eigengraphs transform results/model.eg new-connectomes new-loadings.tsv
    """
    from eigengraphs.cli.progress import showing
    from eigengraphs.job.events import Event

    with showing(False, Event("read", f"reading {source}")) as listen:
        from eigengraphs.embedding import load
        from eigengraphs.job.inputs import gather, on_vertices
        from eigengraphs.job.results import write_loadings

        embedding = load(model / "model.eg" if model.is_dir() else model)
        how: Any = input_settings(
            participants,
            vertices,
            file_format,
            key,
            delimiter,
            # The model says which vertices there are, so that a wrong name is refused anyway.
            "union" if allow_missing and align == "auto" else align,
            directed,
            allow_missing,
            max_bytes=max_bytes,
            decimal=decimal,
            thousands=thousands,
            id_pattern=id_pattern,
        )
        data = gather(source, how, listen)
        missing = "unobserved" if allow_missing else None
        graphs, said = on_vertices(data, embedding, missing)
        loadings = embedding.transform(graphs, missing=missing)
        write_loadings(output, embedding, graphs, data.columns, loadings, missing)
    say_notes([*(problem.text for problem in data.problems), *said])
    say(f"{count_of(data.graphs.n_graphs, 'graph')} on "
        f"{count_of(embedding.n_components_, 'component')}; wrote {output}"
        f"{files_left_out(data.left_out)}")  # fmt: skip
