"""Tables that come with statsmodels."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from dpexplain._utils.extras import needed


def statsmodels_frame(name: str) -> pd.DataFrame:
    """Read a table from the folder of ``statsmodels.datasets``.

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
    # statsmodels itself is not imported: that takes 40 MB and half a second for a small file.
    package = find_spec("statsmodels")
    folders = package.submodule_search_locations if package is not None else None
    if not folders:
        raise ImportError(needed(f"load_{name}", "statsmodels", "examples"))
    return pd.read_csv(Path(folders[0]) / "datasets" / name / f"{name}.csv")


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
