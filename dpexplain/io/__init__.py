"""Exact, versioned and strict JSON for explanations, comparisons and ledgers.

A file contains everything that the object shows, and can be opened without the model or data. It
contains no records, but not every file may be shared:

* A `ShapeFunction` or `GlobalExplanation` may be shared if ``guarantee.private`` is true.
* A `Comparison` contains its non-private reference and its metrics on held-out records; it may be
  shared if ``comparison.private`` is true, that is, without both;
  :func:`dpexplain.compare.releasable` leaves both out.
* A `LocalExplanation` names the bin of every value of its samples; it may be shared if
  ``explanation.releasable`` is true, which needs a private model and public samples.
* A `Guarantee` or `LedgerSummary` holds labels and public numbers, nothing from the data.

Reading a file runs no code from it and rejects unknown content.
"""

from __future__ import annotations

from dpexplain.io.files import load, save, write_file
from dpexplain.io.kinds import from_json, to_json

__all__ = ["from_json", "load", "save", "to_json", "write_file"]
