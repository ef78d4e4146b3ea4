"""Small things that a stack promises: hiding, density, sizes, parts, and what its text says."""

import numpy as np
import pytest
from scipy import sparse

import eigengraphs as eg
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


def test_hiding_nothing_is_nothing_new_and_one_entry_is_one(storage):
    made = stack(storage)
    assert made.hide(pair()) is made
    loop = made.hide(pair((1, 1)))
    assert loop.n_hidden == 2  # of each graph one
    alone = made[:1].hide(pair((1, 1)))
    assert alone.n_hidden == 1
    assert np.isnan(np.asarray(alone.to_dense())[0, 1, 1])
    more = loop.hide(pair((0, 1)))
    assert more.n_hidden == 6
    assert not made.has_missing


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
    said = {
        999: "999 B",
        1000: "1 kB",
        1.5e6: "1.5 MB",
        2e9: "2 GB",
        3e12: "3 TB",
        3e15: "3e+03 TB",
    }
    assert {size: size_in_words(size) for size in said} == said


def test_the_text_says_what_there_is():
    text = repr(stack())
    for part in (
        "2 graphs",
        "3 vertices",
        "undirected",
        "weighted",
        "hollow",
        "density 1",
        "dense",
    ):
        assert part in text
    assert "hidden" not in text
    one = GraphStack(np.array([[[1.0, 1.0], [0.0, 1.0]]]))
    for part in ("1 graph,", "2 vertices", "directed", "unweighted", "with loops", "density 0.5"):
        assert part in repr(one)
    assert "1 vertex," in repr(GraphStack(np.ones((2, 1, 1))))
    assert "22.2 % hidden" in repr(stack().hide(pair((0, 1))))
    assert repr(stack())[len("GraphStack(") :].split(",")[0] in stack()._repr_html_()


def test_one_graph_of_a_sparse_stack_is_its_own_part():
    made = GraphStack([TRIANGLE, sparse.csr_array((3, 3)), np.diag([1.0, 0, 2.0])]).to_sparse()
    for i, expected in enumerate((TRIANGLE, np.zeros((3, 3)), np.diag([1.0, 0, 2.0]))):
        assert np.array_equal(made[i].toarray(), expected)
    assert np.array_equal(made.diagonals(), [[0, 0, 0], [0, 0, 0], [1, 0, 2]])
    with pytest.raises(ValueError, match="read-only"):
        made[0].data[0] = 7


def test_names_are_places_where_none_are_given():
    made = stack()
    assert made.graph_names == ("0", "1")
    assert made.vertex_names == ("0", "1", "2")
    assert not made.has_vertex_names
    named = stack(vertex_names=["a", "b", "c"], graph_names=["x", "y"])
    assert named.has_vertex_names
    assert named["y"][0, 1] == 2
    assert named[["y", "x"]].graph_names == ("y", "x")
    assert named.select_vertices(["c", "a"]).vertex_names == ("c", "a")


def test_the_first_bad_entry_is_named_and_the_others_counted():
    bad = np.stack([TRIANGLE] * 3)
    bad[1, 0, 2] = bad[1, 2, 0] = np.inf
    with pytest.raises(InputError, match=r"graphs\[1\] has inf at entry \(0, 2\); weights"):
        GraphStack(bad)
    bad[2, 0, 1] = bad[2, 1, 0] = np.nan
    with pytest.raises(InputError, match=r"\(1 more graphs have such entries\)") as caught:
        GraphStack(bad)
    assert "unobserved" not in str(caught.value)
    bad[1] = TRIANGLE
    with pytest.raises(InputError, match=r"graphs\[2\] has nan .*missing='unobserved'"):
        GraphStack(bad)


def test_flat_matrices_have_as_many_rows_as_their_graphs(storage):
    flat = sparse.csr_array(np.vstack([TRIANGLE, 2 * TRIANGLE]))
    assert GraphStack.from_flat(flat, 2).shape == (2, 3, 3)
    for m in (0, 1, 3):
        with pytest.raises(InputError, match="must have"):
            GraphStack.from_flat(flat, m)
    assert GraphStack.from_flat(flat.astype(np.int64), 2).dtype == np.float64
    assert GraphStack.from_flat(flat.astype(np.float32), 2).dtype == np.float32
    kept = GraphStack.from_flat(flat, 2)
    assert flat.data.flags.writeable
    flat.data[:] = 9
    assert kept[0].max() == 3
    del storage


def test_slices_of_dense_stacks_share_and_choices_copy():
    made = GraphStack(np.stack([k * TRIANGLE for k in range(1, 6)]))
    assert np.shares_memory(made[1:3].dense, made.dense)
    assert made[1:3].shape == (2, 3, 3)
    for which in ([0, 2], slice(None, None, 2), np.array([True, False, True, False, True])):
        chosen = made[which]
        assert not np.shares_memory(chosen.dense, made.dense)
        assert np.array_equal(chosen.dense, made.dense[which])
    assert np.array_equal(made[[4, 0]].facts.norm, made.facts.norm[[4, 0]])
    assert np.array_equal(made[[0, 1], ...].dense, made.dense[:2])
    with pytest.raises(InputError, match="indexed by graph alone"):
        made[0, 1, 2]
    with pytest.raises(InputError, match="indexed by graph alone"):
        made[0, 1]
    assert [graph[0, 1] for graph in made] == [1, 2, 3, 4, 5]
    assert len(made) == 5


def test_an_array_of_hidden_entries_is_a_copy_with_nan():
    hidden = stack()[1:].hide(pair((0, 1)))
    shown = np.asarray(hidden)
    assert np.isnan(shown).sum() == 2
    assert np.isnan(shown[0, 0, 1])
    with pytest.raises(ValueError, match="by a copy alone"):
        np.array(hidden, copy=False)
    plain = stack()
    assert np.shares_memory(np.array(plain, copy=False), plain.dense)
    both = GraphStack(np.stack([TRIANGLE, TRIANGLE])).hide(
        np.stack([pair(), pair((0, 2))])
    )  # fmt: skip
    assert not np.isnan(both[0]).any()
    assert np.isnan(both[1]).sum() == 2


def test_what_is_undirected_and_what_is_complete():
    made = stack()
    made.require_undirected("no")
    made.require_complete("no")
    directed = np.stack([TRIANGLE, TRIANGLE])
    directed[1, 2, 0] = 9
    with pytest.raises(InputError, match=r"graphs\[1\] is not symmetric: entry \(0, 2\) is 2 and"):
        GraphStack(directed).require_undirected("no")
    with pytest.raises(
        InputError, match=r"4 entries are hidden, most of them \(2\) in graphs\[0\]"
    ):
        made.hide(pair((0, 1))).require_complete("no")
    assert eg.GraphStack(directed).is_directed
    assert not made.is_directed
