"""Interface shared by all kinds of explanations and comparisons.

Commands, figures and exports use only the members of :class:`Display`, never ``hasattr``. Code that
must distinguish the kinds uses a table with one entry for each kind: ``dpexplain.io.kinds`` for
files, and ``dpexplain_widgets.payload.payload`` for views.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dpexplain._utils.lazy import pd
from dpexplain.explain import _html
from dpexplain.explain._text import counted
from dpexplain.explain.guarantee import NOT_PRIVATE

if TYPE_CHECKING:
    from dpexplain.explain.guarantee import Guarantee


ONE_OF_A_SWEEP = (
    "in Python, dpexplain.io.save(comparison.explanations[epsilon][0], 'model.json') saves one fit "
    "of a sweep and spends nothing."
)
_FILE = "dpexplain.io.save(..., path) writes a file, and dpexplain.io.load(path) reads it"
_TABLE = "frame() returns a pandas table, which has such methods"
_ELSEWHERE = {
    **dict.fromkeys(("to_json", "save", "dump"), _FILE),
    **dict.fromkeys(("to_csv", "to_excel", "to_dict", "to_frame"), _TABLE),
}
_OTHER_NAMES = {
    **dict.fromkeys(("scores", "score", "curve"), "contribution"),
    **dict.fromkeys(("edges", "bins_"), "bin_edges"),
    **dict.fromkeys(("labels", "bins", "names"), "bin_labels"),
    **dict.fromkeys(("counts", "histogram"), "count"),
    **dict.fromkeys(("std", "noise"), "noise_std"),
}
NOT_RELEASABLE = "shows samples not marked public \u2014 do not publish"


class Display(ABC):
    """Base class for all explanations and comparisons.

    Subclasses override the methods that they support.
    """

    if not TYPE_CHECKING:  # type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            if name in _ELSEWHERE:
                raise AttributeError(
                    f"{type(self).__name__} has no method {name!r}; {_ELSEWHERE[name]}."
                )
            known = () if name.startswith("_") else {*dir(type(self)), *vars(self)}
            if (meant := _OTHER_NAMES.get(name)) in known:
                raise AttributeError(
                    f"{type(self).__name__} has no {name!r}; did you mean {meant!r}?"
                )
            if "terms" in known and isinstance(self, Mapping) and name in self:
                raise AttributeError(
                    f"{type(self).__name__} is a mapping of terms; use explanation[{name!r}]."
                )
            return object.__getattribute__(self, name)  # raises Python's own error

    @property
    @abstractmethod
    def releasable(self) -> bool:
        """Whether everything in this object may be released.

        Everything computed from private data must have a privacy guarantee, and all samples shown
        must be public.
        """

    @property
    def release_warning(self) -> str:
        """Reason why this object must not be released; empty if it may be released."""
        return "" if self.releasable else NOT_PRIVATE

    @abstractmethod
    def frame(self, *arguments: Any, **options: Any) -> pd.DataFrame:
        """Return the numbers in this object as a table.

        Parameters
        ----------
        *arguments, **options
            Arguments that depend on the class.

        Returns
        -------
        DataFrame
        """

    @abstractmethod
    def plot(self, *arguments: Any, **options: Any) -> Any:
        """Draw the explanation or comparison with matplotlib.

        Parameters
        ----------
        *arguments, **options
            Arguments that depend on the class.

        Returns
        -------
        Axes or ndarray of Axes
        """

    @abstractmethod
    def describe(self) -> Iterator[str | pd.DataFrame]:
        """Yield text and tables to print in a terminal, including the guarantee.

        Yields
        ------
        str or DataFrame
            A paragraph or a table.
        """

    def term_frames(self) -> dict[str, pd.DataFrame]:
        """Return a table for each term, keyed by name; empty if there are no terms.

        Returns
        -------
        dict of str to DataFrame
        """
        table = self.frame()
        if "term" not in table:
            return {}
        rows = table.drop(columns="term")
        return {
            str(name): rows[table["term"] == name].reset_index(drop=True)
            for name in table["term"].unique()
        }

    def term_words(self, term: str) -> Iterator[str]:
        """Yield text to print above the table of a term; nothing by default.

        Parameters
        ----------
        term : str
            Name of the term.

        Yields
        ------
        str
            A paragraph.
        """
        yield from ()

    def fits_by_epsilon(self) -> Mapping[float, tuple[Display, ...]]:
        """Return the fits of a comparison, keyed by epsilon; empty for an explanation.

        Returns
        -------
        mapping of float to tuple of Display
            Explanations of the repeated fits at each epsilon. The reference model, if there is one,
            has the key infinity.
        """
        return {}


class ExplanationDisplay(Display):
    """Base class for explanations of a single model, each with a `guarantee`.

    Explanations that show samples inherit from :class:`LocalDisplay`; all others inherit from
    :class:`ModelDisplay`.
    """

    if TYPE_CHECKING:  # a dataclass would use a property as the default of its field

        @property
        def guarantee(self) -> Guarantee:
            """Privacy guarantee of the model."""

    @property
    def shown_guarantee(self) -> Guarantee:
        """Guarantee of everything shown: that of the model, unless samples are not public."""
        return self.guarantee

    @property
    def noise_words(self) -> str:
        """Description of the noise; empty by default."""
        return ""

    def describe(self) -> Iterator[str | pd.DataFrame]:
        """Yield the guarantee in words, then any description of the noise.

        Yields
        ------
        str or DataFrame
        """
        yield self.guarantee.statement()
        if self.noise_words:
            yield self.noise_words


class ModelDisplay(ExplanationDisplay):
    """Base class for explanations that show a model but no samples.

    Such an explanation may be released if the model is private.
    """

    @property
    def releasable(self) -> bool:
        """Whether the explanation may be released, that is, whether the model is private."""
        return self.guarantee.private


class LocalDisplay(ExplanationDisplay):
    """Base class for explanations that show samples.

    Such an explanation may be released if the model is private and the samples are public.
    """

    @property
    def shown_guarantee(self) -> Guarantee:
        """Guarantee of everything shown; not private if the samples are not public."""
        return self.guarantee.for_samples(public=self.samples_public)

    @property
    def release_warning(self) -> str:
        """Reason why this explanation must not be released; empty if it may be released.

        If the model is not private, the warning says so; otherwise, it is about the samples.
        """
        if not self.guarantee.private:
            return NOT_PRIVATE
        return "" if self.samples_public else f"{NOT_RELEASABLE[0].upper()}{NOT_RELEASABLE[1:]}"

    def describe(self) -> Iterator[str | pd.DataFrame]:
        """Yield any warning about the samples, then the guarantee and the noise.

        Yields
        ------
        str or DataFrame
        """
        if self.guarantee.private and self.release_warning:
            yield f"{self.release_warning}."
        yield from super().describe()

    if TYPE_CHECKING:

        @property
        def samples_public(self) -> bool:
            """Whether the samples may be shown to anyone."""

        @property
        def target_name(self) -> str:
            """Name of the target."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of samples."""

    @property
    def releasable(self) -> bool:
        """Whether both the model and the samples may be shown to anyone."""
        return self.guarantee.private and self.samples_public

    def _position(self, sample: int) -> int:
        if isinstance(sample, bool) or not isinstance(sample, (int, np.integer)):
            raise ValueError(f"sample must be an integer, got {type(sample).__name__}.")
        if not 0 <= sample < len(self):
            raise ValueError(f"sample={sample} must be in [0, {len(self)}), the samples explained.")
        return int(sample)

    def _html_box(self, size: str, first_sample: str) -> str:
        return _html.box(
            _html.heading(f"Local explanation of {self.target_name}"),
            "" if self.guarantee.private else _html.warning(self.guarantee.short),
            "" if self.samples_public else _html.warning(NOT_RELEASABLE),
            first_sample,
            _html.note(
                f"{counted(len(self), 'sample')}, {size}; .frame() and .plot(sample) show all"
            ),
        )
