"""Exact, versioned and strict JSON for explanations, comparisons and ledgers.

A file holds what the object shows, and can be opened by someone who has neither model nor data.
It holds no records, but not all of it may leave:

* A `ShapeFunction` or `GlobalExplanation` may if ``guarantee.private`` is true.
* A `Comparison` carries its non-private reference and its metrics on held-out records along; it
  may leave if ``comparison.private`` is true, so without either;
  :func:`dpexplain.compare.releasable` leaves both out.
* A `LocalExplanation` names the bin of every value of its samples; it may leave if
  ``explanation.releasable`` is true, which needs a private model and public samples.
* A `Guarantee` or `LedgerSummary` holds labels and public numbers, nothing from the data.

Reading runs no code from the file and refuses whatever it does not know.
"""

from __future__ import annotations

from dpexplain.io.files import load, save, write_file
from dpexplain.io.kinds import from_json, to_json

__all__ = ["from_json", "load", "save", "to_json", "write_file"]
