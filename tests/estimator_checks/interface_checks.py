"""Checks of parameters, tags, and of what may happen before and at a fit."""

from __future__ import annotations

import inspect
from copy import deepcopy
from dataclasses import fields
from typing import Any

import joblib
import numpy as np
from estimator_checks.data import METHODS, CheckData, fresh, require
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

_PLAIN = (str, int, float, bool, tuple, type(None), np.generic, type)


def check_estimator_cloneable(estimator: Any, data: CheckData) -> None:
    """A clone is another object with the same parameters, and not fitted."""
    copy = clone(estimator)
    require(copy is not estimator, "clone returned the estimator itself")
    require(type(copy) is type(estimator), "a clone has another class")
    before, after = (joblib.hash(x.get_params(deep=False)) for x in (estimator, copy))
    require(before == after, "a clone has other parameters")


def check_estimator_tags_renamed(estimator: Any, data: CheckData) -> None:
    """Tags come from ``__sklearn_tags__``, as since scikit-learn 1.6."""
    for old in ("_more_tags", "_get_tags"):
        require(not hasattr(estimator, old), f"{old} is how tags were given before 1.6")


def check_valid_tag_types(estimator: Any, data: CheckData) -> None:
    """Tags have their types, and say that the estimator takes stacks."""
    tags = get_tags(estimator)
    require(isinstance(tags.requires_fit, bool), "tags.requires_fit must be a bool")
    require(isinstance(tags.non_deterministic, bool), "tags.non_deterministic must be a bool")
    for field in fields(tags.input_tags):
        value = getattr(tags.input_tags, field.name)
        require(isinstance(value, bool), f"tags.input_tags.{field.name} must be a bool")
    require(isinstance(tags.target_tags.required, bool), "tags.target_tags.required: not a bool")
    kinds = getattr(tags.transformer_tags, "preserves_dtype", [])
    require(isinstance(kinds, list), "preserves_dtype must be a list of names of types")
    require(all(np.dtype(kind) for kind in kinds), "preserves_dtype must name types")
    require(tags.input_tags.three_d_array, "an estimator of stacks has three_d_array=True")
    require(not tags.input_tags.two_d_array, "rows are no graphs; two_d_array must be False")


def check_estimator_repr(estimator: Any, data: CheckData) -> None:
    """An estimator can be printed, fitted or not."""
    name = type(estimator).__name__
    for one in (fresh(estimator), data.fitted(estimator)):
        require(repr(one).startswith(name), f"repr must begin with {name}")


def check_no_attributes_set_in_init(estimator: Any, data: CheckData) -> None:
    """``__init__`` keeps its parameters and does nothing else."""
    made = set(vars(clone(estimator)))
    parameters = set(estimator.get_params(deep=False))
    # scikit-learn's own marks on an estimator are no doing of __init__.
    more = {name for name in made - parameters if not name.startswith("_sklearn")}
    require(not more, f"__init__ sets more than its parameters: {sorted(more)}")
    require(not parameters - made, f"__init__ drops {sorted(parameters - made)}")


def check_parameters_default_constructible(estimator: Any, data: CheckData) -> None:
    """The class can be made without arguments, and its defaults are plain and kept as they are."""
    cls = type(estimator)
    made = cls()
    signature = inspect.signature(cls.__init__).parameters.values()
    for parameter in [p for p in signature if p.name != "self" and p.kind is not p.VAR_KEYWORD]:
        require(parameter.kind is not parameter.VAR_POSITIONAL, "parameters must have names")
        default = parameter.default
        require(default is not parameter.empty, f"{parameter.name} has no default")
        require(isinstance(default, _PLAIN), f"the default of {parameter.name} can be changed")
        kept = getattr(made, parameter.name)
        same = kept is default or kept == default or (kept != kept and default != default)
        require(same, f"__init__ changes {parameter.name} from {default!r} to {kept!r}")


def check_get_params_invariance(estimator: Any, data: CheckData) -> None:
    """Shallow parameters are among the deep ones."""
    shallow, deep = estimator.get_params(deep=False), estimator.get_params(deep=True)
    require(all(deep[name] is shallow[name] for name in shallow), "get_params(deep) changes some")


def check_set_params(estimator: Any, data: CheckData) -> None:
    """What is set can be got, and a name that does not exist is refused."""
    one = clone(estimator)
    for name, value in estimator.get_params(deep=False).items():
        for other in (value, -np.inf, np.inf, "nonsense", None, 7):
            require(one.set_params(**{name: other}) is one, "set_params must return the estimator")
            require(one.get_params(deep=False)[name] is other, f"{name} is not what was set")
    try:
        one.set_params(no_such_parameter_=1)
    except ValueError:
        return
    raise AssertionError("set_params takes a parameter that does not exist")


def check_do_not_raise_errors_in_init_or_set_params(
    estimator: Any,
    data: CheckData,
) -> None:
    """Wrong parameters are refused at the fit and not before."""
    for name in estimator.get_params(deep=False):
        for wrong in (-1, 0, 3.5, "wrong", {}, [], object()):
            type(estimator)(**{name: wrong})
            clone(estimator).set_params(**{name: wrong})


