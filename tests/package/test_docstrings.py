"""Everything public is described: what goes in, what comes out, in numpydoc's form."""

from __future__ import annotations

import importlib
import inspect

import pytest
from numpydoc.validate import validate

PARTS = (
    "dpexplain",
    "dpexplain.accounting",
    "dpexplain.binning",
    "dpexplain.compare",
    "dpexplain.datasets",
    "dpexplain.explain",
    "dpexplain.io",
    "dpexplain.mechanisms",
    "dpexplain.models",
    "dpexplain.plotting",
    "dpexplain_widgets",
)

# Missing text; summary without a full stop; parameters that are missing, unknown, in the wrong
# order, without type or without description; results without a section or a description.
CHECKED = {"GL08", "SS03", "PR01", "PR02", "PR03", "PR04", "PR07", "RT01", "RT03", "YD01"}


def public_objects() -> dict[str, str]:
    """Map the place where each public class, function and method is defined to its kind."""
    found = {}
    for part in PARTS:
        package = importlib.import_module(part)
        for name in package.__all__:
            value = getattr(package, name)
            if inspect.isclass(value):
                found[_place(value)] = "class"
                found.update(dict.fromkeys(_methods(value), "method"))
            elif inspect.isfunction(value):
                found[_place(value)] = "function"
    return found


def _place(value: type) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _methods(cls: type) -> list[str]:
    """List the public methods and properties that a class of ours defines itself."""
    described = (property, classmethod, staticmethod)
    return [
        f"{_place(cls)}.{name}"
        for name, value in vars(cls).items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, described))
    ]


PUBLIC = public_objects()


@pytest.mark.parametrize("place", sorted(PUBLIC))
def test_public_object_is_described(place):
    errors = [(code, text) for code, text in validate(place)["errors"] if code in CHECKED]

    assert errors == []


@pytest.mark.parametrize("part", PARTS)
def test_package_says_what_it_is_for(part):
    assert (importlib.import_module(part).__doc__ or "").strip()


def test_the_models_are_among_the_checked():
    assert "dpexplain.schema.Schema" in PUBLIC
    assert any(place.endswith("DPExplainableBoostingClassifier.fit") for place in PUBLIC)
