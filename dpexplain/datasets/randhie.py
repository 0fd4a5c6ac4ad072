"""RAND Health Insurance Experiment (1974-1982)."""

from __future__ import annotations

from typing import Final

from dpexplain.datasets._dataset import Dataset, bundled_schema
from dpexplain.datasets._statsmodels import statsmodels_frame, words

_YES_NO: Final = ("idp", "hlthg", "hlthf", "hlthp")


def load_randhie() -> Dataset:
    """Load the health insurance data: 20,190 person-years, 9 features.

    The target is the number of outpatient visits to a doctor in one year, from 0 to 77. Each person
    was followed for three or five years and has one row for each year. If the unit of privacy is a
    person, limit the number of rows per person, or declare its maximum.

    Returns
    -------
    Dataset
        A dataset for count regression.

    Raises
    ------
    ImportError
        If statsmodels is not installed.

    References
    ----------
    .. [1] A. Colin Cameron and Pravin K. Trivedi, "Microeconometrics: Methods and
       Applications", Cambridge University Press, 2005.
    .. [2] Joseph P. Newhouse, "Free for All? Lessons from the RAND Health Insurance
       Experiment", Harvard University Press, 1993.

    Examples
    --------
    >>> from dpexplain.datasets import load_randhie
    >>> insurance = load_randhie()
    >>> insurance.X.shape, insurance.schema.target.high
    ((20190, 9), 77.0)
    """
    frame = statsmodels_frame("randhie")
    schema = bundled_schema("randhie")
    X = frame[list(schema.feature_names)].assign(
        **{name: words(frame[name], {0: "no", 1: "yes"}) for name in _YES_NO}
    )
    return Dataset(
        X,
        frame["mdvis"],
        schema=schema,
        name="randhie",
        source="RAND Health Insurance Experiment; shipped with statsmodels",
        licence="public domain",
        description=(
            "One row is a person in one year of the experiment, in which families were assigned "
            "insurance plans at random; the target is the number of visits to a doctor."
        ),
        citation=(
            "Cameron, A. C. and Trivedi, P. K. (2005). Microeconometrics: Methods and "
            "Applications. Cambridge University Press."
        ),
    )
