"""Open tables read in chunks from files or Dask collections."""

from __future__ import annotations

from typing import Any

from dpexplain.tables.chunked import ChunkedTable
from dpexplain.tables.columns import kind_in_parts


def chunked_table(X: Any) -> ChunkedTable:
    """Open a table to be read in chunks; no values are read yet.

    Parameters
    ----------
    X : str, Path, pyarrow.dataset.Dataset, dask.dataframe.DataFrame or dask.array.Array
        Path of a Parquet file or a folder of Parquet files, or a dataset or collection.

    Returns
    -------
    ChunkedTable

    Raises
    ------
    ImportError
        If libraries in the optional extra ``dask`` are not installed.
    TypeError
        If `X` is a Dask collection of another type or a filtered dataset, or if the format of its
        files does not store types.
    ValueError
        If the path does not exist, if there are no files, if a file is not Parquet, if the name of
        a file or folder is not UTF-8, or if the Dask client is asynchronous.
    """
    if kind_in_parts(X) == "a Dask collection":
        from dpexplain.tables.chunked_dask import DaskTable

        return DaskTable(X)
    from dpexplain.tables.chunked_arrow import ArrowTable

    return ArrowTable.open(X)
