"""Tables that come with statsmodels."""

from __future__ import annotations

from importlib import import_module

import pandas as pd

from dpexplain._utils.extras import needed


def statsmodels_frame(name: str) -> pd.DataFrame:
    """Return a table from ``statsmodels.datasets``.

    Parameters
    ----------
    name : str
        Name of the dataset in statsmodels.

    Returns
    -------
    DataFrame
        The table, as provided by statsmodels.

    Raises
    ------
    ImportError
        If statsmodels is not installed.
    """
    try:
        module = import_module(f"statsmodels.datasets.{name}")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("statsmodels"):
            raise
        raise ImportError(needed(f"load_{name}", "statsmodels", "examples")) from None
    frame: pd.DataFrame = module.load_pandas().data
    return frame


def words(codes: pd.Series, names: dict[int, str]) -> pd.Series:
    """Replace the codes in a column with words.

    Parameters
    ----------
    codes : Series of shape (n_samples,)
        Integers, possibly stored as floats.
    names : dict of int to str
        The word for each code.

    Returns
    -------
    Series of shape (n_samples,)
        The words.
    """
    return codes.astype(int).map(names)
