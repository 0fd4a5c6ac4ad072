"""Tables that are read part by part: Parquet files, pyarrow datasets, Dask collections."""

from __future__ import annotations

from dpexplain.models.parted.table import Part, PartedTable, PartError, in_one_piece, parted_table

__all__ = ["Part", "PartError", "PartedTable", "in_one_piece", "parted_table"]
