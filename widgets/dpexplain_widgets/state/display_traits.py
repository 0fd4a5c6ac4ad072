"""Display options of a view."""

from __future__ import annotations

import traitlets

from dpexplain_widgets.state.trait_types import Index, OneOf
from dpexplain_widgets.views.registry import tabs

TABS = tabs()
ORDERS = ("last", "this", "schema", "name")
CURVES = ("both", "released", "effect")


class DisplayTraits(traitlets.HasTraits):
    """Mixin with the display options of a view.

    Attributes
    ----------
    tab : {"shape", "edit", "terms", "disagreement", "rank", "local"}
        The open tab of an Explorer.
    term_order : {"last", "this", "schema", "name"}
        Order in which terms are listed: by importance at the largest epsilon, by importance in the
        selected fit, as in the model, or by name.
    term_search : str
        Search text: only terms whose name contains it are listed; "" lists all terms.
    above_noise_only : bool
        Whether lists show only terms that rise above the noise.
    same_axis : bool
        Whether the score axis covers the curves of all epsilons.
    even_bins : bool or None
        Whether bins are drawn with equal widths; None chooses whichever is easier to read.
    shown_curve : {"both", "released", "effect"}
        Curves that are drawn: both, only the released curve with its noise, or only the estimated
        effect.
    small_multiples : bool
        Whether the shape view shows all terms as small charts.
    page_index : int
        Index of the page of small charts; each page shows twelve terms.
    replay_draw : int or None
        Index of the simulated draw of the noise; None means the released curve.
    """

    tab = OneOf(*TABS).tag(sync=True)
    term_order = OneOf(*ORDERS).tag(sync=True)
    term_search = traitlets.Unicode().tag(sync=True)
    above_noise_only = traitlets.Bool(False).tag(sync=True)
    same_axis = traitlets.Bool(True).tag(sync=True)
    even_bins = traitlets.Bool(None, allow_none=True).tag(sync=True)
    shown_curve = OneOf(*CURVES).tag(sync=True)
    small_multiples = traitlets.Bool(False).tag(sync=True)
    page_index = Index(0).tag(sync=True)
    replay_draw = Index(None, allow_none=True).tag(sync=True)

    @traitlets.validate("page_index", "replay_draw")
    def _check_not_negative(self, proposal: traitlets.Bunch) -> int | None:
        value: int | None = proposal["value"]
        if value is None or value >= 0:
            return value
        raise traitlets.TraitError(f"{proposal['trait'].name}={value} must not be negative.")
