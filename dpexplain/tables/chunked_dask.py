"""Dask DataFrames and Arrays as chunked tables."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from typing import Any, Final

import numpy as np

from dpexplain._utils.lazy import pd
from dpexplain.exceptions import SchemaError
from dpexplain.schema import Schema
from dpexplain.tables.chunked import Chunk, ChunkedTable
from dpexplain.tables.columns import check_names
from dpexplain.tables.targets import check_name

_SWITCHES: Final = {
    "pyarrow_strings_enabled": ("FromPandas", "FromPandasDivisions"),
    "verify_meta": ("FromDelayed",),
}
"""Switches of Dask's expressions that a fit turns off, and the expressions that have them."""

_MOVES: Final = (
    "Sort",
    "SetIndex",
    "Shuffle",
    "Rearrange",
    "Merge",
    "Join",
    "GroupBy",
    "Duplicates",
)
"""Words in the names of Dask's expressions whose result can have its rows in several orders."""

_SORTS: Final = ("SortValues", "SetIndex")
"""Names of Dask's expressions that look at the records when they are planned."""

_TARGET: Final = "\0target"
"""Name of the column with the target, which is not that of any other column."""


class DaskTable(ChunkedTable):
    """Chunked table that reads a Dask DataFrame or a two-dimensional Dask Array.

    Parameters
    ----------
    X : dask.dataframe.DataFrame or dask.array.Array
        Collection whose partitions are the chunks.

    Attributes
    ----------
    client : distributed.Client or None
        Dask client of the cluster; None if there was no client when the table was created.
    on_cluster : bool
        Whether there is a client. If so, other processes read and store the chunks.

    Raises
    ------
    TypeError
        If `X` is a Dask collection of any other type.
    ValueError
        If the client is asynchronous.
    """

    def __init__(self, X: Any) -> None:
        if not (_is_frame(X) or _is_array(X, 2)):
            raise TypeError(
                f"X is a Dask {type(X).__name__}; pass a Dask DataFrame or a two-dimensional "
                "Dask Array."
            )
        self._collection = X
        # The client is looked up only once, so that the fit runs on the client that was checked
        # before the charge, even if another one is opened in between.
        self.client = _default_client()
        self.on_cluster = self.client is not None

    def __repr__(self) -> str:
        return "<DaskTable>"

    def check_columns(self, schema: Schema) -> None:
        """Check that no column of the schema is missing, without reading values."""
        X = self._collection
        if _is_frame(X):
            check_names([str(name) for name in X.columns], schema)
            _check_folders(X, schema.feature_names)
        elif X.shape[1] != schema.n_features:
            raise SchemaError(
                f"X has {X.shape[1]} features, but Schema is expecting {schema.n_features} "
                "features as input; an array has the columns of the schema, in its order."
            )

    def check_target(self, y: Any, schema: Schema) -> None:
        """Check that `y` is a valid target, without reading values."""
        X = self._collection
        _check_commas(X, schema)
        if _is_frame(X) and isinstance(y, str):
            check_name(y, [str(name) for name in X.columns], schema)
            _check_folders(X, [y])
            return
        if not (_is_series(y) or _is_array(y, 1) or (_is_array(y, 2) and y.shape[1] == 1)):
            raise TypeError(
                f"y is a {type(y).__name__}; with a Dask collection, pass a Dask Series or Array "
                "with the same partitions, or the name of a column of a Dask DataFrame."
            )
        if _is_frame(X) and not _is_series(y) and _moves_rows(X):
            raise ValueError(
                "y is a Dask Array, but X is sorted, joined or grouped, so their rows can be in "
                "different orders; pass the name of the target's column, or a Dask Series."
            )
        if _is_series(y):
            _check_folders(y, [str(y.name)])
        if not _same_partitions(X, y):
            raise ValueError(
                "y must have the same partitions as X, with one value per row; take both from one "
                "Dask DataFrame, or give the name of the target's column."
            )

    def pairs(self, y: Any, schema: Schema) -> list[Chunk]:
        """Pair each delayed partition of the table with the matching target partition.

        Nothing is computed. If `y` is a name, the second element of each pair is that name.
        """
        X = self._collection
        if _is_frame(X) and _is_series(y):
            X, y = _together(X, y)
        if isinstance(y, str):
            return [(table, y) for table in _parts(X)]
        if _is_array(X, 2):
            X = X.rechunk({1: X.shape[1]})
        if _is_array(y, 1) and _is_array(X, 2) and not np.isnan(X.shape[0]):
            y = y.rechunk((X.chunks[0],))
        return list(zip(np.ravel(X.to_delayed()), np.ravel(y.to_delayed()), strict=True))

    def chunks(self, y: Any, schema: Schema) -> Iterator[Chunk]:
        """Compute the partitions in this process, in order."""
        import dask

        for pair in self.pairs(y, schema):
            table, target = dask.compute(*pair)
            yield split_chunk(table, target, schema)

    def rows(self, schema: Schema) -> Iterator[Any]:
        """Compute the partitions' features in order, and load them into this process."""
        import dask

        X = self._collection
        for part in _parts(X) if _is_frame(X) else np.ravel(X.rechunk({1: -1}).to_delayed()):
            (table,) = dask.compute(part)
            yield _features(table, schema)


