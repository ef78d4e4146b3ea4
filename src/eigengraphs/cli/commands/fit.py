"""``eigengraphs fit``: files in, a folder of results out."""

from __future__ import annotations

import json
import platform
import shlex
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numba
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from eigengraphs import store
from eigengraphs.cli.command_options import NOBODY, Fit
from eigengraphs.cli.commands.read import reading_finding
from eigengraphs.cli.held_out import predict_label
from eigengraphs.cli.input_files import Inputs, gather
from eigengraphs.cli.results_folder import (
    FILES,
    HARMONIZED,
    answers_in,
    by_component,
    check_output,
    write_columns,
    write_loadings,
    write_methods,
)
from eigengraphs.cli.several_sites import (
    harmonization_finding,
    harmonize_fit,
    harmonizing,
    names_in,
)
from eigengraphs.cli.terminal import Listener, Outcome, files_left_out, noting
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import DegenerateWarning, InputError
from eigengraphs.fitting.messages import explained_of
from eigengraphs.fitting.model_file import keep_vertex_table
from eigengraphs.report.page import write_report
from eigengraphs.report.records import (
    Finding,
    GraphQuality,
    Prediction,
    Problem,
    make_column,
    time_line,
)
from eigengraphs.report.sentences import methods_text, versions
from eigengraphs.report.summary import summarize
from eigengraphs.stack import GraphStack
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.store import is_store
from eigengraphs.store.fit_journal import FitJournal
from eigengraphs.system.labels import component_column, count_of, measure_words
from eigengraphs.system.tables import write_table
from eigengraphs.system.whole_files import locked, whole_folder

_FEWEST = 4  # participants, of which there are halves
# Up to so much work (see `_work`), components are also tested on halves; beyond it, that is left to
# `eigengraphs read`. A unit takes 1 ns where patterns are strong and 50 ns in noise, and the test
# about as long as ten fits: at the limit, from half a minute to half an hour.
_MOST_WORK = 3e9


def fit(asked: Fit, listen: Listener) -> Outcome:
    """Embed graphs, and write the folder of results."""
    output = asked.output
    check_output(output)
    with (
        _on_cluster(asked.source, asked.workers, asked.cluster) as move,
        open_journal(asked.source, output, listen) as journal,
    ):
        data = gather(asked.source, asked.study, listen, move)
        analysis = _analyze(data, asked, journal, listen)
        removed = answers_in(output)
        listen("write", f"writing {output}")
        files = _write(analysis, asked)
    je, notes, found = analysis.embedding, [x.text for x in analysis.problems], analysis.prediction
    m, n, d = data.graphs.n_graphs, data.graphs.n_vertices, je.n_components_
    explained, whole = float(je.explained_ratio_.sum()), explained_of(je.center)
    facts = {
        "graphs": m, "vertices": n, "components": d, "explained": explained, "explained_of": whole,
        "converged": bool(je.converged_), "problems": notes, "left_out": data.left_out,
        "prediction": found, "removed": removed, "files": files,
        **({} if journal is None else {"passes_kept": journal.n_found}),
    }  # fmt: skip
    text = [
        f"{count_of(m, 'graph')}, {count_of(n, 'vertex')}, {count_of(d, 'component')}: "
        f"{explained:.1%} of {whole} explained, {'' if je.converged_ else 'NOT '}converged",
        *(finding.words[0] for finding in analysis.findings),
    ]
    if found is not None:
        scores = [f"{way.name} {way.score:.3f}" for way in found.methods]
        scores.append(f"chance {found.chance:.3f}")
        text.append(f"{found.label} of held-out graphs, {found.measure}: {', '.join(scores)}")
        first = found.methods[0]
        more = [f"{measure_words(name)} {x:.3f}" for name, x in first.measures if x is not None]
        text.append(f"{first.name}: {', '.join(more)}")
    if removed:
        text.append(f"removed answers of the earlier fit: {', '.join(removed)}")
    last = f"wrote {len(files)} files; open {output / 'report.html'}"
    text.append(f"{last}{files_left_out(data.left_out)}")
    return Outcome(text, facts, notes, code=4 if asked.strict and not je.converged_ else 0)


# ------------------------------------------------------------------------------- the analysis


@dataclass(frozen=True)
class _Analysis:
    """What the folder of results is written from."""

    data: Inputs
    embedding: JointEmbedding
    problems: list[Problem]
    prediction: Prediction | None
    findings: tuple[Finding, ...]
    harmonized: Any  # loadings, if they were to be harmonized
    ordered: bool | str  # by this column, or by the order of the input
    seconds: dict[str, float]


