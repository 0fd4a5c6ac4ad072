"""Compact payloads: quantized numbers, deduplication and compression."""

from __future__ import annotations

import base64
import itertools
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

# Digits kept for the largest number of a list; all its numbers share one step.
DIGITS = 4
EFFECT_DIGITS = 3
"""Digits kept for effect estimates, whose bands are far wider than the rounding error."""

STD_STEP = 0.01
"""Relative rounding step of standard deviations."""

PRECISION_WORDS = (
    f"Lists of numbers are rounded so that their largest number has {DIGITS} digits "
    f"({EFFECT_DIGITS} for estimates of the effect), standard deviations to steps of "
    f"{100 * STD_STEP:g}%, and counts to integers. Privacy parameters, the edges of bins and "
    "public samples are exact."
)

_EXACT = frozenset(
    {
        "claims", "edges", "edits", "epsilons", "guarantee", "ledger", "metrics", "pinned_epsilon",
        "samples", "filters", "step", "threshold", "what_if",
    }
)  # fmt: skip
_MARKS = frozenset({"$n", "$l", "$b", "$r", "$x", "$q"})
_PARTS_OF_TOTAL = ("noise_std", "structure_std", "sampling_std")
_STDS = frozenset({*_PARTS_OF_TOTAL, "total_std", "bag_std", "effect_std"})
_EFFECTS = frozenset({"effect", "effect_factor", "effect_size", "effect_size_std"})
_PLAIN_LETTERS = bytes.maketrans(b"<>&", b"\"',")  # replaces characters that are special in HTML
_SHORT = 3  # lists up to this length are not packed
_WORTH_POOLING = 24  # characters
_LETTERS = frozenset({"pairs", "ranges", "directions"})


def packed(value: Any) -> Any:
    """Pack JSON values: round numbers and store repeated parts once.

    A list of numbers becomes ``{"$n": [k, first, differences...]}``, in steps of ``10**-k``. A list
    of standard deviations becomes ``{"$l": [step, first, differences...]}``, where ``step`` is a
    relative step size. A list of booleans becomes a string of ones and zeros, ``{"$b": "101"}``.
    Bytes become base64, ``{"$x": text}``. Repeated parts, and strings that encode joint errors, are
    stored in a table and replaced by ``{"$r": index}``. A total standard deviation that equals the
    square root of the sum of its squared parts is replaced by ``{"$q": 1}``, and recomputed when
    the payload is unpacked. ``unpack.js`` reads this format.

    Parameters
    ----------
    value : object
        JSON values and bytes.

    Returns
    -------
    dict
        ``{"table": [...], "value": ...}``, containing only JSON values.

    Raises
    ------
    ValueError
        If a number is not finite, or a key is one of the markers.
    """
    _check_keys(value)
    return _pooled(_rounded(value, ""))


def deflated(text: str) -> str:
    """Compress text for a page.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The number of compressed bytes, a space, and these bytes in base 85 with characters that
        are safe in HTML. The bytes are the text as UTF-8, compressed in zlib format.
    """
    folded = zlib.compress(text.encode(), 9)
    letters = base64.b85encode(folded, pad=True).translate(_PLAIN_LETTERS)
    return f"{len(folded)} {letters.decode()}"


def inflated(text: str) -> str:
    """Undo :func:`deflated`.

    Parameters
    ----------
    text : str
        Output of :func:`deflated`.

    Returns
    -------
    str
        The text.
    """
    size, letters = text.split(" ")
    folded = base64.b85decode(letters.translate(str.maketrans("\"',", "<>&")))
    return zlib.decompress(folded[: int(size)]).decode()


def _check_keys(value: Any) -> None:
    if isinstance(value, dict) and (taken := _MARKS & set(value)):
        raise ValueError(f"a key of a payload is {min(taken)!r}, which is reserved for packing.")
    for each in _children(value):
        _check_keys(each)


