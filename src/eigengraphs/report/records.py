"""The records that a report is made of, which others can construct; to JSON and back."""

from __future__ import annotations

import dataclasses
import json
import math
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.system.tables import short_repr

__all__ = [
    "Cell", "Column", "Component", "Edge", "Finding", "GraphQuality", "HeatMap", "Intervals",
    "Level", "MethodScore", "Prediction", "PredictionKind", "Problem", "TimeLine", "Verdict",
    "WorstGraph", "from_json", "gravest_first", "json_pieces", "json_ready",
]  # fmt: skip

Level: TypeAlias = Literal["refused", "warning", "notice", "repaired"]  # the gravest first
Cell: TypeAlias = str | float | None
PredictionKind: TypeAlias = Literal["classes", "quantity"]
Verdict: TypeAlias = Literal["ok", "notice", "refused"]
_MANY = 1000  # items of a list that are written at a time
T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    """Something that a reader must know first.

    Attributes
    ----------
    level : str
        "refused": left out; "repaired": changed; "warning": about the fit; "notice": others.
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
        if self.level not in get_args(Level):
            levels = ", ".join(map(repr, get_args(Level)))
            raise InputError(f"the level of a problem must be one of {levels}, got {self.level!r}")


def gravest_first(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems by their level, those of one level in the order in which they came.

    What was left out, then what is wrong or odd, and last what was repaired.
    """
    return sorted(problems, key=lambda problem: get_args(Level).index(problem.level))


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
        Number of vertices without any edge.
    correlation : float or None
        With the other graphs: the median, of log(1 + weight / median weight).
    messages : tuple of str
        What was found, as sentences.

    Examples
    --------
    >>> from eigengraphs.report import GraphQuality
    >>> GraphQuality("sub-01", verdict="notice", messages=("has 2 isolated vertices",)).verdict
    'notice'
    """

    id: str
    file: str = ""
    verdict: Verdict = "ok"
    density: float | None = None
    total_weight: float | None = None
    isolated: int | None = None
    correlation: float | None = None
    messages: tuple[str, ...] = ()


@dataclass(frozen=True)
class MethodScore:
    """How well one method predicted the label of held-out graphs.

    Attributes
    ----------
    name : str
        Of the method.
    score : float
        Accuracy; for a quantity, the share of its variance that predictions explain, below zero
        where they are worse than always predicting the mean.
    se : float or None
        Standard error of the score.
    n_parameters : int or None
        Numbers that describe the method's components.
    folds : tuple of float
        Score of every fold, where graphs were held out in folds.
    measures : tuple of (str, float or None)
        Other measures of the same predictions, by their names in ``inference.evaluate``.

    Examples
    --------
    >>> from eigengraphs.report import MethodScore
    >>> MethodScore("joint embedding", 0.9, folds=(0.8, 1.0)).folds
    (0.8, 1.0)
    """

    name: str
    score: float
    se: float | None = None
    n_parameters: int | None = None
    folds: tuple[float, ...] = ()
    measures: tuple[tuple[str, float | None], ...] = field(default=(), metadata={"since": 5})

    __repr__ = short_repr


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
        Score of always predicting the most frequent class, or the mean.
    protocol : str
        How graphs were held out and predicted, as a sentence.
    classes : tuple of str
        Their names; empty for a quantity.
    kind : str
        "classes" or "quantity".
    n_graphs : int or None
        Number of graphs whose label is known.
    chance_folds : tuple of float
        Chance in every fold, beside those of the methods.

    Examples
    --------
    >>> from eigengraphs.report import MethodScore, Prediction
    >>> scores = (MethodScore("joint embedding", 0.9), MethodScore("PCA", 0.8))
    >>> prediction = Prediction("genotype", scores, chance=0.25, classes=("B6", "BTBR"))
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

    @property
    def measure(self) -> str:
        """What scores are, in words."""
        return "accuracy" if self.kind == "classes" else "R2"


@dataclass(frozen=True)
class Column:
    """What is known about each graph, or each vertex, beside its edges.

    Attributes
    ----------
    name : str
        Heading of the column.
    kind : str
        "number" or "category".
    values : tuple
        Numbers, or places in ``categories``; None where unknown.
    categories : tuple of str
        In the order in which they first appear.
    """

    name: str
    kind: Literal["number", "category"]
    values: tuple[float | int | None, ...]
    categories: tuple[str, ...] = ()

    def text(self, i: int) -> str:
        """Return the i-th value in words; empty where unknown."""
        value = self.values[i]
        if value is None:
            return ""
        if self.kind == "category":
            return self.categories[int(value)]
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    @property
    def known(self) -> list[Any]:
        """The values as numbers or texts, None where unknown."""
        if self.kind == "number":
            return list(self.values)
        return [None if value is None else self.categories[int(value)] for value in self.values]

    @property
    def task(self) -> PredictionKind:
        """What predicting it is: numbers of more than two values (0 and 1) are a quantity."""
        distinct = set(self.values) - {None}
        return "quantity" if self.kind == "number" and len(distinct) > 2 else "classes"


@dataclass(frozen=True)
class TimeLine:
    """The graphs in time; nothing else in a report is put in this order.

    Attributes
    ----------
    by : str
        The column that says when; empty where the input is in order.
    order : tuple of int
        Places of the graphs in the input, the earliest first.
    labels : tuple of str
        When each of these was; its name where the input is in order.
    """

    by: str
    order: tuple[int, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Edge:
    """A pair of vertices, by their places, with a weight or a residual."""

    source: int
    target: int
    weight: float


@dataclass(frozen=True)
class Component:
    """One component, with what there is to say about it.

    Attributes
    ----------
    explained : float
        Share of the sum of squares that it adds.
    high, low : tuple of int
        Vertices with the largest positive positions, and with the most negative ones.
    right_high, right_low : tuple of int
        The same for where edges end, in directed graphs; empty for others.
    edges : tuple of Edge
        Pairs with the largest products of positions, of either sign.
    degenerate, stop_reason, stationarity, start_agreement
        As of the embedding; None where there was one start.
    remarks : tuple of str
        What makes it doubtful, in sentences.
    """

    explained: float
    high: tuple[int, ...]
    low: tuple[int, ...]
    right_high: tuple[int, ...]
    right_low: tuple[int, ...]
    edges: tuple[Edge, ...]
    degenerate: bool
    stop_reason: str
    stationarity: float
    start_agreement: float | None
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class HeatMap:
    """A matrix in input order, in 255 steps.

    Attributes
    ----------
    rows, columns : int
        Its shape.
    low, high : float
        Values of steps 0 and 254; step 255 stands for entries that are not observed.
    block : int
        Vertices along the side of a cell; a cell is the mean of its block.
    data : str
        Steps as bytes, row after row, in base64.
    """

    rows: int
    columns: int
    low: float
    high: float
    block: int
    data: str


@dataclass(frozen=True)
class WorstGraph:
    """A graph that the components describe badly.

    Attributes
    ----------
    graph : int
        Its place.
    observed, reconstruction, residual : HeatMap
        In one scale.
    edges : tuple of Edge
        Pairs with the largest residuals, where a cell of a heat map is one pair.
    """

    graph: int
    observed: HeatMap
    reconstruction: HeatMap
    residual: HeatMap
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Intervals:
    """Which columns of a table are drawn as points with intervals.

    Attributes
    ----------
    value, low, high : int
        Places of the columns.
    reference : float or None
        Where a line is drawn: no difference, chance.
    axis : str
        What the values are.
    """

    value: int
    low: int
    high: int
    reference: float | None = None
    axis: str = ""


@dataclass(frozen=True)
class Finding:
    """The table of a later analysis of a fit, and what it says.

    Attributes
    ----------
    key : str
        What was asked; asking the same again replaces the answer.
    title : str
        Heading in the report.
    words : tuple of str
        The answer in sentences, the most important first.
    header : tuple of str
        Names of the columns; the first column names the rows.
    rows : tuple of tuple
        Texts, numbers, or None; numbers that are not finite are made None.
    intervals : Intervals or None
        What is drawn.
    notes : tuple of str
        How it was found, and what to be careful about.
    column : str
        Column of the graphs that was tested, if one was.
    """

    key: str
    title: str
    words: tuple[str, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    intervals: Intervals | None = None
    notes: tuple[str, ...] = ()
    column: str = ""

    @property
    def cells(self) -> list[dict[str, Cell]]:
        """The rows by the names of the columns."""
        return [dict(zip(self.header, row, strict=True)) for row in self.rows]

    def __post_init__(self) -> None:
        for i, row in enumerate(self.rows):
            if len(row) != len(self.header):
                raise InputError(
                    f"row {i} of the finding {self.key!r} has {len(row)} cells under "
                    f"{len(self.header)} headings"
                )
        rows = tuple(tuple(map(_finite, row)) for row in self.rows)
        object.__setattr__(self, "rows", rows)
        drawn = self.intervals
        if drawn is not None:
            places = (drawn.value, drawn.low, drawn.high)
            if not all(0 < place < len(self.header) for place in places):
                raise InputError(f"the intervals of {self.key!r} must be columns after the first")


def _finite(value: Any) -> Any:
    """Return None for a number that is not finite, else the value."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_pieces(value: Any) -> Iterator[str]:
    """Yield the JSON of a value; of long lists and arrays, 1000 items at a time."""
    listed = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
    if listed and len(value) > _MANY:
        for lo in range(0, len(value), _MANY):
            yield ("[" if lo == 0 else ", ") + _text(value[lo : lo + _MANY])[1:-1]
        yield "]"
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            yield ", " if place else "["
            yield from json_pieces(item)
        yield "]" if value else "[]"
    elif isinstance(value, Mapping) or (dataclasses.is_dataclass(value) and not listed):
        items = value if isinstance(value, Mapping) else _fields(value)
        for place, (name, item) in enumerate(items.items()):
            yield f'{", " if place else "{"}"{name}": '
            yield from json_pieces(item)
        yield "}"
    else:
        yield _text(value)


