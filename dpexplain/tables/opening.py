"""Open tables read in chunks from files, Dask collections or Arrow streams."""

from __future__ import annotations

from typing import Any

from dpexplain.tables.chunked import ChunkedTable
from dpexplain.tables.columns import is_stream, kind_in_parts


def chunked_table(X: Any) -> ChunkedTable:
    """Open a table to be read in chunks; no values are read yet.

    Parameters
    ----------
    X : str, Path, pyarrow.dataset.Dataset, dask.dataframe.DataFrame, dask.array.Array or stream
        Path of a Parquet file or a folder of Parquet files, a dataset or collection, an object with
        ``__arrow_c_stream__``, or a lazy frame of polars.

    Returns
    -------
    ChunkedTable

    Raises
    ------
    ImportError
        If libraries in the optional extra ``dask`` are not installed.
    TypeError
        If `X` is a Dask collection of another type or a filtered dataset, if the format of its
        files does not store types, or if a stream does not say the names of its columns.
    ValueError
        If the path does not exist, if there are no files, if a file is not Parquet, if the name of
        a file or folder is not UTF-8, if the Dask client is asynchronous, or if an earlier call has
        read a stream that can be read only once.
    """
    if kind_in_parts(X) == "a Dask collection":
        from dpexplain.tables.chunked_dask import DaskTable

        return DaskTable(X)
    if is_stream(X):
        from dpexplain.tables.chunked_stream import StreamTable

        return StreamTable(X)
    from dpexplain.tables.chunked_arrow import ArrowTable

    return ArrowTable.open(X)
