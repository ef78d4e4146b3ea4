"""``eigengraphs fit``: files in, a folder of results out.

Here as in all files of commands, functions import what is heavy: the first line of a command, its
help and a completion must not wait for numpy.
"""

from __future__ import annotations

import json
import platform
import re
import shlex
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigengraphs.cli import terminal
from eigengraphs.cli.predict import predict_label
from eigengraphs.cli.read import reading_finding
from eigengraphs.cli.shared_options import (
    DIAGONALS,
    LOADINGS,
    OF_STORES,
    EmbeddingOptions,
    Json,
    Source,
    Study,
    option,
)
from eigengraphs.errors import DegenerateWarning, InputError
from eigengraphs.system.labels import count_of

if TYPE_CHECKING:
    from eigengraphs.cli.input_files import Inputs
    from eigengraphs.embedding import JointEmbedding
    from eigengraphs.report.records import Finding, Prediction, Problem
    from eigengraphs.store.fit_journal import FitJournal

__all__ = ["fit"]

_FEWEST = 4  # participants, of which there are halves
# Seconds of a fit, half a minute of which may be compiling, after which `read` is the user's.
_LONG = 120.0


@dataclass(frozen=True)
class FitOptions(EmbeddingOptions):
    """The options of a fit and of what follows it."""

    label: Annotated[str | None, option("Column that the study is about; it is predicted.")] = None
    order: Annotated[
        str | None,
        option(
            "Time of each graph, numbers or dates; or input. Adds a time line.", metavar="COLUMN"
        ),
    ] = None
    loadings: Annotated[
        str, option("free, nonnegative, sparse, shared or class.", words=LOADINGS)
    ] = "free"
    max_nonzeros: Annotated[int | None, option("Most nonzero loadings of a graph.", min=1)] = None
    diagonal: Annotated[
        str, option("Self-loops: auto, filled, observed or unobserved.", words=DIAGONALS)
    ] = "auto"
    refine: Annotated[bool, option("Improve all components together.", "--refine")] = False
    n_init: Annotated[int, option("Starts for each component; further ones are random.", min=1)] = 1
    max_iter: Annotated[int, option("Maximum number of iterations.", min=1)] = 1000
    halves: Annotated[
        bool, option("Test the components on halves of the graphs.", "--halves/--no-halves")
    ] = True
    deterministic: Annotated[
        bool,
        option("Give the same bits for any number of workers.", "--deterministic", panel=OF_STORES),
    ] = False


