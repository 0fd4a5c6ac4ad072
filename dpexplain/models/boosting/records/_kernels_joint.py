"""Counts of the records in pairs of groups, 64 records at a time.

Each group has one bit per record, which is 1 for the records in the group. Records in a group of
one feature and in a group of another one have a 1 in both, so counting them takes one conjunction
and a count of ones for each word of 64 bits.
"""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit

WORD = 64
"""Number of records per word."""

_W = np.uint64
_ONE, _LAST = _W(1), _W(WORD - 1)
_PAIRS, _NIBBLES = _W(0x5555555555555555), _W(0x3333333333333333)
_BYTES, _ADD_UP = _W(0x0F0F0F0F0F0F0F0F), _W(0x0101010101010101)
_TWO, _FOUR, _TOP = _W(2), _W(4), _W(56)


@njit(cache=True, nogil=True)
def mark_groups(bins, group_of_bin, words):  # type: ignore[no-untyped-def]
    """Set the bit of each record in the words of its group.

    Parameters
    ----------
    bins : ndarray of shape (n_records,)
    group_of_bin : ndarray of shape (n_bins,)
    words : ndarray of shape (n_groups, n_words), dtype uint64
        Words without ones, which are filled in place.
    """
    for r in range(len(bins)):
        words[group_of_bin[bins[r]], r // WORD] |= _ONE << (_W(r) & _LAST)


@njit(inline="always")
def _ones(word):  # type: ignore[no-untyped-def]
    """Count the ones among 64 bits: of each 2 bits, of each 4, of each 8, of all."""
    word = word - ((word >> _ONE) & _PAIRS)
    word = (word & _NIBBLES) + ((word >> _TWO) & _NIBBLES)
    word = (word + (word >> _FOUR)) & _BYTES
    return (word * _ADD_UP) >> _TOP


@njit(cache=True, nogil=True)
def count_together(words, start, pairs, counts):  # type: ignore[no-untyped-def]
    """Count the records in each pair of groups.

    Parameters
    ----------
    words : ndarray of shape (n_groups, n_words), dtype uint64
        Words of the groups of all features.
    start : ndarray of shape (n_features + 1,)
        First group of each feature.
    pairs : ndarray of shape (n_pairs, 2)
        Pairs of features.
    counts : ndarray of shape (n_cells,), dtype int64
        The tables of all pairs, row by row; the counts are added in place.
    """
    cell = 0
    for p in range(len(pairs)):
        first, second = pairs[p]
        for i in range(start[first], start[first + 1]):
            for j in range(start[second], start[second + 1]):
                together = _W(0)
                for k in range(words.shape[1]):
                    together += _ones(words[i, k] & words[j, k])
                counts[cell] += np.int64(together)
                cell += 1
