"""Docstring examples that read data sets run only if the files are present."""

from __future__ import annotations

import os

import pytest

PUBLISHED_ELSEWHERE = ("adult", "california_housing", "fashion_mnist", "mnist", "telco", "wine")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the examples of loaders whose files would have to be downloaded."""
    loader = item.name.partition("dpexplain.datasets.")[2].partition(".load_")[2]
    if loader.startswith(PUBLISHED_ELSEWHERE) and not os.environ.get("DPEXPLAIN_DATA"):
        pytest.skip("its file is not here; DPEXPLAIN_DATA names the folder of public data sets")
