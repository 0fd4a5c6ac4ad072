"""Records and their scores on the workers of a Dask cluster.

Each worker stores a `Shard`, which contains the encoded records of some partitions. For each visit,
one message is sent to every shard, and every shard returns one answer. Messages contain only public
content (cells, merged bins, and updates computed from noisy sums), so a lost worker can be
replaced: its partitions are encoded again elsewhere, all updates so far are applied again in order,
and the new shard is bit-for-bit identical to the lost one. This releases nothing new. The noise is
drawn in the process that runs the fit, and answers are exact sums, so the cluster must be trusted
as much as this process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning import FeatureBins
from dpexplain.binning.bins import Index
from dpexplain.mechanisms import Coins
from dpexplain.models.boosting.records.binned import Crossing, Loss, Records
from dpexplain.models.boosting.records.chunked import total
from dpexplain.models.boosting.records.class_sums import ClassSums
from dpexplain.models.boosting.records.source import EncodedRecords, Encoding
from dpexplain.tables.chunked import Chunk, ChunkError
from dpexplain.tables.chunked_dask import split_chunk

Update = tuple[int, NDArray[np.float64]] | Crossing
"""Feature of a visit, and the amounts that the visit added to the bins of this feature; or a grid
over two features, which the records keep as an additional column."""

_ROUNDS = 5
"""Number of consecutive recoveries before the fit fails."""

_PATIENCE_SECONDS = 10.0
"""Time between checks of whether a silent worker is still alive."""


class Encoded(NamedTuple):
    """One encoded partition, or the type of the error that prevented encoding it."""

    records: EncodedRecords | None
    failure: str = ""

    def __repr__(self) -> str:
        return "<Encoded>"


def encode_partition(
    table: Any, target: Any, encoding: Encoding, grids: Sequence[FeatureBins]
) -> Encoded:
    """Encode one partition on a worker.

    Errors are never raised, because Dask would log the arguments; the type of
    the error is returned instead.
    """
    try:
        X, y = split_chunk(table, target, encoding.schema)
        return Encoded(EncodedRecords.read(X, y, encoding, grids))
    except Exception as error:
        return Encoded(None, type(error).__name__)


class Shard:
    """Records of some partitions on one worker.

    Methods do not raise errors. The first element of their result is the type of the error, or ""
    if there was no error.

    Parameters
    ----------
    partitions : list of Encoded
    loss : Loss
    salt : int
        Key for the digests.
    """

    def __init__(self, partitions: list[Encoded], loss: Loss, salt: int) -> None:
        self._loss = loss
        self._failure = next((p.failure for p in partitions if p.failure), "")
        self._n_applied = 0
        self._digests: list[int] = []
        self._encoded: EncodedRecords | None = None
        self._binned: Records | None = None
        found = [p.records for p in partitions if p.records is not None]
        self._failure, _ = self._guarded(lambda: self._take(found, salt))

    def __repr__(self) -> str:
        return "<Shard>"

    def _take(self, found: Sequence[EncodedRecords], salt: int) -> None:
        self._digests = [digest(records, salt) for records in found]
        self._encoded = EncodedRecords.joined(found)  # a copy: Dask may keep the originals

    def digests(self) -> tuple[str, Any]:
        """Return the digest of each partition."""
        return self._guarded(lambda: self._digests)

    def counts(self, n_cells: Sequence[int]) -> tuple[str, Any]:
        """Return the exact number of records per cell of each feature."""
        return self._guarded(lambda: self._encoded.counts(n_cells))  # type: ignore[union-attr]

    def bin(self, bin_of_cell: Sequence[Index], n_bins: Sequence[int]) -> tuple[str, Any]:
        """Merge cells into bins, unless they are already merged."""

        def merge() -> None:
            if self._encoded is not None:
                self._binned = self._encoded.binned(bin_of_cell, n_bins, self._loss)
                self._encoded = None

        return self._guarded(merge)

    def ask(
        self, query: str, arguments: tuple[Any, ...], first: int, updates: Sequence[Update]
    ) -> tuple[str, Any]:
        """Apply pending updates, then answer a query.

        Parameters
        ----------
        query : str
            Name of a method of `Records`; "" to apply updates only.
        arguments : tuple
            Arguments of the method.
        first : int
            Index of the first of `updates` among all updates of the fit. This index ensures that a
            message received twice is applied only once.
        updates : sequence of (int, ndarray) or Crossing
            Updates of the fit from index `first` onward: each element is the feature and the update
            of one visit, or the grid of a pair of features.
        """
        return self._guarded(lambda: self._answer(query, arguments, first, updates))

    def _answer(
        self, query: str, arguments: tuple[Any, ...], first: int, updates: Sequence[Update]
    ) -> Any:
        assert self._binned is not None
        if first > self._n_applied:
            raise ChunkError("updates that are missing")
        for update in updates[self._n_applied - first :]:
            if isinstance(update, Crossing):
                self._binned.cross(update)
            else:
                self._binned.apply(*update)
            self._n_applied += 1
        return getattr(self._binned, query)(*arguments) if query else None

    def _guarded(self, method: Callable[[], Any]) -> tuple[str, Any]:
        """Call a method; return the type of its error, or "", and its result."""
        if self._failure:
            return self._failure, None
        try:
            return "", method()
        except Exception as error:
            return type(error).__name__, None


def digest(records: EncodedRecords, salt: int) -> int:
    """Compute an order-independent digest of records.

    Parameters
    ----------
    records : EncodedRecords
    salt : int
        Secret key of the fit. If the key were known, a digest could confirm a guess about the
        records.

    Returns
    -------
    int
    """
    mixed = np.full(len(records), salt, dtype=np.uint64)
    for column in (*records.cells, records.target.view(np.uint32)):
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return int(mixed.sum(dtype=np.uint64)) ^ len(records)


class _Member(NamedTuple):
    """Reference to a shard on a worker, with the partitions that it contains."""

    partitions: tuple[int, ...]
    future: Any
    actor: Any

    @property
    def lost(self) -> bool:
        # An actor that is pending again would be created again, without the updates so far.
        return bool(self.future.status != "finished")


class _LostError(Exception):
    """Error raised if a shard's worker is lost."""


