"""Choice of a fit's record source: in memory, in chunks or on a cluster."""

from __future__ import annotations

from typing import Any

from dpexplain.models.boosting.records.chunked import ChunkedSource
from dpexplain.models.boosting.records.source import Encoding, RecordSource, TableSource
from dpexplain.tables.chunked import ChunkedTable
from dpexplain.tables.chunked_dask import DaskTable


def record_source(X: Any, y: Any, encoding: Encoding) -> RecordSource:
    """Return the source that suits the type of a table.

    Parameters
    ----------
    X : DataFrame, ndarray or ChunkedTable
    y : array-like of shape (n_samples,)
        For a chunked table, any target accepted by its `check_target`.
    encoding : Encoding

    Returns
    -------
    RecordSource
        Source of the records, which must be closed after use.
    """
    if not isinstance(X, ChunkedTable):
        return TableSource(X, y, encoding)
    client = X.client if isinstance(X, DaskTable) else None
    if isinstance(X, DaskTable) and client is not None:
        from dpexplain.models.boosting.records.dask import ClusterSource

        return ClusterSource(client, X.pairs(y, encoding.schema), encoding)
    return ChunkedSource(X.chunks(y, encoding.schema), encoding)
