"""Read attack files, one after the other, in a process that may not take much; print what came.

Run by ``test_attacks.py`` with the table of attacks; prints a line of JSON for each: how it ended,
seconds of this process, and by how much its memory grew at its highest.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

import eigengraphs as eg
from eigengraphs.errors import EigengraphsError
from eigengraphs.models.recipes import load_recipe
from eigengraphs.report import read_summary

HERE = Path(__file__).parent
ROOM = 3 * 2**30  # of addresses; libraries take some that they never touch


def read_store(path):
    """Open a store and read its first graphs."""
    stack = eg.open_store(path)
    return stack.vertex_names, stack.read_block(0)


READERS = {
    "read": lambda path: eg.read([path]) if path.suffix != ".tsv" else eg.read(path),
    "store": read_store,
    "load": eg.load,
    "report": read_summary,
    "recipe": load_recipe,
}


def high_water():
    """Return the most memory of this process since `reset`, in bytes."""
    status = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in status if line.startswith("VmHWM")).split()[1])


def reset():
    """Begin to measure anew."""
    Path("/proc/self/clear_refs").write_text("5")


def warm_up(folder):
    """Read a good file of every kind, so that all libraries are there and compiled."""
    rng = np.random.default_rng(0)
    A = rng.random((2, 5, 5))
    stack = eg.GraphStack(A + A.transpose(0, 2, 1), vertex_names=list("abcde"))
    eg.io.write(eg.GraphStack(A), folder / "a.npy")
    eg.read(folder / "a.npy")
    for name in ("a.npz", "a.mat", "a.parquet"):
        eg.io.write(stack, folder / name)
        eg.read(folder / name)
    for ending in ("csv", "edgelist", "graphml"):
        eg.io.write(stack, folder / ending, format=ending)
        eg.read(folder / ending)
    for storage in ("dense", "sparse"):
        eg.store.write_store(folder / f"{storage}.egs", stack, storage=storage)
        read_store(folder / f"{storage}.egs")
    import h5py

    with h5py.File(folder / "b.mat", "w", userblock_size=512) as file:
        file["A"] = A[0]
    eg.read(folder / "b.mat")


def main():
    """Print one line an attack."""
    attacks = json.loads((HERE / "attacks.json").read_text())
    warm_up(Path(sys.argv[1]))
    size = next(line for line in Path("/proc/self/status").read_text().splitlines()
                if line.startswith("VmSize"))  # fmt: skip
    room = 1024 * int(size.split()[1]) + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    for name, attack in attacks.items():
        reset()
        before, start = high_water(), time.process_time()
        try:
            READERS[attack["reader"]](HERE / "files" / name)
            end = ["read", ""]
        except EigengraphsError as error:
            end = ["refused", str(error)]
        except BaseException as error:
            end = [type(error).__name__, str(error)]
        seconds, grown = time.process_time() - start, high_water() - before
        print(json.dumps([name, *end, seconds, grown]), flush=True)


if __name__ == "__main__":
    main()
