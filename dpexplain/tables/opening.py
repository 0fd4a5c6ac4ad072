"""Open tables that are read in chunks, from files or Dask collections."""

from __future__ import annotations

from typing import Any

from dpexplain.tables.chunked import ChunkedTable
from dpexplain.tables.columns import kind_in_parts


def chunked_table(X: Any) -> ChunkedTable:
    """Open a table that is read in chunks, without reading values.

    Parameters
    ----------
    X : str, Path, pyarrow.dataset.Dataset, dask.dataframe.DataFrame or dask.array.Array
        Path to Parquet files, or a dataset or collection.

    Returns
    -------
    ChunkedTable

    Raises
    ------
    ImportError
        If libraries of the optional extra ``dask`` are not installed.
    TypeError
        If `X` is a Dask collection of another type, or its files are in a format that does not
        store types.
    ValueError
        If the path does not exist or contains no files.
    """
    if kind_in_parts(X) == "a Dask collection":
        from dpexplain.tables.chunked_dask import DaskTable

        return DaskTable(X)
    from dpexplain.tables.chunked_arrow import ArrowTable

    return ArrowTable.open(X)
