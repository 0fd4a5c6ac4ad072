"""Exact, versioned and strict JSON for explanations, comparisons and ledgers.

A file contains everything that the object shows, and can be opened without the model or the data.
Not every file may be shared:

* A `ShapeFunction`, `PairCurve`, `GlobalExplanation`, `FilterBank` or `WeightMap` may be shared if
  ``guarantee.private`` is true.
* A `Comparison` may contain a non-private reference and metrics on held-out records. It may be
  shared if ``comparison.private`` is true: it then contains neither the reference nor the metrics.
  :func:`dpexplain.compare.releasable` removes both.
* A `LocalExplanation` contains the bin of every value of its samples, and a `FilterExplanation`
  contains the prepared inputs of its samples. They may be shared if ``explanation.releasable`` is
  true, which requires a private model and public samples.
* A `Guarantee` or `LedgerSummary` may always be shared, because it contains only labels and public
  numbers.

Reading a file never runs code from it, and unknown content is rejected.
"""

from __future__ import annotations

from dpexplain.io.files import load, save, write_file
from dpexplain.io.kinds import from_json, to_json

__all__ = ["from_json", "load", "save", "to_json", "write_file"]
