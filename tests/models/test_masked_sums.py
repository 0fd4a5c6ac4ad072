"""Sums over parties may be masked as in secure aggregation: the model stays the same."""

from __future__ import annotations

import numpy as np
import pytest

from chunked_tables import NAMES, ListTable, assert_same_fit, cut, make_estimator, make_table
from dpexplain.models.boosting.records import chunked, source

pytestmark = pytest.mark.full

N_PARTIES = 10


def masks(n_parties, shape, rng):
    """Draw one mask per party, uniform on 64 bits; they add up to 0 modulo 2**64."""
    drawn = rng.integers(0, 1 << 64, (n_parties - 1, *shape), dtype=np.uint64)
    last = np.uint64(0) - drawn.sum(axis=0, dtype=np.uint64)
    return [*drawn.view(np.int64), last.view(np.int64)]


class Server:
    """Adds up what parties send, and remembers it."""

    def __init__(self, rng, *, forgets=False):
        self.rng, self.seen, self.forgets = rng, [], forgets

    def total(self, answers):
        answers = list(answers)
        hidden = masks(len(answers), answers[0].shape, self.rng)
        if self.forgets:
            hidden[0] = hidden[0] + 1
        sent = [answer + mask for answer, mask in zip(answers, hidden, strict=True)]
        self.seen += sent
        return honest_total(sent)


honest_total = chunked.total


def masked_fit(name, server, monkeypatch):
    monkeypatch.setattr(chunked, "CHUNK_ROWS", 1)
    monkeypatch.setattr(chunked, "total", server.total)
    honest = source.EncodedRecords.counts
    left = []

    def counts(self, n_cells):  # of the empty first chunk, and of one party after the other
        found = honest(self, n_cells)
        if not left:
            of_feature = [masks(N_PARTIES + 1, c.shape, server.rng) for c in found]
            left.extend(list(m) for m in zip(*of_feature, strict=True))
        sent = [c + m for c, m in zip(found, left.pop(), strict=True)]
        server.seen += sent
        return sent

    table = make_table(name, 400)
    parts = ListTable(cut(table, range(40, 400, 40)))
    estimator = make_estimator(name)

    def of_the_parties(self, grids, honest_counts=chunked.ChunkedSource.cell_counts):
        monkeypatch.setattr(source.EncodedRecords, "counts", counts)
        return honest_counts(self, grids)

    monkeypatch.setattr(chunked.ChunkedSource, "cell_counts", of_the_parties)
    return assert_same_fit(estimator, table, parts, None)


@pytest.mark.parametrize("name", NAMES)
def test_masked_sums_of_ten_parties_give_the_model_of_the_whole(name, monkeypatch):
    server = Server(np.random.default_rng(0))
    masked_fit(name, server, monkeypatch)
    bits = np.concatenate([sent.ravel() for sent in server.seen]).view(np.uint64)
    # Each top bit is a fair coin, so the number of ones has a standard deviation of sqrt(n) / 2.
    ones = int((bits >> np.uint64(63)).sum())
    assert abs(ones - len(bits) / 2) < 5 * np.sqrt(len(bits)) / 2


def test_a_mask_that_does_not_cancel_is_seen(monkeypatch):
    server = Server(np.random.default_rng(0), forgets=True)
    with pytest.raises(AssertionError):
        masked_fit(NAMES[0], server, monkeypatch)
