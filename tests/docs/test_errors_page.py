"""Every message on the page of errors is what the library says, word for word."""

import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eigengraphs as eg

PAGE = Path(__file__).parents[2] / "docs" / "ideas" / "errors.md"


def symmetric(n=6):
    A = np.random.default_rng(0).random((4, n, n))
    A = A + A.transpose(0, 2, 1)
    A[:, np.arange(n), np.arange(n)] = 0
    return A


A = symmetric()
DIRECTED = np.random.default_rng(0).random((4, 6, 6))


def named(graph, names):
    return pd.DataFrame(graph, index=list(names), columns=list(names))


def with_nan():
    B = A.copy()
    B[2, 0, 1] = B[2, 1, 0] = np.nan
    return B


def fit(graphs, d=1, **settings):
    return eg.JointEmbedding(d, random_state=0, **settings).fit(graphs)


def mice():
    return eg.datasets.load_mice().graphs


def files(**texts):
    Path("folder").mkdir()
    for name, text in texts.items():
        Path("folder", name.replace("_", ".")).write_text(text, encoding="utf-8")
    return "folder"


def star():
    graphs = np.zeros((3, 8, 8))
    graphs[:, 0, 1:] = graphs[:, 1:, 0] = np.array([1.0, 2.0, 3.0])[:, None]
    return graphs


def noise():
    return eg.models.ErdosRenyi(30, 0.3).sample(6, random_state=0)


def saved_and_extended():
    fit(A).save("m.eg")
    eg.load("m.eg").extend(2)


def load_a_table():
    Path("a.csv").write_text("0,1\n1,0\n", encoding="utf-8")
    eg.load("a.csv")


def unfinished_store():
    def blocks():
        yield eg.GraphStack(A)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        eg.store.write_store("h.egs", blocks())
    eg.open_store("h.egs")


def damaged_store():
    eg.store.write_store("g.egs", [eg.GraphStack(A)])
    shard = Path("g.egs/dense.zarr/c/0/0/0")
    found = shard.read_bytes()
    shard.write_bytes(bytes([found[8] ^ 1]) + found[1:])
    np.asarray(eg.open_store("g.egs"))


def without_networkx():
    hidden = sys.modules.get("networkx")
    sys.modules["networkx"] = None
    try:
        eg.read(files(a_graphml="<graphml/>"))
    finally:
        del sys.modules["networkx"]
        if hidden is not None:
            sys.modules["networkx"] = hidden


FULL, TRIANGLE = "0,1,2\n1,0,3\n2,3,0\n", "0,1,2,4\n0,0,3,1\n0,0,0,1\n0,0,0,0\n"
FOUR = "0,1,2,4\n1,0,3,1\n2,3,0,1\n4,1,1,0\n"
CASES = {
    "sizes": lambda: eg.GraphStack([A[0], A[1][:5, :5]]),
    "names": lambda: eg.GraphStack([named(A[0], "abcdef"), named(A[1], "abcdeg")]),
    "union": lambda: eg.GraphStack(
        [named(A[0], "abcdef"), named(A[1], "abcdeg")], vertices="union"
    ),
    "transform": lambda: fit(A).transform(symmetric(5)),
    "not symmetric": lambda: fit(DIRECTED),
    "one graph": lambda: fit(A[0]),
    "nan": lambda: eg.GraphStack(with_nan()),
    "log1p": lambda: eg.GraphStack(-A).log1p(),
    "fisher_z": lambda: eg.GraphStack(A).fisher_z(),
    "kinds of files": lambda: eg.read(files(a_csv=FULL, b_npy="")),
    "cells": lambda: eg.read(files(a_csv="0,1,2\n1,0\n2,3,0\n")),
    "sizes of files": lambda: eg.read(files(a_csv=FOUR, b_csv=FULL)),
    "triangle": lambda: eg.read(files(a_csv=TRIANGLE)),
    "no model": load_a_table,
    "too many components": lambda: fit(A, 40),
    "no labels": lambda: fit(A, loadings="class"),
    "shared, centred": lambda: fit(A, loadings="shared", center=True),
    "extend": saved_and_extended,
    "partial_fit": lambda: eg.JointEmbedding(1).partial_fit(mice()),
    "max_iter": lambda: fit(mice().log1p(), 4, max_iter=2),
    "exhausted": lambda: fit(np.ones((4, 6, 6)), 3),
    "star": lambda: fit(star(), diagonal="unobserved"),
    "weak": lambda: eg.inference.loading_intervals(fit(noise(), 2), noise(), n_folds=3, n_splits=2),
    "no store": lambda: eg.open_store("nothing.egs"),
    "unfinished": unfinished_store,
    "damaged": damaged_store,
    "extra": without_networkx,
    "data": lambda: eg.datasets.fetch_hnu1(data_folder="data", download=False),
}


def words(text):
    return " ".join(text.split())


def shown():
    """Return the messages of the page, each as one line."""
    blocks = re.findall(r"^```text\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return {words(block) for block in blocks}


def said(action, folder):
    """Return what an action raises, or warns of, as the page has it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            action()
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
        else:
            message = f"{caught[-1].category.__name__}: {caught[-1].message}"
    return words(message.replace(f"{folder}/", ""))


@pytest.mark.parametrize("name", CASES)
def test_a_message_is_on_the_page(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EIGENGRAPHS_DATA", raising=False)
    assert said(CASES[name], tmp_path) in shown()


COMMANDS = {
    "no input": ["fit", "graph.npz", "results"],
    "no column": ["fit", "graphs.npz", "results", "--label", "group"],
    "other folder": ["fit", "graphs.npz", "other"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_message_of_the_command_line_is_on_the_page(name, run):
    eg.io.write(eg.GraphStack(A), "graphs.npz")
    Path("other").mkdir()
    Path("other/note.txt").write_text("hello", encoding="utf-8")
    code, _, said = run(*COMMANDS[name])
    assert code == 3
    assert words(said.splitlines()[-1]) in shown()


def test_nothing_else_is_on_the_page():
    assert len(shown()) == len(CASES) + len(COMMANDS)
