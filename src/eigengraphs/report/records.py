"""What a report is made of: small records that others can construct."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.system.tables import short_repr

__all__ = [
    "Cell",
    "Column",
    "Component",
    "Edge",
    "Finding",
    "GraphQuality",
    "HeatMap",
    "Intervals",
    "Level",
    "MethodScore",
    "Prediction",
    "PredictionKind",
    "Problem",
    "TimeLine",
    "Verdict",
    "WorstGraph",
    "as_prediction",
    "as_record",
    "gravest_first",
    "json_pieces",
    "json_ready",
]  # fmt: skip

Level: TypeAlias = Literal["refused", "repaired", "warning", "notice"]
Cell: TypeAlias = str | float | None
PredictionKind: TypeAlias = Literal["classes", "quantity"]
Verdict: TypeAlias = Literal["ok", "notice", "refused"]
_LEVELS = ("refused", "warning", "notice", "repaired")  # the gravest first
_VERDICTS = ("ok", "notice", "refused")
_KINDS = ("classes", "quantity")
_MANY = 1000  # items of a list that are written at a time
T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    """Something that a reader must know before all else.

    Attributes
    ----------
    level : str
        "refused": left out; "repaired": changed; "warning": of the fit; "notice": all else.
    text : str
        What it is, as a sentence.
    name : str
        The same in a few words, where it is one of several in a line.

    Examples
    --------
    >>> from eigengraphs.report import Problem
    >>> Problem("warning", "component 3 did not converge").level
    'warning'
    """

    level: Level
    text: str
    name: str = ""

    def __post_init__(self) -> None:
        _one_of("level of a problem", self.level, _LEVELS)


def gravest_first(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems by their level, those of one level in the order in which they came.

    What was left out, then what is wrong or odd, at last what was done by itself.
    """
    return sorted(problems, key=lambda problem: _LEVELS.index(problem.level))


@dataclass(frozen=True, slots=True)  # there may be a hundred thousand
class GraphQuality:
    """What was found in one graph of the input, used or refused.

    Attributes
    ----------
    id : str
        Name of the graph.
    file : str
        Where it came from.
    verdict : str
        "ok", "notice" or "refused".
    density : float or None
        Share of the pairs of vertices that are joined.
    total_weight : float or None
        Sum of its weights.
    isolated : int or None
        Vertices without any edge.
    correlation : float or None
        With the other graphs: the median, of log(1 + weight / median weight).
    messages : tuple of str
        What was found, as sentences.

    Examples
    --------
    >>> from eigengraphs.report import GraphQuality
    >>> GraphQuality("sub-01", verdict="notice", messages="has 2 isolated vertices").messages
    ('has 2 isolated vertices',)
    """

    id: str
    file: str = ""
    verdict: Verdict = "ok"
    density: float | None = None
    total_weight: float | None = None
    isolated: int | None = None
    correlation: float | None = None
    messages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _one_of("verdict on a graph", self.verdict, _VERDICTS)
        given: Any = self.messages
        said = [given] if isinstance(given, str) else given
        object.__setattr__(self, "messages", tuple(str(text) for text in said if text))


@dataclass(frozen=True)
class MethodScore:
    """How well one method told the label of graphs that it had not seen.

    Attributes
    ----------
    name : str
        Of the method.
    score : float
        Share of the graphs whose class was found; of a quantity, the share of its variance
        that predictions explain, below zero where they are worse than always naming the
        mean.
    se : float or None
        Standard error of the score.
    n_parameters : int or None
        Numbers that describe the method's components.
    folds : tuple of float
        Score of every fold, where graphs were held out in folds.

    Examples
    --------
    >>> from eigengraphs.report import MethodScore
    >>> MethodScore("joint embedding", 0.9, folds=[0.8, 1.0]).folds
    (0.8, 1.0)
    """

    name: str
    score: float
    se: float | None = None
    n_parameters: int | None = None
    folds: tuple[float, ...] = ()

    __repr__ = short_repr

    def __post_init__(self) -> None:
        object.__setattr__(self, "folds", tuple(map(float, self.folds)))


