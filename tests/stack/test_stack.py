"""Small things that a stack promises: kinds, density, sizes, names, and what its text says."""

import numpy as np
import pytest
from scipy import sparse

from eigengraphs import GraphStack
from eigengraphs.errors import InputError
from eigengraphs.system.labels import size_in_words

TRIANGLE = np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]])


def stack(storage="dense", **settings):
    made = GraphStack(np.stack([TRIANGLE, 2 * TRIANGLE]), **settings)
    return made.to_dense() if storage == "dense" else made.to_sparse()


def pair(*places, n=3):
    where = np.zeros((n, n), dtype=bool)
    for place in places:
        where[place] = True
    return where


def test_density_is_of_pairs_of_different_vertices(storage):
    path = np.array([[5.0, 1, 0], [1, 0, 0], [0, 0, 0]])
    made = GraphStack(np.stack([path, TRIANGLE]))
    made = made.to_sparse() if storage == "sparse" else made
    assert made.density == pytest.approx((2 + 6) / 12)
    assert GraphStack(np.ones((2, 1, 1))).density == 0.0
    assert made.hide(pair((0, 1), (0, 0))).density == pytest.approx((0 + 4) / 8)
    assert made.density == pytest.approx(8 / 12)


def test_bytes_are_counted_and_written_with_a_unit(storage):
    made = stack(storage)
    if storage == "dense":
        assert made.nbytes == 2 * 9 * 8
    else:
        flat = made.flat
        assert made.nbytes == flat.data.nbytes + flat.indices.nbytes + flat.indptr.nbytes
    hidden = made.hide(pair((0, 1)))
    assert hidden.nbytes > hidden.mask.nbytes > 0
    assert hidden.nbytes - hidden.mask.nbytes <= made.nbytes
    said = {999: "999 B", 1000: "1 kB", 1.5e6: "1.5 MB", 2e9: "2 GB", 3e15: "3e+03 TB"}
    assert {size: size_in_words(size) for size in said} == said


def test_flat_matrices_have_as_many_rows_as_their_graphs():
    flat = sparse.csr_array(np.vstack([TRIANGLE, 2 * TRIANGLE]))
    made = GraphStack.from_flat(flat, 2)
    assert np.array_equal(made.to_dense().dense, [TRIANGLE, 2 * TRIANGLE])
    for m in (0, 1, 3):
        with pytest.raises(InputError, match=f"must have {3 * m} rows, got 6"):
            GraphStack.from_flat(flat, m)
    assert GraphStack.from_flat(flat.astype(np.int64), 2).dtype == np.float64
    assert GraphStack.from_flat(flat.astype(np.float32), 2).dtype == np.float32
    kept = GraphStack.from_flat(flat, 2)
    assert flat.data.flags.writeable
    flat.data[:] = 9
    assert kept[0].max() == 3


def test_slices_of_dense_stacks_share_and_choices_copy():
    made = GraphStack(np.stack([k * TRIANGLE for k in range(1, 6)]))
    assert np.shares_memory(made[1:3].dense, made.dense)
    for which in ([0, 2], slice(None, None, 2), np.array([True, False, True, False, True])):
        assert not np.shares_memory(made[which].dense, made.dense)
    assert np.shares_memory(np.array(made, copy=False), made.dense)


@pytest.mark.parametrize(
    ("graphs", "text"),
    [
        (
            np.ones((2, 4, 4), dtype=np.float32),
            "GraphStack(2 graphs, 4 vertices, undirected, unweighted, with loops, density 1, "
            "dense float32, 128 B)",
        ),
        (
            [sparse.csr_array(np.array([[0, 2.0], [0, 0]]))],
            "GraphStack(1 graph, 2 vertices, directed, weighted, hollow, density 0.5, "
            "sparse float64, 24 B)",
        ),
    ],
)
def test_repr_tells_all_on_one_line(graphs, text):
    assert repr(GraphStack(graphs)) == text
    assert f"<td>{text[11:].split(',')[0]}</td>" in GraphStack(graphs)._repr_html_()
