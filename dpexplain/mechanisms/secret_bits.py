"""Secret random bits: those of all noise and of all coins come from here.

They come from OpenSSL's generator, a block cipher in counter mode that is seeded by the operating
system and reseeded in each forked process [1]_. Like the operating system's own generator, it
stretches a short secret seed with a cipher; earlier output cannot be computed from its state. It is
more than ten times as fast, which matters if each step of a fit needs noise for a quarter of a
million sums. This module keeps no state.

References
----------
.. [1] Barker and Kelsey, "Recommendation for Random Number Generation Using Deterministic Random
   Bit Generators", NIST SP 800-90A (CTR_DRBG).
"""

from __future__ import annotations

import ssl

__all__ = ["secret_bytes"]

_BYTES_AT_ONCE = 2**20  # OpenSSL counts them in 32 bits


def secret_bytes(n: int) -> bytes:
    """Draw fresh random bytes, which cannot be predicted or drawn again.

    Parameters
    ----------
    n : int
        Number of bytes.

    Returns
    -------
    bytes
    """
    starts = range(0, n, _BYTES_AT_ONCE)
    return b"".join(ssl.RAND_bytes(min(_BYTES_AT_ONCE, n - start)) for start in starts)
