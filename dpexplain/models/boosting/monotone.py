"""Monotone constraints: each curve is made monotone after every update.

The curve is replaced by its projection, the nearest monotone curve. The projection uses only
released curves and (noisy) counts, so in a private fit it is post-processing and costs no privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils import isotonic as _isotonic
from dpexplain._utils.compiling import njit
from dpexplain.explain._text import did_you_mean, listing, shorten
from dpexplain.models.additive.terms import Direction
from dpexplain.schema import Categorical, Classes, Schema

Constraints: TypeAlias = Mapping[str, Direction | int]
Projection: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]

SIGNS: Final = {"increasing": 1, "decreasing": -1}
"""Sign of the slope of a curve with each direction."""

_DIRECTIONS: Final[dict[int, Direction | None]] = {1: "increasing", 0: None, -1: "decreasing"}


def checked_constraints(
    constraints: Constraints | None, schema: Schema
) -> tuple[Direction | None, ...]:
    """Validate constraints and return each feature's direction, in schema order.

    Parameters
    ----------
    constraints : mapping of str to {"increasing", "decreasing", 1, 0, -1} or None
        Direction of each constrained feature, keyed by name. All other features are unconstrained.
    schema : Schema

    Returns
    -------
    tuple of {"increasing", "decreasing", None}

    Raises
    ------
    ValueError
        If a name is not a feature, a feature is unordered, or a direction is invalid.
    """
    if constraints is None:
        return (None,) * schema.n_features
    if isinstance(schema.target, Classes) and len(schema.target.labels) > 2:
        raise ValueError(
            "monotone_constraints need a single score, and the schema has "
            f"{len(schema.target.labels)} classes; remove the constraints, and make curves of one "
            "class monotone after the fit, at no privacy cost: dpexplain.edit.Monotone("
            "'age', direction='increasing', of_class=label).apply(model)."
        )
    if not isinstance(constraints, Mapping):
        raise ValueError(
            f"monotone_constraints is a {type(constraints).__name__}; expected a mapping such as "
            "{'age': 'increasing'}."
        )
    for name, given in constraints.items():
        if name not in schema.features:
            raise ValueError(
                f"monotone_constraints: no feature {shorten(str(name))!r} in the schema; its "
                f"features are {listing(schema.features)}."
                f"{did_you_mean(str(name), schema.features)}"
            )
        feature = schema.features[name]
        unordered = isinstance(feature, Categorical) and not feature.ordered
        if _direction(name, given) is not None and unordered:
            raise ValueError(
                f"monotone_constraints: the categories of {name!r} are unordered; declare "
                "Categorical(..., ordered=True), or remove the constraint."
            )
    return tuple(_direction(name, constraints.get(name, 0)) for name in schema.features)


def _direction(name: str, given: object) -> Direction | None:
    sign = SIGNS.get(given, given) if isinstance(given, str) else given
    whole = isinstance(sign, int | np.integer) and not isinstance(sign, bool)
    if not whole or sign not in _DIRECTIONS:
        raise ValueError(
            f"monotone_constraints[{name!r}]={given!r} must be 'increasing', 'decreasing', "
            "or 1, -1, 0 for no constraint."
        )
    return _DIRECTIONS[int(sign)]


pool_adjacent_violators = njit(cache=True, nogil=True, error_model="numpy")(
    _isotonic.pool_adjacent_violators
)


def projections(
    directions: Sequence[Direction | None],
    counts: Sequence[NDArray[np.float64]],
    n_special: Sequence[int],
) -> list[Projection | None]:
    """Return the projection of each feature's curve; None for unconstrained features.

    Parameters
    ----------
    directions : sequence of {"increasing", "decreasing", None}
    counts : sequence of ndarray of shape (n_bins,)
        (Noisy) number of records in each bin; counts below one are treated as one.
    n_special : sequence of int
        Number of special bins at the end of each feature, which are left unchanged.

    Returns
    -------
    list of callable or None
    """
    return [
        None if d is None else _projection(SIGNS[d], np.maximum(c[: len(c) - s], 1.0))
        for d, c, s in zip(directions, counts, n_special, strict=True)
    ]


def _projection(sign: int, weights: NDArray[np.float64]) -> Projection:
    def project(table: NDArray[np.float64]) -> NDArray[np.float64]:
        projected = table.copy()
        n_values = len(weights)
        projected[:n_values] = sign * pool_adjacent_violators(sign * table[:n_values], weights)
        return projected

    return project
