"""Every estimator of the library keeps to scikit-learn's rules, with stacks for rows."""

import os
import subprocess
import sys

import pytest
from estimator_checks import check_estimator, estimator_checks, parametrize_with_stack_checks

from eigengraphs import JointEmbedding, baselines

EMBEDDINGS = [
    JointEmbedding(),
    JointEmbedding(3, center=True),
    JointEmbedding(directed=True),
    JointEmbedding(loadings="shared"),
    JointEmbedding(loadings="class"),
    JointEmbedding(loadings="sparse", max_nonzeros=1),
    JointEmbedding(loadings="nonnegative"),
    JointEmbedding(missing="unobserved"),
    JointEmbedding(diagonal="unobserved"),
    JointEmbedding(refine=True, preprocess="signed_log1p"),
    JointEmbedding(solver="algorithm1", diagonal="filled"),
]
BASELINES = [getattr(baselines, name)() for name in baselines.__all__]


@parametrize_with_stack_checks([*EMBEDDINGS, *BASELINES])
def test_check(estimator, check):
    if check.__name__ == "check_array_api_input":
        pytest.skip("needs a process of its own: below")
    check(estimator)


@pytest.mark.parametrize("estimator", EMBEDDINGS, ids=repr)
def test_no_check_of_an_embedding_vanishes(estimator):
    names = {check.__name__.partition("(")[0] for _, check in estimator_checks(estimator)}
    assert len(names) == 65 + 2 * (estimator.loadings == "class")
    assert len(list(estimator_checks(estimator))) == len(names) + 2  # two have two variants


@pytest.mark.parametrize("estimator", BASELINES, ids=repr)
def test_no_check_of_a_baseline_vanishes(estimator):
    # Without weights (8 checks) and without partial_fit.
    assert len({check.__name__.partition("(")[0] for _, check in estimator_checks(estimator)}) == 56


_DISPATCH = """
import eigengraphs as eg
for estimator in (eg.JointEmbedding(), eg.baselines.Omnibus()):
    checks = {c.__name__: c for _, c in estimator_checks.estimator_checks(estimator)}
    checks["check_array_api_input"](estimator)
    print("passed")
"""


def test_dispatch_to_other_arrays_changes_nothing():
    env = {**os.environ, "SCIPY_ARRAY_API": "1"}  # scipy looks at it when it is imported
    command = [sys.executable, "-c", _DISPATCH]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    assert done.stdout.split() == ["passed", "passed"], done.stderr


class Loud(baselines.SpectralStatistics):
    def fit(self, graphs, y=None):
        super().fit(graphs, y)
        self.found = 1
        return self


def test_all_at_once_tells_what_passed_and_what_was_expected_to_fail():
    with pytest.raises(AssertionError, match="fit adds"):
        check_estimator(Loud())
    why = {"check_dont_overwrite_parameters": "it is loud"}
    told = check_estimator(Loud(), expected_failed_checks=why)
    assert told.pop("check_dont_overwrite_parameters") == "expected to fail"
    assert set(told.values()) <= {"passed", "skipped"}
    assert len(told) == 57
