"""Adult, also known as Census Income (1994)."""

from __future__ import annotations

from typing import Final, Literal

import pandas as pd

from dpexplain.datasets._dataset import Dataset, bundled_schema
from dpexplain.datasets._files import DataFile, local_path

_URL: Final = (
    "https://raw.githubusercontent.com/jbrownlee/Datasets/d20fcb6402ae34e653d4513b00f39257bb37ed7f"
)
_TRAIN: Final = DataFile(
    "adult",
    "adult-train.csv",
    f"{_URL}/adult-train.csv",
    "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
)
_TEST: Final = DataFile(
    "adult",
    "adult-test.csv",
    f"{_URL}/adult-test.csv",
    "72567b94f5c1a6f8501377dd80f93892c3848ff071cf91ba47e00b0785a28074",
)
_FILES: Final = {"train": (_TRAIN,), "test": (_TEST,), "all": (_TRAIN, _TEST)}


def load_adult(subset: Literal["train", "test", "all"] = "train") -> Dataset:
    """Load the Adult dataset: 14 features and an indicator of high income.

    Parameters
    ----------
    subset : {"train", "test", "all"}, default="train"
        Part of the published split: 32,561 training rows, 16,281 test rows, or both.

    Returns
    -------
    Dataset
        A binary classification dataset. The target is whether a person earns more than 50,000
        dollars. There are missing values in ``workclass``, ``occupation`` and ``native-country``.

    Raises
    ------
    ValueError
        If `subset` is not an allowed value, or a file has the wrong checksum.
    ConnectionError
        If the files are not on this machine and cannot be downloaded.

    References
    ----------
    .. [1] Barry Becker and Ronny Kohavi, "Adult", UCI Machine Learning Repository, 1996,
       doi:10.24432/C5XW20.

    Examples
    --------
    >>> from dpexplain.datasets import load_adult
    >>> adult = load_adult()
    >>> adult.X.shape
    (32561, 14)
    """
    if subset not in _FILES:
        raise ValueError(f"subset={subset!r} must be 'train', 'test' or 'all'.")
    schema = bundled_schema("adult")
    frame = pd.concat(
        [
            pd.read_csv(
                local_path(file),
                names=[*schema.feature_names, "income"],
                skipinitialspace=True,
                na_values="?",
            )
            for file in _FILES[subset]
        ],
        ignore_index=True,
    )
    return Dataset(
        frame[list(schema.feature_names)],
        frame["income"].str.rstrip("."),  # labels of the test file end with a period
        schema=schema,
        name="adult",
        source="UCI Machine Learning Repository, https://archive.ics.uci.edu/dataset/2/adult",
        licence="CC BY 4.0",
        description=(
            "One row is a person above 16 in the US Current Population Survey of March 1994; "
            "the target is whether yearly income exceeds 50,000 dollars."
        ),
        citation=(
            "Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. "
            "https://doi.org/10.24432/C5XW20"
        ),
    )
