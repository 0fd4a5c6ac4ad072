"""Sums over parties may be masked as in secure aggregation: the model stays the same."""

from __future__ import annotations

import numpy as np
import pytest

from chunked_tables import NAMES, ListTable, assert_same_fit, cut, make_estimator, make_table
from dpexplain.models.boosting.records import chunked, source

pytestmark = pytest.mark.full

N_PARTIES, N_DROPPED = 10, 3


def masks(n_senders, shape, rng, n_dropped=0, n_bits=64):
    """Draw one secret for each pair of parties: one adds it to its sums, the other subtracts it.

    Returns the masks of the parties that send, and their sum: the secrets shared with parties that
    dropped out, which the others have to reveal. A protocol makes the secrets from exchanged keys
    and reveals them from shares; here a generator draws them.
    """
    n = n_senders + n_dropped
    found = np.zeros((n, *shape), dtype=np.uint64)
    for one in range(n):
        for other in range(one + 1, n):
            secret = rng.integers(0, 1 << n_bits, shape, dtype=np.uint64)
            found[one] += secret
            found[other] -= secret
    found = found[:n_senders].view(np.int64)
    return found, found.sum(axis=0)


class Server:
    """Adds up what parties send, and remembers it."""

    def __init__(self, rng, *, n_dropped=0, recovers=True):
        self.rng, self.seen, self.n_dropped, self.recovers = rng, [], n_dropped, recovers

    def masks(self, n_senders, shape):
        found, revealed = masks(n_senders, shape, self.rng, self.n_dropped)
        return found, revealed if self.recovers else 0 * revealed

    def total(self, answers):
        answers = list(answers)
        hidden, revealed = self.masks(len(answers), answers[0].shape)
        sent = [answer + mask for answer, mask in zip(answers, hidden, strict=True)]
        self.seen += sent
        return honest_total([*sent, -revealed])


honest_total = chunked.total


def masked_fit(name, server, monkeypatch):
    monkeypatch.setattr(chunked, "CHUNK_ROWS", 1)
    monkeypatch.setattr(chunked, "total", server.total)
    honest = source.EncodedRecords.counts
    n_senders = N_PARTIES - server.n_dropped
    left = []

    def counts(self, n_cells):  # of the empty first chunk, and of one party after the other
        found = honest(self, n_cells)
        if not left:  # the first chunk is the server's: it takes off what was revealed
            of_feature = []
            for c in found:
                hidden, revealed = server.masks(n_senders, c.shape)
                of_feature.append([-revealed, *hidden])
            left.extend(list(m) for m in zip(*of_feature, strict=True))
        sent = [c + m for c, m in zip(found, left.pop(0), strict=True)]
        server.seen += sent
        return sent

    table = make_table(name, 40 * n_senders)
    parts = ListTable(cut(table, range(40, 40 * n_senders, 40)))
    estimator = make_estimator(name)

    def of_the_parties(self, grids, honest_counts=chunked.ChunkedSource.cell_counts):
        monkeypatch.setattr(source.EncodedRecords, "counts", counts)
        return honest_counts(self, grids)

    monkeypatch.setattr(chunked.ChunkedSource, "cell_counts", of_the_parties)
    return assert_same_fit(estimator, table, parts, None)


@pytest.mark.parametrize("n_dropped", [0, N_DROPPED])
@pytest.mark.parametrize("name", NAMES)
def test_masked_sums_give_the_model_of_those_who_sent(name, n_dropped, monkeypatch):
    server = Server(np.random.default_rng(0), n_dropped=n_dropped)
    masked_fit(name, server, monkeypatch)
    bits = np.concatenate([sent.ravel() for sent in server.seen if sent.any()]).view(np.uint64)
    # Each top bit is a fair coin, so the number of ones has a standard deviation of sqrt(n) / 2.
    ones = int((bits >> np.uint64(63)).sum())
    assert abs(ones - len(bits) / 2) < 5 * np.sqrt(len(bits)) / 2


def test_secrets_of_parties_that_dropped_out_have_to_be_revealed(monkeypatch):
    server = Server(np.random.default_rng(0), n_dropped=N_DROPPED, recovers=False)
    with pytest.raises(AssertionError):
        masked_fit(NAMES[0], server, monkeypatch)


def best_guess(n_bits, n_rounds=4000):
    """Attack: the server guesses whether one record is among those of a party.

    It knows all other records, that is, both sums that the party may have sent, and it learns the
    threshold of its guess from the first half of the rounds. Returns its successes in the second.
    """
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, n_rounds)
    seen = np.empty(n_rounds)
    for place, present in enumerate(truth):
        hidden, _ = masks(3, (1,), rng, n_dropped=1, n_bits=n_bits)
        seen[place] = float(hidden[0][0] + 20 + 2 * present)
    half = n_rounds // 2
    cuts = np.quantile(seen[:half], np.linspace(0, 1, 50))
    rates = [np.mean((seen[:half] > cut) == truth[:half]) for cut in cuts]
    return int(np.sum((seen[half:] > cuts[np.argmax(rates)]) == truth[half:])), half


def test_the_server_cannot_tell_from_masked_sums_whether_a_record_is_there():
    """Within five standard deviations of guessing; masks of one bit give the record away."""
    hits, n = best_guess(64)
    assert abs(hits - n / 2) < 5 * np.sqrt(n) / 2
    hits, n = best_guess(1)
    assert hits > n / 2 + 5 * np.sqrt(n) / 2
