"""Strict conversion of operations to and from JSON values."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Final

from dpexplain._utils.json import parse
from dpexplain.explain._text import listing, shorten

OPERATIONS: Final[dict[str, type[Any]]] = {}
"""Operations, by the name that files and pages use; each class registers itself."""

COMPOSED = "composed"
_MOST_STEPS = 1_000


def operation_to_plain(operation: Any) -> dict[str, Any]:
    """Convert an operation to a JSON object.

    Parameters
    ----------
    operation : Operation or Composed
        Operation to convert.

    Returns
    -------
    dict
        JSON object; parameters that have their default value are omitted.

    Examples
    --------
    >>> from dpexplain.edit import Shift, operation_to_plain
    >>> operation_to_plain(Shift("age", by=0.1, bins=[3]))
    {'operation': 'shift', 'term': 'age', 'bins': [3], 'by': 0.1}
    """
    name = type(operation).__name__.lower()
    if name == COMPOSED:
        steps = [operation_to_plain(step) for step in operation.steps]
        return {"operation": name, "title": operation.title, "steps": steps}
    plain: dict[str, Any] = {"operation": name}
    for field in dataclasses.fields(operation):
        value = getattr(operation, field.name)
        if value != field.default or field.default is dataclasses.MISSING:
            plain[field.name] = _plain_value(field.name, value)
    return plain


def _plain_value(name: str, value: Any) -> Any:
    if name == "where":
        return {feature: list(chosen) for feature, chosen in value}
    return list(value) if isinstance(value, tuple) else value


def operation_from_plain(plain: Any) -> Any:
    """Build an operation from a JSON object.

    Parameters
    ----------
    plain : dict
        Output of :func:`operation_to_plain`.

    Returns
    -------
    Operation or Composed

    Raises
    ------
    ValueError
        If `plain` is not an operation, or a parameter is missing, unknown or out of range.

    Examples
    --------
    >>> from dpexplain.edit import Shift, operation_from_plain, operation_to_plain
    >>> shift = Shift("age", by=0.1, bins=[3])
    >>> operation_from_plain(operation_to_plain(shift)) == shift
    True
    """
    if not isinstance(plain, Mapping) or not isinstance(plain.get("operation"), str):
        raise ValueError("an operation is an object with the field 'operation', its name.")
    name, fields = plain["operation"], {k: v for k, v in plain.items() if k != "operation"}
    if name not in OPERATIONS:
        raise ValueError(
            f"no operation {shorten(name)!r}; the operations are {listing(OPERATIONS, 20)}."
        )
    if name == COMPOSED:
        return _composed(fields)
    kind = OPERATIONS[name]
    known = {field.name: field.default for field in dataclasses.fields(kind)}
    needed = {n for n, default in known.items() if default is dataclasses.MISSING}
    if unknown := sorted(set(map(str, fields)) - set(known)):
        raise ValueError(f"{name} has no parameter {shorten(unknown[0])!r}.")
    if missing := sorted(needed - set(fields)):
        raise ValueError(f"{name} needs the parameter {missing[0]!r}.")
    for key, value in fields.items():
        _check_plain(name, str(key), value)
    return kind(**fields)


_TEXTS = {"term", "of_class", "mean", "direction", "bend", "to", "along"}
_LISTS = {"bins": int, "keep": int, "within": (int, float), "names": str}


def _check_plain(name: str, key: str, value: Any) -> None:
    """Strictly check the type of one parameter."""
    bad = f"{name}: the parameter {key!r} is of the wrong type."
    if key in _TEXTS and not isinstance(value, str):
        raise ValueError(bad)
    if key == "where":
        if not isinstance(value, dict) or not all(
            isinstance(chosen, list) and not any(isinstance(v, bool) for v in chosen)
            for chosen in value.values()
        ):
            raise ValueError(bad)
    elif key in _LISTS:
        kinds = _LISTS[key]
        if not isinstance(value, list) or not all(
            isinstance(v, kinds) and not isinstance(v, bool)  # type: ignore[arg-type]
            for v in value
        ):
            raise ValueError(bad)
    elif key not in _TEXTS:
        numbers = value if isinstance(value, list) and key == "value" else [value]
        if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in numbers):
            raise ValueError(bad)


def _composed(fields: dict[str, Any]) -> Any:
    if set(fields) != {"title", "steps"} or not isinstance(fields["title"], str):
        raise ValueError("a composed operation has the fields title and steps.")
    steps = fields["steps"]
    if not isinstance(steps, list) or not 0 < len(steps) <= _MOST_STEPS:
        raise ValueError(f"steps must be a list of 1 to {_MOST_STEPS} operations.")
    singles = [operation_from_plain(step) for step in steps]
    if any(isinstance(step, OPERATIONS[COMPOSED]) for step in singles):
        raise ValueError("steps of a composed operation are single operations.")
    return OPERATIONS[COMPOSED](tuple(singles), fields["title"])


def operation_text(operation: Any) -> str:
    """Convert an operation to a JSON string, for edit records."""
    return json.dumps(operation_to_plain(operation), allow_nan=False, ensure_ascii=True)


def operation_from_text(text: str) -> Any:
    """Build an operation from the output of :func:`operation_text`."""
    return operation_from_plain(parse(text))