def split_chunk(table: Any, target: Any, schema: Schema) -> Chunk:
    """Return the features and the target of one computed partition.

    Raises
    ------
    SchemaError
        If the partition lacks a column.
    ValueError
        If the partition does not have one target for each row.
    """
    if isinstance(table, pd.DataFrame):
        names = [str(name) for name in table.columns]
        check_names(names, schema)
        if isinstance(target, str):
            check_name(target, names, schema)
            target = table.iloc[:, names.index(target)]
        table = _features(table, schema)
    if isinstance(target, pd.DataFrame) or getattr(target, "ndim", 1) != 1:
        target = np.asarray(target)[:, 0]
    if len(table) != len(target):
        raise ValueError("a partition must contain one target per row.")
    return table, target


def _features(table: Any, schema: Schema) -> Any:
    if not isinstance(table, pd.DataFrame):
        return table
    names = [str(name) for name in table.columns]
    check_names(names, schema)
    return table.iloc[:, [names.index(name) for name in schema.feature_names]]


def _default_client() -> Any | None:
    """Return the default Dask client, or None if there is no cluster.

    Raises
    ------
    ValueError
        If the client is asynchronous.
    """
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        client = distributed.default_client()
    except ValueError:
        return None
    if client.asynchronous:
        raise ValueError("the Dask client is asynchronous; use Client(asynchronous=False).")
    return client


def _check_folders(given: Any, names: Collection[str]) -> None:
    """Check that Dask guesses no type for a column whose values are names of folders.

    The value of each folder (``job=nurse/``) is that of its records. Dask gives the values of all
    folders one type, and takes those that do not survive this for missing: one folder ``ward=x``
    makes all of ``ward=01`` missing.
    """
    for part in given.expr.walk():
        if type(part).__name__ != "ReadParquetFSSpec":
            continue
        options = (part.operand("kwargs") or {}).get("dataset") or {}
        way = options.get("partitioning", "hive")
        declared = "schema" in way if isinstance(way, dict) else not isinstance(way, str | list)
        guessed = [] if declared else part._dataset_info["partition_names"]
        for name in guessed:
            if name in names:
                raise ValueError(
                    f"X takes the column {name!r} from names of folders, and Dask guesses its type "
                    "from all of them; declare it: dask.dataframe.read_parquet(path, dataset="
                    '{"partitioning": {"flavor": "hive", "schema": pyarrow.schema([('
                    f"{name!r}, pyarrow.string())])}}}})."
                )


