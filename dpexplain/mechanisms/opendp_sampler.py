"""OpenDP's sampler of the discrete Gaussian, in a new process for each draw.

OpenDP keeps the state of its generator in the memory of the process, and offers no way to seed it
again. It recognizes a copy of the process by its process number only, which a fork or a restored
snapshot can share with the original (see `dpexplain.mechanisms.secret_bits`): both would draw the
same noise. A new process has no such state, so its generator is seeded by the operating system.

This file is also the script that the new process runs.
"""

from __future__ import annotations

import sys

__all__ = ["draw"]

_BYTES = 8


def draw(sigma: float, size: int) -> bytes:
    """Draw independent integers from the discrete Gaussian distribution.

    Parameters
    ----------
    sigma : float
        Scale in lattice steps.
    size : int
        Number of draws.

    Returns
    -------
    bytes
        The draws, as int64 in the byte order of the machine.

    Raises
    ------
    RuntimeError
        If the new process does not answer with the draws.
    """
    import subprocess

    # Isolated (-I), so that no variable of the environment changes what the process does.
    command = [sys.executable, "-I", __file__, sigma.hex(), str(size), *filter(None, sys.path)]
    answer = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if answer.returncode or len(answer.stdout) != _BYTES * size:
        raise RuntimeError(
            "the process that draws OpenDP's noise failed; check that "
            f"{sys.executable!r} can import opendp."
        )
    return answer.stdout


def _drawn(sigma: float, size: int) -> bytes:
    from array import array

    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    sampler = make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="i64"), scale=sigma)
    return array("q", sampler([0] * size)).tobytes()


if __name__ == "__main__":
    sys.path += sys.argv[3:]
    sys.stdout.buffer.write(_drawn(float.fromhex(sys.argv[1]), int(sys.argv[2])))
