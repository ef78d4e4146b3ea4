"""``eigengraphs fit``: files in, a folder of results out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from eigengraphs.cli.completions import COMPONENTS, DIAGONALS, LOADINGS, TRANSFORMS, among
from eigengraphs.cli.options import (
    OF_STORES,
    Align,
    Cluster,
    Decimal,
    Delimiter,
    Directed,
    Format,
    IdPattern,
    Json,
    Key,
    MaxBytes,
    Memory,
    Missing,
    Participants,
    Source,
    Thousands,
    Vertices,
    Workers,
    input_settings,
)  # fmt: skip
from eigengraphs.cli.wording import files_left_out, say, say_notes
from eigengraphs.system.labels import count_of

__all__ = ["fit"]


def fit(
    source: Source,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the results.")],
    components: Annotated[
        str,
        typer.Option(
            "--components",
            "-d",
            help="Number of components, or auto.",
            autocompletion=among(COMPONENTS),
        ),
    ] = "8",
    label: Annotated[
        str | None, typer.Option(help="Column that the study is about; it is predicted.")
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that says when: numbers or dates; or: input. A time line.",
        ),
    ] = None,
    participants: Participants = None,
    vertices: Vertices = None,
    transform: Annotated[
        list[str] | None,
        typer.Option(
            help="Change of weights: log1p, rank, binarize, ...; several in order.",
            autocompletion=among(TRANSFORMS),
        ),
    ] = None,
    center: Annotated[bool, typer.Option("--center", help="Subtract the mean graph.")] = False,
    loadings: Annotated[
        str,
        typer.Option(
            help="free, nonnegative, sparse, shared or class.", autocompletion=among(LOADINGS)
        ),
    ] = "free",
    max_nonzeros: Annotated[
        int | None, typer.Option(min=1, help="Loadings that are not zero, at most.")
    ] = None,
    diagonal: Annotated[
        str,
        typer.Option(
            help="Self-loops: auto, filled, observed or unobserved.",
            autocompletion=among(DIAGONALS),
        ),
    ] = "auto",
    refine: Annotated[bool, typer.Option("--refine", help="Improve all components.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random starts.")] = 0,
    n_init: Annotated[
        int, typer.Option(min=1, help="Starts of each component, further ones random.")
    ] = 1,
    max_iter: Annotated[int, typer.Option(min=1, help="Iterations, at most.")] = 1000,
    title: Annotated[str, typer.Option(help="Heading of the report.")] = "",
    halves: Annotated[
        bool,
        typer.Option("--halves/--no-halves", help="Test the components on halves of the graphs."),
    ] = True,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 4 if the search did not converge.")
    ] = False,
    memory: Memory = None,
    workers: Workers = None,
    cluster: Cluster = None,
    # For scripts of earlier versions: a fit of a store goes on by itself.
    resume: Annotated[bool, typer.Option("--resume", hidden=True)] = False,  # noqa: ARG001
    deterministic: Annotated[
        bool,
        typer.Option(
            "--deterministic",
            help="The same bits for any number of workers, and without.",
            rich_help_panel=OF_STORES,
        ),
    ] = False,
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
    as_json: Json = False,
) -> None:
    """Embed graphs, and write loadings, positions, the model and a report.

    Example: eigengraphs fit connectomes results --participants participants.tsv --label group
    """
    from eigengraphs.cli.progress import showing
    from eigengraphs.job.events import Event

    with showing(as_json, Event("read", f"reading {source}")) as listen:
        from eigengraphs.fitting.messages import explained_of
        from eigengraphs.job.analysis import FitSettings, analyse
        from eigengraphs.job.large import Large, on_cluster, open_journal
        from eigengraphs.job.results import answers_in, check_output, write_results

        check_output(output)
        settings = FitSettings(
            components=_components(components),
            label=label,
            order=order,
            loadings=loadings,
            max_nonzeros=max_nonzeros,
            transform=tuple(transform or ()),
            center=center,
            diagonal=diagonal,
            refine=refine,
            seed=seed,
            n_init=n_init,
            max_iter=max_iter,
            deterministic=deterministic,
            halves=halves,
        )
        how: Any = input_settings(
            participants, vertices, file_format, key, delimiter, align, directed, allow_missing,
            memory, max_bytes, decimal, thousands, id_pattern,
        )  # fmt: skip
        command = ["eigengraphs", *sys.argv[1:]]
        with (
            on_cluster(source, workers, cluster) as client,
            open_journal(source, output, listen) as journal,
        ):
            analysis = analyse(
                source, how, settings, title=title, command=command, listen=listen,
                large=Large(client, journal),
            )  # fmt: skip
            removed = answers_in(output)
            files = write_results(analysis, output, listen)
    embedding = analysis.embedding
    found = {
        "graphs": analysis.inputs.graphs.n_graphs,
        "vertices": analysis.inputs.graphs.n_vertices,
        "components": embedding.n_components_,
        "explained": float(embedding.explained_ratio_.sum()),
        "explained_of": explained_of(embedding.center),
        "converged": bool(embedding.converged_),
        "problems": [problem.text for problem in analysis.problems],
        "files": [str(path) for path in files],
        "left_out": analysis.inputs.left_out,
        "removed": removed,
    }
    if journal is not None:
        found["passes_kept"] = journal.n_found
    if as_json:
        say(json.dumps({"event": "done"} | found))
    else:
        _say(found, analysis)
    if strict and not embedding.converged_:
        raise typer.Exit(4)


def _components(text: str) -> int | str:
    if text == "auto":
        return "auto"
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise typer.BadParameter(
            f"--components must be a whole number >= 1, or 'auto', got {text!r}"
        )
    return number


def _say(found: dict[str, Any], analysis: Any) -> None:
    say_notes(cast(list[str], found["problems"]))
    say(
        f"{count_of(found['graphs'], 'graph')}, "
        f"{count_of(found['vertices'], 'vertex', 'vertices')}, "
        f"{count_of(found['components'], 'component')}: "
        f"{found['explained']:.1%} of {found['explained_of']} explained, "
        f"{'' if found['converged'] else 'NOT '}converged"
    )
    for finding in analysis.findings:
        say(finding.words[0])
    prediction = analysis.prediction
    if prediction is not None:
        scores = [f"{way.name} {way.score:.3f}" for way in prediction.methods]
        scores.append(f"chance {prediction.chance:.3f}")
        say(
            f"{prediction.label} of graphs that were held out, {prediction.measure}: "
            f"{', '.join(scores)}"
        )
    if found["removed"]:
        say(f"removed answers of the earlier fit: {', '.join(found['removed'])}")
    report = next(path for path in found["files"] if path.endswith("report.html"))
    said = files_left_out(found["left_out"])
    say(f"wrote {len(found['files'])} files; look at {report}{said}")
