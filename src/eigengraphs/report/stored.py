"""From report.json back to a summary: every field is read by its declared kind, or refused."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import types
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.report.parts import Edge, HeatMap
from eigengraphs.report.summary import FORMAT, Summary
from eigengraphs.system.limits import read_json, read_regular

__all__ = ["read_summary"]

_AGAIN = "; write it again by fitting the graphs once more (eigengraphs fit)"


class _Unlike(Exception):
    """Where in the file, and what is wrong there."""


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
    try:
        data = read_json(read_regular(file))
    except FileNotFoundError:
        raise InputError(
            f"there is no {str(file)!r}; name a folder that eigengraphs fit has written, or its "
            "report.json"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {str(file)!r}: {error.strerror}") from None
    except ValueError as error:  # not JSON, or not UTF-8
        raise InputError(f"{str(file)!r} is broken, it is no JSON ({error}){_AGAIN}") from None
    if not isinstance(data, dict) or "format" not in data:
        raise InputError(f"{str(file)!r} is not the data of a report: it has no format number")
    if data["format"] != FORMAT:
        raise InputError(
            f"{str(file)!r} has format {data['format']!r}, and this version of eigengraphs reads "
            f"format {FORMAT}{_AGAIN}, or use the version that wrote it"
        )
    try:
        # Words follow from the rest.
        fields = {k: v for k, v in data.items() if k not in ("format", "words")}
        summary = _record(Summary, fields, "")
        assert isinstance(summary, Summary)
        _check_sizes(summary)
    except (_Unlike, InputError) as error:
        raise InputError(f"{str(file)!r} is broken: {error}{_AGAIN}") from None
    return summary


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _record(kind: type, given: Any, where: str) -> Any:
    if not isinstance(given, Mapping):
        raise _Unlike(f"{where or 'the file'} must be a mapping, got {_told(given)}")
    names = [field.name for field in dataclasses.fields(kind)]
    for name in names:
        if name not in given:
            raise _Unlike(f"{_at(where, name)} is missing")
    for name in given:
        if name not in names:
            raise _Unlike(f"{_at(where, name)} is unknown")
    hints = _hints(kind)
    return kind(**{name: _value(hints[name], given[name], _at(where, name)) for name in names})


def _value(kind: Any, given: Any, where: str) -> Any:
    """Return a value of a declared kind; JSON has neither nan, nor tuples, nor arrays."""
    origin = get_origin(kind)
    if origin is np.ndarray:
        return _array(given, where)
    if origin is tuple:
        return _tuple(get_args(kind), given, where)
    if origin is Sequence:
        return _tuple((*get_args(kind), ...), given, where)
    if origin is Literal:
        if given not in get_args(kind):
            raise _Unlike(f"{where} must be one of {get_args(kind)}, got {_told(given)}")
        return given
    if origin in (Union, types.UnionType):
        return _one_of(get_args(kind), given, where)
    if dataclasses.is_dataclass(kind):
        return _record(kind, given, where)  # type: ignore[arg-type]
    if kind is float and given is None:
        return math.inf if where == "gamma_condition" else math.nan  # infinite is all it may be
    if isinstance(given, bool) is (kind is bool) and isinstance(given, _ACCEPTED[kind]):
        return float(given) if kind is float else given
    raise _Unlike(f"{where} must be {_WORDS[kind]}, got {_told(given)}")


_ACCEPTED: dict[Any, Any] = {bool: bool, int: int, float: int | float, str: str}
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _one_of(kinds: tuple[Any, ...], given: Any, where: str) -> Any:
    if given is None and types.NoneType in kinds:
        return None
    if type(given) in kinds:  # 20 stays whole where both kinds of numbers may be
        return given
    if type(given) is int and float in kinds:
        return float(given)  # 1.0 is the same as 1 in some writers of JSON
    rest = [kind for kind in kinds if kind is not types.NoneType]
    return _value(rest[0], given, where)


def _tuple(kinds: tuple[Any, ...], given: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(given, list):
        raise _Unlike(f"{where} must be a list, got {_told(given)}")
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(given)
    if len(kinds) != len(given):
        raise _Unlike(f"{where} must have {len(kinds)} items, got {len(given)}")
    pairs = enumerate(zip(kinds, given, strict=True))
    return tuple(_value(kind, item, f"{where}[{i}]") for i, (kind, item) in pairs)


def _array(given: Any, where: str) -> Any:
    try:
        array = np.array(given)
        numbers = array.astype(np.float64)  # None is nan
    except (TypeError, ValueError):
        raise _Unlike(f"{where} must be an array of numbers") from None
    if not isinstance(given, list) or array.dtype.kind not in "iufO":
        raise _Unlike(f"{where} must be an array of numbers")
    if array.dtype.kind == "O" and any(isinstance(v, str | bool) for v in array.ravel()):
        raise _Unlike(f"{where} must be an array of numbers")
    return numbers


def _check_sizes(found: Summary) -> None:
    """Refuse what cannot be drawn: arrays and lists of other sizes, and places beyond the end."""
    m, n, d = found.n_graphs, found.n_vertices, found.n_components
    if d == 0:
        raise _Unlike("there is no component")
    shapes: dict[str, tuple[Any, tuple[int, ...]]] = {
        "loadings": (found.loadings, (m, d)),
        "positions": (found.positions, (n, d)),
        "positions_right": (found.positions_right, (n, d)),
        "objective": (found.objective, (d + 1,)),
        "explained_by_graph": (found.explained_by_graph, (m,)),
        "residual_with_mean": (found.residual_with_mean, (m,)),
    }
    for name, (array, shape) in shapes.items():
        if array is not None and array.shape != shape:
            raise _Unlike(f"{name} must have shape {shape}, got {array.shape}")
    X = found.coordinates
    if X is not None and (X.ndim != 2 or len(X) != n or X.shape[1] not in (2, 3)):
        raise _Unlike(f"coordinates must have shape ({n}, 2) or ({n}, 3), got {X.shape}")
    for columns, length in ((found.columns, m), (found.vertex_columns, n)):
        for column in columns:
            if len(column.values) != length:
                raise _Unlike(f"column {column.name!r} must have {length} values")
            if column.kind == "category":
                _check_places(column.values, len(column.categories), f"column {column.name!r}")
    for part in found.components:
        ends = (*part.high, *part.low, *part.right_high, *part.right_low, *_ends(part.edges))
        _check_places(ends, n, "components")
    for graph in found.worst:
        _check_places((graph.graph,), m, "worst")
        _check_places(_ends(graph.edges), n, "worst")
        for heat_map in (graph.observed, graph.reconstruction, graph.residual):
            _check_heat_map(heat_map)
    line = found.timeline
    if line is not None and (sorted(line.order) != list(range(m)) or len(line.labels) != m):
        raise _Unlike(f"timeline must hold each of the {m} graphs once")


def _ends(edges: Iterable[Edge]) -> list[int]:
    return [end for edge in edges for end in (edge.source, edge.target)]


def _check_places(places: Iterable[Any], length: int, where: str) -> None:
    for place in places:
        if place is not None and not (isinstance(place, int) and 0 <= place < length):
            raise _Unlike(f"{where} must hold places from 0 to {length - 1}, got {place}")


def _check_heat_map(heat_map: HeatMap) -> None:
    rows = heat_map.rows * heat_map.columns
    if len(heat_map.data) != 4 * -(-rows // 3):
        raise _Unlike(f"a heat map must hold {heat_map.rows} by {heat_map.columns} steps")


def _at(where: str, name: Any) -> str:
    return f"{where}.{name}" if where else str(name)


def _told(given: Any) -> str:
    text = json.dumps(given, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:39]}…"
