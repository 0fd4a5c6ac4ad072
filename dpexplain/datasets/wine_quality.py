"""Quality of red and white vinho verde wines."""

from __future__ import annotations

from typing import Final, Literal

import pandas as pd

from dpexplain.datasets._dataset import Dataset, bundled_schema
from dpexplain.datasets._files import DataFile, local_path

_URL: Final = (
    "https://raw.githubusercontent.com/jbrownlee/Datasets/d20fcb6402ae34e653d4513b00f39257bb37ed7f"
)
_RED: Final = DataFile(
    "wine_quality",
    "winequality-red.csv",
    f"{_URL}/winequality-red.csv",
    "c9614512e980f1cbd221c796daa97f00c4898c3cd1716863abac60f6cd1a522e",
)
_WHITE: Final = DataFile(
    "wine_quality",
    "winequality-white.csv",
    f"{_URL}/winequality-white.csv",
    "659d419fff887f225bf977d20520bb64a64cae203e460087f809721d4430ba27",
)
_FILES: Final = {"red": (_RED,), "white": (_WHITE,), "both": (_RED, _WHITE)}


def load_wine_quality(
    colour: Literal["both", "red", "white"] = "both", drop_duplicates: bool = False
) -> Dataset:
    """Load the wine quality data: 1,599 red and 4,898 white wines, 11 measurements.

    Parameters
    ----------
    colour : {"both", "red", "white"}, default="both"
        Which wines to load; the color is not a feature.
    drop_duplicates : bool, default=False
        Whether to drop repeated rows. Only 5,318 of the 6,497 rows are distinct; if the others are
        kept, a random split puts copies of some wines in both parts.

    Returns
    -------
    Dataset
        A regression dataset without missing values. The target is the score given by the tasters.

    Raises
    ------
    ValueError
        If `colour` is not an allowed value, or a file has the wrong checksum.
    ConnectionError
        If the files are not on this machine and cannot be downloaded.

    References
    ----------
    .. [1] Paulo Cortez, António Cerdeira, Fernando Almeida, Telmo Matos and José Reis,
       "Modeling wine preferences by data mining from physicochemical properties", Decision
       Support Systems 47 (2009), 547-553.
    """
    if colour not in _FILES:
        raise ValueError(f"colour={colour!r} must be 'both', 'red' or 'white'.")
    schema = bundled_schema("wine_quality")
    frame = pd.concat(
        [
            pd.read_csv(local_path(file), names=[*schema.feature_names, "quality"])
            for file in _FILES[colour]
        ],
        ignore_index=True,
    )
    if drop_duplicates:
        frame = frame.drop_duplicates(ignore_index=True)
    return Dataset(
        frame[list(schema.feature_names)],
        frame["quality"],
        schema=schema,
        name="wine_quality",
        source="UCI Machine Learning Repository, https://archive.ics.uci.edu/dataset/186",
        licence="CC BY 4.0",
        description=(
            "One row is a wine submitted for certification in Portugal; the target is the median "
            "score of its tasters."
        ),
        citation=(
            'Cortez, P. et al. (2009). "Modeling wine preferences by data mining from '
            'physicochemical properties". Decision Support Systems 47, 547-553.'
        ),
    )
