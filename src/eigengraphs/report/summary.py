"""From a fit to the data of a report: every number and sentence, and no HTML."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eigengraphs.embedding import FitView
from eigengraphs.errors import InputError
from eigengraphs.inference.component_meaning import ends, strongest_pairs
from eigengraphs.report.input_quality import QualityTable, describe_graphs, mirror_images
from eigengraphs.report.records import (
    Column,
    Component,
    Edge,
    Finding,
    GraphQuality,
    Prediction,
    Problem,
    TimeLine,
    WorstGraph,
    from_json,
    gravest_first,
    json_ready,
    make_columns,
    time_line,
)
from eigengraphs.report.sentences import (
    dimension_words,
    fit_problems,
    methods_text,
    opening_words,
    versions,
)
from eigengraphs.report.worst_fits import graph_fits, worst_graphs
from eigengraphs.system.limits import read_json, read_regular
from eigengraphs.system.tables import short_repr

_N_VERTICES, _N_EDGES = 8, 10  # the strongest of each sign; the strongest pairs
FORMAT = 5  # of report.json; raised when a field is added or changes its meaning


@dataclass(frozen=True, eq=False)
class Summary:
    """All that a report shows; :meth:`to_json` gives it as plain lists and dictionaries.

    Attributes
    ----------
    title : str
        Heading of the report.
    problems : tuple of Problem
        The gravest first.
    odd : tuple of str
        What was noticed about single graphs or groups of them, the gravest first.
    quality : sequence of GraphQuality
        What was found in each graph of the input.
    graph_names : tuple of str
        Names of the m graphs.
    vertex_names : tuple of str
        Names of the n vertices.
    columns : tuple of Column
        What is known about the graphs beside their edges.
    label : str or None
        The column that the study is about.
    vertex_columns : tuple of Column
        What is known about the vertices beside their edges.
    coordinates : (n, 2), (n, 3) or None
        Where the vertices are.
    loadings : (m, d)
        Of the fit.
    positions : (n, d)
        Latent positions of the fit.
    positions_right : (n, d) or None
        Where edges end, of directed graphs.
    objective : (d + 1,)
        With 0, 1, ..., d components.
    components : tuple of Component
        What there is to say about each component.
    gamma_condition : float
        Condition number of the inner products of the components.
    converged : bool
        Whether the search of every component did.
    centered : bool
        Whether the mean graph was subtracted.
    dimension_reason : str
        Why there are d components, in words.
    dimension_rules : tuple of (str, int)
        What each rule says, if the number of components was chosen by rules.
    explained_by_graph : (m,)
        Share of each graph's sum of squares (around the mean graph, if centered) that is explained;
        nan where there was nothing to explain. ``residual`` in ``loadings.tsv`` is 1 minus it.
    residual_with_mean : (m,)
        Share of each graph's own squared weights that mean graph and components miss together; nan
        for an empty graph.
    worst : tuple of WorstGraph
        Graphs that the components describe worst.
    prediction : Prediction or None
        Scores for a label, if there is one.
    timeline : TimeLine or None
        The graphs in time, if they have an order.
    methods : str
        Methods paragraph.
    provenance : tuple of (str, str)
        Names and texts: versions, and where things come from.
    findings : tuple of Finding
        Further analyses of the fit, in the order in which they were first asked for.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> from eigengraphs.report import summarize
    >>> graphs = eg.models.ErdosRenyi(8, 0.5).sample(6, random_state=0)
    >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
    >>> summary = summarize(je, graphs, title="Six graphs")
    >>> summary.n_graphs, summary.n_vertices, summary.n_components, summary.objective.shape
    (6, 8, 2, (3,))
    """

    title: str
    problems: tuple[Problem, ...]
    odd: tuple[str, ...]
    quality: Sequence[GraphQuality]
    graph_names: tuple[str, ...]
    vertex_names: tuple[str, ...]
    columns: tuple[Column, ...]
    label: str | None
    vertex_columns: tuple[Column, ...]
    coordinates: NDArray[np.float64] | None
    loadings: NDArray[np.float64]
    positions: NDArray[np.float64]
    positions_right: NDArray[np.float64] | None
    objective: NDArray[np.float64]
    components: tuple[Component, ...]
    gamma_condition: float
    converged: bool
    centered: bool
    dimension_reason: str
    dimension_rules: tuple[tuple[str, int], ...]
    explained_by_graph: NDArray[np.float64]
    residual_with_mean: NDArray[np.float64]
    worst: tuple[WorstGraph, ...]
    prediction: Prediction | None
    timeline: TimeLine | None
    methods: str
    provenance: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...] = ()

    __repr__ = short_repr

    @property
    def words(self) -> tuple[str, ...]:
        """What was found in a few sentences, later questions included."""
        return opening_words(self)

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return len(self.graph_names)

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return len(self.vertex_names)

    @property
    def n_components(self) -> int:
        """Number of components, d."""
        return len(self.components)

    def to_json(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, texts and numbers; None for what is not a number.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> from eigengraphs.report import summarize
        >>> graphs = eg.models.ErdosRenyi(8, 0.5).sample(6, random_state=0)
        >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
        >>> summary = summarize(je, graphs, title="Six graphs")
        >>> sorted(summary.to_json())[:3]
        ['centered', 'columns', 'components']
        """
        return dict(json_ready(self._content()))

    def json_pieces(self) -> Iterator[str]:
        """Yield the text of :meth:`to_json` field by field.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> from eigengraphs.report import summarize
        >>> graphs = eg.models.ErdosRenyi(8, 0.5).sample(6, random_state=0)
        >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
        >>> summary = summarize(je, graphs, title="Six graphs")
        >>> import json
        >>> json.loads("".join(summary.json_pieces())) == summary.to_json()
        True
        """
        for place, (name, value) in enumerate(self._content().items()):
            yield f'{", " if place else "{"}"{name}": '
            yield json.dumps(json_ready(value), ensure_ascii=False, allow_nan=False)
        yield "}"

    def _content(self) -> dict[str, Any]:
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {"format": FORMAT, "words": self.words, **own}