def _analyze(data: Inputs, asked: Fit, journal: FitJournal | None, listen: Listener) -> _Analysis:
    """Fit, predict the label, and test the components."""
    graphs, label = data.graphs, asked.label
    classes = _classes(data, label) if asked.settings.loadings == "class" else None
    ordered = _ordered(asked.order, data)
    if label is not None:
        data.column(label)  # refused before hours are spent
    sites, keep, place = asked.sites, names_in(asked.keep), np.arange(float(graphs.n_graphs))
    if harmonizing(sites, data.values):
        harmonize_fit(place, sites, keep, data.values)  # refused before hours are spent
    elif keep:
        raise InputError("--keep is for --harmonize, the column of sites")
    embedding = asked.embedding.estimator(graphs, **asdict(asked.settings))
    total = asked.embedding.components
    if total == "auto":
        listen("choose", "choosing the number of components")
        total = None
    listen("fit", f"fitting {count_of(graphs.n_graphs, 'graph')}")
    seconds = {"read": data.reading.seconds}

    @contextmanager
    def timed(what: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        seconds[what] = time.perf_counter() - begin

    def watch(progress: Any) -> None:
        found = progress.n_converged
        listen("fit", f"{count_of(found, 'component')} found", found, total)

    embedding.callback = watch
    ours = (ConvergenceWarning, DegenerateWarning)
    with (
        timed("fit"),
        warnings.catch_warnings(record=True) as caught,
        nullcontext() if journal is None else journal.keeping(),
    ):
        for category in ours:
            warnings.simplefilter("always", category)
        embedding.fit(graphs, classes)
    embedding.callback = None
    keep_vertex_table(embedding, data.reading.vertex_table or data.vertices)
    said = dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, ours))
    problems = [*data.problems, *(Problem("warning", text) for text in said)]

    prediction = None
    if label is not None:
        with timed("predict"):
            found = predict_label(embedding, data, label, listen, sites)
        if isinstance(found, str):
            problems.append(Problem("notice", f"{label} was not predicted: {found}"))
        else:
            prediction = found

    findings: tuple[Finding, ...] = ()
    people = graphs.n_graphs if data.participants is None else len(set(data.participants))
    quick = not isinstance(graphs, BlockedStack) and _work(embedding, graphs) <= _MOST_WORK
    if asked.halves and asked.settings.loadings != "class" and people >= _FEWEST and quick:
        with timed("halves"):
            findings = (reading_finding(embedding, data, listen)[0],)
    harmonized = None
    if sites.harmonize not in (None, NOBODY):
        harmonized, step = harmonize_fit(embedding.loadings_, sites, keep, data.values)
        of = data.values(step.site_name_, "--harmonize")
        findings += (harmonization_finding(embedding.loadings_, harmonized, step, of),)
    return _Analysis(data, embedding, problems, prediction, findings, harmonized, ordered, seconds)


def _work(embedding: JointEmbedding, graphs: GraphStack) -> float:
    """Return the size of a fit: entries of the graphs, and of products with a basis, by components.

    Products with about 64 columns are what is made of the graphs in a pass; of sparse graphs they
    are more than the graphs. No clock: the same command does the same on every machine.
    """
    m, n, _ = graphs.shape
    entries = int(graphs.facts.n_nonzero.sum()) if graphs.is_sparse else m * n * n
    return float((entries + 64 * m * n) * embedding.n_components_)


def _classes(data: Inputs, label: str | None) -> list[Any]:
    """Return the class of every graph, for ``--loadings class``; unknown ones the fit refuses."""
    if label is None:
        raise InputError("--loadings class needs --label: the column that holds the classes")
    column = make_column(label, data.column(label))
    if column.task == "quantity":
        raise InputError(
            f"--loadings class needs classes, and {label!r} is a quantity; name another column by "
            "--label, or use --loadings free"
        )
    return [None if value is None else str(value) for value in column.known]


def _ordered(order: str | None, data: Inputs) -> bool | str:
    """Return what orders the graphs in time; refuse what does not, before hours are spent."""
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


