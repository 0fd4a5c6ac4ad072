"""Methods that every kind of explanation and comparison declares.

Commands, figures and exports use only the members of :class:`Display`, never ``hasattr``. Packages
that build on explanations have a table with one line for each kind: ``dpexplain.io.kinds`` for
files, and ``dpexplain_widgets.payload.payload`` for views.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpexplain.explain import _html

if TYPE_CHECKING:
    from dpexplain.explain.guarantee import Guarantee


NOT_RELEASABLE = "shows samples not marked public \u2014 do not publish"


class Display(ABC):
    """Base class of all explanations and comparisons; subclasses override what they support."""

    @property
    @abstractmethod
    def releasable(self) -> bool:
        """Whether everything may be released: there is a guarantee, and all records are public."""

    @abstractmethod
    def frame(self, *arguments: Any, **options: Any) -> pd.DataFrame:
        """Return the numbers as a table.

        Parameters
        ----------
        *arguments, **options
            Arguments of the specific kind.

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
            Arguments of the specific kind.

        Returns
        -------
        Axes or ndarray of Axes
        """

    @abstractmethod
    def describe(self) -> Iterator[str | pd.DataFrame]:
        """Yield text and tables to print in a terminal, the guarantee first.

        Yields
        ------
        str or DataFrame
            A paragraph or a table.
        """

    def term_frames(self) -> dict[str, pd.DataFrame]:
        """Return the table of each term by name; empty if there are no terms.

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
        """Return the explanations in a comparison; empty for a single explanation.

        Returns
        -------
        mapping of float to tuple of Display
            The repeats at each epsilon; the reference, if there is one, has the key infinity.
        """
        return {}


class ExplanationDisplay(Display):
    """Base class of the explanations of one model, with its guarantee.

    A kind that shows records inherits from :class:`LocalDisplay`, any other from
    :class:`ModelDisplay`.
    """

    if TYPE_CHECKING:  # a dataclass would take a property for the default of its field

        @property
        def guarantee(self) -> Guarantee:
            """Privacy guarantee of the model."""

    @property
    def noise_words(self) -> str:
        """Describe the noise; empty if the noise is unknown."""
        return ""

    def describe(self) -> Iterator[str | pd.DataFrame]:
        """Yield the guarantee in words, then a description of the noise if it is known.

        Yields
        ------
        str or DataFrame
        """
        yield self.guarantee.statement()
        if self.noise_words:
            yield self.noise_words


class ModelDisplay(ExplanationDisplay):
    """Base class of explanations without records: releasable if the guarantee is private."""

    @property
    def releasable(self) -> bool:
        """Whether the guarantee allows everything to be released."""
        return self.guarantee.private


class LocalDisplay(ExplanationDisplay):
    """Base class of explanations that show samples; releasable if those are public as well."""

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
            _html.note(f"{len(self)} samples, {size}; .frame() and .plot(sample) show all"),
        )
