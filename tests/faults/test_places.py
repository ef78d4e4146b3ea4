"""Sums of kernels have the same bits wherever in memory their arrays lie, on any processor.

A loop that adds up and writes has two forms in machine code, one for arrays that lie close to each
other, which add up in different orders. Which arrays do is up to the allocator.
"""

import ast
import os
import platform
import subprocess
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import eigengraphs
from eigengraphs.solvers.ascent import pull, turn

SIZES = (4, 5, 7, 9, 11, 16, 17, 19, 21)


def laid_out(arrays, order, gap):
    """Return copies of the arrays, in one piece of memory, in this order, so many bytes apart."""
    room = np.empty(sum(a.nbytes for a in arrays) + len(arrays) * (gap + 8), dtype=np.uint8)
    found, place = list(arrays), 0
    for j in order:
        a = arrays[j]
        found[j] = room[place : place + a.nbytes].view(a.dtype).reshape(a.shape)
        found[j][...] = a
        place += -(-a.nbytes // 8) * 8 + gap
    return found


def shaken(rng):
    """Return memory in use between which there is some free, of sizes as kernels ask for."""
    held = [np.empty(int(rng.integers(1, 400)), dtype=np.uint8) for _ in range(40)]
    return [held[j] for j in rng.permutation(len(held))[:20]]


def kernels(s):
    """Return kernels that add up, each with what it takes: by name."""
    some = np.random.default_rng(s).standard_normal
    p = s * (s + 1) // 2
    x, y = some(s), some(2 * s)
    return {
        "turn": (lambda z, x: turn(z, x, s, 0, 8), [some(p), x]),
        "turn, two sides": (lambda z, y: turn(z, y, s, s, 8), [some(s * s), y]),
        "pull": (lambda R, x, U: pull(R, x, s, 0, U), [some((3, p)), x, np.zeros((3, s))]),
        "pull, two sides": (lambda R, y, U: pull(R, y, s, s, U),
                            [some((3, s * s)), y, np.zeros((3, 2 * s))]),
    }  # fmt: skip


def different():
    """Return the kernels, with their size, whose results depend on where arrays lie."""
    rng = np.random.default_rng(0)
    found = []
    for s in SIZES:
        for name, (kernel, arrays) in kernels(s).items():
            seen = set()
            for order in permutations(range(len(arrays))):
                for gap in (0, 8, 24, 64, 8192) * (1 + 9 * name.startswith("turn")):
                    taken = laid_out(arrays, order, gap)
                    kept = shaken(rng)  # what kernels ask for themselves falls in between
                    kernel(*taken)
                    del kept
                    seen.add(b"".join(a.tobytes() for a in taken))
            if len(seen) > 1:
                found.append(f"{name}, s = {s}: {len(seen)} results")
    return found


def reordering(function):
    """Tell whether a function is compiled with leave to add up in any order."""
    return any(
        keyword.arg == "fastmath" and "reassoc" in ast.unparse(keyword.value)
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
    )


LOOPS = (ast.For, ast.While)


def names(node):
    """Return the names in a piece of code."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def innermost(function):
    """Return the loops of a function that have no loop within."""
    loops = [node for node in ast.walk(function) if isinstance(node, LOOPS)]
    return [loop for loop in loops if sum(isinstance(n, LOOPS) for n in ast.walk(loop)) == 1]


def adds_up_and_writes(loop):
    """Tell whether a loop has a running sum and writes entries, or has the sum in an entry."""
    counts = names(loop.target if isinstance(loop, ast.For) else loop.test)
    nodes = list(ast.walk(loop))
    growing = [node.target for node in nodes if isinstance(node, ast.AugAssign)]
    if any(isinstance(to, ast.Subscript) and not names(to.slice) & counts for to in growing):
        return True
    written = [to for node in nodes if isinstance(node, ast.Assign) for to in node.targets]
    entries = [part for to in written + growing for part in ast.walk(to)]
    sums = [to for to in growing if isinstance(to, ast.Name) and to.id not in counts]
    return bool(sums) and any(isinstance(part, ast.Subscript) for part in entries)


@pytest.mark.parametrize(("code", "told"), [
    ("for e in range(s):\n    g[e] = w[e]\n    total += g[e]", True),
    ("for e in range(s):\n    g[e] += w[e]\n    total -= w[e]", True),
    ("for e in range(s):\n    g[row] += w[e]", True),
    ("for e in range(s):\n    total += w[e]", False),
    ("for e in range(s):\n    g[e] += w[e]", False),
    ("while e < s:\n    g[e] += w[e]\n    e += 1", False),
])  # fmt: skip
def test_such_loops_are_told(code, told):
    assert adds_up_and_writes(ast.parse(code).body[0]) is told


def test_no_loop_that_may_add_up_in_any_order_writes_to_an_array():
    looked_at, found = 0, []
    for path in Path(eigengraphs.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and reordering(node):
                looked_at += 1
                lines = [loop.lineno for loop in innermost(node) if adds_up_and_writes(loop)]
                found += [f"{path.name}:{line}, {node.name}" for line in lines]
    assert looked_at > 1
    assert found == []


def test_on_this_processor():
    assert different() == []


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other instructions")
def test_on_one_without_wide_vectors(tmp_path):
    env = {**os.environ, "NUMBA_CPU_NAME": "haswell", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == []


if __name__ == "__main__":
    print(*different(), sep="\n", end="")
