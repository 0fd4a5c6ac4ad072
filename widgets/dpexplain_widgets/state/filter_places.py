"""Choices among the filters of a payload: classes, filters and inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import traitlets

Outline = Mapping[str, Any]
"""What a payload says of its filters: their classes, numbers and inputs."""


def check_filter_class(outline: Outline | None, trait: str, name: str) -> str:
    """Return the name of a class, or raise a TraitError that lists the classes.

    Parameters
    ----------
    outline : mapping or None
        Outline of the filters; None if the model has no filters.
    trait : str
        Name of the trait, for the message.
    name : str
        Name of a class; "" for the default.

    Returns
    -------
    str
    """
    classes = [] if outline is None else outline["classes"]
    if name in classes or name == "":
        return name
    listed = ", ".join(repr(each[:40]) for each in classes[:12]) or "none, without filters"
    raise traitlets.TraitError(f"{trait}={name[:40]!r} must be one of the classes: {listed}.")


def check_filter_place(outline: Outline | None, trait: str, index: int | None) -> int | None:
    """Return the index of a filter or of an input, or raise a TraitError.

    Parameters
    ----------
    outline : mapping or None
        Outline of the filters; None if the model has no filters.
    trait : str
        Name of the trait; "input_index" counts inputs, all others filters.
    index : int or None

    Returns
    -------
    int or None
    """
    count = 1
    if outline is not None:
        inputs = trait == "input_index"
        count = len(outline["input_names"]) if inputs else outline["n_filters"]
    if index is None or 0 <= index < count:
        return index
    raise traitlets.TraitError(f"{trait}={index} must be one of 0 to {count - 1}.")


def check_inputs(outline: Outline | None, inputs: list[int] | None) -> list[int] | None:
    """Return two inputs at opposite corners of a region, or raise a TraitError.

    Parameters
    ----------
    outline : mapping or None
        Outline of the filters; None if the model has no filters.
    inputs : list of int or None

    Returns
    -------
    list of int or None
    """
    count = len(outline["input_names"]) if outline and outline["grid_shape"] else 0
    if inputs is None or (len(inputs) == 2 and all(0 <= each < count for each in inputs)):
        return inputs
    raise traitlets.TraitError(
        f"input_range={inputs!r:.60} must be None or two inputs of a grid: 0 to {count - 1}."
    )
