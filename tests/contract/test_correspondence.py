"""Every check of the installed scikit-learn has a counterpart, or a reason why it has none."""

import warnings
from functools import partial

import pytest
import sklearn
from estimator_checks import CHECKS, NOT_PORTED
from sklearn.decomposition import PCA
from sklearn.utils import estimator_checks as theirs


def named(check):
    return named(check.func) if isinstance(check, partial) else check.__name__


def test_every_check_of_scikit_learn_is_ported_or_has_a_reason(request, capsys):
    found = {
        name
        for name, check in vars(theirs).items()
        if name.startswith("check_") and getattr(check, "__module__", "") == theirs.__name__
    }
    assert len(found) > 80  # or scikit-learn keeps them elsewhere by now
    unknown = sorted(found - set(CHECKS) - set(NOT_PORTED))
    if unknown:  # of a later version: to be looked at, and no fault of the one that is tested
        with capsys.disabled():
            print(f"\nscikit-learn {sklearn.__version__} has checks to be ported: {unknown}")
        pytest.skip(f"{len(unknown)} checks of scikit-learn {sklearn.__version__} are new")


def test_what_scikit_learn_runs_for_a_transformer_is_ported():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = list(theirs.estimator_checks_generator(PCA()))
    names = {named(check) for _, check in pairs}
    known = names & (set(CHECKS) | set(NOT_PORTED))
    other_arrays = {"check_array_api_mixed_inputs", "check_array_api_same_namespace"}
    assert known - set(CHECKS) <= other_arrays
    assert len(names & set(CHECKS)) >= 45


def test_nothing_is_both_and_every_reason_is_a_sentence():
    assert not set(CHECKS) & set(NOT_PORTED)
    assert len(CHECKS) == 68
    assert all(len(reason.split()) >= 4 for reason in NOT_PORTED.values())
    assert all(check.__doc__ for check in CHECKS.values())
