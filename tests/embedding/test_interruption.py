"""Callbacks, and what is left of a fit when the user has had enough."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from sklearn.exceptions import NotFittedError

from eigengraphs import JointEmbedding
from eigengraphs.errors import InputError

A = random_symmetric(5, 110, seed=0)  # beyond the shortcut for few vertices


class Stop:
    """A callback that presses Ctrl-C at the j-th call."""

    def __init__(self, at):
        self.at, self.seen = at, []

    def __call__(self, progress):
        self.seen.append(progress)
        if len(self.seen) == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("callback", ["print", 3, [print]])
def test_a_callback_that_cannot_be_called_is_refused(callback):
    with pytest.raises(InputError, match="callback must be None or a function, got callback="):
        JointEmbedding(1, callback=callback).fit(A)


def calls_for(n_components):
    """How often the callback is called for so many components."""
    stop = Stop(None)
    JointEmbedding(n_components, tol=1e-4, random_state=0, callback=stop).fit(A)
    return len(stop.seen)


def test_an_interrupted_fit_keeps_what_it_found(default_solver):
    # Algorithm 1 is stopped in its second component, the subspace solver in a later round.
    at = 4 if default_solver == "subspace" else calls_for(1) + 3
    je = JointEmbedding(3, tol=1e-4, random_state=0, callback=Stop(at))
    with pytest.raises(KeyboardInterrupt, match="what it found so far is kept"):
        je.fit(A)
    d = len(je.stop_reason_)
    assert d == (3 if default_solver == "subspace" else 1)
    assert je.loadings_.shape == (5, d)
    assert je.objective_path_.shape == (d + 1,)
    assert (np.diff(je.objective_path_) < 0).all()
    for reason, size in zip(je.stop_reason_, je.stationarity_, strict=True):
        assert reason == ("stationary" if size <= 1e-4 else "interrupted")
    assert je.converged_ is ("interrupted" not in je.stop_reason_)
    assert np.allclose(je.transform(A), je.loadings_, atol=1e-9)
    assert list(je.get_feature_names_out()) == [f"je{k + 1}" for k in range(d)]
    assert je.score(A) == pytest.approx(je.explained_ratio_.sum())
    assert "interrupted" in je._repr_html_() or je.converged_
    longer = je.set_params(callback=None).extend(4)  # and finishes what was interrupted
    done = [reason != "interrupted" for reason in je.stop_reason_]
    assert np.array_equal(longer.latent_positions_[:, :d][:, done], je.latent_positions_[:, done])
    assert longer.loadings_.shape == (5, 4)
    assert longer.converged_
    whole = JointEmbedding(4, tol=1e-4, random_state=0).fit(A)
    assert np.allclose(longer.objective_path_, whole.objective_path_, rtol=1e-6)


def test_a_fit_that_found_nothing_sets_nothing_and_leaves_an_old_one_whole():
    def press(*_, **__):
        raise KeyboardInterrupt

    new = JointEmbedding(2, random_state=0)
    old = JointEmbedding(1, tol=1e-3, random_state=0, center=True).fit(A)
    unset, before = set(vars(new)), old.transform(A)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("sketch", "products"):  # the first read of a search, whichever the solver
            patch.setattr(f"eigengraphs.operators.treated.TreatedGraphs.{name}", press)
        with pytest.raises(KeyboardInterrupt):
            new.fit(A)
        with pytest.raises(KeyboardInterrupt):
            old.set_params(center=False).fit(random_symmetric(3, 101, seed=1))
    assert set(vars(new)) == unset
    with pytest.raises(NotFittedError):
        new.transform(A)
    assert old.n_vertices_ == 110
    assert np.allclose(old.transform(A), before, rtol=0, atol=1e-12)
    assert np.allclose(old.loadings_, before, rtol=0, atol=1e-12)


def test_an_interrupted_fit_on_few_vertices_keeps_what_its_only_round_found():
    few = random_symmetric(4, 8, seed=0)
    settings = {"solver": "subspace", "random_state": 0}
    je = JointEmbedding(1, callback=Stop(1), **settings)
    with pytest.raises(KeyboardInterrupt):
        je.fit(few)
    again = JointEmbedding(1, **settings).fit(few)
    assert np.array_equal(je.loadings_, again.loadings_)


def test_an_interrupted_extension_leaves_the_fit_alone():
    je = JointEmbedding(1, random_state=0).fit(A)
    before = vars(je).copy()
    je.callback = Stop(1)
    with pytest.raises(KeyboardInterrupt):
        je.extend(3)
    je.callback = None
    assert vars(je).keys() == before.keys()
    assert je.loadings_.shape == (5, 1)
    assert je.n_components == 1