class Shards:
    """All shards of a fit; lost shards are rebuilt.

    Parameters
    ----------
    client : distributed.Client
    pairs : sequence of (Delayed, Delayed or str)
        Table and target of each partition.
    encoding : Encoding
    grids : sequence of FeatureBins
    """

    def __init__(
        self, client: Any, pairs: Sequence[Chunk], encoding: Encoding, grids: Sequence[FeatureBins]
    ) -> None:
        self._client, self._pairs = client, pairs
        self._encoding, self._grids = encoding, grids
        self._salt = int.from_bytes(os.urandom(8), "little")
        self._bins: tuple[Any, ...] | None = None
        self._updates: list[Update] = []
        self._n_applied = 0
        self._digests: dict[int, int] = {}
        self._members: list[_Member] = []

    def __repr__(self) -> str:
        return "<Shards>"

    def start(self) -> None:
        """Encode all partitions on workers chosen by the scheduler."""
        self._members = self._made(range(len(self._pairs)))

    def stop(self) -> None:
        """Free the records on the workers immediately."""
        futures = [member.future for member in self._members]
        self._members, self._updates, self._pairs = [], [], []
        with suppress(Exception):  # a cluster that no longer exists has no records
            self._client.cancel(futures, force=True)

    def counts(self, n_cells: Sequence[int]) -> list[list[NDArray[np.int64]]]:
        """Return the exact number of records per cell of each feature, for each shard."""
        return self._of_all(lambda member: member.actor.counts(list(n_cells)))

    def bin(self, bin_of_cell: Sequence[Index], n_bins: Sequence[int]) -> None:
        """Merge cells into bins on all shards."""
        bins = self._bins = (list(bin_of_cell), list(n_bins))
        self._of_all(lambda member: member.actor.bin(*bins))

    def add(self, update: Update) -> None:
        """Store an update for the next query."""
        self._updates.append(update)

    def ask(self, query: str, *arguments: Any) -> list[Any]:
        """Send a query to all shards; return answers that count every record once."""
        first = self._n_applied
        news = self._updates[first:]
        answers = self._of_all(lambda member: member.actor.ask(query, arguments, first, news))
        self._n_applied = len(self._updates)
        return answers

    def _of_all(self, call: Callable[[_Member], Any]) -> list[Any]:
        """Call all shards; return answers that cover every partition exactly once."""
        answers: dict[tuple[int, ...], Any] = {}
        for _ in range(_ROUNDS):
            waiting = [m for m in self._members if m.partitions not in answers]
            calls = [(member, _called(call, member)) for member in waiting]
            lost = []
            for member, answer in calls:
                try:
                    answers[member.partitions] = _value(answer, member)
                except _LostError:
                    lost.append(member)
            if not lost:
                return self._complete(answers)
            self._replace(lost)
        raise ChunkError("workers that were lost repeatedly")

    def _complete(self, answers: dict[tuple[int, ...], Any]) -> list[Any]:
        covered = sorted(i for partitions in answers for i in partitions)
        if covered != list(range(len(self._pairs))):
            raise ChunkError("a partition that would be counted twice or omitted")
        return list(answers.values())

    def _replace(self, lost: Sequence[_Member]) -> None:
        """Rebuild lost shards from their partitions and the public state."""
        kept = [m for m in self._members if m not in lost]
        self._members = kept + self._made([i for m in lost for i in m.partitions])

    def _made(self, partitions: Sequence[int]) -> list[_Member]:
        made: list[_Member] = []
        missing = list(partitions)
        for _ in range(_ROUNDS):
            for member in self._placed(missing):
                try:
                    self._brought_up(member)
                    made.append(member)
                except _LostError:
                    continue
            missing = [i for i in partitions if not any(i in m.partitions for m in made)]
            if not missing:
                return made
        raise ChunkError("workers that were lost repeatedly")

    def _placed(self, partitions: Sequence[int]) -> Iterator[_Member]:
        """Encode partitions, and combine the partitions of each worker into one shard."""
        from distributed import wait

        futures = dict(zip(partitions, self._encoded(partitions), strict=True))
        wait(list(futures.values()))
        if any(future.status == "error" for future in futures.values()):
            raise ChunkError("a partition that could not be read")
        holders = self._client.who_has(list(futures.values()))
        by_worker: dict[str, list[int]] = {}
        for i, future in futures.items():
            workers = holders.get(future.key) or ("",)
            by_worker.setdefault(workers[0], []).append(i)
        actors = {
            tuple(held): self._submitted(worker, [futures[i] for i in held])
            for worker, held in by_worker.items()
        }
        for held, future in actors.items():
            try:
                yield _Member(held, future, future.result())
            except Exception:  # the worker was lost meanwhile, whatever the error is
                continue

    def _encoded(self, partitions: Sequence[int]) -> list[Any]:
        from dask import delayed

        shared = delayed((self._encoding, self._grids), name=f"dpexplain-encoding-{uuid4().hex}")
        task = delayed(encode_partition, pure=False)
        tasks = [
            task(
                *self._pairs[i],
                shared[0],
                shared[1],
                dask_key_name=f"dpexplain-encoded-{uuid4().hex}",
            )
            for i in partitions
        ]
        with _no_word_of_size():
            return list(self._client.compute(tasks))

    def _submitted(self, worker: str, held: list[Any]) -> Any:
        where = {"workers": [worker], "allow_other_workers": True} if worker else {}
        return self._client.submit(
            Shard,
            held,
            self._encoding.loss,
            self._salt,
            actor=True,
            key=f"dpexplain-shard-{uuid4().hex}",
            **where,
        )

    def _brought_up(self, member: _Member) -> None:
        """Compare a new shard's digests with earlier ones, then bring it up to date.

        The shard merges its cells, if the other shards have done so, and applies all past updates.
        """
        found = _value(_called(lambda m: m.actor.digests(), member), member)
        for i, new in zip(member.partitions, found, strict=True):
            if self._digests.setdefault(i, new) != new:
                raise ChunkError("a partition that was read again with other records")
        if self._bins is not None:
            bins = self._bins
            _value(_called(lambda m: m.actor.bin(*bins), member), member)
            past = self._updates[: self._n_applied]
            _value(_called(lambda m: m.actor.ask("", (), 0, past), member), member)


