"""Survey of extramarital affairs (Redbook, 1974)."""

from __future__ import annotations

from typing import Final

from dpexplain.datasets._dataset import Dataset, bundled_schema
from dpexplain.datasets._statsmodels import statsmodels_frame, words

_OCCUPATIONS: Final = {
    1: "student",
    2: "farming or unskilled",
    3: "white-collar",
    4: "teaching, arts or skilled",
    5: "managerial or business",
    6: "professional",
}
_WORDS: Final = {
    "rate_marriage": {1: "very poor", 2: "poor", 3: "fair", 4: "good", 5: "very good"},
    "religious": {1: "not", 2: "mildly", 3: "fairly", 4: "strongly"},
    "educ": {
        9: "grade school",
        12: "high school",
        14: "some college",
        16: "college graduate",
        17: "some graduate school",
        20: "advanced degree",
    },
    "occupation": _OCCUPATIONS,
    "occupation_husb": _OCCUPATIONS,
}


def load_fair() -> Dataset:
    """Load the survey of extramarital affairs: 6,366 married women, 8 features.

    The target is whether any time was spent in affairs ("yes" for about a third of the women). The
    questionnaire codes are replaced with words. Age, years married and number of children are
    numbers; the questionnaire codes them as the midpoints of intervals.

    Returns
    -------
    Dataset
        A binary classification dataset, based on the answers of women in their first marriage.

    Raises
    ------
    ImportError
        If statsmodels is not installed.

    References
    ----------
    .. [1] Ray C. Fair, "A Theory of Extramarital Affairs", Journal of Political Economy 86
       (1978), 45-61.

    Examples
    --------
    >>> from dpexplain.datasets import load_fair
    >>> survey = load_fair()
    >>> survey.X.shape, survey.schema.target.names
    ((6366, 8), ('no', 'yes'))
    """
    frame = statsmodels_frame("fair").astype(float)
    schema = bundled_schema("fair")
    X = frame[list(schema.feature_names)].assign(
        **{name: words(frame[name], names) for name, names in _WORDS.items()}
    )
    y = (frame["affairs"] > 0).map({False: "no", True: "yes"}).rename("affair")
    return Dataset(
        X,
        y,
        schema=schema,
        name="fair",
        source="Redbook survey of 1974, published by Ray C. Fair; shipped with statsmodels",
        licence="included in statsmodels with permission of the author",
        description=(
            "One row is a married woman who answered a magazine's questionnaire; the target is "
            "whether she reports any time spent in extramarital affairs."
        ),
        citation=(
            'Fair, R. C. (1978). "A Theory of Extramarital Affairs". Journal of Political '
            "Economy 86, 45-61."
        ),
    )
