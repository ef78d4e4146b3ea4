"""Which checks there are, for which estimators; and which of scikit-learn's have no counterpart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

from estimator_checks import (
    behaviour_checks,
    input_checks,
    interface_checks,
    output_checks,
    weight_checks,
)
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

__all__ = ["CHECKS", "NOT_PORTED", "checks_for"]

_MODULES = (interface_checks, input_checks, weight_checks, output_checks, behaviour_checks)


def _checks_of(module: ModuleType) -> dict[str, Callable[..., None]]:
    mine = {k: v for k, v in vars(module).items() if k.startswith("check_") and callable(v)}
    return {k: v for k, v in mine.items() if v.__module__ == module.__name__}


#: Every check by its name, which is that of scikit-learn's check of the same thing.
CHECKS: dict[str, Callable[..., None]] = {
    name: check for module in _MODULES for name, check in _checks_of(module).items()
}

_TRANSFORMER = {
    *_checks_of(output_checks), "check_transformers_unfitted",
    "check_transformer_data_not_an_array", "check_pipeline_consistency",
}  # fmt: skip

_CLASSIFIER = "is for classifiers: an estimator of stacks here has no predict"
_REGRESSOR = "is for regressors: an estimator of stacks here has no predict"
_CLUSTERER = "is for clusterers: an estimator of stacks here has no fit_predict"
_OUTLIERS = "is for outlier detectors: an estimator of stacks here has no fit_predict"
_OTHER_ARRAYS = "is for arrays of other libraries, which no estimator of stacks says it takes"

#: Checks of scikit-learn that are not among :data:`CHECKS`, and why.
NOT_PORTED: dict[str, str] = {
    "check_array_api_input_and_values": _OTHER_ARRAYS,
    "check_array_api_mixed_inputs": _OTHER_ARRAYS,
    "check_array_api_same_namespace": _OTHER_ARRAYS,
    "check_class_weight_balanced_classifiers": _CLASSIFIER,
    "check_class_weight_balanced_linear_classifier": _CLASSIFIER,
    "check_class_weight_classifiers": _CLASSIFIER,
    "check_classifier_data_not_an_array": _CLASSIFIER,
    "check_classifier_multioutput": _CLASSIFIER,
    "check_classifier_not_supporting_multiclass": _CLASSIFIER,
    "check_classifiers_classes": _CLASSIFIER,
    "check_classifiers_multilabel_output_format_decision_function": _CLASSIFIER,
    "check_classifiers_multilabel_output_format_predict": _CLASSIFIER,
    "check_classifiers_multilabel_output_format_predict_proba": _CLASSIFIER,
    "check_classifiers_multilabel_representation_invariance": _CLASSIFIER,
    "check_classifiers_one_label": _CLASSIFIER,
    "check_classifiers_one_label_sample_weights": _CLASSIFIER,
    "check_classifiers_predictions": _CLASSIFIER,
    "check_classifiers_regression_target": _CLASSIFIER,
    "check_classifiers_train": _CLASSIFIER,
    "check_clusterer_compute_labels_predict": _CLUSTERER,
    "check_clustering": _CLUSTERER,
    "check_decision_proba_consistency": _CLASSIFIER,
    "check_estimator": "is the function that runs the others",
    "check_estimator_sparse_data": "was split into those of arrays, matrices and the tag",
    "check_estimators_data_not_an_array": (
        "is a part of the checks of classifiers and regressors; that of transformers is there"
    ),
    "check_inplace_ensure_writeable": (
        "is for estimators with copy=False, which work in the memory of their input; graphs are "
        "never written to, which check_readonly_memmap_input shows"
    ),
    "check_non_transformer_estimators_n_iter": "is for estimators without transform",
    "check_outlier_contamination": _OUTLIERS,
    "check_outlier_corruption": _OUTLIERS,
    "check_outliers_fit_predict": _OUTLIERS,
    "check_outliers_train": _OUTLIERS,
    "check_regressor_data_not_an_array": _REGRESSOR,
    "check_regressor_multioutput": _REGRESSOR,
    "check_regressors_int": _REGRESSOR,
    "check_regressors_no_decision_function": _REGRESSOR,
    "check_regressors_train": _REGRESSOR,
    "check_sample_weights_invariance": "is called check_sample_weight_equivalence_... since 1.6",
    "check_sparsify_coefficients": "is for linear models with sparsify",
    "check_supervised_y_2d": "is for classifiers and regressors, whose y may be a column",
    "check_transformers_unfitted_stateless": "is for transformers that need no fit",
}


def checks_for(estimator: Any) -> Iterator[Callable[..., None]]:
    """Yield the checks that mean something for an estimator, some of them in two variants."""
    tags = get_tags(estimator)
    unless = {
        "check_estimators_partial_fit_n_features": not hasattr(estimator, "partial_fit"),
        "check_estimators_unfitted": not tags.requires_fit,
        "check_fit_non_negative": not tags.input_tags.positive_only,
        "check_requires_y_none": not tags.target_tags.required,
        "check_supervised_y_no_nan": not tags.target_tags.required,
        "check_transformers_unfitted": not tags.requires_fit,
    }
    weighted = has_fit_parameter(estimator, "sample_weight")
    transforms = hasattr(estimator, "transform")
    weights = set(_checks_of(weight_checks))
    for name, check in CHECKS.items():
        left_out = unless.get(name, False)
        left_out |= name in weights and not weighted
        left_out |= name in _TRANSFORMER and not transforms
        left_out |= name.endswith("sparse_data") and not tags.input_tags.sparse
        if left_out:
            continue
        yield check
        if name in ("check_estimators_pickle", "check_transformer_general"):
            yield partial(check, readonly_memmap=True)
