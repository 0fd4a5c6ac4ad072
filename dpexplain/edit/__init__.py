"""Edit explanations and models at no privacy cost, with a log of all edits.

Operations are small immutable objects. They are computed from released numbers (curves, noisy
counts, standard deviations), so an edit has no privacy cost, as long as its author uses only
released numbers and general knowledge. An :class:`EditLog` stores operations in order, with undo,
redo, branches and checkpoints, and replays them on an explanation or on a fitted model:

>>> from dpexplain.edit import EditLog, repair
>>> log = EditLog().edit(repair("age", "increasing"), note="risk rises with age")
>>> edited = log.apply(model)  # doctest: +SKIP
"""

from __future__ import annotations

from dpexplain.edit.entry import Entry
from dpexplain.edit.gamchanger import ImportedEdits, from_gamchanger
from dpexplain.edit.levels import Align, Interpolate, Scale, Set, Shift
from dpexplain.edit.log import EditLog
from dpexplain.edit.operation import Operation
from dpexplain.edit.serialize import operation_from_plain, operation_to_plain
from dpexplain.edit.shaping import Convex, Denoise, Flatten, Monotone, Recover, Smooth, Stretch
from dpexplain.edit.whole import Composed, Merge, Remove, Revert, repair

__all__ = [
    "Align",
    "Composed",
    "Convex",
    "Denoise",
    "EditLog",
    "Entry",
    "Flatten",
    "ImportedEdits",
    "Interpolate",
    "Merge",
    "Monotone",
    "Operation",
    "Recover",
    "Remove",
    "Revert",
    "Scale",
    "Set",
    "Shift",
    "Smooth",
    "Stretch",
    "from_gamchanger",
    "operation_from_plain",
    "operation_to_plain",
    "repair",
]
