"""The records of a report, which others can construct, and its columns; to JSON and back."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import math
import re
import types
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.stack.names import some_of
from eigengraphs.system.labels import UNKNOWN, are_codes, shortened, without_none
from eigengraphs.system.limits import is_of
from eigengraphs.system.tables import short_repr

Level: TypeAlias = Literal["refused", "warning", "notice", "repaired"]  # the gravest first
Cell: TypeAlias = str | float | None
PredictionKind: TypeAlias = Literal["classes", "quantity"]
Verdict: TypeAlias = Literal["ok", "notice", "refused"]
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
    measures: tuple[tuple[str, float | None], ...] = ()

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
    methods : str
        A paragraph for a paper, for ``methods.md`` and the methods of the report.
    """

    key: str
    title: str
    words: tuple[str, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    intervals: Intervals | None = None
    notes: tuple[str, ...] = ()
    column: str = ""
    methods: str = ""

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


def json_ready(value: Any) -> Any:
    """Turn records, arrays and tuples into what JSON knows; None for what is not finite."""
    if isinstance(value, np.ndarray):
        return value.tolist() if np.isfinite(value).all() else json_ready(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [json_ready(item) for item in value]
    if dataclasses.is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): json_ready(item) for key, item in value.items()}
    return _finite(value)


_hints = cache(get_type_hints)
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
    if origin in (Union, types.UnionType) and given is not None and not is_of(kind, given):
        kind = next(one for one in args if one is not types.NoneType)
        return from_json(kind, given, where)
    if dataclasses.is_dataclass(kind):
        return _record_from_json(kind, given, where)
    if kind is float and given is None:
        return math.inf if where == "gamma_condition" else math.nan  # infinite is all it may be
    if not is_of(kind, given):
        wanted = _IN_WORDS.get(kind) or f"one of {args}"
        raise InputError(f"{where} must be {wanted}, got {_shown(given)}")
    number = type(given) is int and (kind is float or (float in args and int not in args))
    return float(given) if number else given


def _record_from_json(kind: Any, given: Any, where: str) -> Any:
    if not isinstance(given, Mapping):
        raise InputError(f"{where or 'the file'} must be a mapping, got {_shown(given)}")
    hints, at, names = _hints(kind), f"{where}." if where else "", [x.name for x in fields(kind)]
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


# ---------------------------------------------------------- columns and the order of graphs in time


Key = tuple[Any, ...]
# What graphs can be sorted by, in the order in which it is tried.
_WAYS = {
    "number": r".*",
    "date": r"\d{4}-\d{2}-\d{2}.*",
    "month": r"(\d{4})-(\d{1,2})",
    "quarter": r"(\d{4})[- ]?Q([1-4])",
    "week": r"(\d{4})-?W(\d{2})",
    "text with one number": r"(\D*?)(\d+(?:\.\d+)?)(\D*)",  # two might be a day and a month
}
_PARTS = {"month": 12, "quarter": 4, "week": 53}  # of a year


def make_columns(
    columns: Mapping[str, Sequence[Any]] | None, length: int, of: str
) -> tuple[Column, ...]:
    """Make columns from a mapping of names to one value per graph or vertex.

    Parameters
    ----------
    columns
        Values may be numbers, texts or None. Texts that all say numbers are numbers; "n/a" and
        empty texts are unknown, and so is "none" among numbers.
    length
        Number of values that each must have.
    of
        What they are values of, for messages: "graph" or "vertex".
    """
    made = []
    for name, values in (columns or {}).items():
        if isinstance(values, str) or len(values) != length:
            number = "one text" if isinstance(values, str) else f"{len(values)} values"
            raise InputError(
                f"column {name!r} must have one value for each {of}, {length} in all, got {number}"
            )
        made.append(make_column(str(name), values))
    return tuple(made)


def make_column(name: str, given: Sequence[Any]) -> Column:
    """Make one column, and tell numbers from categories."""
    known = without_none([_plain(value) for value in given])
    numbers = _numbers(known)
    if numbers is not None and not are_codes(x for x in numbers if x is not None):
        return Column(name, "number", tuple(numbers))
    texts = [x if x is None else f"{x:g}" if isinstance(x, float) else str(x) for x in known]
    categories = tuple(dict.fromkeys(text for text in texts if text is not None))
    code = {text: c for c, text in enumerate(categories)}
    values = [None if text is None else code[text] for text in texts]
    return Column(name, "category", tuple(values), categories)


