"""Parquet files and pyarrow datasets, read in batches.

Every file is read with the types that it declares itself, never those of other files, and Arrow
columns store missing cells separately from values. Each cell is therefore read independently,
whereas pandas would turn a batch of integers into floats if one of them is missing. Programs often
choose the types of a file by its cells, so nothing is said about types either.

If folders are named ``key=value``, each key becomes a column, and each folder name is parsed
independently. pyarrow itself would choose one type for the values of all folders, and would reject
all folders if every value is missing or if one value is not UTF-8. This would reveal records.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import unquote, unquote_to_bytes

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.extras import needed
from dpexplain._utils.lazy import pd
from dpexplain.schema import Schema
from dpexplain.tables.cells import UNREADABLE
from dpexplain.tables.chunked import Chunk, ChunkedTable, in_one_piece
from dpexplain.tables.columns import Column, check_names
from dpexplain.tables.targets import check_name

BATCH_ROWS: Final = 1 << 16
"""Number of rows that are decoded at a time."""

_NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
"""Name that Hive, Spark and Arrow give to the folder of rows whose cell is missing."""

_TYPED_FORMATS: Final = frozenset({"parquet", "arrow", "orc"})


class ArrowTable(ChunkedTable):
    """Chunked table that reads a pyarrow dataset.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
        Dataset of one or more files.
    named_folders : bool, default=False
        Whether all folders named ``key=value`` become columns. If False, only the folders that the
        dataset declares as partitions become columns.
    """

    def __init__(self, dataset: Any, *, named_folders: bool = False) -> None:
        try:
            self._fragments = list(dataset.get_fragments())
        except ValueError:
            raise TypeError(
                "X is a filtered pyarrow dataset, whose files cannot be read one by one; write "
                "the rows to a separate dataset."
            ) from None
        if not self._fragments:
            raise ValueError("X holds no file; pass a Parquet file, or a folder of such files.")
        for fragment in self._fragments:
            _check_format(fragment)
        keys_of = _named_folders if named_folders else _partition_keys
        self._keys = [keys_of(fragment) for fragment in self._fragments]

    @classmethod
    def open(cls, X: Any) -> ArrowTable:
        """Open the Parquet files at a path, or wrap a pyarrow dataset."""
        try:
            import pyarrow.dataset
        except ImportError as error:
            raise ImportError(needed("reading Parquet", "pyarrow", "dask")) from error
        if not isinstance(X, str | os.PathLike):
            return cls(X)
        try:
            return cls(pyarrow.dataset.dataset(X, format="parquet"), named_folders=True)
        except FileNotFoundError:
            raise ValueError(
                f"no file or folder {str(Path(X))!r}; pass the path of a Parquet file or of a "
                "folder of them."
            ) from None
        except pyarrow.ArrowInvalid:
            raise ValueError(
                f"{str(Path(X))!r} contains a file that is not Parquet; pass a Parquet file or a "
                "folder of them."
            ) from None
        except UnicodeDecodeError:
            raise ValueError(
                f"{str(Path(X))!r} contains a file or folder whose name is not UTF-8; rename it."
            ) from None

    def __repr__(self) -> str:
        return "<ArrowTable>"

    def column_names(self) -> list[str]:
        """Return the column names of the first file, without reading values."""
        return _names(self._fragments[0], self._keys[0])

    def check_columns(self, schema: Schema) -> None:
        """Check that no file lacks a column of the schema, without reading values."""
        for fragment, keys in zip(self._fragments, self._keys, strict=True):
            check_names(_names(fragment, keys), schema)

    def check_target(self, y: Any, schema: Schema) -> None:
        """Check that every file has the target column, without reading values."""
        for fragment, keys in zip(self._fragments, self._keys, strict=True):
            check_name(y, _names(fragment, keys), schema)

    def chunks(self, y: Any, schema: Schema) -> Iterator[Chunk]:
        """Read the files in order, in batches."""
        yield from map(features_and_target, self._frames([*schema.feature_names, y]))

    def rows(self, schema: Schema) -> Iterator[pd.DataFrame]:
        """Read the features of the files in order, in batches."""
        yield from self._frames(list(schema.feature_names))

    def in_memory(self, y: Any, columns: Sequence[str]) -> Chunk:
        """Read some columns and the target from all files; cells keep their stored values."""
        return in_one_piece(map(features_and_target, self._frames([*columns, y])), columns)

    def _frames(self, names: list[str]) -> Iterator[pd.DataFrame]:
        for fragment, keys in zip(self._fragments, self._keys, strict=True):
            stored = set(fragment.physical_schema.names)
            for batch in _batches(fragment, [name for name in names if name in stored]):
                yield frame_of_batch(batch, names, keys)


def _check_format(fragment: Any) -> None:
    """Reject file formats with inferred types: one record could change a type."""
    found = getattr(getattr(fragment, "format", None), "default_extname", "parquet")
    if found not in _TYPED_FORMATS:
        raise TypeError(
            f"X holds files of the format {found!r}, whose column types are guessed from their "
            "values; write them to Parquet, or read them into a DataFrame."
        )


def _batches(fragment: Any, columns: list[str]) -> Iterator[Any]:
    """Read one file in batches, with the types that it declares."""
    if type(fragment).__name__ == "ParquetFileFragment":
        from pyarrow.parquet import ParquetFile

        with fragment.open() as file:
            # Without this list, the strings of a pandas Categorical would be checked while they are
            # read, and invalid UTF-8 would stop the fit.
            coded = _coded_texts(fragment.physical_schema)
            yield from ParquetFile(file, pre_buffer=False, read_dictionary=coded).iter_batches(
                batch_size=BATCH_ROWS,
                row_groups=[group.id for group in fragment.row_groups],
                columns=columns,
                use_threads=False,
            )
        return
    yield from fragment.to_batches(
        schema=fragment.physical_schema,
        columns=columns,
        batch_size=BATCH_ROWS,
        batch_readahead=1,
        fragment_readahead=1,
        cache_metadata=False,
    )


def _coded_texts(schema: Any) -> list[str]:
    """Return the names of dictionary-encoded columns of strings or bytes."""
    import pyarrow as pa

    texts = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
    return [
        field.name
        for field in schema
        if pa.types.is_dictionary(field.type) and field.type.value_type in texts
    ]


def _named_folders(fragment: Any) -> Mapping[str, object]:
    """Return the values of the ``key=value`` folders in a file's path, by key.

    Keys that are also columns of the file are left out. Never raises an error, whatever the values.
    """
    stored = set(fragment.physical_schema.names)
    folders = [name.partition("=") for name in fragment.path.split("/")[:-1] if "=" in name]
    keys = {unquote(key): _value_of_folder(value) for key, _, value in folders}
    return {key: value for key, value in keys.items() if key not in stored}


def _value_of_folder(value: str) -> str | bytes | None:
    return None if value == _NO_VALUE else _decoded(unquote_to_bytes(value))


def _partition_keys(fragment: Any) -> Mapping[str, object]:
    from pyarrow.dataset import get_partition_keys

    stored = set(fragment.physical_schema.names)
    keys = get_partition_keys(fragment.partition_expression)
    return {name: key for name, key in keys.items() if name not in stored}


def _names(fragment: Any, keys: Mapping[str, object]) -> list[str]:
    return [*fragment.physical_schema.names, *keys]


def frame_of_batch(
    batch: Any, names: Sequence[str], keys: Mapping[str, object] = MappingProxyType({})
) -> pd.DataFrame:
    """Convert columns of a record batch to a DataFrame, with their stored values.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
    names : sequence of str
        Columns of the result.
    keys : mapping of str to object, default={}
        Columns that are not in the batch, each with the one value that all its cells have.

    Returns
    -------
    DataFrame
    """
    columns: dict[str, Any] = {}
    for name in names:
        if name in keys:
            cells: Any = np.full(batch.num_rows, keys[name], dtype=object)
        else:
            cells = arrow_cells(batch.column(name))
        columns[name] = pd.Series(cells, dtype=cells.dtype, copy=False)
    return pd.DataFrame(columns, index=pd.RangeIndex(batch.num_rows), copy=False)


def features_and_target(frame: pd.DataFrame) -> Chunk:
    """Separate the features from the target, which is the last column."""
    return frame.iloc[:, :-1], frame.iloc[:, -1]


def arrow_cells(column: Any) -> Column:
    """Return the cells of an Arrow column, with their stored values.

    Parameters
    ----------
    column : pyarrow.Array of shape (n,)
        Column of any type.

    Returns
    -------
    ndarray or ExtensionArray of shape (n,)
        The cells; `UNREADABLE` replaces a cell that cannot be converted to a Python object.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        if str(kind.value_type) == "string_view":  # of polars; pyarrow cannot decode it
            texts = column.dictionary.cast(pa.large_binary())
            column = pa.DictionaryArray.from_arrays(column.indices, texts)
            return _texts(column.dictionary_decode(), pa.large_binary())
        return arrow_cells(column.dictionary_decode())
    if pa.types.is_floating(kind):
        return column.to_numpy(zero_copy_only=False)  # missing cells become NaN
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return _masked(column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _texts(column, pa.large_binary() if pa.types.is_large_string(kind) else pa.binary())
    if str(kind) == "string_view":  # of polars; the oldest pyarrow has no is_string_view
        return _texts(column, pa.large_binary())
    return _one_by_one(column)


def _masked(column: Any) -> Column:
    values = column.fill_null(False if str(column.type) == "bool" else 0)
    array = values.to_numpy(zero_copy_only=False)
    if not column.null_count:
        return array
    missing = column.is_null().to_numpy(zero_copy_only=False)
    wrapped = pd.arrays.BooleanArray if array.dtype == bool else pd.arrays.IntegerArray
    return wrapped(array.copy(), missing.copy())


def _texts(column: Any, binary: Any) -> Column:
    """Decode each distinct string once; bytes that are not UTF-8 remain bytes."""
    encoded = column.cast(binary).dictionary_encode()
    distinct = np.empty(len(encoded.dictionary), dtype=object)
    for place, cell in enumerate(encoded.dictionary.to_pylist()):
        distinct[place] = _decoded(cell)
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return pd.Categorical.from_codes(codes, categories=pd.Index(distinct, dtype=object))


def _decoded(cell: bytes) -> str | bytes:
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return cell


def _one_by_one(column: Any) -> NDArray[np.object_]:
    cells = np.empty(len(column), dtype=object)
    for place, cell in enumerate(column):
        try:
            cells[place] = cell.as_py()
        except Exception:  # for example, a date outside Python's calendar
            cells[place] = UNREADABLE
    return cells
