"""Records of edits, as plain data."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from dpexplain.explain._record import finite, text
from dpexplain.explain._text import shorten, signed_number

EDITED = "Edited by hand after the fit"
"""Beginning of the guarantee note of an edited explanation."""

_CONDITION = (
    "an edit is computed from released numbers, so it costs epsilon 0, as long as the editor uses "
    "only released numbers and general knowledge, not the records"
)
_LONGEST_OPERATION = 100_000


@dataclasses.dataclass(frozen=True)
class EditEffect:
    """Effect of one edit on one curve or pair.

    Parameters
    ----------
    term : str
        Name of the term.
    n_bins : int
        Number of bins (or cells of a pair) whose contribution changed.
    rms : float
        Root mean square of the change, weighted by the (noisy) counts, in units of the score.
    people_share : float
        Proportion of records in the changed bins, 0 to 1, computed from the (noisy) counts.
    n_outside : int or None
        Number of bins in which the edited curve is more than two standard deviations (total
        uncertainty) away from the center of the noise band. This center is the released curve or,
        if an edit undid the shrinkage, the curve without shrinkage. The number is None if the noise
        is unknown.
    mean_change : float
        Change in the mean contribution; the mean is weighted by the (noisy) counts.
    intercept_change : float
        Change in the intercept; nonzero only if an operation with ``mean="intercept"`` was applied
        or reverted.
    of_class : str, default=""
        Class whose score changed, if there are several classes.
    side_change : float or None, default=None
        Only for a pair: root mean square change in the row means or in the column means, whichever
        is larger, weighted by the (noisy) counts. The rows and columns of a fitted pair have mean
        0. If an edit changes these means, the pair then contains part of the effect of a single
        feature.

    Examples
    --------
    >>> from dpexplain.explain import EditEffect
    >>> effect = EditEffect("age", 2, 0.1, 0.15, 0, 0.01, 0.0)
    >>> effect.words[:34]
    'changes 2 bins by 0.1 (root mean s'
    """

    term: str
    n_bins: int
    rms: float
    people_share: float
    n_outside: int | None
    mean_change: float
    intercept_change: float
    of_class: str = ""
    side_change: float | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        for name in ("term", "of_class"):
            text(name, getattr(self, name))
        if self.side_change is not None:
            object.__setattr__(self, "side_change", finite("side_change", self.side_change))
        for name in ("rms", "people_share", "mean_change", "intercept_change"):
            object.__setattr__(self, name, finite(name, getattr(self, name)))
        for name in ("n_bins", "n_outside"):
            value = getattr(self, name)
            if name == "n_outside" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} must be an integer number of bins.")
        if not 0.0 <= self.people_share <= 1.0 or self.rms < 0:
            raise ValueError("people_share must be in [0, 1], and rms not negative.")

    @property
    def words(self) -> str:
        """Description of the effect, without the name of the term."""
        if not self.n_bins:
            return "changes nothing"
        parts = [
            f"changes {self._bins(self.n_bins)} by "
            f"{signed_number(self.rms).lstrip('+')} (root mean square) for "
            f"{100 * self.people_share:.0f}% of the records (noisy count)",
            self.band_words,
        ]
        if abs(self.mean_change) > 1e-9:
            parts.append(f"moves the mean by {signed_number(self.mean_change)}")
        if self.side_change is not None and self.side_change > 1e-9:
            parts.append(
                "moves means of rows or columns by "
                f"{signed_number(self.side_change).lstrip('+')} (root mean square)"
            )
        if self.intercept_change:
            parts.append(f"moves the intercept by {signed_number(self.intercept_change)}")
        return ", ".join(parts)

    @property
    def band_words(self) -> str:
        """Phrase that says whether the curve stays inside the noise band."""
        if self.n_outside is None:
            return "noise band unknown"
        if not self.n_outside:
            return "stays inside the noise band"
        return f"leaves the noise band in {self._bins(self.n_outside)}"

    def _bins(self, count: int) -> str:
        unit = "bin" if self.side_change is None else "cell"
        return f"{count} {unit}{'s' * (count != 1)}"


@dataclasses.dataclass(frozen=True)
class EditRecord:
    """Record of one edit: operation, reason and effects.

    Parameters
    ----------
    operation : str
        The operation as a JSON string that :mod:`dpexplain.edit` can parse.
    words : str
        The operation in words.
    effects : tuple of EditEffect
        Effects of the operation, one for each changed curve.
    note : str, default=""
        Reason for the edit.
    who : str, default=""
        Author of the edit.
    when : str, default=""
        Time of the edit, as stated by the author.
    caution : str, default=""
        Warning about operations of this kind, or of a monotone constraint that the edit breaks.

    Raises
    ------
    ValueError
        If a field has the wrong type, or the operation is not valid JSON.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.edit import EditLog, Remove
    >>> edited = EditLog().edit(Remove("bed"), note="has no meaning").apply(explanation)
    >>> (record,) = edited.edits
    >>> record.words, record.note
    ('remove bed', 'has no meaning')
    """

    operation: str
    words: str
    effects: tuple[EditEffect, ...]
    note: str = ""
    who: str = ""
    when: str = ""
    caution: str = ""

    def __post_init__(self) -> None:
        """Check the fields."""
        for name in ("operation", "words", "note", "who", "when", "caution"):
            text(name, getattr(self, name))
        object.__setattr__(self, "effects", tuple(self.effects))
        if not all(isinstance(effect, EditEffect) for effect in self.effects):
            raise ValueError("effects must be EditEffect objects.")
        try:
            known = len(self.operation) <= _LONGEST_OPERATION and json.loads(self.operation)
        except (ValueError, RecursionError):
            known = None
        if not isinstance(known, dict):
            raise ValueError("operation must be the JSON text of an operation.")

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the changed terms."""
        return tuple(dict.fromkeys(effect.term for effect in self.effects))

    @property
    def epsilon(self) -> float:
        """Privacy cost of the edit: 0, because edits use only released numbers."""
        return 0.0

    @property
    def rms(self) -> float:
        """Largest root mean square change among the changed curves."""
        return max((effect.rms for effect in self.effects), default=0.0)

    @property
    def people_share(self) -> float:
        """Largest proportion of records in the changed bins of any one curve."""
        return max((effect.people_share for effect in self.effects), default=0.0)

    @property
    def n_outside(self) -> int | None:
        """Number of bins outside the noise band, summed over the changed curves.

        Curves with unknown noise are omitted. The result is None if the noise is unknown for all
        curves.
        """
        counts = [effect.n_outside for effect in self.effects if effect.n_outside is not None]
        return sum(counts) if counts else None

    @property
    def leaves_band(self) -> bool:
        """Whether any bin of a changed curve is outside the noise band after the edit."""
        return bool(self.n_outside)

    def __str__(self) -> str:
        """Return the edit as one line."""
        about = [part for part in (self.who, self.when) if part]
        several = len(self.effects) > 1
        effects = "; ".join(
            f"{shorten(effect.of_class or effect.term)}: {effect.words}"
            if several
            else effect.words
            for effect in self.effects
        )
        note = f' Note: "{self.note}".' if self.note else ""
        by = f" ({', '.join(about)})" if about else ""
        careful = f" Warning: {self.caution}." if self.caution else ""
        return f"{self.words}{by}: {effects}; adds epsilon 0.{careful}{note}"


