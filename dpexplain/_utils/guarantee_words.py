"""Texts used in guarantees, and checks that a string from a file is one of them."""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, Context, Decimal

__all__ = [
    "ALONE",
    "EDITED_COVERS",
    "EXACT_GAUSSIAN",
    "FILTERS_NOTE",
    "ROUNDED_GAUSSIAN",
    "TREES_NOTE",
    "TREES_SAMPLER",
    "bags_note",
    "known_note",
    "known_sampler",
    "known_version",
    "opendp_gaussian",
    "upper_number",
    "without_rows",
]

ALONE = "this fit alone"
EDITED_COVERS = ", edited by hand afterwards"

EXACT_GAUSSIAN = (
    "exact discrete Gaussian (rejection sampling, exact comparisons), randomness of OpenSSL, "
    "seeded by the operating system"
)
ROUNDED_GAUSSIAN = (
    "rounded Gaussian (sum of four normals over two, Philox keyed with 256 bits of the operating "
    "system); the quality of its far tail is assumed, not proved"
)
TREES_SAMPLER = (
    "exact discrete Laplace and exponential mechanism (rejection sampling with exact comparisons), "
    "randomness of OpenSSL, seeded by the operating system"
)

TREES_NOTE = "The curves are main effects of trees; interactions appear only in local contributions"
FILTERS_NOTE = (
    "Filters were learned from sums over secret random samples of the records (Poisson sampling); "
    "the sums are exact integers"
)

_VERSION = re.compile(r"[0-9A-Za-z.+!-]{0,40}")
_NUMBER = re.compile(r"\d+")
_ROWS = re.compile(r", of whom at most \d+ rows are used\Z")


def opendp_gaussian(version: str) -> str:
    """Return the text for the Gaussian sampler in a given version of OpenDP."""
    return f"exact discrete Gaussian (OpenDP {version}), randomness of the operating system"


def bags_note(n: int | str) -> str:
    """Return the note for curves that are means over `n` outer bags."""
    return (
        f"The curves are means over {n} random parts of the records. One record may be in all of "
        f"them, so the noise of each is larger by a factor of the square root of {n}"
    )


def known_version(text: str) -> bool:
    """Check whether a string is a valid version number, or empty (version unknown)."""
    return _VERSION.fullmatch(text) is not None


def known_sampler(text: str) -> bool:
    """Check whether a string is empty or describes a sampler of this library."""
    head, _, rest = opendp_gaussian("\n").partition("\n")
    if text.startswith(head) and text.endswith(rest):
        return known_version(text.removeprefix(head).removesuffix(rest))
    return text in ("", EXACT_GAUSSIAN, ROUNDED_GAUSSIAN, TREES_SAMPLER)


def known_note(text: str) -> bool:
    """Check whether a string is a note that a fit adds to its guarantee."""
    first = _NUMBER.search(text)
    return text in (TREES_NOTE, FILTERS_NOTE, bags_note(first[0] if first else ""))


def without_rows(unit: str) -> str:
    """Return a unit of privacy without the number of rows used per person."""
    return _ROWS.sub("", unit)


def upper_number(value: float, digits: int = 4) -> str:
    """Format an epsilon or delta with few digits, rounded up.

    Rounding to the nearest value could overstate the privacy protection.
    """
    if math.isinf(value):
        return "infinity"
    exact = Decimal(repr(float(value)))
    return f"{float(Context(prec=digits, rounding=ROUND_CEILING).plus(exact)):g}"