def summarize(
    embedding: Any,
    graphs: Any,
    *,
    title: str,
    columns: Mapping[str, Sequence[Any]] | None = None,
    label: str | None = None,
    coordinates: ArrayLike | None = None,
    vertex_columns: Mapping[str, Sequence[Any]] | None = None,
    quality: Iterable[GraphQuality] = (),
    problems: Iterable[Problem] = (),
    prediction: Prediction | None = None,
    choice: Any = None,
    ordered: bool | str = False,
    methods: str = "",
    provenance: Mapping[str, Any] | None = None,
) -> Summary:
    """Gather what a report shows about a fit.

    Parameters
    ----------
    embedding
        A fitted :class:`~eigengraphs.JointEmbedding`.
    graphs
        The graphs it was fitted to, in the same order, as they were given to ``fit``.
    title
        Heading of the report.
    columns
        Names of columns, each with one value per graph: numbers, texts, or None where unknown.
        Texts that all say numbers are numbers.
    label
        The column that the study is about: loadings are colored by it first.
    coordinates : (n, 2) or (n, 3), optional
        Where the vertices are, on a map or in a brain.
    vertex_columns
        As ``columns``, for the vertices.
    quality
        A :class:`~eigengraphs.report.records.GraphQuality` for each graph of the input, refused
        ones too. Made from the graphs if there is none.
    problems
        Each a :class:`~eigengraphs.report.Problem`. Those of the fit are added.
    prediction
        A :class:`~eigengraphs.report.records.Prediction`.
    choice
        The :class:`~eigengraphs.DimensionChoice` behind the number of components; by default that
        of a fit with ``n_components="auto"``.
    ordered
        Whether the order of the graphs is time; or the name of the column that says it, of
        numbers, ISO dates (2019-01-31, 2019-01) or texts that differ by one number. Only the time
        line is put in that order.
    methods
        Methods paragraph; made from the settings of the fit if it is empty.
    provenance
        Where things come from: names and texts, shown after the versions of the software.

    Returns
    -------
    Summary
        For :func:`~eigengraphs.report.write_report`.

    Raises
    ------
    InputError
        Where lengths do not agree, or ``label`` is not a column.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> from eigengraphs.report import summarize
    >>> graphs = eg.models.ErdosRenyi(8, 0.5).sample(6, random_state=0)
    >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
    >>> summary = summarize(je, graphs, title="Six graphs")
    >>> summary.title, [column.name for column in summary.columns]
    ('Six graphs', [])
    """
    fit = FitView.of(embedding)
    graphs = fit.stack(graphs)
    stack = fit.aligned(graphs)
    m = len(embedding.loadings_)
    if stack.n_graphs != m:
        raise InputError(
            f"got {stack.n_graphs} graphs, but the embedding was fitted to {m}; pass the graphs "
            "of the fit"
        )
    fitted = getattr(embedding, "_graph_names", None)
    if fitted is not None and stack._graph_names not in (None, fitted):
        raise InputError(
            "the names of the graphs differ from those of the fit, or are in another order; pass "
            "the graphs of the fit in its order"
        )
    names = stack.vertex_names if stack.has_vertex_names else embedding.vertex_names_
    own = make_columns(columns, m, "graph")
    known = sorted(column.name for column in own)
    if label is not None and label not in known:
        raise InputError(f"label {label!r} is not among the columns, {known}")
    components = _describe_components(embedding, loops=not fit.treatment.hollow)
    fits = graph_fits(fit, stack)
    rows: Sequence[GraphQuality] = quality if isinstance(quality, QualityTable) else tuple(quality)
    if not rows:
        mirror = mirror_images(graphs.vertex_names, names, vertex_columns or {})
        groups = {column.name: [column.text(i) or None for i in range(m)]
                  for column in own if column.kind == "category"}  # fmt: skip
        rows = describe_graphs(graphs, mirror=mirror, columns=groups)
    found = list(problems)
    if isinstance(rows, QualityTable):  # whoever made it may have named its problems, too
        found += [one for one in (*rows.problems, *rows.explained) if one not in found]
    found += fit_problems(embedding, components)
    if choice is None:
        choice = getattr(embedding, "dimension_choice_", None)
    right = getattr(embedding, "latent_positions_right_", None)
    return Summary(
        title=str(title),
        problems=tuple(gravest_first(found)),
        odd=tuple(one.text for one in rows.problems) if isinstance(rows, QualityTable) else (),
        quality=rows,
        graph_names=stack.graph_names,
        vertex_names=tuple(names),
        columns=own,
        label=label,
        vertex_columns=make_columns(vertex_columns, stack.n_vertices, "vertex"),
        coordinates=_coordinates(coordinates, stack.n_vertices),
        loadings=np.asarray(embedding.loadings_, dtype=np.float64),
        positions=np.asarray(embedding.latent_positions_, dtype=np.float64),
        positions_right=None if right is None else np.asarray(right, dtype=np.float64),
        objective=np.asarray(embedding.objective_path_, dtype=np.float64),
        components=components,
        gamma_condition=float(embedding.gamma_condition_),
        converged=bool(embedding.converged_),
        centered=embedding.mean_graph_ is not None,
        dimension_reason=dimension_words(embedding, choice),
        dimension_rules=() if choice is None else tuple(choice.choices.items()),
        explained_by_graph=fits.explained,
        residual_with_mean=fits.residual_with_mean,
        worst=worst_graphs(fit, stack, fits),
        prediction=prediction,
        timeline=time_line(ordered, columns or {}, stack.graph_names),
        methods=methods or methods_text(embedding, m, choice=choice, prediction=prediction),
        provenance=_provenance(embedding, provenance),
    )


