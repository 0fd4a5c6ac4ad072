"""scikit-learn's own checks; each exception is listed with its reason."""

from __future__ import annotations

import itertools
from pathlib import Path
from unittest import SkipTest

import pytest
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_pipeline_consistency, estimator_checks_generator

import dpexplain.models as models
from dpexplain.models.private import PrivateEstimator
from private_models import known

pytestmark = pytest.mark.full

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "interoperability.md"


def listed(heading):
    """Read the checks and the reasons in the table of the page with this heading."""
    lines = iter(PAGE.read_text(encoding="utf-8").splitlines())
    next(line for line in lines if line.startswith(f"| {heading} |"))
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in rows][1:]
    return dict(cells)


# The page lists them for readers; the names end in "(classifiers)" if they concern these alone.
FAILS = listed("fails for private models")
NOT_RUN = listed("not run for private models")


def reason_of(table, check, estimator):
    """Return the reason in a table of the page; None if the check is not in it."""
    named = f"`{check}`"
    only = table.get(f"{named} (classifiers)") if is_classifier(estimator) else None
    return table.get(named, only)


def checks():
    for name in models.__all__:
        estimator_class = getattr(models, name)
        private = issubclass(estimator_class, PrivateEstimator)
        quick = known(name, n_trees=5) if private else known(name, max_rounds=30)
        estimator = estimator_class(**quick)
        for instance, check in estimator_checks_generator(estimator):
            checked = check.func.__name__
            if private and reason_of(NOT_RUN, checked, estimator):
                continue
            reason = reason_of(FAILS, checked, estimator) if private else None
            yield pytest.param(instance, check, reason, id=f"{name}-{checked}")


@pytest.mark.filterwarnings("ignore::dpexplain.exceptions.PrivacyWarning")
@pytest.mark.parametrize(("estimator", "check", "reason"), list(checks()))
def test_scikit_learn_conventions_hold_but_for_the_listed_exceptions(estimator, check, reason):
    if reason is None:
        check(estimator)
        return
    with pytest.raises((AssertionError, RuntimeError)):
        check(estimator)


def test_the_page_lists_no_check_that_scikit_learn_does_not_have():
    made = [getattr(models, name)() for name in models.__all__]
    private = [each for each in made if isinstance(each, PrivateEstimator)]
    there = {
        check.func.__name__ for each in private for _, check in estimator_checks_generator(each)
    }
    assert len(FAILS) == 6
    assert len(NOT_RUN) == 7
    for named, reason in {**FAILS, **NOT_RUN}.items():
        assert named.split("`")[1] in there
        assert len(reason.split()) >= 5


def test_scikit_learn_leaves_out_what_the_page_says_of_models_whose_fits_differ():
    private, other = models.DPExplainableBoostingRegressor(), models.ExplainableBoostingRegressor()
    assert get_tags(private).non_deterministic
    assert not get_tags(other).non_deterministic
    ran, usual = (
        {check.func.__name__ for _, check in estimator_checks_generator(each)}
        for each in (private, other)
    )
    page = PAGE.read_text(encoding="utf-8")
    assert usual - ran == {
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
    }
    assert all(f"`{name}`" in page for name in (*(usual - ran), "check_pipeline_consistency"))
    with pytest.raises(SkipTest, match="non deterministic"):
        check_pipeline_consistency("private", private)
