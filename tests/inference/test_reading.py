"""Components as they are read: who carries them, who expresses them, and whether they are noise."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.inference import read_components, trust_components


def planted(seed, m=40, n=24, strengths=(30.0, 10.0)):
    """Return graphs with two patterns, and noise for all else."""
    rng = np.random.default_rng(seed)
    H = np.stack([np.ones(n), np.repeat([1.0, -1.0], n // 2)], axis=1) / np.sqrt(n)
    Lam = np.array(strengths) * rng.uniform(0.5, 1.5, (m, 2))
    noise = rng.normal(size=(m, n, n))
    noise = np.triu(noise, 1) + np.triu(noise, 1).transpose(0, 2, 1)
    A = np.einsum("sk,ik,tk->ist", H, Lam, H) + noise
    A[:, np.arange(n), np.arange(n)] = 0
    return A


@pytest.mark.parametrize(("center", "real"), [(False, [1, 1, 0, 0]), (True, [1, 1, 0, 0])])
def test_planted_components_replicate_and_noise_does_not(center, real):
    A = planted(0)
    je = eg.JointEmbedding(4, center=center, random_state=0).fit(A)
    told = read_components(je, A)
    assert [one.verdict == "replicates" for one in told] == real
    assert told[0].replicability > 0.95
    assert told[1].p_noise < 0.001
    assert told[0].spread == pytest.approx(24, rel=0.05)


def test_noise_is_called_real_no_more_often_than_promised():
    """The third component is noise. 40 sets at 5 %: 6 or fewer, but for 1 time in 70."""
    wrong = 0
    for seed in range(40):
        A = planted(seed, m=20, n=14)
        je = eg.JointEmbedding(3, random_state=0).fit(A)
        trust = trust_components(je, A, n_splits=1, random_state=seed)
        wrong += int(trust.p_noise[2] <= 0.05)
    assert wrong <= 6


@pytest.mark.parametrize("center", [False, True])
def test_what_is_said_of_a_component_does_not_depend_on_how_many_follow(center):
    """Halves find the patterns of the mice in other orders; spare components hold them all."""
    stack = eg.datasets.load_mice().graphs.log1p()
    told = []
    for d in (2, 3, 5):
        je = eg.JointEmbedding(d, center=center, random_state=0).fit(stack)
        told.append(trust_components(je, stack, n_splits=3))
    for fewer, more in itertools.pairwise(told):
        d = len(fewer.replicability)
        assert fewer.replicability == pytest.approx(more.replicability[:d], abs=1e-3)
        assert fewer.p_not_replicated == pytest.approx(more.p_not_replicated[:d], abs=1e-3)
        assert fewer.p_noise == pytest.approx(more.p_noise[:d], abs=1e-3)


@pytest.mark.parametrize(
    ("replicability", "p_not_replicated", "p_noise", "verdict"),
    [
        (0.9, 1e-9, 1e-9, "replicates"),
        (0.46, 0.03, 0.12, "not shown to replicate"),  # 12 graphs cannot show more
        (0.9, 1e-9, 0.06, "not shown to replicate"),
        (0.02, 1.0, 1e-9, "not shown to replicate"),
        (0.1, 1.0, 0.8, "not shown to replicate"),
        (0.1, 1.0, 1.0, "looks like noise"),  # medians of 0.5 and more, which are doubled
        (0.1, 1.0, None, "not shown to replicate"),
    ],
)
def test_what_is_not_shown_is_not_called_noise(replicability, p_not_replicated, p_noise, verdict):
    A = planted(0, m=6, n=10)
    (one,) = read_components(eg.JointEmbedding(1, random_state=0).fit(A), A, n_splits=0)
    one = replace(
        one, replicability=replicability, p_not_replicated=p_not_replicated, p_noise=p_noise
    )
    assert one.verdict == verdict


def test_vertices_pairs_and_graphs_are_named():
    A = planted(1)
    names = [f"region {s}" for s in range(24)]
    stack = eg.GraphStack(A, vertex_names=names, graph_names=[f"sub-{i}" for i in range(40)])
    je = eg.JointEmbedding(2, random_state=0).fit(stack)
    one, two = read_components(je, stack, n_splits=0, most=3)
    assert two.verdict == "not tested"
    sides = {name for name, _ in two.high}, {name for name, _ in two.low}
    first_half = set(names[:12])
    assert sides[0] <= first_half or not (sides[0] & first_half)
    assert not (sides[0] & sides[1])
    best = int(np.argmax(je.loadings_[:, 1]))
    assert two.most[0] == (f"sub-{best}", pytest.approx(je.loadings_[best, 1]))
    assert len(one.pairs) == 3


def test_directed_graphs_are_read_without_the_noise_test():
    A = np.random.default_rng(0).random((12, 9, 9)) + np.outer(np.arange(9), np.ones(9))
    je = eg.JointEmbedding(1, directed=True, random_state=0).fit(A)
    (one,) = read_components(je, A, n_splits=1)
    assert one.p_noise is None
    assert one.verdict == "replicates"


def test_graphs_are_named_rightly_in_any_order_and_after_batches():
    """Loadings belong to the graphs that are given, whatever graphs the fit saw last."""
    stack = eg.datasets.load_mice().graphs.log1p().select_vertices(range(30))
    je = eg.JointEmbedding(2, random_state=0).fit(stack)
    batches = eg.JointEmbedding(2, random_state=0)
    for first in (0, 16):
        batches.partial_fit(stack[first : first + 16])
    expected = read_components(je, stack, n_splits=0)
    for fit, graphs in ((je, stack[::-1]), (batches, stack), (batches, stack[::-1])):
        for one, other in zip(read_components(fit, graphs, n_splits=0), expected, strict=True):
            assert [name for name, _ in one.most] == [name for name, _ in other.most]
            assert [name for name, _ in one.least] == [name for name, _ in other.least]