def edit_note(records: Sequence[EditRecord], *, private: bool = True) -> str:
    """Describe the edits to an explanation or model.

    Parameters
    ----------
    records : sequence of EditRecord
        Records of the edits; at least one.
    private : bool, default=True
        Whether the edited object is private. If it is not, the note does not state the privacy cost
        of the edits.

    Returns
    -------
    str
        A sentence for the notes of the guarantee.
    """
    edits = f"{len(records)} edit{'s' * (len(records) != 1)}"
    note = f"{EDITED} ({edits} of {edited_terms(records)})"
    return f"{note}; {_CONDITION}" if private else note


def edited_terms(records: Sequence[EditRecord]) -> str:
    """List the names of the first three edited terms, and count the others."""
    names = list(dict.fromkeys(name for record in records for name in record.terms))
    shown = ", ".join(shorten(name) for name in names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{shown or 'nothing'}{more}"


def summary_of_edits(records: Sequence[EditRecord]) -> str:
    """Return one line that names the edited terms; empty if there are no edits."""
    return f"edited: {edited_terms(records)}; " if records else ""


def described_edits(edits: Sequence[str]) -> str:
    """Describe the last edit to a curve or pair, and count the earlier ones.

    Parameters
    ----------
    edits : sequence of str
        Descriptions of the edits, in order.

    Returns
    -------
    str
        A description; empty if there are no edits.
    """
    if not edits:
        return ""
    before = f"{len(edits) - 1} more, then " if len(edits) > 1 else ""
    return f"edited by hand after the fit: {before}{shorten(edits[-1], 80)}"