def _rounded(value: Any, key: str) -> Any:
    if key in _EXACT:
        return value
    if isinstance(value, dict):
        rounded = {name: _rounded(each, name) for name, each in value.items()}
        return {**rounded, "total_std": {"$q": 1}} if _total_follows(value) else rounded
    if isinstance(value, list):
        return _rounded_list(value, key)
    if isinstance(value, bytes):
        return {"$x": base64.b64encode(value).decode("ascii")}
    if isinstance(value, float):
        digits = EFFECT_DIGITS if key in _EFFECTS else DIGITS + 2
        return float(f"{value:.{digits}g}")
    return value


def _rounded_list(values: list[Any], key: str) -> Any:
    if len(values) > _SHORT and all(isinstance(value, bool) for value in values):
        return {"$b": "".join("01"[value] for value in values)}
    if len(values) > _SHORT and all(type(value) is float for value in values):
        if key in _STDS and min(values) > 0.0:
            return {"$l": [STD_STEP, *_differences([_ratio_steps(value) for value in values])]}
        digits = EFFECT_DIGITS if key in _EFFECTS else DIGITS
        return _in_steps(values, digits, whole=key == "count")
    return [_rounded(value, "") for value in values]


def _total_follows(values: dict[str, Any]) -> bool:
    """Return whether total_std is the square root of the sum of its squared parts."""
    total = values.get("total_std")
    parts = [values[name] for name in _PARTS_OF_TOTAL if values.get(name)]
    if not total or not parts or any(len(part) != len(total) for part in parts):
        return False
    roots = (math.hypot(*stds) for stds in zip(*parts, strict=True))
    return all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(roots, total, strict=True))


def _in_steps(values: Sequence[float], digits: int, *, whole: bool) -> dict[str, list[int]]:
    largest = max(abs(value) for value in values)
    k = digits - 1 - math.floor(math.log10(largest)) if largest > 0 else 0
    k = 0 if whole else max(-300, min(300, k))
    steps = [round(value * 10**k) if k >= 0 else round(value / 10**-k) for value in values]
    return {"$n": [k, *_differences(steps)]}


def _ratio_steps(value: float) -> int:
    return round(math.log(value) / math.log1p(STD_STEP))


def _differences(steps: Sequence[int]) -> list[int]:
    """Return the first step, then the differences between consecutive steps."""
    return [steps[0], *(after - before for before, after in itertools.pairwise(steps))]


def _pooled(value: Any) -> dict[str, Any]:
    texts: dict[int, str] = {}
    seen: Counter[str] = Counter()

    def count(each: Any) -> None:
        text = texts[id(each)]
        if len(text) >= _WORTH_POOLING:
            seen[text] += 1
            if seen[text] == 1:
                for inner in _children(each):
                    count(inner)

    table: list[Any] = []
    places: dict[str, int] = {}

    def put(each: Any, name: str = "") -> Any:
        text = texts[id(each)]
        # Strings of all fits are stored side by side, so that common parts compress well.
        if seen[text] > 1 or (name in _LETTERS and len(text) >= _WORTH_POOLING):
            if text not in places:
                places[text] = len(table)
                table.append(each)
            return {"$r": places[text]}
        if isinstance(each, dict):
            return {name: put(inner, name) for name, inner in each.items()}
        return [put(inner) for inner in each] if isinstance(each, list) else each

    _write(value, texts)
    count(value)
    return {"value": put(value), "table": table}


def _children(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _write(value: Any, texts: dict[int, str]) -> str:
    """Return a value as JSON text, and store the text of each of its parts in `texts`."""
    if isinstance(value, dict):
        parts = (f"{json.dumps(name)}:{_write(each, texts)}" for name, each in value.items())
        text = f"{{{','.join(parts)}}}"
    elif isinstance(value, list):
        text = f"[{','.join([_write(each, texts) for each in value])}]"
    else:
        text = json.dumps(value, allow_nan=False)
    texts[id(value)] = text
    return text
