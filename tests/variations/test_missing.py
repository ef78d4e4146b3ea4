"""Missing entries and absent vertices: they take no part in the loss."""

import numpy as np
import pandas as pd
import pytest
from known_graphs import noiseless, random_symmetric

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.models import MultipleRandomEigenGraphs


def with_gaps(A, share, seed, *, same=False):
    """Replace a share of the vertex pairs by nan, others in each graph unless ``same``."""
    rng = np.random.default_rng(seed)
    m, n, _ = A.shape
    gaps = np.triu(rng.random((1 if same else m, n, n)) < share, 1)
    gaps = np.broadcast_to(gaps | gaps.transpose(0, 2, 1), A.shape)
    return np.where(gaps, np.nan, A), gaps


def section_5_2(seed, m=100):
    """Two components on 20 vertices that differ by class; see the paper's section 5.2."""
    rng = np.random.default_rng(seed)
    n = 20
    H = np.stack([np.ones(n), (-1.0) ** np.arange(n)], axis=1) / np.sqrt(n)
    y = np.arange(m) % 2
    Lam = np.where(y[:, None] == 0, [[10.0, 2.0]], [[10.0, -2.0]]) + 0.0
    model = MultipleRandomEigenGraphs(H, Lam)
    return np.array([np.asarray(A) for A in model.sample(random_state=rng).to_dense()])


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("diagonal", ["auto", "unobserved"])
def test_hidden_pairs_are_predicted(seed, diagonal):
    """Section 5.2 with 10 % of the pairs hidden: better than the mean graph and zero filling."""
    truth = section_5_2(seed)
    A, gaps = with_gaps(truth, 0.1, seed=seed + 50)
    je = JointEmbedding(2, missing="unobserved", diagonal=diagonal, random_state=0).fit(A)
    ours = je.inverse_transform(je.loadings_)[gaps]
    mean = np.broadcast_to(np.nanmean(A, axis=0), A.shape)[gaps]
    filled = JointEmbedding(2, random_state=0).fit(np.nan_to_num(A))
    zeros = filled.inverse_transform(filled.loadings_)[gaps]
    error = [((truth[gaps] - guess) ** 2).mean() for guess in (ours, mean, zeros)]
    assert error[0] < error[1]
    assert error[0] < error[2]


