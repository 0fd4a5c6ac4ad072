"""Secret random bits for all noise and all coins.

They come from OpenSSL's generator, a block cipher in counter mode [1]_. Like the operating system's
own generator, it stretches a short secret seed with a cipher; earlier output cannot be computed
from its state. OpenSSL's generator is about ten times as fast. This matters if each step of a fit
needs noise for a quarter of a million sums. This module keeps no state.

OpenSSL keeps a state in the memory of the process, and a copy of the process would repeat it.
OpenSSL recognizes a copy by its process number. A fork can have the number of its parent: in its
own namespace, or after the parent has ended. A restored snapshot of the process always has
the number of the original. So each call first seeds the generator again from the operating system.

References
----------
.. [1] Barker and Kelsey, "Recommendation for Random Number Generation Using Deterministic Random
   Bit Generators", NIST SP 800-90A (CTR_DRBG).
"""

from __future__ import annotations

import os
import ssl

__all__ = ["secret_bytes"]

_BYTES_AT_ONCE = 2**20  # OpenSSL counts them in 32 bits

_SEED_BYTES = 64  # more than a whole seed, so OpenSSL 1.1 also seeds its generator at once


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
    ssl.RAND_add(os.urandom(_SEED_BYTES), _SEED_BYTES)
    starts = range(0, n, _BYTES_AT_ONCE)
    return b"".join(ssl.RAND_bytes(min(_BYTES_AT_ONCE, n - start)) for start in starts)