def _no_word_of_size() -> Any:
    """Return a context that suppresses Dask's warning about large graphs.

    The warning reports the size of the graph. If the collection was created with
    ``dask.dataframe.from_pandas``, its graph contains the records themselves, so the size would
    reveal something about them.
    """
    import dask

    return dask.config.set({"distributed.admin.large-graph-warning-threshold": sys.maxsize})


def _called(call: Callable[[_Member], Any], member: _Member) -> Any:
    try:
        return call(member)
    except RuntimeError:  # the cluster already knows that the worker is lost
        return None


def _value(answer: Any, member: _Member) -> Any:
    """Wait for an answer, checking whether the worker is still alive."""
    while answer is not None:
        try:
            failure, value = answer.result(timeout=_PATIENCE_SECONDS)
        except TimeoutError:
            if member.lost:
                break
        except Exception:  # its message is not shown, because it may quote records
            break
        else:
            if failure:
                raise ChunkError(failure)
            return value
    raise _LostError


class ClusterSource:
    """Source of a Dask collection's records, which remain on the workers.

    Parameters
    ----------
    client : distributed.Client
    pairs : sequence of (Delayed, Delayed or str)
        Table and target of each partition.
    encoding : Encoding
    """

    def __init__(self, client: Any, pairs: Sequence[Chunk], encoding: Encoding) -> None:
        self._client, self._pairs, self._encoding = client, pairs, encoding
        self._shards: Shards | None = None

    def __repr__(self) -> str:
        return f"<ClusterSource of {self._encoding.schema.n_features} features>"

    def cell_counts(self, grids: Sequence[FeatureBins]) -> list[NDArray[np.int64]]:
        """Read the records and return the number of records per cell of each feature."""
        self._shards = Shards(self._client, self._pairs, self._encoding, grids)
        self._shards.start()
        of_shards = self._shards.counts([grid.n_bins for grid in grids])
        return [total(chunks) for chunks in zip(*of_shards, strict=True)]

    def binned(self, bin_of_cell: Sequence[Index], n_bins: Sequence[int]) -> ClusterRecords:
        """Merge cells into bins and return the records, with scores of zero."""
        assert self._shards is not None
        self._shards.bin(bin_of_cell, n_bins)
        return ClusterRecords(self._shards)

    def close(self) -> None:
        """Free the records on the workers."""
        if self._shards is not None:
            self._shards.stop()


