"""Random changes of bytes, of JSON and of arrays; all of them functions of a ``random.Random``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any

import numpy as np

__all__ = ["change_array", "change_bytes", "change_json", "change_tree"]

# Cells, words and marks that parsers trip over.
TOKENS = [
    *(b"0 -0 1 -1 nan inf -inf 1e308 -1e308 1e-320 1e999 0x10 1_000 00 007 1.0 0,5 .5 5.".split()),
    *(b"9223372036854775807 9223372036854775808 -9223372036854775809 4294967296 1e19".split()),
    *(b"9007199254740993 + - .".split()),
    *(b"99999999999999999999999999 2147483648 65536 NA n/a null true false None".split()),
    *(b", ; \t | \" ' # % { } [ ] ( ) : \\ / < > & = !".split(b" ")),
    b" ", b"\n", b"\r", b"\r\n", b"\n\n", b"\x00", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf",
    b"\xc3\x28", b"\xf0\x9f\xa7\xa0", b"\xe2\x80\xa8", b"\x85", b"\x1c", b"\x0c", b"\xed\xa0\x80",
    b"# vertices: a b\n", b"# vertices: [\"a\", 1]\n", b"# directed: true\n", b"{'weight': 3}",
    b"{'weight': [1]}", b"{[]: 1}", b"source\ttarget\tweight\n", b"(" * 300, b"[" * 3000,
    b"{" * 300,
    b"<!DOCTYPE a [<!ENTITY b \"c\">]>", b"&b;", b"<data key=\"d0\">x</data>", b"*Vertices 3\n",
    b"*Edges\n", b"*Arcs\n", b"*Matrix\n", b"graph [", b"node [ id 0 ]",
    b"edge [ source 0 target 0 ]",
]  # fmt: skip

_NUMBER = re.compile(rb"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_NUMBERS = [0, 1, 2, 3, 7, 255, 256, 65535, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63]
_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3, 10**6, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, float("nan"),
    float("inf"), "", "a", "0", "nan", "é", "../a", "a" * 300, [], [[]], [0], [1, "a"], [None], {},
    {"a": 1}, [1.0, 2.0], [[1, 2], [3]], "float64", "object", "dense", "sparse", "\ud800", "\x00",
]  # fmt: skip


def change_bytes(data: bytes, rng: Random, tokens: Sequence[bytes] = ()) -> bytes:
    """Return bytes with one to four changes."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = _once(data, rng, tokens)
    return data


def _once(data: bytes, rng: Random, tokens: Sequence[bytes]) -> bytes:
    n = len(data)
    a, b = sorted((rng.randint(0, n), rng.randint(0, n)))
    b = min(b, a + rng.choice((1, 2, 8, 64, n)))
    kind = rng.randrange(9)
    if kind == 0 and n:  # a bit
        at = rng.randrange(n)
        return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
    if kind == 1:  # the end is gone
        return data[: rng.randint(0, n)]
    if kind == 2:  # a piece is gone
        return data[:a] + data[b:]
    if kind == 3:  # a piece comes twice, or elsewhere
        at = rng.randint(0, n)
        return data[:at] + data[a:b] * rng.choice((1, 1, 3)) + data[at:]
    if kind == 4:  # random bytes
        return data[:a] + rng.randbytes(min(b - a, 32)) + data[b:]
    if kind == 5:  # a number becomes another
        found = list(_NUMBER.finditer(data))
        if found:
            one = rng.choice(found)
            number = rng.choice(_NUMBERS) * rng.choice((1, 1, -1))
            return data[: one.start()] + str(number).encode() + data[one.end() :]
    if kind == 6:  # two lines change places, or one goes or comes twice
        lines = data.split(b"\n")
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[rng.choice((i, j))]
        return b"\n".join(lines)
    token = rng.choice([*TOKENS, *tokens])
    return data[:a] + token + data[b if rng.random() < 0.5 else a :]


def change_json(data: bytes, rng: Random, extra: Sequence[Any] = ()) -> bytes:
    """Return JSON with a value, a key or a list changed."""
    tree = json.loads(data)
    for _ in range(rng.choice((1, 1, 2))):
        tree = change_tree(tree, rng, extra)
    return json.dumps(tree).encode("utf-8", "surrogatepass")


def change_tree(tree: Any, rng: Random, extra: Sequence[Any] = ()) -> Any:
    """Return nested lists and mappings with a change at a random place.

    What is put in is copied: what holds itself is no JSON.
    """
    places = list[tuple[Any, Any]]()
    _collect(tree, places)
    if not places:
        return deepcopy(rng.choice([*_VALUES, *extra]))
    # First a depth at random, by way of the parent: else long arrays take nearly all changes.
    parents = list({id(parent): parent for parent, _ in places}.values())
    parent = rng.choice(parents)
    key = rng.choice(list(parent) if isinstance(parent, dict) else range(len(parent)))
    kind = rng.randrange(8)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[rng.choice(["", "a", *map(str, parent)])] = parent.pop(key)
    elif kind == 1:
        parent.insert(key, deepcopy(parent[rng.randrange(len(parent))]))
    elif kind == 2:
        parent[key] = rng.choice([[parent[key]], {"a": parent[key]}, str(parent[key])])
    elif kind == 3:
        parent[key] = deepcopy(rng.choice(places)[0]) if len(places) < 40 else None
    elif kind == 4 and isinstance(parent[key], int | float):
        number = rng.choice(_NUMBERS)
        parent[key] = rng.choice((number, -number, parent[key] + 1, parent[key] - 1, 1.5))
    else:
        parent[key] = deepcopy(rng.choice([*_VALUES, *extra]))
    return tree


def _collect(node: Any, places: list[tuple[Any, Any]]) -> None:
    if isinstance(node, dict | list):
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            _collect(node[key], places)


_KINDS = [
    "f8", "f4", "f2", "i1", "u1", "i8", "u8", ">f8", "?", "c16", "U3", "S2", "M8[s]", "m8[s]",
    [("a", "f8"), ("b", "i4")], "longdouble",
]  # fmt: skip


def change_array(array: Any, rng: Random) -> Any:
    """Return an array of another kind or shape, or with other entries."""
    array = np.array(array)
    kind = rng.randrange(8)
    if kind == 0:
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(_KINDS))
    if kind == 1:
        shape = [rng.choice((0, 1, 2, size)) for size in array.shape]
        return np.resize(array, shape) if array.size else array
    if kind == 2:
        return rng.choice([array.ravel(), array[None], array.T, array[:0], array[..., None]])
    if kind == 3:
        return np.resize(
            array, rng.choice([(), (1,), (1, 1), (2, 2), (2, 2, 2), (3, 1, 3), (0, 0)])
        )
    if kind == 4 and array.ndim:
        return array[tuple(slice(0, max(0, size - rng.randrange(2))) for size in array.shape)]
    if kind == 5:
        return np.array(rng.choice([0, 1, -1, 2**62, "a", ["a", "b", "c"], [1.5], True, [[1]], []]))
    if array.size and array.dtype.kind in "biufc":
        out = array.copy()
        values = [0, 1, -1, 100, 1e308, np.nan, np.inf, -np.inf, 1e-320, 2**31, 2**62, 0.5]
        for _ in range(rng.choice((1, 1, 3))):
            with np.errstate(all="ignore"):
                out.flat[rng.randrange(out.size)] = np.array(rng.choice(values)).astype(out.dtype)
        return out
    if array.size and array.dtype.kind == "U":
        out = array.astype("U8")
        out.flat[rng.randrange(out.size)] = rng.choice(
            ["", "a", str(out.flat[0]), "nan", "é", "\x00"]
        )
        return out
    return array
