"""What a finished fit is used for: loadings of new graphs, a description, its page again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from eigengraphs.cli.shared_options import Source, Study
from eigengraphs.cli.terminal import files_left_out, say, say_notes, say_written, showing
from eigengraphs.errors import InputError
from eigengraphs.system.labels import count_of

__all__ = ["info", "report", "transform"]

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, or its folder.")]


def transform(
    model: Model,
    source: Source,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Table of loadings to write.")],
    study: Annotated[Study, "memory"],
) -> None:
    """Project new graphs on the components of a model; nothing is learned from them.

    Example: eigengraphs transform results/model.eg new-connectomes new-loadings.tsv
    """
    with showing(False, "read", f"reading {source}") as listen:
        from eigengraphs.cli.input_files import gather, on_vertices
        from eigengraphs.cli.results_folder import load_model, write_loadings

        embedding = load_model(model)
        missing = "unobserved" if study.allow_missing else None
        if missing and study.align == "auto":
            # The model says which vertices there are, so that a wrong name is refused anyway.
            study = replace(study, align="union")
        data = gather(source, study, listen)
        graphs, notes = on_vertices(data, embedding, missing)
        loadings = embedding.transform(graphs, missing=missing)
        write_loadings(output, embedding, graphs, data.columns, loadings, missing)
    say_notes([*(problem.text for problem in data.problems), *notes])
    say(
        f"{count_of(data.graphs.n_graphs, 'graph')} on "
        f"{count_of(embedding.n_components_, 'component')}; wrote {output}"
        f"{files_left_out(data.left_out)}"
    )


def info(model: Model) -> None:
    """Describe a model in a few lines.

    Example: eigengraphs info results/model.eg
    """
    from eigengraphs.cli.results_folder import load_model
    from eigengraphs.fitting.messages import explained_of

    je = load_model(model)
    defaults = type(je)().get_params()
    settings = [f"{name}={value!r}" for name, value in je.get_params().items()
                if value != defaults[name] and name != "n_components"]  # fmt: skip
    say(
        f"{count_of(je.n_components_, 'component')} of {count_of(len(je.loadings_), 'graph')} on "
        f"{count_of(je.n_vertices_, 'vertex', 'vertices')}"
    )
    say(
        f"explained: {je.explained_ratio_.sum():.1%} of {explained_of(je.center)}; diagonal "
        f"{je.diagonal_}; {'' if je.converged_ else 'NOT '}converged in "
        f"{count_of(je.n_passes_, 'pass', 'passes')}"
    )
    say(f"settings: {', '.join(settings) or 'defaults'}")
    for k, h in enumerate(je.latent_positions_.T):
        names = ", ".join(str(je.vertex_names_[s]) for s in (-abs(h)).argsort(kind="stable")[:5])
        say(
            f"component {k + 1}: {je.explained_ratio_[k]:.2%} explained, {je.stop_reason_[k]}; "
            f"{names}"
        )


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="OUT", help="A folder of results, or its report.json.")
    ],
    title: Annotated[str, typer.Option(help="Another heading of the page.")] = "",
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page; by default OUT/report.html.")
    ] = None,
) -> None:
    """Write report.html again from report.json; no graphs are needed.

    Example: eigengraphs report results --title "Thirty people" --output thirty.html
    """
    from eigengraphs.report import read_summary, write_page

    data = folder / "report.json" if folder.is_dir() else folder
    page = data.with_name("report.html") if output is None else output
    if page.resolve() == data.resolve():
        raise InputError(f"{str(page)!r} holds the data of the report; name another file")
    summary = read_summary(data)
    say_written([write_page(replace(summary, title=title or summary.title), page)])
