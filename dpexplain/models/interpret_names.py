"""Error messages that name the replacement for an InterpretML parameter."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Concatenate, Final, ParamSpec

P = ParamSpec("P")

_SCHEMA: Final = (
    "declare it in a schema (schema=Schema({'age': Numeric(17, 90)}, target=...)), or convert it "
    "with Schema.from_interpret"
)
_PAIRS: Final = "boosting models have pairs='auto', pairs=2, or a list of pairs of feature names"
_OMIT: Final = "omit it, because fits here do not have this setting"

REPLACEMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "privacy_bounds": _SCHEMA,
        "feature_types": _SCHEMA,
        "feature_names": _SCHEMA,
        "exclude": "leave these features out of the schema; further columns of a table are ignored",
        "missing": "declare markers in the schema (Numeric(0, 99, missing=[-99]))",
        "privacy_target_min": "declare the range in the schema (target=Range(low, high))",
        "privacy_target_max": "declare the range in the schema (target=Range(low, high))",
        "random_state": "pass structure_seed for the public random structure; noise has no seed, "
        "and reproducible_seed makes a fit for demonstrations, which is not private",
        "interactions": _PAIRS,
        "objective": "omit it for classes; the regressors have objective='squared' or 'poisson'",
        "monotonize": "pass monotone_constraints={'age': 'increasing'}",
        "callback": "omit it; progress is printed by the notebook views and the command line",
        **dict.fromkeys(
            (
                *("validation_size", "inner_bags", "greedy_ratio", "cyclic_progress"),
                *("smoothing_rounds", "early_stopping_rounds", "early_stopping_tolerance"),
                *("min_samples_leaf", "min_hessian", "reg_alpha", "reg_lambda", "max_delta_step"),
                *("gain_scale", "min_cat_samples", "cat_smooth"),
                *("max_interaction_bins", "interaction_smoothing_rounds"),
            ),
            _OMIT,
        ),
    }
)
"""Replacement for each InterpretML parameter, as advice to the user."""


def answers_interpret_names(
    init: Callable[Concatenate[Any, P], None],
) -> Callable[Concatenate[Any, P], None]:
    """Make a constructor reject InterpretML parameters and name their replacements.

    The signature is unchanged, so scikit-learn can still inspect and clone the parameters.

    Parameters
    ----------
    init : function
        ``__init__`` of an estimator.

    Returns
    -------
    function
        Constructor that raises a TypeError if it is called with an InterpretML parameter. The
        message names the replacement.
    """
    own = inspect.signature(init).parameters

    @functools.wraps(init)
    def checked(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> None:
        for name in kwargs:
            if name in REPLACEMENTS and name not in own:
                raise TypeError(
                    f"{type(self).__name__} does not have InterpretML's parameter {name!r}; "
                    f"{REPLACEMENTS[name]}."
                )
        init(self, *args, **kwargs)

    return checked
