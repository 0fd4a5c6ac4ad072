"""One thread per numerical library, if imported before the first of them.

Tests run side by side and kernels have threads of their own. Libraries read these variables when
they are loaded, so a process that sets them later has as many threads as cores, which wait for each
other busily: small matrices then take several times the work.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