def _write(analysis: _Analysis, asked: Fit) -> list[Path]:
    """Write all files, whole, or none of them."""
    je, data, folder = analysis.embedding, analysis.data, asked.output
    record = _provenance(analysis, asked)
    methods = methods_text(
        je, data.graphs.n_graphs, prediction=analysis.prediction,
        harmonized="" if analysis.harmonized is None else analysis.findings[-1].words[0],
    )  # fmt: skip
    check_output(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(folder, replacing=True) as new:
        residual = je.residuals(data.graphs).tolist()
        write_loadings(
            new / "loadings.tsv", data.graphs, data.columns, je.loadings_, residual=residual
        )
        if analysis.harmonized is not None:
            write_loadings(new / HARMONIZED, data.graphs, data.columns, analysis.harmonized)
        _write_tables(analysis, new)
        je.save(new / "model.eg")
        text = json.dumps(record, indent=1, ensure_ascii=False, default=str)
        (new / "provenance.json").write_text(text + "\n", encoding="utf-8")
        summary = summarize(
            je,
            data.graphs,
            title=asked.title or _name(asked.source),
            columns=data.columns,
            label=asked.label,
            coordinates=None if data.vertices is None else data.vertices.coordinates,
            vertex_columns=data.vertex_columns,
            quality=data.quality,
            problems=analysis.problems,
            prediction=analysis.prediction,
            ordered=analysis.ordered,
            methods=methods,
            provenance=_in_words(record),
        )
        summary = replace(summary, findings=analysis.findings)
        write_report(summary, new)
        write_methods(summary, new)
    for name in answers_in(folder):  # where folders cannot be exchanged, they stayed
        (folder / name).unlink()
    ours = (*FILES, *([] if analysis.harmonized is None else [HARMONIZED]))
    if HARMONIZED not in ours:  # of an earlier fit
        (folder / HARMONIZED).unlink(missing_ok=True)
    return [folder / name for name in ours]


def _write_tables(analysis: _Analysis, folder: Path) -> None:
    """Write positions, components, and the quality of the graphs."""
    je = analysis.embedding
    positions = by_component({"": je.latent_positions_})
    if je.directed:
        positions |= by_component({"_right": je.latent_positions_right_})
    write_columns(folder / "positions.tsv", {"vertex": je.vertex_names_, **positions})
    early = ("stalled", "max_iter", "interrupted")
    write_columns(folder / "components.tsv", {
        "component": map(component_column, range(je.n_components_)),
        "objective": je.objective_path_[1:].tolist(),
        "explained": je.explained_ratio_.tolist(),
        "stationarity": je.stationarity_.tolist(),
        "start_agreement": je.start_agreement_.tolist(),
        "stop_reason": je.stop_reason_,
        "converged": [reason not in early for reason in je.stop_reason_],
        "degenerate": je.degenerate_.tolist(),
        "passes": [je.n_passes_] * je.n_components_,
    })  # fmt: skip
    header = [field.name for field in fields(GraphQuality)]
    write_table(
        folder / "qc.tsv",
        header,
        (["; ".join(row.messages) if name == "messages" else getattr(row, name) for name in header]
         for row in analysis.data.quality),
    )  # fmt: skip


def _provenance(analysis: _Analysis, asked: Fit) -> dict[str, Any]:
    """Return what someone needs to get the same results again."""
    return {
        "command": ["eigengraphs", *sys.argv[1:]],
        "settings": analysis.embedding.get_params(),
        "harmonize": None if analysis.harmonized is None
        else asdict(asked.sites) | {"keep": names_in(asked.keep)},
        "inputs": analysis.data.checksums,
        "reading": {
            "source": str(Path(asked.source).absolute()),
            "how": {name: str(value.absolute()) if isinstance(value, Path) else value
                    for name, value in asdict(asked.study).items()},
        },
        "versions": {name.lower(): text for name, text in versions().items()}
        | {"numba": numba.__version__},
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
        "numba": record["versions"]["numba"],
        "machine": ", ".join(record["machine"].values()),
        "time taken": ", ".join(f"{name} {s:.1f} s" for name, s in record["seconds"].items()),
        "finished": str(record["finished"]),
    }


# --------------------------------------------------------------------------- graphs in a store


def journal_of(output: Path) -> Path:
    """Return the folder of the journal of a fit with these results."""
    return output.parent / f"{output.name}.unfinished"


@contextmanager
def open_journal(source: str, output: Path, listen: Listener) -> Iterator[FitJournal | None]:
    """Give the journal of a fit: none for graphs in memory, where a fit is short.

    A fit continues from the journal of one that was stopped. Another fit finds nothing in it: it
    asks for other sums. It is removed when all went well, or when it holds nothing. What ends the
    fit gets a note that says what is kept.

    Raises
    ------
    InputError
        If it is that of a fit that is running.
    """
    if not is_store(source):
        with noting(lambda: "nothing was written; the same command starts from the beginning"):
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
            listen("read", f"continuing a stopped fit: {journal.n_kept} passes are kept")
        with noting(left):
            yield journal
        journal.close()


@contextmanager
def _on_cluster(source: str, workers: int | None, cluster: str | None) -> Iterator[Any]:
    """Give a function that takes graphs to a cluster, or None if the work is done here."""
    if workers is None and cluster is None:
        yield None
        return
    if workers is not None and cluster is not None:
        raise InputError("--workers starts a cluster here and --cluster names one: give only one")
    if not is_store(source):
        raise InputError(
            "a cluster works on a store, which all of its workers can read, and IN is not one: "
            "make one with 'eigengraphs convert IN graphs.egs'"
        )
    where: Any = cluster if workers is None else workers
    with store.connect(where) as client:
        yield lambda graphs: store.DaskStack(graphs, client)