@dataclass(frozen=True)
class Prediction:
    """Cross-validated scores for one label, classes or a quantity.

    Attributes
    ----------
    label : str
        Name of the column that was predicted.
    methods : tuple of MethodScore
        The embedding first, then what it is compared with.
    chance : float
        Score of always naming the most frequent class, or the mean.
    protocol : str
        How graphs were held out and predicted, as a sentence.
    classes : tuple of str
        Their names; empty for a quantity.
    kind : str
        "classes" or "quantity".
    n_graphs : int or None
        Graphs whose label is known.
    chance_folds : tuple of float
        Chance in every fold, beside those of the methods.

    Examples
    --------
    >>> from eigengraphs.report import MethodScore, Prediction
    >>> scores = [MethodScore("joint embedding", 0.9), MethodScore("PCA", 0.8)]
    >>> prediction = Prediction("genotype", scores, chance=0.25, classes=["B6", "BTBR"])
    >>> prediction.measure, len(prediction.methods)
    ('accuracy', 2)
    """

    label: str
    methods: tuple[MethodScore, ...]
    chance: float
    protocol: str = ""
    classes: tuple[str, ...] = ()
    kind: PredictionKind = "classes"
    n_graphs: int | None = None
    chance_folds: tuple[float, ...] = ()

    __repr__ = short_repr

    def __post_init__(self) -> None:
        _one_of("kind of a prediction", self.kind, _KINDS)
        methods = tuple(as_record(MethodScore, method) for method in self.methods)
        object.__setattr__(self, "methods", methods)
        object.__setattr__(self, "classes", tuple(map(str, self.classes)))
        object.__setattr__(self, "chance_folds", tuple(map(float, self.chance_folds)))

    @property
    def measure(self) -> str:
        """What scores are, in words."""
        return "accuracy" if self.kind == "classes" else "explained variance"


@dataclass(frozen=True)
class Column:
    """What is known of each graph, or of each vertex, beside its edges."""

    name: str
    kind: Literal["number", "category"]
    values: tuple[float | int | None, ...]
    """Numbers, or places in ``categories``; None where it is not known."""
    categories: tuple[str, ...] = ()
    """In the order in which they first appear."""

    def text(self, i: int) -> str:
        """Return the i-th value in words; empty where it is not known."""
        value = self.values[i]
        if value is None:
            return ""
        return self.categories[int(value)] if self.kind == "category" else f"{value:.6g}"


@dataclass(frozen=True)
class TimeLine:
    """The graphs in time; nothing else in a report is put in this order."""

    by: str
    """The column that says when; empty where it is the order of the input."""
    order: tuple[int, ...]
    """Places of the graphs in the input, the earliest first."""
    labels: tuple[str, ...]
    """When each of these was; its name where it is the order of the input."""


@dataclass(frozen=True)
class Edge:
    """A pair of vertices in a component."""

    source: int
    target: int
    weight: float


@dataclass(frozen=True)
class Component:
    """One component, with what there is to say about it."""

    explained: float
    """Share of the sum of squares that it explains when it is added."""
    high: tuple[int, ...]
    """Vertices with the largest positive positions, the largest first."""
    low: tuple[int, ...]
    """Vertices with the most negative positions, the most negative first."""
    right_high: tuple[int, ...]
    """The same for where edges end, of directed graphs; empty for others."""
    right_low: tuple[int, ...]
    edges: tuple[Edge, ...]
    """Pairs with the largest products of positions, either sign."""
    degenerate: bool
    stop_reason: str
    stationarity: float
    start_agreement: float | None
    remarks: tuple[str, ...]
    """What makes it doubtful, in plain words; empty for a sound one."""


@dataclass(frozen=True)
class HeatMap:
    """A matrix in the order of the input, in 255 steps."""

    rows: int
    columns: int
    low: float
    """Value of step 0."""
    high: float
    """Value of step 254; step 255 stands for entries that are not observed."""
    block: int
    """Vertices along the side of a cell; a cell is the mean of its block."""
    data: str
    """Steps as bytes, row after row, in base64."""


