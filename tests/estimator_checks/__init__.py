"""Does an estimator of stacks keep to scikit-learn's rules? Its checks, with graphs for rows.

scikit-learn's own suite leaves out estimators whose input is no table. These are its checks, by the
same names, for estimators whose input is a stack of graphs, (m, n, n). :data:`CHECKS` has them by
name, and :data:`NOT_PORTED` says which of scikit-learn's have no counterpart, and why.

>>> from estimator_checks import CHECKS, NOT_PORTED
>>> "check_fit_idempotent" in CHECKS
True
>>> NOT_PORTED["check_sparsify_coefficients"]
'is for linear models with sparsify'
"""

from estimator_checks.catalogue import CHECKS, NOT_PORTED
from estimator_checks.running import (
    check_estimator,
    estimator_checks,
    parametrize_with_stack_checks,
)

__all__ = [
    "CHECKS",
    "NOT_PORTED",
    "check_estimator",
    "estimator_checks",
    "parametrize_with_stack_checks",
]
