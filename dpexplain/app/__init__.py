"""The ``dpexplain app`` form: from a table to a signed page without writing code.

The form needs the dashboards (extra ``widgets``).
"""

from __future__ import annotations

import dpexplain_widgets as _widgets  # its error says what to install
from dpexplain.app.form import ReleaseForm

del _widgets

__all__ = ["ReleaseForm"]
