"""Models fitted at several epsilons, side by side, with what all of them cost together."""

from __future__ import annotations

from dpexplain.compare.comparison import Comparison
from dpexplain.compare.sweep import sweep

__all__ = ["Comparison", "sweep"]
