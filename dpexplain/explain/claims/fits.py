"""Select the private fits to which claims about a comparison refer."""

from __future__ import annotations

import math
from typing import Any

from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.display import Display


def fits_of(comparison: Display) -> dict[float, list[GlobalExplanation]]:
    """Return the private fits of a comparison by epsilon, in ascending order.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    dict of float to list of GlobalExplanation

    Raises
    ------
    ValueError
        If there are no private fits, or a fit is not an additive explanation of a single score.
    """
    found = {e: rows for e, rows in comparison.fits_by_epsilon().items() if math.isfinite(e)}
    if not found:
        raise ValueError("claims over ε need a comparison; pass one explanation to claim().")
    return {epsilon: [additive(fit) for fit in found[epsilon]] for epsilon in sorted(found)}


def private_fits(
    source: Display, epsilon: float | None, repeat: int
) -> tuple[list[GlobalExplanation], GlobalExplanation]:
    """Return all private fits, and the chosen one.

    Parameters
    ----------
    source : GlobalExplanation or Comparison
    epsilon : float or None
        Epsilon of the chosen fit; None for the largest.
    repeat : int
        Index of the chosen fit among those at this epsilon; an index that is too large selects the
        last one.

    Returns
    -------
    fits : list of GlobalExplanation
    chosen : GlobalExplanation

    Raises
    ------
    KeyError
        If there is no fit with this epsilon.
    ValueError
        As in :func:`fits_of`.
    """
    if isinstance(source, GlobalExplanation):
        return [source], source
    fits = fits_of(source)
    rows = fits[known_epsilon(list(fits), epsilon)]
    return [fit for each in fits.values() for fit in each], rows[min(repeat, len(rows) - 1)]


def known_epsilon(epsilons: list[float], epsilon: float | None) -> float:
    """Return the chosen epsilon of a comparison; None chooses the largest.

    Parameters
    ----------
    epsilons : list of float
        Ascending.
    epsilon : float or None

    Returns
    -------
    float

    Raises
    ------
    KeyError
        If the comparison does not have this epsilon.
    """
    if epsilon is None:
        return epsilons[-1]
    if epsilon not in epsilons:
        known = ", ".join(f"{each:g}" for each in epsilons)
        raise KeyError(f"no fit with epsilon={epsilon!r}; the epsilons are {known}.")
    return epsilon


def additive(fit: Any) -> GlobalExplanation:
    """Return a fit unchanged; raise ValueError unless it has a single score.

    Parameters
    ----------
    fit : GlobalExplanation

    Returns
    -------
    GlobalExplanation

    Raises
    ------
    ValueError
        If the fit is of any other kind.
    """
    if isinstance(fit, GlobalExplanation):
        return fit
    raise ValueError(
        "claims are about one class; pass comparison.for_class(label), or a comparison of "
        f"additive models, not of {type(fit).__name__}."
    )