class ClusterRecords:
    """Binned records on the workers of a cluster.

    Parameters
    ----------
    shards : Shards
    """

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    def __repr__(self) -> str:
        return "<ClusterRecords>"

    def apply(self, feature: int, update: NDArray[np.float64]) -> None:
        """Store an update per bin, which the next pass adds to the scores of the records."""
        self._shards.add((feature, update))

    def leaf_sums(
        self, feature: int, leaf_of_bin: NDArray[np.uint8], n_leaves: int, clip: float
    ) -> NDArray[np.int64]:
        """Sum clipped residuals per leaf, in lattice steps."""
        return total(self._shards.ask("leaf_sums", feature, leaf_of_bin, n_leaves, clip))

    def within(self, clip: float) -> NDArray[np.int64]:
        """Count the residuals that are not clipped, and all residuals."""
        return total(self._shards.ask("within", clip))

    def joint_counts(
        self, groups: Sequence[NDArray[np.intp]], pairs: Sequence[tuple[int, int]]
    ) -> NDArray[np.int64]:
        """Return the number of records in each pair of groups, for some pairs of features."""
        return total(self._shards.ask("joint_counts", groups, pairs))

    def score_counts(
        self, low: float, width: float, n_cells: int, largest: float = 1.0
    ) -> NDArray[np.int64]:
        """Count the records by outcome and score cell, shape (n_outcomes, n_cells)."""
        return total(self._shards.ask("score_counts", low, width, n_cells, largest))

    def class_sums(self, each: ClassSums) -> NDArray[np.int64]:
        """Sum what calibrates several classes over the records, in lattice steps."""
        return total(self._shards.ask("class_sums", each))

    def cross(self, crossing: Crossing) -> None:
        """Store a crossing; the next query adds a column with the cell of each record."""
        self._shards.add(crossing)

    def cell_counts(self, column: int, n_cells: int) -> NDArray[np.int64]:
        """Return the number of records in each cell of a crossing, shape (n_cells,)."""
        return total(self._shards.ask("cell_counts", column, n_cells))

    def bag(self, share: float, coins: Coins) -> ClusterRecords:
        """Raise an error, because a lost worker's random draws cannot be reproduced."""
        raise ChunkError("bags on a cluster")

    def local(self) -> list[Records]:
        """Return an empty list, because all records are on the workers."""
        return []
