"""Run the checks: all at once, one after the other, or as tests of pytest."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, wraps
from typing import Any
from unittest import SkipTest

from estimator_checks.catalogue import checks_for
from estimator_checks.data import CheckData, planted_graphs
from sklearn.exceptions import ConvergenceWarning

from eigengraphs.errors import DegenerateWarning

__all__ = ["check_estimator", "check_name", "estimator_checks", "parametrize_with_stack_checks"]

Check = Callable[[Any], None]


def estimator_checks(estimator: Any, make: Any = planted_graphs) -> Iterator[tuple[Any, Check]]:
    """Yield an estimator and a check of it, pair by pair.

    They are scikit-learn's checks of estimators, by the same names, with stacks of graphs in place
    of rows of features; its own suite leaves estimators of stacks out.

    Parameters
    ----------
    estimator : estimator
        One whose input is a stack of graphs, (m, n, n).
    make : function
        Of the number of graphs, the number of vertices, whether they are directed, and a
        seed, that returns graphs (m, n, n). By default three components and noise.

    Yields
    ------
    tuple of estimator and function
        The function takes the estimator, and raises an AssertionError where it does not pass.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> pairs = list(estimator_checks.estimator_checks(eg.JointEmbedding()))
    >>> len(pairs) > 60
    True
    >>> estimator, check = pairs[0]
    >>> check(estimator)  # raises an AssertionError where the estimator does not pass
    """
    data = CheckData(make)
    for check in checks_for(estimator):
        yield estimator, _quiet(partial(check, data=data))


def _quiet(check: Any) -> Check:
    """Return the check without warnings of fits that small graphs may bring with them."""

    @wraps(check.func)
    def quiet(estimator: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", DegenerateWarning)
            check(estimator)

    quiet.__name__ = check_name(check)
    return quiet


def check_name(check: Any) -> str:
    """Return the name of a check, with what tells its variants apart."""
    if not isinstance(check, partial):
        return str(check.__name__)
    named = [f"{k}={v}" for k, v in check.keywords.items() if k != "data"]
    return check.func.__name__ + (f"({','.join(named)})" if named else "")


def check_estimator(
    estimator: Any,
    make: Any = planted_graphs,
    *,
    expected_failed_checks: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Run all checks of an estimator of stacks, and raise the first error.

    Parameters
    ----------
    estimator : estimator
        One whose input is a stack of graphs, (m, n, n).
    make : function
        As of :func:`estimator_checks`.
    expected_failed_checks : mapping of str to str, optional
        Names of checks that need not pass, and why.

    Returns
    -------
    dict
        For each check "passed", "skipped" (a package is missing) or "expected to fail".

    Examples
    --------
    >>> import eigengraphs as eg
    >>> told = estimator_checks.check_estimator(eg.baselines.SpectralStatistics(2))
    >>> sorted(set(told.values()) - {"skipped"})
    ['passed']
    """
    expected = expected_failed_checks or {}
    told = {}
    for one, check in estimator_checks(estimator, make):
        name = check.__name__
        told[name] = "passed"
        try:
            check(one)
        except SkipTest:
            told[name] = "skipped"
        except Exception:  # of whatever kind: a check says no by any error of the estimator's
            if name.partition("(")[0] not in expected:
                raise
            told[name] = "expected to fail"
    return told


def parametrize_with_stack_checks(
    estimators: Iterable[Any],
    make: Any = planted_graphs,
    *,
    expected_failed_checks: Mapping[str, str] | None = None,
) -> Any:
    """Return a decorator that makes a test of each estimator and check, for pytest.

    Parameters
    ----------
    estimators : iterable of estimators
        Estimators of stacks.
    make : function
        As of :func:`estimator_checks`.
    expected_failed_checks : mapping of str to str, optional
        Names of checks that are expected to fail, and why.

    Returns
    -------
    decorator
        For a test with the arguments ``estimator`` and ``check``.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> @estimator_checks.parametrize_with_stack_checks([eg.JointEmbedding()])
    ... def test_contract(estimator, check):
    ...     check(estimator)
    """
    import pytest

    expected = expected_failed_checks or {}
    cases = []
    for estimator in estimators:
        for one, check in estimator_checks(estimator, make):
            why = expected.get(check.__name__.partition("(")[0])
            marks = () if why is None else (pytest.mark.xfail(reason=why),)
            cases.append(pytest.param(one, check, marks=marks, id=_case_name(one, check)))
    return pytest.mark.parametrize(("estimator", "check"), cases)


def _case_name(estimator: Any, check: Check) -> str:
    shown = " ".join(repr(estimator).split())
    return f"{shown}-{check.__name__}"