@dataclass(frozen=True)
class WorstGraph:
    """A graph that the components describe badly."""

    graph: int
    observed: HeatMap
    reconstruction: HeatMap
    residual: HeatMap
    edges: tuple[Edge, ...]
    """Pairs with the largest residuals, where they could be looked up."""


@dataclass(frozen=True)
class Intervals:
    """Which columns of a table are drawn as points with intervals."""

    value: int
    low: int
    high: int
    reference: float | None = None
    """Where a line is drawn: no difference, chance."""
    axis: str = ""
    """What the values are."""


@dataclass(frozen=True)
class Finding:
    """A table that a later command made of a fit, and what it says."""

    key: str
    """What was asked; asking the same again replaces the answer."""
    title: str
    words: tuple[str, ...]
    """The answer in sentences, the most important first."""
    header: tuple[str, ...]
    """Names of the columns; the first column names the rows."""
    rows: tuple[tuple[str | float | None, ...], ...]
    intervals: Intervals | None = None
    notes: tuple[str, ...] = ()
    """How it was found, and what to be careful about."""
    column: str = ""
    """Column of the graphs that was tested, if one was."""

    def __post_init__(self) -> None:
        for i, row in enumerate(self.rows):
            if len(row) != len(self.header):
                raise InputError(
                    f"row {i} of the finding {self.key!r} has {len(row)} cells under "
                    f"{len(self.header)} headings"
                )
        drawn = self.intervals
        if drawn is not None:
            places = (drawn.value, drawn.low, drawn.high)
            if not all(0 < place < len(self.header) for place in places):
                raise InputError(f"the intervals of {self.key!r} must be columns after the first")


def as_record(kind: type[T], given: Any) -> T:
    """Return ``given`` if it is of that kind, or make one of a mapping.

    Raises
    ------
    InputError
        For anything else, and for keys that are unknown or absent.
    """
    if isinstance(given, kind):
        return given
    if not isinstance(given, Mapping):
        raise InputError(
            f"expected a {kind.__name__} or a mapping with its fields, got {type(given).__name__}"
        )
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    unknown = [str(key) for key in given if key not in known]
    if unknown:
        raise InputError(
            f"a {kind.__name__} has no field {', '.join(unknown)}; its fields are {known}"
        )
    try:
        return kind(**given)
    except TypeError as error:
        raise InputError(f"a {kind.__name__} cannot be made of {sorted(given)}: {error}") from None


def as_prediction(given: Any) -> Prediction | None:
    """Return a :class:`Prediction` of one, of a mapping, or None."""
    return None if given is None else as_record(Prediction, given)


def _one_of(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"the {what} must be one of {allowed}, got {value!r}")


def json_pieces(value: Any) -> Iterator[str]:
    """Yield the text of a value, of long lists and arrays some hundred items at a time."""
    listed = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
    if listed and len(value) > _MANY:
        for lo in range(0, len(value), _MANY):
            yield ("[" if lo == 0 else ", ") + _text(value[lo : lo + _MANY])[1:-1]
        yield "]"
    elif isinstance(value, tuple):
        yield "["
        for place, item in enumerate(value):
            yield ", " if place else ""
            yield from json_pieces(item)
        yield "]"
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for place, field in enumerate(dataclasses.fields(value)):
            yield f'{", " if place else "{"}"{field.name}": '
            yield from json_pieces(getattr(value, field.name))
        yield "}"
    else:
        yield _text(value)


def _text(value: Any) -> str:
    return json.dumps(json_ready(value), ensure_ascii=False, allow_nan=False)


def json_ready(value: Any) -> Any:
    """Turn records, arrays and tuples into what JSON knows."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: json_ready(getattr(value, field.name))
            for field in dataclasses.fields(value)
        }
    if isinstance(value, np.ndarray):
        if np.isfinite(value).all():
            return value.tolist()
        return json_ready(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [json_ready(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
