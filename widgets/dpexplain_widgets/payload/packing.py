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

from dpexplain_widgets.payload.digits import streamed

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
_MARKS = frozenset({"$n", "$l", "$b", "$r", "$x", "$q", "$t"})
_PARTS_OF_TOTAL = ("noise_std", "structure_std", "sampling_std")
_STDS = frozenset({*_PARTS_OF_TOTAL, "total_std", "bag_std", "effect_std"})
_EFFECTS = frozenset({"effect", "effect_factor", "effect_size", "effect_size_std"})
_PLAIN_LETTERS = [chr(code) for code in range(33, 127) if chr(code) not in "<>&"]
_BITS = 13  # written as two letters: 91 ** 2 is a little more than 2 ** 13
_PAIRS = ["".join(pair) for pair in itertools.product(_PLAIN_LETTERS, repeat=2)]
_MEMORY_LEVELS = range(5, 10)  # none is the best for every text
_SHORT = 3  # lists up to this length are not packed
_WORTH_POOLING = 24  # characters
_LETTERS = frozenset({"pairs", "ranges", "directions"})


def packed(value: Any) -> Any:
    """Pack JSON values: round numbers and store repeated parts once.

    A list of numbers becomes ``{"$n": [k, first, differences...]}``, in steps of ``10**-k``. A list
    of standard deviations becomes ``{"$l": [step, first, differences...]}``, where ``step`` is a
    relative step size. A list of booleans becomes a string of ones and zeros, ``{"$b": "101"}``.
    A list of objects with equal keys becomes ``{"$t": {key: [values...]}}``. Bytes become base64,
    ``{"$x": text}``. Repeated parts, and strings that encode joint errors, are stored in a table
    and replaced by ``{"$r": index}``. Values that follow from others are replaced by ``{"$q": 1}``
    and recomputed when the payload is unpacked: a total standard deviation that equals the square
    root of the sum of its squared parts, and bin labels that follow from edges halfway between
    whole numbers. Finally, the integers of all lists are moved to streams of digits; see
    :func:`dpexplain_widgets.payload.digits.streamed`. ``unpack.js`` reads this format.

    Parameters
    ----------
    value : object
        JSON values and bytes.

    Returns
    -------
    dict
        ``{"table": [...], "value": ..., "streams": {...}}``, containing only JSON values.

    Raises
    ------
    ValueError
        If a number is not finite, or a key is one of the markers.
    """
    _check_keys(value)
    pooled = _pooled(_columns(_rounded(value, "")))
    [table, rest], streams = streamed([pooled["table"], pooled["value"]], ("$n", "$l"))
    return {"table": table, "value": rest, "streams": streams}


def deflated(text: str) -> str:
    """Compress text for a page.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The number of compressed bytes, a space, and these bytes as characters that are safe in
        HTML, two for every 13 bits. The bytes are the text as UTF-8, compressed in zlib format.
    """
    folded = min((_compressed(text.encode(), level) for level in _MEMORY_LEVELS), key=len)
    bits = "".join(f"{byte:08b}" for byte in folded)
    bits += "0" * (-len(bits) % _BITS)
    pairs = (int(bits[start : start + _BITS], 2) for start in range(0, len(bits), _BITS))
    return f"{len(folded)} {''.join([_PAIRS[pair] for pair in pairs])}"


def _compressed(content: bytes, memory_level: int) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS, memory_level)
    return compressor.compress(content) + compressor.flush()


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
    places = {pair: place for place, pair in enumerate(_PAIRS)}
    pairs = (places[letters[start : start + 2]] for start in range(0, len(letters), 2))
    bits = "".join(f"{pair:0{_BITS}b}" for pair in pairs)
    return zlib.decompress(
        bytes(int(bits[8 * place : 8 * place + 8], 2) for place in range(int(size)))
    ).decode()


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
        follows = {"total_std": _total_follows(value), "labels": _labels_follow(value)}
        return {**rounded, **{name: {"$q": 1} for name, does in follows.items() if does}}
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


def _columns(value: Any) -> Any:
    """Turn lists of objects with equal keys into objects of lists."""
    if isinstance(value, dict):
        return {name: _columns(each) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    names = list(value[0]) if len(value) > _SHORT and isinstance(value[0], dict) else []
    is_table = names and not _MARKS & set(names)
    if is_table and all(isinstance(each, dict) and list(each) == names for each in value):
        return {"$t": {name: [_columns(each[name]) for each in value] for name in names}}
    return [_columns(each) for each in value]


def _total_follows(values: dict[str, Any]) -> bool:
    """Return whether total_std is the square root of the sum of its squared parts."""
    total = values.get("total_std")
    parts = [values[name] for name in _PARTS_OF_TOTAL if values.get(name)]
    if not total or not parts or any(len(part) != len(total) for part in parts):
        return False
    roots = (math.hypot(*stds) for stds in zip(*parts, strict=True))
    return all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(roots, total, strict=True))


def _labels_follow(values: dict[str, Any]) -> bool:
    """Return whether labels name the whole numbers in each bin, then the special bins."""
    labels, edges, special = (values.get(name) for name in ("labels", "edges", "special"))
    if not labels or not edges or special is None or any(edge % 1 != 0.5 for edge in edges):
        return False
    ends = ((int(a + 0.5), int(b - 0.5)) for a, b in itertools.pairwise(edges))
    named = (str(low) if low == high else f"{low} – {high}" for low, high in ends)
    return list(labels) == [*named, *special]


def _in_steps(values: Sequence[float], digits: int, *, whole: bool) -> dict[str, list[int]]:
    largest = max(abs(value) for value in values)
    k = digits - 1 - math.floor(math.log10(largest)) if largest > 0 else 0
    k = 0 if whole else max(-300, min(300, k))
    steps = [round(value * 10**k) if k >= 0 else round(value / 10**-k) for value in values]
    return {"$n": [k, *_differences(steps)]}


def _ratio_steps(value: float) -> int:
    return round(math.log(value) / math.log1p(STD_STEP))


def _differences(steps: Sequence[int]) -> list[int]:
    """Return the first number, then the differences between consecutive numbers."""
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
