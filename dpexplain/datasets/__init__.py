"""Public datasets, each with a schema written from its documentation.

Two datasets come with statsmodels and need no network. The others are read from the folder named
by the environment variable ``DPEXPLAIN_DATA`` or from the cache, or are downloaded once; the
SHA-256 checksums of the files are verified. :func:`make_additive` draws tables from additive models
with known shape functions.
"""

from __future__ import annotations

from dpexplain.datasets._dataset import Dataset
from dpexplain.datasets.adult import load_adult
from dpexplain.datasets.california_housing import load_california_housing
from dpexplain.datasets.fair import load_fair
from dpexplain.datasets.images import load_fashion_mnist, load_mnist
from dpexplain.datasets.randhie import load_randhie
from dpexplain.datasets.simulated import AdditiveTruth, SimulatedDataset, make_additive
from dpexplain.datasets.telco_churn import load_telco_churn
from dpexplain.datasets.wine_quality import load_wine_quality

__all__ = [
    "AdditiveTruth",
    "Dataset",
    "SimulatedDataset",
    "load_adult",
    "load_california_housing",
    "load_fair",
    "load_fashion_mnist",
    "load_mnist",
    "load_randhie",
    "load_telco_churn",
    "load_wine_quality",
    "make_additive",
]
