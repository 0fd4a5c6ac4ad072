"""Customers of a telephone company (IBM sample data)."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dpexplain.datasets._dataset import Dataset, bundled_schema
from dpexplain.datasets._files import DataFile, local_path

_FILE: Final = DataFile(
    "telco_churn",
    "Telco-Customer-Churn.csv",
    "https://raw.githubusercontent.com/IBM/telco-customer-churn-on-icp4d/"
    "d5371f5d83a446ad5673cbcca3b814b926491f8a/data/Telco-Customer-Churn.csv",
    "16320c9c1ec72448db59aa0a26a0b95401046bef5d02fd3aeb906448e3055e91",
)


def load_telco_churn() -> Dataset:
    """Load the Telco churn data: 7,043 customers of a telephone company, 19 features.

    Returns
    -------
    Dataset
        A binary classification dataset. ``TotalCharges`` is missing for the 11 customers in their
        first month. The customer number is omitted.

    Raises
    ------
    ValueError
        If the file has the wrong checksum.
    ConnectionError
        If the file is not on this machine and cannot be downloaded.

    Examples
    --------
    >>> from dpexplain.datasets import load_telco_churn
    >>> customers = load_telco_churn()
    >>> customers.X.shape
    (7043, 19)
    """
    schema = bundled_schema("telco_churn")
    frame = pd.read_csv(local_path(_FILE), na_values={"TotalCharges": [" "]})
    X = frame[list(schema.feature_names)].assign(
        SeniorCitizen=frame["SeniorCitizen"].map({0: "No", 1: "Yes"})
    )
    return Dataset(
        X,
        frame["Churn"],
        schema=schema,
        name="telco_churn",
        source="IBM sample data, https://github.com/IBM/telco-customer-churn-on-icp4d",
        licence="Apache-2.0",
        description=(
            "One row is a customer of a fictional telephone company; the target is whether the "
            "customer left within the last month."
        ),
        citation="IBM (2018). Telco Customer Churn. IBM sample data sets.",
    )
