"""Link functions between scores and predictions."""

from __future__ import annotations

from typing import Literal, TypeAlias

from dpexplain.explain._record import choice, distinct, text, texts

LINKS = ("logit", "identity", "log", "softmax")

Link: TypeAlias = Literal["logit", "identity", "log", "softmax"]


def checked_classes(
    link: str, classes: tuple[str, ...] | None, of_class: str
) -> tuple[str, ...] | None:
    """Check that the link, the class names and the class of the score are consistent.

    Return the class names, or None for a regression.
    """
    choice("link", link, LINKS)
    text("of_class", of_class)
    if link != "softmax" and of_class:
        raise ValueError(f"link={link!r} has no of_class; pass of_class=''.")
    if link not in ("logit", "softmax"):
        if classes is not None:
            raise ValueError(f"link={link!r} has no classes; pass classes=None.")
        return None
    names = () if classes is None else distinct("classes", texts("classes", classes))
    if link == "logit" and len(names) != 2:
        raise ValueError(f"link='logit' needs two class names in classes, got {len(names)}.")
    if link == "softmax" and of_class not in names:
        raise ValueError("link='softmax' needs of_class to be one of the classes.")
    return names


def score_unit(link: str, target_name: str, target_unit: str) -> str:
    """Return the name of a score's unit on the link scale."""
    if link == "log":
        return f"log of the expected {target_unit or target_name}"
    return "log-odds" if link in ("logit", "softmax") else target_unit


def shown_class(classes: tuple[str, ...] | None, of_class: str) -> str:
    """Return the class to which a score refers, or an empty string for regression."""
    return of_class or ("" if classes is None else classes[1])
