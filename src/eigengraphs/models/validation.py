"""Checks at the border of the models: what comes in is read once, then trusted and not changed."""

from __future__ import annotations

import reprlib
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from eigengraphs.errors import InputError

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

# Probabilities may leave [0, 1] by this much through rounding; they are then clipped.
TOLERANCE = 1e-9


class Fixed:
    """An object whose attributes are set once, by ``_set``."""

    def _set(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(
            f"a {type(self).__name__} cannot be changed; make a new one instead of .{name} ="
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"a {type(self).__name__} cannot be changed, so .{name} cannot be deleted"
        )


def whole_number(value: Any, name: str, minimum: int = 1) -> int:
    """Return ``value`` as an ``int`` of at least ``minimum``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be a whole number, got {reprlib.repr(value)}; pass an int")
    if value < minimum:
        raise InputError(f"{name} must be at least {minimum}, got {value}; pass a larger number")
    return int(value)


def number(value: Any, name: str) -> float:
    """Return ``value`` as a finite ``float``."""
    array = None if isinstance(value, bool | np.bool_) else _floats(value)
    if array is None or array.ndim:
        raise InputError(f"{name} must be a number, got {reprlib.repr(value)}; pass a float")
    if not np.isfinite(array):
        raise InputError(f"{name} is {array}, expected a finite number")
    return float(array)


def float_array(value: Any, name: str, n_dims: int | tuple[int, ...], shape: str) -> Floats:
    """Return a read-only float copy of ``value``; ``shape`` says in words what was expected."""
    array = _floats(value)
    if array is None:
        raise InputError(
            f"{name} must be an array of numbers of shape {shape}, got {type(value).__name__} "
            f"that NumPy cannot read as one"
        )
    if array.ndim not in ((n_dims,) if isinstance(n_dims, int) else n_dims):
        raise InputError(f"{name} must have shape {shape}, got shape {array.shape}")
    if array.size == 0:
        raise InputError(f"{name} is empty (shape {array.shape}), expected shape {shape}")
    if not np.isfinite(array).all():
        where = tuple(int(x) for x in np.argwhere(~np.isfinite(array))[0])
        entry = f"{name}{list(where)}" if name.isidentifier() else f"entry {list(where)} of {name}"
        raise InputError(
            f"{entry} is {array[where]}, expected a finite number; "
            f"replace or drop such entries first"
        )
    array.setflags(write=False)
    return array


def _floats(value: Any) -> Floats | None:
    """Return a float copy of ``value``, or None if it does not consist of real numbers.

    NumPy alone would read None as nan and "1" as 1, and drop imaginary parts.
    """
    try:
        raw = np.asarray(value)
        if raw.dtype.kind not in "biufO" or any(
            x is None or isinstance(x, str | bytes) for x in (raw.flat if raw.dtype == "O" else ())
        ):
            return None
        return raw.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def square_matrix(value: Any, name: str, side: str) -> Floats:
    """Return a read-only square float matrix, ``side`` x ``side``."""
    matrix = float_array(value, name, 2, f"({side}, {side})")
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name} must be square, got shape {matrix.shape}")
    return matrix


def probability(
    values: Floats, name: str, unchecked: npt.NDArray[np.bool_] | bool = False
) -> Floats:
    """Return ``values`` clipped to [0, 1]; an entry further out than rounding is an error.

    Entries that are ``unchecked``, which broadcasts to their shape, stay as they are.
    """
    bad = ((values < -TOLERANCE) | (values > 1 + TOLERANCE)) & ~np.asarray(unchecked)
    if bad.any():
        where = tuple(int(x) for x in np.argwhere(bad)[0])
        entry = name if not where else f"{name}[{', '.join(map(str, where))}]"
        raise InputError(
            f"{entry} is {values[where]:.6g}, outside [0, 1]; edge probabilities must lie in "
            f"[0, 1]: rescale or clip them first"
        )
    clipped = np.where(unchecked, values, np.clip(values, 0.0, 1.0))
    clipped.setflags(write=False)
    return clipped


def is_symmetric(matrix: Floats) -> bool:
    """Tell whether a matrix is symmetric up to rounding."""
    return bool((np.abs(matrix - matrix.T) <= TOLERANCE).all())


def probability_vector(value: Any, name: str, size: int) -> Floats:
    """Return ``size`` probabilities that sum to one."""
    weights = float_array(value, name, 1, f"({size},)")
    if len(weights) != size:
        raise InputError(f"{name} must have {size} entries, got {len(weights)}")
    if (weights < 0).any():
        k = int(np.argmin(weights))
        raise InputError(f"{name}[{k}] is {weights[k]:.6g}; probabilities cannot be negative")
    total = float(weights.sum())
    if abs(total - 1) > 1e-8:
        raise InputError(f"{name} must sum to 1, it sums to {total:.10g}; divide it by its sum")
    weights = weights / total
    weights.setflags(write=False)
    return weights


def block_labels(value: Any, n_blocks: int) -> Ints:
    """Return the block of each vertex, whole numbers 0 to ``n_blocks`` - 1."""
    try:
        raw = np.asarray(value)
    except ValueError:  # rows of unequal length
        raw = np.empty(0)
    if raw.ndim != 1 or raw.size == 0 or raw.dtype.kind not in "iu":
        raise InputError(
            f"labels must have shape (n_vertices,) and be whole numbers 0 to {n_blocks - 1}, got "
            f"shape {raw.shape} and type {raw.dtype}; give the block of each vertex"
        )
    bad = (raw < 0) | (raw >= n_blocks)
    if bad.any():
        s = int(np.argmax(bad))
        raise InputError(
            f"labels[{s}] is {raw[s]}, expected 0 to {n_blocks - 1} because B has {n_blocks} blocks"
        )
    labels = raw.astype(np.int64)
    labels.setflags(write=False)
    return labels
