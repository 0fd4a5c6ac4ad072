"""Error messages that name replacements for InterpretML's parameters and methods."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Concatenate, Final, ParamSpec

from dpexplain._utils.names import unknown_keyword
from dpexplain.models.inputs import INSTEAD

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
        "objective": "for classes, omit it; for counts, declare target=Range(low, high) in the "
        "schema, and a regressor has objective='squared' or 'poisson'",
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

ELSEWHERE: Final[Mapping[str, str]] = MappingProxyType(
    {
        **INSTEAD,
        **dict.fromkeys(("weight", "weights"), INSTEAD["sample_weight"]),
        "groups": " Private models take it in fit(X, y, groups=...), with max_rows_per_person=.",
        "epsilons": " To fit several, call sweep(model, X, y, epsilons=(0.5, 1, 2)).",
        "cap_epsilon": " The ledger has it: ledger=PrivacyLedger('survey', cap_epsilon=2).",
        "target": " The schema has it: Schema(features, target=...).",
        **dict.fromkeys(("n_estimators", "max_iter"), " Boosting models have max_rounds."),
        "max_leaf_nodes": " Boosting models have max_leaves.",
        "monotonic_cst": " Boosting models have monotone_constraints={'age': 'increasing'}.",
        "categorical_features": f" Categories are public: {_SCHEMA}.",
        "class_weight": " Remove it: weights change how much one record counts.",
    }
)
"""Where to put what is not a parameter of an estimator, as a sentence after a space."""

_EDITS: Final = "edits are recorded and return a new model"
_TO_INTERPRET: Final = "dpexplain.interop.to_interpret(model.explain_global()) has it"

METHODS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "monotonize": "use dpexplain.edit.Monotone('age', direction='increasing').apply(model); "
        + _EDITS,
        "scale": f"use dpexplain.edit.Scale('age', factor=0.5).apply(model); {_EDITS}",
        "remove_terms": f"use dpexplain.edit.Remove('age').apply(model); {_EDITS}",
        "remove_features": "fit with a schema that does not have the feature, or use "
        f"dpexplain.edit.Remove('age').apply(model); {_EDITS}",
        "sweep": "use dpexplain.edit.Remove('age').apply(model) for a term that is zero; "
        "dpexplain.sweep fits models at several epsilons",
        "predict_with_uncertainty": "model.explain_local(X) has the scores and their standard "
        "deviations, scores and score_std",
        "predict_and_contrib": "use model.predict(X) or predict_proba(X), and model.eval_terms(X)",
        "copy": "use copy.deepcopy(model); edits never change the model itself",
        "to_json": "use dpexplain.io.save(model.explain_global(), 'model.json')",
        "to_jsonable": "use dpexplain.io.to_json(model.explain_global())",
        "to_excel": "model.explain_global().frame() is a table, with the method to_excel",
        "standard_deviations_": "model.explain_global()[term] has total_std, noise_std and others",
        "bin_weights_": "model.explain_global()[term].count has the noisy counts",
        "histogram_counts_": "model.explain_global()[term].count has the noisy counts",
        "term_features_": "model.term_names_ has the names; pairs are model.explain_global().pairs",
        "feature_types_in_": "model.schema_.features has the kind of each feature",
        "feature_bounds_": "model.schema_.features has the bounds of each feature",
        "reorder_classes": "the schema lists the classes in their order, target=Classes([...])",
        "min_target_": "model.schema_.target has the public range",
        "max_target_": "model.schema_.target has the public range",
        "has_fitted_": "use sklearn.utils.validation.check_is_fitted(model)",
        "to_excel_exportable": "model.explain_global().frame() is a table, with to_excel",
        "estimate_mem": "make bench-parts measures memory; tables may be larger than memory",
        "feature_importances_": "model.term_importances() has one number for each term",
        "unique_val_counts_": "the schema is public, and distinct values are not released",
        **dict.fromkeys(
            (
                *("bins_", "histogram_edges_", "histogram_weights_", "link_", "link_param_"),
                *("bagged_scores_", "bagged_intercept_", "bag_weights_", "best_iteration_"),
                *("bin_data_weights_", "breakpoint_iteration_"),
            ),
            _TO_INTERPRET + ", as far as a private model releases it",
        ),
    }
)
"""Replacement for each method or attribute that only InterpretML's fitted models have."""


def missing_attribute(model: object, name: str) -> AttributeError | None:
    """Return an error that names the replacement for an InterpretML attribute.

    Parameters
    ----------
    model : estimator
    name : str
        Name of an attribute that the model does not have.

    Returns
    -------
    AttributeError or None
        None if InterpretML's models have no such attribute either.
    """
    if name not in METHODS:
        return None
    return AttributeError(
        f"{type(model).__name__} does not have InterpretML's {name!r}; {METHODS[name]}."
    )


def answers_interpret_names(
    init: Callable[Concatenate[Any, P], None],
) -> Callable[Concatenate[Any, P], None]:
    """Make a constructor reject unknown parameters and name the likely ones.

    The signature is unchanged, so scikit-learn can still inspect and clone the parameters.

    Parameters
    ----------
    init : function
        ``__init__`` of an estimator.

    Returns
    -------
    function
        Constructor that raises a TypeError if it is called with an unknown parameter. The message
        names the replacement of an InterpretML parameter, where else the parameter belongs, or a
        parameter with a similar name.
    """
    own = inspect.signature(init).parameters
    names = [name for name in own if name != "self"]

    @functools.wraps(init)
    def checked(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> None:
        for name in kwargs:
            if name not in own:
                raise TypeError(unknown_parameter(type(self).__name__, name, names))
        init(self, *args, **kwargs)

    return checked


def unknown_parameter(model: str, name: str, names: Sequence[str]) -> str:
    """Say what replaces a parameter that a model does not have.

    Parameters
    ----------
    model : str
        Name of the class.
    name : str
        Name of the unknown parameter.
    names : sequence of str
        Names of the parameters of the class.

    Returns
    -------
    str
        Message for an error: the replacement of a parameter of InterpretML or scikit-learn, where
        else the parameter belongs, or a parameter with a similar name.
    """
    if name in REPLACEMENTS:
        return f"{model} does not have InterpretML's parameter {name!r}; {REPLACEMENTS[name]}."
    if name in ELSEWHERE:
        return f"{model} has no parameter {name!r}.{ELSEWHERE[name]}"
    return unknown_keyword(model, name, names)