def fit(
    source: Source,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the results.")],
    options: FitOptions,
    study: Study,
    title: Annotated[str, option("Heading of the report.")] = "",
    strict: Annotated[
        bool, option("Exit with code 4 if the search did not converge.", "--strict")
    ] = False,
    workers: Annotated[
        int | None,
        option(
            "Number of processes to work in, a cluster on this machine.", min=1, panel=OF_STORES
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        option(
            "Work on this Dask cluster: the address of its scheduler, tcp://...", panel=OF_STORES
        ),
    ] = None,
    # For scripts of earlier versions: a fit of a store continues by itself.
    resume: Annotated[bool, typer.Option("--resume", hidden=True)] = False,  # noqa: ARG001
    as_json: Json = False,
) -> None:
    """Embed graphs, and write loadings, positions, the model and a report.

    Example: eigengraphs fit connectomes results --participants participants.tsv --label group
    """
    with terminal.showing(as_json, "read", f"reading {source}") as listen:
        from eigengraphs.cli.input_files import gather
        from eigengraphs.cli.results_folder import answers_in, check_output
        from eigengraphs.fitting.messages import explained_of

        check_output(output)
        with (
            on_cluster(source, workers, cluster) as move,
            open_journal(source, output, listen) as journal,
        ):
            data = gather(source, study, listen, move)
            analysis = _analyze(data, options, journal, listen)
            removed = answers_in(output)
            listen("write", f"writing {output}")
            record = _provenance(analysis, source, study)
            files = _write(analysis, output, title or _name(source), record)
    embedding = analysis.embedding
    graphs, vertices = data.graphs.n_graphs, data.graphs.n_vertices
    explained, whole = float(embedding.explained_ratio_.sum()), explained_of(embedding.center)
    notes = [problem.text for problem in analysis.problems]
    if as_json:
        terminal.say_json(
            graphs=graphs, vertices=vertices, components=embedding.n_components_,
            explained=explained, explained_of=whole, converged=bool(embedding.converged_),
            problems=notes, left_out=data.left_out, removed=removed, files=files,
            **({} if journal is None else {"passes_kept": journal.n_found}),
        )  # fmt: skip
    else:
        terminal.say_notes(notes)
        terminal.say(
            f"{count_of(graphs, 'graph')}, {count_of(vertices, 'vertex', 'vertices')}, "
            f"{count_of(embedding.n_components_, 'component')}: {explained:.1%} of {whole} "
            f"explained, {'' if embedding.converged_ else 'NOT '}converged"
        )
        for finding in analysis.findings:
            terminal.say(finding.words[0])
        if (found := analysis.prediction) is not None:
            scores = [f"{way.name} {way.score:.3f}" for way in found.methods]
            scores.append(f"chance {found.chance:.3f}")
            terminal.say(f"{found.label} of held-out graphs, {found.measure}: {', '.join(scores)}")
        if removed:
            terminal.say(f"removed answers of the earlier fit: {', '.join(removed)}")
        report = output / "report.html"
        terminal.say(
            f"wrote {len(files)} files; open {report}{terminal.files_left_out(data.left_out)}"
        )
    if strict and not embedding.converged_:
        raise typer.Exit(4)


# ------------------------------------------------------------------------------- the analysis


@dataclass(frozen=True)
class _Analysis:
    """What the folder of results is written from."""

    data: Inputs
    label: str | None
    embedding: JointEmbedding
    problems: list[Problem]
    prediction: Prediction | None
    findings: tuple[Finding, ...]
    ordered: bool | str  # by this column, or by the order of the input
    seconds: dict[str, float]


def _analyze(
    data: Inputs, options: FitOptions, journal: FitJournal | None, listen: terminal.Listener
) -> _Analysis:
    """Fit, predict the label, and test the components."""
    from sklearn.exceptions import ConvergenceWarning

    from eigengraphs.fitting.model_file import keep_vertex_table
    from eigengraphs.report.records import Problem
    from eigengraphs.stack.blocked import BlockedStack

    graphs, label = data.graphs, options.label
    labels = None if label is None else data.column(label)
    classes = _classes(data, label, labels) if options.loadings == "class" else None
    ordered = _ordered(options.order, data)
    embedding = options.estimator(
        graphs, loadings=options.loadings, max_nonzeros=options.max_nonzeros,
        diagonal=options.diagonal, refine=options.refine, n_init=options.n_init,
        max_iter=options.max_iter, deterministic=options.deterministic,
    )  # fmt: skip
    if options.components == "auto":
        listen("choose", "choosing the number of components")
    listen("fit", f"fitting {count_of(graphs.n_graphs, 'graph')}")
    total = None if options.components == "auto" else options.components

    def watch(progress: Any) -> None:
        found = progress.n_converged
        listen("fit", f"{count_of(found, 'component')} found", found, total)

    embedding.callback = watch
    seconds, begin = {"read": data.seconds}, time.perf_counter()
    with (
        warnings.catch_warnings(record=True) as caught,
        nullcontext() if journal is None else journal.keeping(),
    ):
        for category in (ConvergenceWarning, DegenerateWarning):
            warnings.simplefilter("always", category)
        embedding.fit(graphs, classes)
    embedding.callback = None
    keep_vertex_table(embedding, data.vertex_table)
    mine = [str(w.message) for w in caught
            if issubclass(w.category, ConvergenceWarning | DegenerateWarning)]  # fmt: skip
    problems = [*data.problems, *(Problem("warning", text) for text in dict.fromkeys(mine))]
    seconds["fit"] = time.perf_counter() - begin

    prediction = None
    if label is not None and labels is not None:
        begin = time.perf_counter()
        found = predict_label(embedding, data, label, listen)
        seconds["predict"] = time.perf_counter() - begin
        if isinstance(found, str):
            problems.append(Problem("notice", f"{label} was not predicted: {found}"))
        else:
            prediction = found

    findings: tuple[Finding, ...] = ()
    in_memory = not isinstance(graphs, BlockedStack)
    people = graphs.n_graphs if data.participants is None else len(set(data.participants))
    quick = seconds["fit"] <= _LONG  # the test takes no longer than a few fits
    if options.halves and options.loadings != "class" and in_memory and people >= _FEWEST and quick:
        begin = time.perf_counter()
        findings = (reading_finding(embedding, data, listen=listen)[0],)
        seconds["halves"] = time.perf_counter() - begin
    return _Analysis(data, label, embedding, problems, prediction, findings, ordered, seconds)


def _classes(data: Inputs, label: str | None, labels: Sequence[Any] | None) -> list[str]:
    """Return the class of every graph, for ``--loadings class``."""
    from eigengraphs.cli.input_files import is_quantity
    from eigengraphs.report.columns import make_column

    if labels is None:
        raise InputError("--loadings class needs --label: the column that holds the classes")
    if is_quantity(make_column("", labels)):
        raise InputError(
            f"--loadings class needs classes, and {label!r} is a quantity; name another column by "
            "--label, or use --loadings free"
        )
    names = data.graphs.graph_names
    unknown = [name for name, value in zip(names, labels, strict=True) if value is None]
    if unknown:
        others = f" and {count_of(len(unknown) - 1, 'other')}" if len(unknown) > 1 else ""
        raise InputError(
            f"--loadings class needs the class of every graph; it is missing for {unknown[0]!r}"
            f"{others}: complete the table, or use --loadings free"
        )
    return [str(value) for value in labels]


def _ordered(order: str | None, data: Inputs) -> bool | str:
    """Return what orders the graphs in time; refuse what does not, before hours are spent."""
    from eigengraphs.report.columns import time_line

    if order is None:
        return False
    if order == "input":
        if order in data.columns:
            raise InputError(
                "--order input means the order of the input, but there is also a column 'input'; "
                "give the column another name"
            )
        return True
    data.column(order, "order by (or input, for the order of the input)")
    time_line(order, data.columns, data.graphs.graph_names)
    return order


# -------------------------------------------------------------------------------- the results


def _name(source: str) -> str:
    """Return the title of a report on these graphs."""
    path = Path(source)
    while set("*?[") & set(path.name):  # a pattern is known by the folder it looks in
        path = path.parent
    return path.name or "graphs"


def _write(analysis: _Analysis, folder: Path, title: str, record: Mapping[str, Any]) -> list[Path]:
    """Write all files, whole, or none of them."""
    from eigengraphs.cli.results_folder import FILES, answers_in, check_output, write_loadings
    from eigengraphs.report.page import write_report
    from eigengraphs.report.sentences import methods_text
    from eigengraphs.report.summary import summarize
    from eigengraphs.system.whole_files import whole_folder

    je, data = analysis.embedding, analysis.data
    choice = getattr(je, "dimension_choice_", None)
    methods = methods_text(je, data.graphs.n_graphs, choice=choice, prediction=analysis.prediction)
    check_output(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(folder, replacing=True) as new:
        write_loadings(new / "loadings.tsv", je, data.graphs, data.columns, je.loadings_)
        _write_tables(analysis, new)
        je.save(new / "model.eg")
        text = json.dumps(record, indent=1, ensure_ascii=False, default=str)
        (new / "provenance.json").write_text(text + "\n", encoding="utf-8")
        # Names of columns are in it, which are text to a reader of Markdown, never tags or links.
        plain = re.sub(r"[<\[]", r"\\\g<0>", methods)
        (new / "methods.md").write_text(plain, encoding="utf-8")
        summary = summarize(
            je,
            data.graphs,
            title=title,
            columns=data.columns,
            label=analysis.label,
            coordinates=data.coordinates,
            vertex_columns=data.vertex_columns,
            quality=data.quality,
            problems=analysis.problems,
            prediction=analysis.prediction,
            choice=choice,
            ordered=analysis.ordered,
            methods=methods,
            provenance=_in_words(record),
        )
        write_report(replace(summary, findings=analysis.findings), new)
    for name in answers_in(folder):  # where folders cannot be exchanged, they stayed
        (folder / name).unlink()
    return [folder / name for name in FILES]


def _write_tables(analysis: _Analysis, folder: Path) -> None:
    """Write positions, components, and the quality of the graphs."""
    import numpy as np

    from eigengraphs.report.records import GraphQuality
    from eigengraphs.system.tables import write_table

    je = analysis.embedding
    names = [str(name) for name in je.get_feature_names_out()]
    H, header = je.latent_positions_, ["vertex", *names]
    if je.directed:
        H = np.hstack([H, je.latent_positions_right_])
        header += [f"{name}_right" for name in names]
    rows = zip(je.vertex_names_, H.tolist(), strict=True)
    write_table(folder / "positions.tsv", header, ((name, *values) for name, values in rows))
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
    header = [field.name for field in fields(GraphQuality)]
    write_table(
        folder / "qc.tsv",
        header,
        (["; ".join(row.messages) if name == "messages" else getattr(row, name) for name in header]
         for row in analysis.data.quality),
    )  # fmt: skip


def _provenance(analysis: _Analysis, source: str, study: Study) -> dict[str, Any]:
    """Return what someone needs to get the same results again."""
    import numba
    import numpy as np
    import scipy
    import sklearn

    import eigengraphs

    packages = {
        "eigengraphs": eigengraphs, "numpy": np, "scipy": scipy, "scikit-learn": sklearn,
        "numba": numba,
    }  # fmt: skip
    return {
        "command": ["eigengraphs", *sys.argv[1:]],
        "settings": analysis.embedding.get_params(),
        "inputs": analysis.data.checksums,
        "reading": {
            "source": str(Path(source).absolute()),
            "how": {name: str(value.absolute()) if isinstance(value, Path) else value
                    for name, value in asdict(study).items()},
        },
        "versions": {"python": platform.python_version()}
        | {name: package.__version__ for name, package in packages.items()},
        "machine": {"system": platform.system(), "processor": platform.machine()},
        "seconds": {key: round(value, 3) for key, value in analysis.seconds.items()},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }  # fmt: skip


def _in_words(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the provenance for people, one line each; the report adds its own."""
    files = [str(item["path"]) for item in record["inputs"]]
    some = f"{files[0]} to {files[-1]}" if len(files) > 1 else "".join(files)
    return {
        "command": shlex.join(record["command"]),
        "inputs": f"{count_of(len(files), 'file')}: {some}. The SHA-256 of each is in "
        "provenance.json.",
        **{name: record["versions"][name] for name in ("scikit-learn", "numba")},
        "machine": ", ".join(record["machine"].values()),
        "time taken": ", ".join(f"{name} {s:.1f} s" for name, s in record["seconds"].items()),
        "finished": str(record["finished"]),
    }


# --------------------------------------------------------------------------- graphs in a store


def journal_of(output: Path) -> Path:
    """Return the folder of the journal of a fit with these results."""
    return output.parent / f"{output.name}.unfinished"


@contextmanager
def open_journal(
    source: str, output: Path, listen: terminal.Listener
) -> Iterator[FitJournal | None]:
    """Give the journal of a fit: none for graphs in memory, where a fit is short.

    A fit continues from the journal of one that was stopped. Another fit finds nothing in it: it
    asks for other sums. It is removed when all went well, or when it holds nothing. What ends the
    fit gets a note that says what is kept.

    Raises
    ------
    InputError
        If it is that of a fit that is running.
    """
    from eigengraphs.store import is_store
    from eigengraphs.store.fit_journal import FitJournal
    from eigengraphs.system.whole_files import locked

    if not is_store(source):
        with terminal.noting(
            lambda: "nothing was written; the same command starts from the beginning"
        ):
            yield None
        return
    folder = journal_of(output)
    folder.mkdir(parents=True, exist_ok=True)

    def left() -> str:
        if journal.n_kept == 0:
            journal.close()
            return "nothing was found yet; the same command starts from the beginning"
        return f"what was found is kept in {str(folder)!r}: the same command continues from there"

    with ExitStack() as held:
        try:
            held.enter_context(locked(folder, wait=False))
        except BlockingIOError:
            raise InputError(
                f"another fit into {str(output)!r} is running: wait until it has ended, or name "
                "another folder for these results"
            ) from None
        # The folder itself carries the lock, so it is never made again.
        journal = FitJournal(folder, resume=True)
        if journal.n_kept:
            listen("read", f"{journal.n_kept} passes are kept of a fit that was stopped")
        with terminal.noting(left):
            yield journal
        journal.close()


@contextmanager
def on_cluster(source: str, workers: int | None, cluster: str | None) -> Iterator[Any]:
    """Give a function that takes graphs to a cluster, or None if the work is done here."""
    if workers is None and cluster is None:
        yield None
        return
    if workers is not None and cluster is not None:
        raise InputError("--workers starts a cluster here and --cluster names one: give only one")
    from eigengraphs.store import is_store

    if not is_store(source):
        raise InputError(
            "a cluster works on a store, which all of its workers can read, and IN is not one: "
            "make one with 'eigengraphs convert IN graphs.egs'"
        )
    from eigengraphs.store import DaskStack, connect

    where: Any = cluster if workers is None else workers
    with connect(where) as client:
        yield lambda graphs: DaskStack(graphs, client)
