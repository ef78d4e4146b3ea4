"""Values as JSON beside arrays: what a fit is made of, and nothing else.

A pickle runs whatever its maker wished, so it must not be passed between people. Here a file can
name only the classes listed by the caller; anything else is refused, in both directions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.system.archives import check_compressed

__all__ = ["Arrays", "decode", "encode"]

Arrays: TypeAlias = dict[str, NDArray[Any]]
Classes: TypeAlias = Mapping[str, type]
_PLAIN = (bool, int, str, type(None))


def encode(value: Any, arrays: Arrays, classes: Classes, place: str = "model") -> Any:
    """Return a value as JSON can hold it; arrays go to ``arrays``, which is filled.

    Parameters
    ----------
    value
        Plain values, arrays, sparse matrices, dtypes, seeds, tuples, lists, dictionaries by
        text, and dataclasses of ``classes``.
    arrays
        Arrays by the names that the result refers to.
    classes
        Dataclasses that may be stored, by name.
    place
        Where the value stands, for messages.
    """
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}  # exactly, also inf and nan
    if isinstance(value, np.generic):
        return {"scalar": _put(np.asarray(value), arrays, place)}
    if isinstance(value, np.ndarray):
        return {"array": _put(value, arrays, place)}
    if sparse.issparse(value):
        flat = cast(Any, value).tocsr()
        parts = {part: _put(getattr(flat, part), arrays, place)
                 for part in ("data", "indices", "indptr")}  # fmt: skip
        return {"sparse": parts, "shape": list(flat.shape)}
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    if isinstance(value, np.random.SeedSequence):
        entropy = value.entropy
        numbers = list(entropy) if isinstance(entropy, list | tuple) else entropy
        return {"seed": numbers, "spawn_key": list(value.spawn_key)}
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [encode(x, arrays, classes, f"{place}[{i}]") for i, x in enumerate(value)]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: encode(x, arrays, classes, f"{place}.{key}")
                         for key, x in value.items()}}  # fmt: skip
    name = type(value).__name__
    if is_dataclass(value) and classes.get(name) is type(value):
        held = {field.name: encode(getattr(value, field.name), arrays, classes,
                                   f"{place}.{field.name}") for field in fields(value)}  # fmt: skip
        return {"object": name, "fields": held}
    raise InputError(
        f"cannot store {place} = {value!r}: a model file holds numbers, texts and arrays alone, no "
        "functions; use named steps and settings, or pickle the fit yourself"
    )


def decode(tree: Any, arrays: Mapping[str, NDArray[Any]], classes: Classes) -> Any:
    """Return what `encode` was given."""
    if isinstance(tree, _PLAIN):
        return tree
    match tree:
        case {"float": str(text)}:
            return float.fromhex(text)
        case {"scalar": str(name)}:
            return arrays[name][()]
        case {"array": str(name)}:
            return arrays[name]
        case {"sparse": dict(parts), "shape": [rows, columns]}:
            data = (arrays[parts["data"]], arrays[parts["indices"]], arrays[parts["indptr"]])
            matrix = sparse.csr_array(data, shape=(rows, columns))
            check_compressed(matrix)  # or products would read beyond their arrays
            return matrix
        case {"dtype": str(text)}:
            return np.dtype(text)
        case {"seed": entropy, "spawn_key": list(key)}:
            return np.random.SeedSequence(entropy, spawn_key=tuple(key))
        case {"tuple": list(items)}:
            return tuple(decode(item, arrays, classes) for item in items)
        case {"list": list(items)}:
            return [decode(item, arrays, classes) for item in items]
        case {"dict": dict(items)}:
            return {key: decode(item, arrays, classes) for key, item in items.items()}
        case {"object": str(name), "fields": dict(held)} if name in classes:
            values = {key: decode(item, arrays, classes) for key, item in held.items()}
            hints = _hints(classes[name])
            for key, value in values.items():
                if key not in hints or not _is_of(hints[key], value):
                    raise InputError(f"{key!r:.60} of {name} is not of the kind that it should be")
            return classes[name](**values)
    raise InputError(f"a model file cannot hold {str(tree)[:80]!r}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _is_of(kind: Any, value: Any) -> bool:
    """Tell whether a value is what a field of a dataclass is declared to be."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(_is_of(one, value) for one in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is np.ndarray:
        wanted = get_args(inner[1])[0]
        return (
            isinstance(value, np.ndarray)
            and value.dtype.isnative
            and (wanted is Any or value.dtype == wanted)
        )
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        kinds = inner[:1] * len(value) if inner[-1] is ... else inner
        return len(kinds) == len(value) and all(map(_is_of, kinds, value))
    if origin is dict:
        return isinstance(value, dict) and all(_is_of(inner[1], item) for item in value.values())
    if origin is Callable:
        return False  # a file holds none
    if kind in _NUMBERS:
        return isinstance(value, _NUMBERS[kind]) and (kind is bool) is isinstance(value, _BOOL)
    return isinstance(value, kind)


_BOOL = bool | np.bool_
_NUMBERS: dict[Any, Any] = {bool: _BOOL, int: int | np.integer, float: int | float | np.number}


def _put(array: NDArray[Any], arrays: Arrays, place: str) -> str:
    if array.dtype == object:
        if not all(isinstance(item, str) for item in array.flat):
            raise InputError(f"cannot store {place}: an array of objects other than texts")
        array = array.astype(np.str_)
    name = f"array{len(arrays)}"
    arrays[name] = array
    return name