def _check_commas(X: Any, schema: Schema) -> None:
    """Check that numbers which Dask may turn into text can be read as text.

    If one cell makes objects of a column, Dask turns all of its cells into text before it sorts by
    the column or makes an array of it, and its numbers have points.
    """
    array = not _is_frame(X)
    if not array and not any(type(part).__name__ in _SORTS for part in X.expr.walk()):
        return
    for part in (*schema.features.values(), schema.target):
        if getattr(part, "decimal", ".") == ",":
            raise ValueError(
                f"X is {'a Dask Array' if array else 'sorted by Dask'}, and the schema has "
                "decimal=',': because of one cell, Dask may turn all numbers of a column into text "
                "without commas; pass a Dask DataFrame that is not sorted, or X.compute()."
            )


def _moves_rows(frame: Any) -> bool:
    """Return whether the plan of a frame moves or orders rows."""
    kinds = [type(part).__name__ for part in frame.expr.walk()]
    return any(word in kind for kind in kinds for word in _MOVES)


def _together(X: Any, y: Any) -> tuple[Any, str]:
    """Return one frame with features and target, and the name of the target.

    Dask plans each collection by itself, so two collections that are computed apart can have their
    rows in different orders: it may sort ties in another way if there are fewer columns.
    """
    return X.map_partitions(
        _with_target,
        y,
        meta=_with_target(X._meta, y._meta),
        align_dataframes=False,  # the rows are in the same order, whatever their index
        enforce_metadata=False,
    ), _TARGET


def _with_target(table: pd.DataFrame, target: pd.Series) -> pd.DataFrame:
    if len(table) != len(target):
        return table  # not an error here, because Dask would log the arguments
    return table.assign(**{_TARGET: target.array})


def _parts(frame: Any) -> list[Any]:
    """Return a frame's delayed partitions, which Dask neither converts nor checks.

    Dask turns a column of Python objects into one of text, and stops if the types of a delayed
    partition are not those that it expects. A single cell decides whether pandas stores a column as
    objects, so either would change how other records are read, or stop the fit.
    """
    try:
        return list(type(frame)(_unconverted(frame.expr, {})).to_delayed())
    except Exception:  # Dask cannot sort by objects, for example; its message could quote records
        return list(frame.to_delayed())


def _unconverted(expression: Any, known: dict[int, Any]) -> Any:
    """Rebuild an expression of Dask without conversions and checks of types."""
    if id(expression) not in known:  # a part may occur many times
        if type(expression).__name__ == "ArrowStringConversion":
            found = _unconverted(expression.frame, known)
        else:
            operands = [
                _unconverted(operand, known) if hasattr(type(operand), "_parameters") else operand
                for operand in expression.operands
            ]
            for name, kinds in _SWITCHES.items():
                if type(expression).__name__ in kinds:
                    operands[expression._parameters.index(name)] = False
            same = all(a is b for a, b in zip(operands, expression.operands, strict=True))
            found = expression if same else type(expression)(*operands)
        known[id(expression)] = found
    return known[id(expression)]


def _is_frame(X: Any) -> bool:
    return hasattr(X, "__dask_graph__") and hasattr(X, "divisions") and X.ndim == 2


def _is_series(y: Any) -> bool:
    return hasattr(y, "__dask_graph__") and hasattr(y, "divisions") and y.ndim == 1


def _is_array(X: Any, n_dimensions: int) -> bool:
    return hasattr(X, "__dask_graph__") and hasattr(X, "chunks") and X.ndim == n_dimensions


def _same_partitions(X: Any, y: Any) -> bool:
    if not _is_frame(X) and not _is_series(y):
        known = not (np.isnan(X.shape[0]) or np.isnan(y.shape[0]))
        return bool(X.shape[0] == y.shape[0] if known else X.numblocks[0] == y.numblocks[0])
    if _n_partitions(X) != _n_partitions(y):
        return False
    divided = all(getattr(given, "known_divisions", False) for given in (X, y))
    return not divided or bool(X.divisions == y.divisions)


def _n_partitions(given: Any) -> int:
    return int(given.npartitions if hasattr(given, "divisions") else given.numblocks[0])