def _coordinates(given: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
    if given is None:
        return None
    try:
        X = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("coordinates must be an array of numbers") from None
    if X.ndim != 2 or X.shape[0] != n or X.shape[1] not in (2, 3):
        raise InputError(f"coordinates must have shape ({n}, 2) or ({n}, 3), got {X.shape}")
    if np.isinf(X).any():
        raise InputError("coordinates must be finite, or nan where they are not known")
    return X


def _provenance(embedding: Any, given: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    own = versions() | {"settings": repr(embedding)}
    own.update({str(name): str(text) for name, text in (given or {}).items()})
    return tuple(own.items())


def _describe_components(embedding: Any, *, loops: bool) -> tuple[Component, ...]:
    """Describe each component; ``loops`` tells whether a vertex with itself counts as a pair."""
    H = np.asarray(embedding.latent_positions_, dtype=np.float64)
    G = getattr(embedding, "latent_positions_right_", None)
    described = []
    for k in range(H.shape[1]):
        h = H[:, k]
        g = None if G is None else np.asarray(G[:, k], dtype=np.float64)
        high, low = ends(h, _N_VERTICES)
        right_high, right_low = ((), ()) if g is None else ends(g, _N_VERTICES)
        agreement = float(embedding.start_agreement_[k])
        described.append(
            Component(
                explained=float(embedding.explained_ratio_[k]),
                high=high,
                low=low,
                right_high=right_high,
                right_low=right_low,
                edges=tuple(
                    Edge(*pair) for pair in strongest_pairs(h, g, loops=loops, most=_N_EDGES)
                ),
                degenerate=bool(embedding.degenerate_[k]),
                stop_reason=embedding.stop_reason_[k],
                stationarity=float(embedding.stationarity_[k]),
                start_agreement=None if np.isnan(agreement) else agreement,
                remarks=_remarks(embedding, k),
            )
        )
    return tuple(described)


def _remarks(embedding: Any, k: int) -> tuple[str, ...]:
    reason, gradient = embedding.stop_reason_[k], f"{embedding.stationarity_[k]:.1e}"
    said = {
        "exhausted": "It has no meaning: the components before it left nothing to fit, and it got "
        "an arbitrary direction with zero loadings. Use fewer components.",
        "max_iter": "The search was stopped before it converged (relative gradient "
        f"{gradient}); the pattern may still change. Allow more iterations (max_iter).",
        "stalled": f"The search made no further progress (relative gradient {gradient}); the "
        "pattern may be slightly off.",
        "interrupted": "The search was interrupted; the pattern is what was found until then.",
    }
    few = (
        "It has no meaning: it sits on only one or two vertices, where the data do not determine "
        "its loadings. Use fewer components, or another setting of the diagonal."
    )
    degenerate = embedding.degenerate_[k] and reason != "exhausted"
    return tuple(text for text in (few if degenerate else "", said.get(reason, "")) if text)


_AGAIN = "; write it again by fitting the graphs once more (eigengraphs fit)"


def read_summary(path: str | os.PathLike[str]) -> Summary:
    """Read what :func:`~eigengraphs.report.write_report` wrote as data.

    Parameters
    ----------
    path : str or path
        The file, or the folder that holds ``report.json``.

    Returns
    -------
    Summary

    Raises
    ------
    InputError
        If there is no such file, or it holds something else or another format.

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> from eigengraphs.report import read_summary, summarize, write_report
    >>> graphs = eg.models.ErdosRenyi(8, 0.5).sample(6, random_state=0)
    >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
    >>> summary = summarize(je, graphs, title="Six graphs")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_report(summary, folder)
    ...     read_summary(folder).title
    'Six graphs'
    """
    file = Path(path)
    if file.is_dir():
        file /= "report.json"
    data = read_results(file)
    if not isinstance(data, dict) or "format" not in data:
        raise InputError(f"{str(file)!r} is not the data of a report: it has no format number")
    if data["format"] != FORMAT:
        raise InputError(
            f"{str(file)!r} has format {data['format']!r}, and this version of eigengraphs reads "
            f"format {FORMAT}{_AGAIN}, or use the version that wrote it"
        )
    try:
        # Words follow from the rest.
        fields = {name: data[name] for name in data.keys() - {"format", "words"}}
        summary: Summary = from_json(Summary, fields)
        _check_sizes(summary)
    except InputError as error:
        raise InputError(f"{str(file)!r} is broken: {error}{_AGAIN}") from None
    return summary


def read_results(file: Path) -> Any:
    """Read a JSON file of a folder of results."""
    try:
        return read_json(read_regular(file))
    except FileNotFoundError:
        raise InputError(
            f"there is no {str(file)!r}; name a folder that eigengraphs fit has written, or its "
            "report.json"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {str(file)!r}: {error.strerror}") from None
    except ValueError as error:  # not JSON, or not UTF-8
        raise InputError(f"{str(file)!r} is broken: it is not JSON ({error}){_AGAIN}") from None


def _check_sizes(found: Summary) -> None:
    """Refuse what cannot be drawn: arrays and lists of other sizes, and places beyond the end."""
    m, n, d = found.n_graphs, found.n_vertices, found.n_components
    if d == 0:
        raise InputError("there is no component")
    shapes = {
        "loadings": (m, d), "positions": (n, d), "positions_right": (n, d), "objective": (d + 1,),
        "explained_by_graph": (m,), "residual_with_mean": (m,),
    }  # fmt: skip
    for name, shape in shapes.items():
        array = getattr(found, name)
        if array is not None and array.shape != shape:
            raise InputError(f"{name} must have shape {shape}, got {array.shape}")
    _coordinates(found.coordinates, n)
    for columns, length in ((found.columns, m), (found.vertex_columns, n)):
        for column in columns:
            if len(column.values) != length:
                raise InputError(f"column {column.name!r} must have {length} values")
            if column.kind == "category":
                _check_places(column.values, len(column.categories), f"column {column.name!r}")
    for part in found.components:
        strongest = (*part.high, *part.low, *part.right_high, *part.right_low)
        _check_places([*strongest, *_ends(part.edges)], n, "components")
    for graph in found.worst:
        _check_places([graph.graph], m, "worst")
        _check_places(_ends(graph.edges), n, "worst")
        for drawn in (graph.observed, graph.reconstruction, graph.residual):
            if len(drawn.data) != 4 * -(-drawn.rows * drawn.columns // 3):
                raise InputError(f"a heat map must hold {drawn.rows} by {drawn.columns} steps")
    line = found.timeline
    if line is not None and (sorted(line.order) != list(range(m)) or len(line.labels) != m):
        raise InputError(f"timeline must hold each of the {m} graphs once")


def _ends(edges: Iterable[Edge]) -> list[int]:
    return [end for edge in edges for end in (edge.source, edge.target)]


def _check_places(places: Iterable[Any], length: int, where: str) -> None:
    for place in places:
        if place is not None and not (isinstance(place, int) and 0 <= place < length):
            raise InputError(f"{where} must hold places from 0 to {length - 1}, got {place}")