def check_param_validation(estimator: Any, data: CheckData) -> None:
    """What no parameter can be is refused at the fit, with the parameter's name."""
    A = data.graphs(estimator)
    for name in estimator.get_params(deep=False):
        one = fresh(estimator).set_params(**{name: _Nothing()})
        try:
            one.fit(A, data.labels(len(A)))
        except (TypeError, ValueError) as error:
            # scikit-learn's own check of seeds says "seed".
            named = name in str(error) or (name == "random_state" and "seed" in str(error))
            require(named, f"the error about a wrong {name} does not name it: {error}")
            _require_unfitted(one, f"a fit that refused {name}")
        else:
            raise AssertionError(f"{name}={_Nothing()!r} is taken")


class _Nothing:
    """What no parameter can be."""

    def __repr__(self) -> str:
        return "<nothing a parameter can be>"


def check_mixin_order(estimator: Any, data: CheckData) -> None:
    """Mixins come before ``BaseEstimator``, or their tags are lost."""
    order = type(estimator).mro()
    require(BaseEstimator in order, "the class does not inherit from BaseEstimator")
    after = [
        cls.__name__
        for cls in order[order.index(BaseEstimator) + 1 :]
        if cls.__module__ == "sklearn.base" and cls.__name__.endswith("Mixin")
        and not issubclass(BaseEstimator, cls)
    ]  # fmt: skip
    require(not after, f"{after} must come before BaseEstimator among the base classes")


def check_fit_score_takes_y(estimator: Any, data: CheckData) -> None:
    """``fit``, ``score`` and their kind take ``y`` as their second argument, for pipelines."""
    A = data.graphs(estimator)
    y = data.labels(len(A))
    fit = fresh(estimator)
    for name in ("fit", "score", "partial_fit", "fit_transform", "fit_predict"):
        method = getattr(fit, name, None)
        if method is None:
            continue
        second = list(inspect.signature(method).parameters)[1:2]
        require(second == ["y"], f"the second argument of {name} is {second}, not y")
        if name != "partial_fit":  # may go with fewer settings
            method(A, y)


def check_estimators_overwrite_params(estimator: Any, data: CheckData) -> None:
    """A fit leaves the parameters as they are."""
    one = fresh(estimator)
    before = deepcopy(one.get_params())
    A = data.graphs(estimator)
    one.fit(A, data.labels(len(A)))
    for name, value in one.get_params().items():
        require(joblib.hash(value) == joblib.hash(before[name]), f"fit changes {name}")


def check_dont_overwrite_parameters(estimator: Any, data: CheckData) -> None:
    """What a fit adds is private or ends in ``_``; what was there stays."""
    one = fresh(estimator)
    before = vars(one).copy()
    A = data.graphs(estimator)
    one.fit(A, data.labels(len(A)))
    after = vars(one)
    public = [name for name in after if not name.startswith("_") and not name.endswith("_")]
    more = [name for name in public if name not in before]
    require(not more, f"fit adds {more}, whose names must end with _ or begin with it")
    changed = [name for name in before if after.get(name) is not before[name]]
    require(not changed, f"fit replaces {changed}")


def check_estimators_fit_returns_self(estimator: Any, data: CheckData) -> None:
    """``fit`` returns the estimator."""
    one, A = fresh(estimator), data.graphs(estimator)
    require(one.fit(A, data.labels(len(A))) is one, "fit must return the estimator")


def check_estimators_unfitted(estimator: Any, data: CheckData) -> None:
    """Whatever needs a fit says so before there is one."""
    A = data.graphs(estimator)
    for name in (*METHODS, "score"):
        method = getattr(fresh(estimator), name, None)
        if method is None:
            continue
        try:
            method(A)
        except NotFittedError:
            continue
        raise AssertionError(f"{name} does not raise NotFittedError before a fit")


def check_transformers_unfitted(estimator: Any, data: CheckData) -> None:
    """``transform`` before ``fit`` is refused, whatever it is given."""
    one = fresh(estimator)
    inputs: tuple[Any, ...] = (data.graphs(estimator), [], None)
    for A in inputs:
        try:
            one.transform(A)
        except NotFittedError:
            continue
        raise AssertionError("transform does not raise NotFittedError before a fit")


def check_fit_check_is_fitted(estimator: Any, data: CheckData) -> None:
    """``check_is_fitted`` tells whether there was a fit."""
    _require_unfitted(fresh(estimator), "a new estimator")
    check_is_fitted(data.fitted(estimator))


def check_requires_y_none(estimator: Any, data: CheckData) -> None:
    """An estimator that needs labels says so when it gets none."""
    for arguments in ((), (None,)):
        try:
            fresh(estimator).fit(data.graphs(estimator), *arguments)
        except ValueError as error:
            require("y" in str(error) or "label" in str(error), f"does not say what: {error}")
        else:
            raise AssertionError("the tags say that y is required, and fit goes without")


def check_supervised_y_no_nan(estimator: Any, data: CheckData) -> None:
    """Labels that are missing or infinite are refused."""
    A = data.graphs(estimator)
    for wrong in (np.nan, np.inf):
        y = np.full(len(A), wrong)
        try:
            fresh(estimator).fit(A, y)
        except ValueError:
            continue
        raise AssertionError(f"labels that are {wrong} are taken")


def _require_unfitted(estimator: Any, who: str) -> None:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return
    raise AssertionError(f"{who} counts as fitted")