def test_vertices_that_some_graphs_do_not_have():
    known = noiseless(n=20, m=9, d=2, seed=7)
    names = [f"v{s}" for s in range(20)]
    frames = []
    for i, A in enumerate(known.stack.dense):
        keep = [s for s in range(20) if s not in (i, i + 5)]
        frames.append(pd.DataFrame(A, names, names).iloc[keep, keep])
    stack = GraphStack(frames, vertices="union", vertex_names=names, missing="unobserved")
    je = JointEmbedding(2, missing="unobserved", diagonal="observed", random_state=0).fit(stack)
    assert np.abs(je.inverse_transform(je.loadings_) - known.stack.dense).max() < 0.05
    isolated = np.nan_to_num(np.asarray(stack))
    worse = JointEmbedding(2, diagonal="observed", random_state=0).fit(isolated)
    gap = np.abs(worse.inverse_transform(worse.loadings_) - known.stack.dense).max()
    assert gap > 0.05


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_a_new_graph_may_lack_vertices(storage):
    known = noiseless(n=15, m=6, d=2, seed=0)
    names = [f"v{s}" for s in range(15)]
    frames = [pd.DataFrame(A, names, names) for A in known.stack.dense]
    je = JointEmbedding(2, missing="unobserved", diagonal="observed", random_state=0)
    je.fit(frames[:5])
    part = GraphStack([frames[5].iloc[[3, 1, 0, 2, 5, 7, 8], [3, 1, 0, 2, 5, 7, 8]]])
    part = part.to_sparse() if storage == "sparse" else part
    whole = je.transform(frames[5:])
    assert np.allclose(je.transform(part), whole, atol=1e-5)  # it is noiseless, and on the span
    # A fit to complete graphs refuses it by name, or takes it when it is asked to.
    plain = JointEmbedding(2, diagonal="observed", random_state=0).fit(frames[:5])
    message = r"have 7 vertices, expected 15 .*; they lack 'v4', 'v6', 'v9', .* and 3 more: pass "
    with pytest.raises(AlignmentError, match=message + "missing='unobserved'"):
        plain.transform(part)
    whole = plain.transform(frames[5:])
    assert np.allclose(plain.transform(part, missing="unobserved"), whole, atol=1e-5)
    assert plain.residuals(part, missing="unobserved")[0] < 1e-8
    assert plain.score(part, missing="unobserved") == pytest.approx(1, abs=1e-8)
    with pytest.raises(InputError, match="missing must be 'error' or 'unobserved'"):
        plain.transform(part, missing="drop")
    with pytest.raises(AlignmentError, match=message):
        je.transform(part, missing="error")


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_new_graphs_that_lack_different_vertices(storage):
    """Some lack a region that others have, and all lack one that the training graphs have."""
    known = noiseless(n=15, m=8, d=2, seed=2)
    names = [f"v{s}" for s in range(15)]
    frames = [pd.DataFrame(A, names, names) for A in known.stack.dense]
    je = JointEmbedding(2, diagonal="observed", center=True, random_state=0).fit(frames[:5])
    whole = je.transform(frames[5:])
    lacking = (["v1"], ["v1", "v3"], ["v1"])
    parts = [frame.drop(index=x, columns=x) for frame, x in zip(frames[5:], lacking, strict=True)]
    parts[2].loc["v7", "v8"] = parts[2].loc["v8", "v7"] = np.nan
    stack = GraphStack(parts, vertices="union", missing="unobserved", storage=storage)
    found = je.transform(stack, missing="unobserved")
    assert np.allclose(found, whole, atol=1e-5)
    wide = stack.among(names)
    assert wide.mask.n_hidden.tolist() == [29, 56, 31]
    assert stack.among(names, isolated=True).mask.n_hidden.tolist() == [0, 29, 2]
    extra = parts[0].rename(index={"v2": "w2"}, columns={"v2": "w2"})
    with pytest.raises(AlignmentError, match=r"they lack 'v1', 'v2'; only they have 'w2'"):
        je.transform([extra], missing="unobserved")


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_a_graph_without_any_observed_pair_has_no_loadings(center, storage):
    """Where the diagonal is no data, a graph of which only the diagonal is known says nothing."""
    A = random_symmetric(8, 10, seed=0) + 30.0
    A[:, range(10), range(10)] = 0.0
    A[3][~np.eye(10, dtype=bool)] = np.nan
    stack = GraphStack(A, missing="unobserved", storage=storage)
    je = JointEmbedding(2, center=center, missing="unobserved", random_state=0).fit(stack)
    assert je.diagonal_ == "filled"
    assert not je.loadings_[3].any()
    assert np.allclose(je.transform(stack), je.loadings_, atol=1e-9)
    assert not je.transform(stack[3:4]).any()
    assert not je.transform(stack[2:5])[1].any()
    nothing = np.full((1, 10, 10), np.nan)
    nothing[0, range(10), range(10)] = 5.0
    assert not je.transform(nothing).any()


def test_gaps_in_new_graphs_alone():
    A = random_symmetric(8, 12, seed=0) + 1.0
    je = JointEmbedding(2, missing="unobserved", random_state=0).fit(A)  # complete
    plain = JointEmbedding(2, random_state=0).fit(A)
    assert np.array_equal(je.latent_positions_, plain.latent_positions_)
    new, _ = with_gaps(A[:3], 0.2, seed=2)
    assert np.isfinite(je.transform(new)).all()
    with pytest.raises(InputError, match=r"missing='unobserved'"):
        plain.transform(new)
    with pytest.raises(InputError, match=r"missing='unobserved'"):
        plain.transform(GraphStack(new, missing="unobserved"))


def test_gaps_are_an_error_that_says_where_and_nothing_for_algorithm_1():
    A, _ = with_gaps(random_symmetric(6, 8, seed=0), 0.2, seed=1)
    with pytest.raises(InputError, match="missing"):
        JointEmbedding(2, missing="unobserved", solver="algorithm1").fit(A)
    with pytest.raises(InputError, match=r"graphs\[0\].*missing='unobserved'"):
        JointEmbedding(2).fit(A)