def _fields(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _text(value: Any) -> str:
    return json.dumps(json_ready(value), ensure_ascii=False, allow_nan=False)


def json_ready(value: Any) -> Any:
    """Turn records, arrays and tuples into what JSON knows; None for what is not finite."""
    if isinstance(value, np.ndarray):
        return value.tolist() if np.isfinite(value).all() else json_ready(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [json_ready(item) for item in value]
    if dataclasses.is_dataclass(value):
        value = _fields(value)
    if isinstance(value, Mapping):
        return {str(key): json_ready(item) for key, item in value.items()}
    return _finite(value)


_hints = cache(get_type_hints)
_ACCEPTED: dict[Any, Any] = {bool: bool, int: int, float: int | float, str: str}
_IN_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def from_json(kind: Any, given: Any, where: str = "") -> Any:
    """Return what was declared as ``kind`` from JSON, which has neither nan, tuples nor arrays.

    Raises
    ------
    InputError
        Where it is something else; ``where`` is the place in the file.
    """
    origin, args = get_origin(kind), get_args(kind)
    if origin is np.ndarray:
        return _array(given, where)
    if origin in (tuple, Sequence):
        if not isinstance(given, list):
            raise InputError(f"{where} must be a list, got {_shown(given)}")
        kinds = args if origin is tuple and args[-1] is not ... else args[:1] * len(given)
        if len(kinds) != len(given):
            raise InputError(f"{where} must have {len(kinds)} items, got {len(given)}")
        pairs = enumerate(zip(kinds, given, strict=True))
        return tuple(from_json(one, item, f"{where}[{i}]") for i, (one, item) in pairs)
    if origin is Literal:
        if given not in args:
            raise InputError(f"{where} must be one of {args}, got {_shown(given)}")
        return given
    if origin in (Union, types.UnionType):
        if type(given) in args:  # None too; and 20 stays whole where it may be
            return given
        if type(given) is int and float in args:
            return float(given)
        return from_json(next(one for one in args if one is not types.NoneType), given, where)
    if dataclasses.is_dataclass(kind):
        return _record_from_json(kind, given, where)
    if kind is float and given is None:
        return math.inf if where == "gamma_condition" else math.nan  # infinite is all it may be
    if isinstance(given, bool) is (kind is bool) and isinstance(given, _ACCEPTED[kind]):
        return float(given) if kind is float else given
    raise InputError(f"{where} must be {_IN_WORDS[kind]}, got {_shown(given)}")


def _record_from_json(kind: Any, given: Any, where: str) -> Any:
    if not isinstance(given, Mapping):
        raise InputError(f"{where or 'the file'} must be a mapping, got {_shown(given)}")
    hints, at = _hints(kind), f"{where}." if where else ""
    # What a later format has added, earlier files lack.
    names = [one.name for one in fields(kind) if one.name in given or "since" not in one.metadata]
    for name in [*names, *given]:
        if name not in given or name not in names:
            raise InputError(f"{at}{name} is {'unknown' if name in given else 'missing'}")
    return kind(**{name: from_json(hints[name], given[name], f"{at}{name}") for name in names})


def _array(given: Any, where: str) -> Any:
    try:
        array = np.array(given)
        numbers = array.astype(np.float64)  # None is nan
    except (TypeError, ValueError):
        array = np.array("")  # lists of different lengths
    texts = array.dtype.kind == "O" and any(isinstance(x, str | bool) for x in array.ravel())
    if texts or not isinstance(given, list) or array.dtype.kind not in "iufO":
        raise InputError(f"{where} must be an array of numbers")
    return numbers


def _shown(given: Any) -> str:
    text = json.dumps(given, ensure_ascii=False, default=repr)
    return text if len(text) <= 40 else f"{text[:39]}…"
