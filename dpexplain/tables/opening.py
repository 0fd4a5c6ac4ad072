"""Open tables read in chunks from files, Dask collections or Arrow streams."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dpexplain._utils.lazy import pd
from dpexplain.schema import Schema
from dpexplain.tables.chunked import ChunkedTable, ChunkError
from dpexplain.tables.columns import kind_in_parts
from dpexplain.tables.frames import is_stream, names_text_file


def chunked_table(X: Any) -> ChunkedTable:
    """Open a table to be read in chunks; no values are read yet.

    Parameters
    ----------
    X : str, Path, pyarrow.dataset.Dataset, dask.dataframe.DataFrame, dask.array.Array or stream
        Path of a Parquet file or a folder of Parquet files, a dataset or collection, an object with
        ``__arrow_c_stream__``, or a polars LazyFrame.

    Returns
    -------
    ChunkedTable

    Raises
    ------
    ImportError
        If libraries in the optional extra ``dask`` are not installed.
    TypeError
        If `X` is a text file, a Dask collection of another type or a filtered dataset, if the
        format of its files does not store types, or if a stream does not declare its column names.
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
    if isinstance(X, str | PathLike) and names_text_file(Path(X)):
        raise TypeError(
            f"X={str(Path(X))!r} is a text file, which is read in one piece; pass "
            "dpexplain.tables.read_texts(path)."
        )
    from dpexplain.tables.chunked_arrow import ArrowTable

    return ArrowTable.open(X)


def chunks_of_rows(X: Any, schema: Schema) -> Iterator[Any]:
    """Yield the features of a table in chunks, for predicting or explaining its rows.

    Parameters
    ----------
    X : object
        As in :func:`chunked_table`.
    schema : Schema

    Yields
    ------
    DataFrame or ndarray of shape (n, n_features)
        The next rows, in order. The first chunk is empty, so that there is at least one chunk even
        if the table has no rows.

    Raises
    ------
    SchemaError
        If columns are missing.
    RuntimeError
        If the rows could not be read. The message names only the type of the cause, because a
        library may show a cell in its message.
    """
    table = chunked_table(X)
    table.check_columns(schema)
    yield pd.DataFrame({name: np.empty(0, dtype=object) for name in schema.feature_names})
    chunks, failure = table.rows(schema), ""
    while not failure:
        try:
            rows = next(chunks, None)
        except ChunkError as error:
            failure = error.kind
        except Exception as error:
            failure = type(error).__name__
        else:
            if rows is None:
                return
            yield rows
    # Raised here, so that no chained traceback keeps records in its frames.
    raise RuntimeError(
        f"the rows of X could not be read: {failure}. Read them with the library that X comes from "
        "to find the cause."
    )
