"""Write pages in programs that do not display widgets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dpexplain.statement import PrivacyStatement
from dpexplain_widgets.views.explorer import Explorer


def write_page(
    source: Any,
    path: str | os.PathLike[str],
    *,
    release_safe: bool = True,
    statement: PrivacyStatement | None = None,
    title: str | None = None,
    **choices: Any,
) -> Path:
    """Write a page with an Explorer that works without a kernel or a network.

    Parameters
    ----------
    source : Comparison, GlobalExplanation or LedgerSummary
        What to show.
    path : path-like
        Destination; the file is written completely or not at all.
    release_safe : bool, default=True
        Whether to leave out everything that is not private; see
        :meth:`dpexplain_widgets.Explorer.export_html`.
    statement : PrivacyStatement or None, default=None
        Statement shown below the Explorer; None means a statement built from the attached ledger
        or guarantee.
    title : str or None, default=None
        Heading and browser title; None means the name of the model and of its target.
    **choices
        Initial choices of the Explorer, such as ``term="age"``.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    TypeError, ValueError
        If a part of `source` does not state whether it is private, if nothing in `source` may
        be released, or if `title` is not a string with visible characters.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(0.5, 4), progress=False)
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dpexplain_widgets import write_page
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_page(comparison, Path(folder, "report.html"))
    ...     page.name, page.stat().st_size > 100_000
    ('report.html', True)
    """
    view = Explorer(source, **choices)
    return view.export_html(path, release_safe, statement=statement, title=title)