def is_unknown(value: Any) -> bool:
    """Tell whether a value stands for none: None, nan, "n/a" and the like."""
    return _plain(value) is None


def says_number(text: str) -> bool:
    """Tell whether a text is a finite number, and not a name such as 007."""
    return _numbers([text]) is not None


def _plain(value: Any) -> Any:
    """Return a Python number or text, None for what is unknown."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, str):
        return None if value.strip().lower() in UNKNOWN else value
    return value if isinstance(value, bool | int | float) else str(value)


def _number(text: str) -> float | None:
    """Return the finite number that a text says, if it does."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _numbers(values: list[Any]) -> list[float | int | None] | None:
    """Return the values as numbers, or None if some are not."""
    found: list[float | int | None] = []
    for value in values:
        number = value
        if isinstance(value, str):  # 007 is a name
            number = None if re.match(r"\s*0\d", value) else _number(value)
        if isinstance(value, bool) or (number is None and value is not None):
            return None
        found.append(number)
    return found if any(number is not None for number in found) else None


def time_line(
    ordered: bool | str, columns: Mapping[str, Sequence[Any]], names: Sequence[str]
) -> TimeLine | None:
    """Return the order of graphs in time; equal times stay in the order of the input.

    Parameters
    ----------
    ordered
        The name of a column; or True: time is the order of the input; or False: there is none.
    columns
        One value per graph. To sort by: numbers; dates such as 2019-01-31 (perhaps with a
        time of day), 2019-01, 2019-Q1 or 2019-W05; or texts that differ by one number (visit 2).
    names
        Of the graphs.

    Raises
    ------
    InputError
        If the column does not exist, has no value for some graph, or cannot be sorted.
    """
    if not isinstance(ordered, str):
        return TimeLine("", tuple(range(len(names))), tuple(names)) if ordered else None
    if ordered not in columns:
        raise InputError(f"there is no column {ordered!r} to order by, of {sorted(columns)}")
    values = list(columns[ordered])
    unknown = [name for name, value in zip(names, values, strict=True) if is_unknown(value)]
    if unknown:
        raise InputError(
            f"graphs cannot be sorted by {ordered!r}, which has no value for {some_of(unknown)}: "
            "complete the column, or leave these graphs out"
        )
    plain = [_plain(value) for value in values]
    texts = [f"{x:.10g}" if isinstance(x, float) else str(x).strip() for x in plain]
    keys = _keys(ordered, texts, names)
    order = sorted(range(len(names)), key=lambda i: keys[i])  # stable
    return TimeLine(ordered, tuple(order), tuple(texts[i] for i in order))


def _keys(column: str, texts: Sequence[str], names: Sequence[str]) -> list[Key]:
    """Return what texts are sorted by: all are read in one way, the first that reads them all."""
    best: tuple[int, str, list[Key | None]] = (0, "number", [None] * len(texts))
    for what in _WAYS:
        keys = _alike([_key(what, text) for text in texts])
        found = [key for key in keys if key is not None]
        if len(found) == len(keys):
            return found
        if len(found) > best[0]:
            best = (len(found), what, keys)
    count, what, keys = best
    odd = next((i for i, key in enumerate(keys) if key is None), 0)
    like = f", as {count} others are" if count else ""
    raise InputError(
        f"graphs cannot be sorted by {column!r}: {shortened(texts[odd])!r} ({names[odd]}) is not a "
        f"{what}{like}. A column to sort by has numbers, dates such as 2019-01-31 or 2019-01, or "
        "texts that differ in only one number (visit 1, visit 2)"
    )


def _alike(keys: Sequence[Key | None]) -> list[Key | None]:
    """Keep keys of the most frequent kind: the same words around a number, a time zone or none."""
    kinds = Counter(key[0] for key in keys if key is not None)
    usual = kinds.most_common(1)[0][0] if kinds else None
    return [key if key is not None and key[0] == usual else None for key in keys]


def _key(what: str, text: str) -> Key | None:
    """Return what a text of this kind is sorted by; the first part must be alike in all."""
    found = re.fullmatch(_WAYS[what], text, re.IGNORECASE)
    if found is None:
        return None
    if what in _PARTS:
        return ("", int(found[1]), int(found[2])) if 1 <= int(found[2]) <= _PARTS[what] else None
    try:
        if what == "number":
            return None if _number(text) is None else ("", float(text))
        if what == "date":
            moment = dt.datetime.fromisoformat(text)
            return ("local" if moment.tzinfo is None else "zone", moment)
    except ValueError:
        return None
    return ((found[1], found[3]), float(found[2]))
