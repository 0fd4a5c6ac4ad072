"""scikit-learn's own checks; each exception is listed with its reason."""

from __future__ import annotations

import pytest
from sklearn.base import is_classifier
from sklearn.utils.estimator_checks import estimator_checks_generator

import dpexplain.models as models
from dpexplain.models.private import PrivateEstimator
from private_models import known

pytestmark = pytest.mark.full

# A private fit must treat neighboring data sets alike, so it never raises because of a value
# and accepts any number of records; without a schema it reports only that it stopped.
NO_ERROR_MAY_DEPEND_ON_A_VALUE = {
    "check_complex_data": "a cell that is no number goes to the missing bin",
    "check_estimators_empty_data_messages": "zero records are fitted like any other number",
    "check_supervised_y_no_nan": "a row whose target is no number is left out",
    "check_classifiers_regression_target": "rows whose label is outside the schema are left out",
    "check_classifiers_one_label": "whether a class occurs is private; noise decides the model",
}
# One record holds one class, from which no schema can be drafted.
CLASSIFIER_ONLY = {
    "check_fit2d_1sample": "without a schema the fit stops without a detail of the data",
}
# These compare the predictions of two fits, which fresh noise makes differ, or ask for the
# accuracy that a few dozen records cannot give; they pass or fail by chance, so they do not run.
DECIDED_BY_NOISE = {
    "check_classifier_data_not_an_array",
    "check_regressor_data_not_an_array",
    "check_supervised_y_2d",
    "check_regressors_int",
    "check_fit_idempotent",
    "check_classifiers_train",
    "check_regressors_train",
}


def checks():
    for name in models.__all__:
        estimator_class = getattr(models, name)
        private = issubclass(estimator_class, PrivateEstimator)
        quick = {} if private else known(name, max_rounds=30)
        estimator = estimator_class(**quick)
        exceptions = dict(NO_ERROR_MAY_DEPEND_ON_A_VALUE) if private else {}
        if private and is_classifier(estimator):
            exceptions |= CLASSIFIER_ONLY
        for instance, check in estimator_checks_generator(estimator):
            checked = check.func.__name__
            if private and checked in DECIDED_BY_NOISE:
                continue
            yield pytest.param(instance, check, exceptions.get(checked), id=f"{name}-{checked}")


@pytest.mark.filterwarnings("ignore::dpexplain.exceptions.PrivacyWarning")
@pytest.mark.parametrize(("estimator", "check", "reason"), list(checks()))
def test_scikit_learn_conventions_hold_but_for_the_listed_exceptions(estimator, check, reason):
    if reason is None:
        check(estimator)
        return
    with pytest.raises((AssertionError, RuntimeError)):
        check(estimator)
