"""House values in California, from the 1990 census."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dpexplain.datasets._dataset import Dataset, bundled_schema
from dpexplain.datasets._files import DataFile, local_path


def csv_of_arff(content: bytes) -> bytes:
    """Convert a numeric ARFF file to CSV, copying the numbers verbatim.

    Parameters
    ----------
    content : bytes
        The ARFF file.

    Returns
    -------
    bytes
        The CSV file.

    Raises
    ------
    ValueError
        If the content is not ASCII text, or has no ``@data`` line.
    """
    lines = [line.strip() for line in content.decode("ascii").splitlines()]
    lines = [line for line in lines if line and not line.startswith("%")]
    start = [line.lower() for line in lines].index("@data")
    header = [line.split()[1] for line in lines[:start] if line.lower().startswith("@attribute")]
    return "".join(f"{line}\n" for line in [",".join(header), *lines[start + 1 :]]).encode("ascii")


_FILE: Final = DataFile(
    "california_housing_statlib",
    "california_housing_statlib.csv",
    "https://raw.githubusercontent.com/renatopp/arff-datasets/"
    "c59f172882592bb58982cc54d2d3c8a2b57e9b73/regression/cal.housing.arff",
    "22765e46e56a449c6e095c53d3c89da5cbd0d8778d94b5667e7c3ed8578f7e8c",
    convert=csv_of_arff,
)


def load_california_housing() -> Dataset:
    """Load the California housing data: 20,640 block groups, 8 features.

    This is the StatLib version: its features are as published (total rooms and households, not
    rooms per household), and its target is in dollars.

    Returns
    -------
    Dataset
        A regression dataset without missing values.

    Raises
    ------
    ValueError
        If the file has the wrong checksum.
    ConnectionError
        If the file is not on this machine and cannot be downloaded.

    References
    ----------
    .. [1] R. Kelley Pace and Ronald Barry, "Sparse Spatial Autoregressions", Statistics and
       Probability Letters 33 (1997), 291-297.

    Examples
    --------
    >>> from dpexplain.datasets import load_california_housing
    >>> houses = load_california_housing()
    >>> houses.X.shape
    (20640, 8)
    """
    schema = bundled_schema("california_housing")
    frame = pd.read_csv(local_path(_FILE))
    return Dataset(
        frame[list(schema.feature_names)],
        frame["medianHouseValue"],
        schema=schema,
        name="california_housing",
        source="StatLib (houses), collected by R. Kelley Pace and Ronald Barry",
        licence="none stated",
        description=(
            "One row is a block group of the US census of 1990 in California; the target is the "
            "median house value in dollars."
        ),
        citation=(
            'Pace, R. K. and Barry, R. (1997). "Sparse Spatial Autoregressions". Statistics and '
            "Probability Letters 33, 291-297."
        ),
    )
