"""Graphs in blocks give what graphs in memory give, and the treatment chooses between the two."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from blocked_graphs import InBlocks
from scipy import sparse

from eigengraphs.fitting.plan import Treatment
from eigengraphs.operators.block_by_block import BlockedGraphs, BlockedObserved
from eigengraphs.operators.means import mean_graph
from eigengraphs.operators.treated import TreatedGraphs
from operator_checks import check, check_mask, graphs, hidden_graphs, stacked, treated, written_out

KINDS = list(
    product(["dense", "sparse"], [False, True], ["observed", "filled", "hollow"], [False, True])
)


class HiddenInBlocks(InBlocks):
    """Blocks of graphs with hidden entries."""

    __slots__ = ()

    @property
    def hides_pairs(self):
        return True


@pytest.mark.parametrize(("storage", "directed", "rule", "centered"), KINDS)
def test_blocks_give_what_memory_gives(storage, directed, rule, centered):
    rng = np.random.default_rng(0)
    A = graphs(11, 17, np.float64, directed)
    stack = InBlocks(stacked(A, storage), 4)
    mean = mean_graph(stack, np.ones(11)) if centered else None
    operator = BlockedGraphs(stack, rule, mean, 0.5, directed=directed)
    X = treated(A, rule, A.mean(axis=0) if centered else None, 0.5)
    check(operator, X, rng)
    H, G = rng.normal(size=(2, 17, 3))
    sides = (H, G)[: 1 + directed]
    here = TreatedGraphs(stacked(A, storage), rule, mean, 0.5, directed=directed)
    np.testing.assert_allclose(operator.diagonal_forms(*sides), here.diagonal_forms(*sides))
    np.testing.assert_array_equal(operator.rounding(), here.rounding())
    scales = rng.normal(size=(11, 17 * (1 + directed)))
    np.testing.assert_array_equal(operator.scaled_squares(scales), here.scaled_squares(scales))
    for found, wanted in zip(operator.degrees(), here.degrees(), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("storage", "directed", "rule", "centered"), KINDS)
def test_hidden_entries_in_blocks(storage, directed, rule, centered):
    rng = np.random.default_rng(0)
    whole, A, seen = hidden_graphs(9, 13, np.float64, directed, storage)
    stack = HiddenInBlocks(whole, 4)
    mean = mean_graph(stack, np.ones(9))
    here = mean_graph(whole, np.ones(9))
    plain = here if isinstance(here, np.ndarray) else here.toarray()
    np.testing.assert_allclose(mean if isinstance(mean, np.ndarray) else mean.toarray(), plain)
    given = mean if centered else None
    operator = BlockedObserved(stack, rule, given, 0.5, directed=directed)
    X, S = written_out(A, seen, rule, plain if centered else None, 0.5)
    check_mask(operator, X, S, rng)
    assert operator.hollow == (rule == "hollow")


def test_a_mean_of_sparse_graphs_is_sparse():
    stack = InBlocks(stacked(graphs(5, 9, np.float32, False), "sparse"), 2)
    assert isinstance(Treatment.learn(stack, "auto", True, np.ones(5)).mean, sparse.csr_array)
