"""One analysis: files in, a fit, what can be said of it, and a folder of results out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import DegenerateWarning, InputError
from eigengraphs.fitting.model_file import keep_vertex_table
from eigengraphs.job.events import Event, Listener, silent
from eigengraphs.job.inputs import Inputs, InputSettings, gather, reading_record
from eigengraphs.job.large import Large
from eigengraphs.job.prediction import predict_label, tells_quantity
from eigengraphs.job.provenance import provenance
from eigengraphs.job.reading import reading_finding
from eigengraphs.report.columns import make_column, time_line
from eigengraphs.report.records import Finding, Prediction, Problem
from eigengraphs.report.sentences import methods_text
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.system.labels import count_of

__all__ = ["Analysis", "FitSettings", "analyse"]

_FEWEST = 4  # graphs, or people, of which there are halves
_LONG = 30.0  # seconds of a fit, after which `eigengraphs read` is left to the user


@dataclass(frozen=True)
class FitSettings:
    """Of the fit; as the options of the command line."""

    components: int | str = 8
    label: str | None = None
    order: str | None = None  # a column that says when, or "input"
    loadings: str = "free"
    max_nonzeros: int | None = None
    transform: tuple[str, ...] = ()
    center: bool = False
    diagonal: str = "auto"
    refine: bool = False
    seed: int = 0
    n_init: int = 1
    max_iter: int = 1000
    deterministic: bool = False
    halves: bool = True  # components are tested on halves of the graphs

    def estimator(self, inputs: Inputs) -> JointEmbedding:
        """Return the estimator for these graphs."""
        graphs = inputs.graphs
        return JointEmbedding(
            self.components,
            loadings=self.loadings,
            max_nonzeros=self.max_nonzeros,
            directed=graphs.is_directed,
            diagonal=self.diagonal,
            center=self.center,
            missing="unobserved" if graphs.has_missing else "error",
            preprocess=list(self.transform) or None,
            refine=self.refine,
            random_state=self.seed,
            n_init=self.n_init,
            max_iter=self.max_iter,
            deterministic=self.deterministic,
        )


@dataclass(frozen=True)
class Analysis:
    """Everything that the folder of results is written from."""

    title: str
    inputs: Inputs
    settings: FitSettings
    embedding: JointEmbedding
    problems: tuple[Problem, ...]
    prediction: Prediction | None
    ordered: bool | str  # by this column, or by the order of the input
    methods: str
    provenance: dict[str, Any]
    seconds: dict[str, float] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def analyse(
    source: Any,
    inputs: InputSettings | None = None,
    settings: FitSettings | None = None,
    *,
    title: str = "",
    command: Sequence[str] = (),
    listen: Listener = silent,
    large: Large | None = None,
) -> Analysis:
    """Read, fit and judge; write nothing.

    Parameters
    ----------
    source
        A folder, a pattern, a file, a list of files, or a manifest.
    inputs, settings
        How to read, and how to fit.
    title
        Heading of the report; by default the name of the source.
    command
        Words of the command line, for the record.
    listen
        Told of every step.
    large
        For graphs in a store: where they are worked on, and the journal of the fit.
    """
    settings, large = settings or FitSettings(), large or Large()
    data = gather(source, inputs, listen, large.move)
    labels = None if settings.label is None else data.column(settings.label)
    if settings.loadings == "class" and labels is None:
        raise InputError("--loadings class needs --label: the column that holds the classes")
    if settings.loadings == "class" and tells_quantity(make_column("", labels or ())):
        raise InputError(
            f"--loadings class needs classes, and {settings.label!r} is a quantity; name another "
            "column by --label, or use --loadings free"
        )
    ordered = _ordered(settings.order, data)
    seconds = {"read": data.seconds}
    begin = time.perf_counter()
    with large.journaling():
        embedding, warned = _fit(settings.estimator(data), data, labels, listen)
    seconds["fit"] = time.perf_counter() - begin
    problems = [*data.problems, *warned]
    found: Prediction | None = None
    if labels is not None and settings.label is not None:
        begin = time.perf_counter()
        found_or_why = _predict(embedding, data, labels, settings.label, listen)
        seconds["predict"] = time.perf_counter() - begin
        if isinstance(found_or_why, str):
            text = f"{settings.label} was not predicted: {found_or_why}"
            problems.append(Problem("notice", text))
        else:
            found = found_or_why
    findings = _read(embedding, data, settings, seconds, listen)
    words = methods_text(
        embedding,
        data.graphs.n_graphs,
        choice=getattr(embedding, "dimension_choice_", None),
        prediction=found,
    )
    return Analysis(
        title=title or _name(source),
        inputs=data,
        settings=settings,
        embedding=embedding,
        problems=tuple(problems),
        prediction=found,
        ordered=ordered,
        methods=words,
        provenance=provenance(
            command,
            embedding.get_params(),
            data.checksums,
            seconds,
            reading_record(source, inputs or InputSettings()),
        ),
        seconds=seconds,
        findings=findings,
    )


def _read(
    embedding: JointEmbedding,
    data: Inputs,
    settings: FitSettings,
    seconds: dict[str, float],
    listen: Listener,
) -> tuple[Finding, ...]:
    """Test the components on halves of the graphs, where that takes no longer than a few fits."""
    people = data.graphs.n_graphs if data.participants is None else len(set(data.participants))
    if (
        not settings.halves
        or settings.loadings == "class"
        or isinstance(data.graphs, BlockedStack)
        or people < _FEWEST
        or seconds["fit"] > _LONG
    ):
        return ()
    begin = time.perf_counter()
    finding, _ = reading_finding(embedding, data, listen=listen)
    seconds["halves"] = time.perf_counter() - begin
    return (finding,)


def _ordered(order: str | None, data: Inputs) -> bool | str:
    """Return what orders the graphs in time; refuse what does not, before hours are spent."""
    if order is None:
        return False
    if order == "input":
        if order in data.columns:
            raise InputError(
                "--order input means the order of the input, and there is a column 'input', too; "
                "give the column another name"
            )
        return True
    data.column(order, "order by (or input, for the order of the input)")
    time_line(order, data.columns, data.graphs.graph_names)
    return order


def _fit(
    embedding: JointEmbedding, data: Inputs, labels: Sequence[Any] | None, listen: Listener
) -> tuple[JointEmbedding, list[Problem]]:
    if embedding.n_components == "auto":
        listen(Event("choose", "choosing the number of components"))
    listen(Event("fit", f"fitting {count_of(data.graphs.n_graphs, 'graph')}"))

    def watch(progress: Any) -> None:
        total = embedding.n_components if isinstance(embedding.n_components, int) else None
        listen(
            Event(
                "fit",
                f"{count_of(progress.n_converged, 'component')} found",
                progress.n_converged,
                total,
            )
        )

    embedding.callback = watch
    y = None
    if embedding.loadings == "class" and labels is not None:
        unknown = [name for name, value in zip(data.graphs.graph_names, labels, strict=True)
                   if value is None]  # fmt: skip
        if unknown:
            raise InputError(
                f"--loadings class needs the class of every graph; it is missing for {unknown[0]!r}"
                f" and {len(unknown) - 1} others: complete the table, or use --loadings free"
            )
        y = [str(value) for value in labels]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.simplefilter("always", DegenerateWarning)
        embedding.fit(data.graphs, y)
    embedding.callback = None
    keep_vertex_table(embedding, data.vertex_table)
    mine = [str(w.message) for w in caught
            if issubclass(w.category, ConvergenceWarning | DegenerateWarning)]  # fmt: skip
    return embedding, [Problem("warning", text) for text in dict.fromkeys(mine)]


def _predict(
    embedding: JointEmbedding, data: Inputs, labels: Sequence[Any], label: str, listen: Listener
) -> Prediction | str:
    if embedding.directed:
        return "graphs are directed, and labels are predicted from undirected graphs alone"
    if data.graphs.has_missing:
        return "graphs have missing entries, and labels are predicted from whole graphs alone"
    if isinstance(data.graphs, BlockedStack):
        return (
            "it is done for graphs in memory, as every fold is a fit of its own; loadings.tsv has "
            "the label beside the loadings"
        )
    listen(Event("predict", f"predicting {label} of graphs that are held out"))

    def on_fold(done: int, total: int) -> None:
        listen(Event("predict", f"fold {done} of {total}", done, total))

    return predict_label(embedding, data.graphs, labels, label, data.participants, on_fold)


def _name(source: Any) -> str:
    path = Path(str(source))
    while set("*?[") & set(path.name):  # a pattern is known by the folder it looks in
        path = path.parent
    return path.name or "graphs"
