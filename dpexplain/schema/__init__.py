"""Public knowledge about a table: bounds, categories, units and the target.

A private model must not derive the form of a table from its records: the bounds of each feature,
the categories and the classes are fixed before any record is read. A :class:`Schema` contains this
knowledge, which comes from documentation and can be published.
"""

from __future__ import annotations

from dpexplain.schema.features import Categorical, Classes, Date, Numeric, Range
from dpexplain.schema.features import Feature as Feature
from dpexplain.schema.features import Target as Target
from dpexplain.schema.features import Task as Task
from dpexplain.schema.schema import Schema

__all__ = ["Categorical", "Classes", "Date", "Numeric", "Range", "Schema"]
