"""Everything public is documented in numpydoc format: inputs, outputs and examples."""

from __future__ import annotations

import importlib
import inspect
from functools import cached_property

import pytest
from numpydoc.validate import validate

from documentation import described_parts

pytestmark = pytest.mark.full

PARTS = (
    "dpexplain",
    "dpexplain.accounting",
    "dpexplain.app",
    "dpexplain.audit",
    "dpexplain.binning",
    "dpexplain.certificate",
    "dpexplain.compare",
    "dpexplain.datasets",
    "dpexplain.edit",
    "dpexplain.explain",
    "dpexplain.io",
    "dpexplain.mechanisms",
    "dpexplain.models",
    "dpexplain.plotting",
    "dpexplain_widgets",
)

# Missing text; summary without a full stop; parameters that are missing, unknown, in the wrong
# order, without type or without description; results without a section.
CHECKED = {"GL08", "SS03", "PR01", "PR02", "PR03", "PR04", "PR07", "RT01", "YD01"}
# Records and targets are the same everywhere; their type and shape say enough.
SELF_EVIDENT = {f'Parameter "{name}" has no description' for name in ("X", "y")}


def without_an_example() -> list[str]:
    """Return public names without an example call in the docstring that is run."""
    packages = {part: importlib.import_module(part) for part in described_parts()}
    objects = {
        f"{part}.{name}": getattr(package, name)
        for part, package in packages.items()
        for name in package.__all__
    }
    texts = {
        name: value.__doc__ or ""
        for name, value in objects.items()
        if inspect.isclass(value) or inspect.isfunction(value)
    }
    return [name for name, text in texts.items() if ">>> " not in text or "+SKIP" in text]


def public_objects() -> dict[str, str]:
    """Map the location of each public class, function and method to its kind."""
    found = {}
    for part in PARTS:
        package = importlib.import_module(part)
        for name in package.__all__:
            value = getattr(package, name)
            if inspect.isclass(value):
                if not getattr(value, "_is_protocol", False):  # has no parameters of its own
                    found[_place(value)] = "class"
                found.update(dict.fromkeys(_methods(value), "method"))
            elif inspect.isfunction(value):
                found[_place(value)] = "function"
    return found


def _place(value: type) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _methods(cls: type) -> list[str]:
    """List the public methods and properties of a class, where a class of ours defines them."""
    ours = [base for base in cls.__mro__ if base.__module__.startswith("dpexplain")]
    return [
        f"{_place(base)}.{name}"
        for base in ours
        for name, value in vars(base).items()
        if not name.startswith("_") and _is_described(value)
    ]


def _is_described(member: object) -> bool:
    kinds = (property, cached_property, classmethod, staticmethod)
    return inspect.isfunction(member) or isinstance(member, kinds)


PUBLIC = public_objects()


@pytest.mark.filterwarnings("ignore:Widget:DeprecationWarning")  # of ipywidgets, when looked at
@pytest.mark.parametrize("place", sorted(PUBLIC))
def test_public_object_is_described(place):
    errors = validate(place)["errors"]

    assert [
        (code, text) for code, text in errors if code in CHECKED and text not in SELF_EVIDENT
    ] == []


def test_every_public_class_and_function_has_an_example_that_runs():
    assert without_an_example() == []


@pytest.mark.parametrize("part", PARTS)
def test_package_says_what_it_is_for(part):
    assert (importlib.import_module(part).__doc__ or "").strip()


def test_classes_methods_and_functions_are_among_the_checked():
    assert set(PUBLIC.values()) == {"class", "method", "function"}
    assert {"dpexplain.schema.schema.Schema", "dpexplain.compare.sweep.sweep"} <= set(PUBLIC)
    assert any(place.startswith("dpexplain.models") and place.endswith(".fit") for place in PUBLIC)
