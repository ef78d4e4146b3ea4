"""Bad graphs get an error that says what, where and what to do."""

import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from eigengraphs import GraphStack
from eigengraphs.errors import AlignmentError, EigengraphsError, InputError

EYE = np.eye(3)


def frame(names, columns=None):
    return pd.DataFrame(np.eye(len(names)), index=list(names), columns=columns or list(names))


def weighted(weight):
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=weight)
    return graph


def nan_at(s, t):
    A = np.eye(4)
    A[s, t] = A[t, s] = np.nan
    return A


def masked():
    return np.ma.masked_array(np.eye(3), mask=np.eye(3) == 0)


CASES = {
    "masked": ([np.eye(3), masked()], InputError, r"graphs\[1\] is a masked array"),
    "masked cube": (np.ma.stack([masked()] * 2), InputError, "masked array"),
    "no array": (np.array(3.0), InputError, "got ndarray"),
    "huge": ([sparse.csr_array((300_000, 400_000))], InputError, "has shape 300000 x 400000"),
    "empty list": ([], InputError, "at least one graph, got an empty collection"),
    "one array": (EYE, InputError, r"got one ndarray; .*GraphStack\(\[graph\]\)"),
    "one frame": (frame("ab"), InputError, "got one DataFrame"),
    "text": ("graphs.csv", InputError, "got str"),
    "unequal": (
        {"a": EYE, "b": np.eye(4)},
        AlignmentError,
        r"1 of 2 graphs have 3 vertices, but graphs\[1\] \('b'\) has 4; .*intersection",
    ),
    "not square": ([EYE, np.ones((3, 2))], InputError, r"graphs\[1\] has shape 3 x 2, .*square"),
    "sparse not square": ([sparse.csr_array((2, 3))], InputError, r"graphs\[0\] has shape 2 x 3"),
    "cube not square": (np.ones((2, 3, 4)), InputError, r"shape \(m, n, n\).*got \(2, 3, 4\)"),
    "cube with graphs last": (np.ones((3, 3, 2)), InputError, r"moveaxis"),
    "ragged": ([[[1, 2], [3]]], InputError, r"graphs\[0\] must be.*not a rectangular table"),
    "strings": ([np.array([["a"]])], InputError, "must be a square matrix of real numbers"),
    "objects": ([object()], InputError, "a object that is not a rectangular table"),
    "complex": ([EYE * 1j], InputError, "dtype complex128"),
    "no vertices": ([np.ones((0, 0))], InputError, r"graphs\[0\] has no vertices"),
    "no nodes": ([nx.Graph()], InputError, r"graphs\[0\] has no vertices"),
    "nan": ([np.eye(4), nan_at(1, 2)], InputError, r"graphs\[1\] has nan at entry \(1, 2\)"),
    "inf": ([np.full((2, 2), np.inf)], InputError, r"graphs\[0\] has inf at entry \(0, 0\)"),
    "sparse nan": ([sparse.csr_array(nan_at(0, 3))], InputError, r"has nan at entry \(0, 3\)"),
    "named nan": (
        [pd.DataFrame(nan_at(1, 2), index=list("wxyz"), columns=list("wxyz"))],
        InputError,
        r"entry \(1, 2\), 'x' to 'y'",
    ),
    "many nans": (
        [nan_at(0, 1)] * 3,
        InputError,
        r"2 more graphs have such entries.*or pass missing='unobserved'",
    ),
    "other names": (
        [frame("abc"), frame("abd")],
        AlignmentError,
        r"graphs\[1\] .*lacks 'c'; only it has 'd'; align by name with vertices='intersection'",
    ),
    "axes differ": ([frame("abc", list("abd"))], AlignmentError, "on one axis only: 'c', 'd'"),
    "repeated names": ([frame("aab")], AlignmentError, "row names must be unique; repeated: 'a'"),
    "same text": (
        [nx.Graph([(1, "1")])],
        AlignmentError,
        r"graphs\[0\]: nodes must be unique; repeated: '1'",
    ),
    "weight text": ([weighted("heavy")], InputError, r"edge attribute 'weight' .*'heavy'"),
    "named and not": ([frame("abc"), np.eye(4)], AlignmentError, r"graphs\[1\] has 4"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_graphs(case):
    graphs, error, text = CASES[case]
    with pytest.raises(error, match=text) as caught:
        GraphStack(graphs)
    assert isinstance(caught.value, EigengraphsError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"graph_names": ["a"]}, "graph_names must hold 2 names, got 1"),
        ({"graph_names": ["a", "a"]}, "graph_names must be unique; 'a' occurs more than once"),
        ({"vertex_names": "abc"}, "vertex_names must be a sequence of names, got one string"),
        ({"vertex_names": ["a", "b"]}, "vertex_names must hold 3 names, got 2"),
        ({"vertices": "all"}, "vertices must be 'same', 'intersection' or 'union'"),
        ({"vertices": "union"}, "aligns by vertex names, and these graphs have none"),
        ({"storage": "disk"}, "storage must be 'auto', 'dense' or 'sparse'"),
        ({"dtype": np.int64}, "dtype must be float32 or float64, got int64"),
        ({"dtype": "foo"}, "dtype must be float32 or float64, got 'foo'"),
        ({"graph_names": 5}, "graph_names must be a sequence of names, got 5"),
    ],
    ids=str,
)
def test_bad_settings(settings, text):
    for graphs in ([EYE, EYE], np.array([EYE, EYE])):
        with pytest.raises(InputError, match=re.escape(text)):
            GraphStack(graphs, **settings)


def test_no_common_name():
    with pytest.raises(AlignmentError, match="no vertex name is common"):
        GraphStack([frame("ab"), frame("cd")], vertices="intersection")


def test_a_failed_stack_leaves_the_input_as_it_was():
    cube = np.ones((2, 3, 3))
    cube[1, 0, 0] = np.nan
    with pytest.raises(InputError):
        GraphStack(cube, copy=False)
    assert cube.flags.writeable
