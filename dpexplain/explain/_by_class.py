"""Base class for multiclass explanations and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from dpexplain._utils.lazy import pd
from dpexplain.explain._record import Record
from dpexplain.explain._text import did_you_mean, listing, shorten
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.local_explanation import LocalExplanation
from dpexplain.explain.display import Display

Part = TypeVar("Part")
"""Type of the part for one class, which must have a ``frame`` method."""
Checked = TypeVar("Checked", GlobalExplanation, LocalExplanation)


def class_position(classes: tuple[str, ...], label: object) -> int:
    """Return the index of a class.

    Parameters
    ----------
    classes : tuple of str
    label : object
        Name of the class. It is compared as a string, so 3 matches ``"3"``.

    Returns
    -------
    int

    Raises
    ------
    KeyError
        If the class does not exist.
    """
    name = str(label)
    if name in classes:
        return classes.index(name)
    hint = did_you_mean(name, classes)
    raise KeyError(f"no class {shorten(name)!r}; the classes are {listing(classes)}.{hint}")


def one_class_at_a_time(what: str, classes: tuple[str, ...]) -> NoReturn:
    """Raise an error that asks the caller to choose one class.

    Raises
    ------
    ValueError
        Always; the message names the method to call, and lists the classes.
    """
    raise ValueError(
        f"{what} takes one class at a time; pass .for_class(label), where label is one of "
        f"{listing(classes)}."
    )


def check_one_class(shown: Any, what: str = "a figure") -> None:
    """Check that an explanation or comparison is for a single class.

    Parameters
    ----------
    shown : object
    what : str, default="a figure"
        What needs a single class, for the message.

    Raises
    ------
    ValueError
        If `shown` has several classes; the message names the method to call.
    """
    if isinstance(shown, ByClass):
        one_class_at_a_time(what, shown.classes)


def checked_parts(parts: Any, kind: type[Checked]) -> tuple[Checked, ...]:
    """Return the explanations as a tuple, after checking that each class has one."""
    parts = tuple(parts)
    if len(parts) < 2 or not all(isinstance(part, kind) for part in parts):
        raise ValueError(
            f"by_class must contain a {kind.__name__} for each of at least two classes."
        )
    first = parts[0]
    if tuple(part.of_class for part in parts) != first.classes:
        raise ValueError("by_class must contain one explanation for each class, in their order.")
    for field in ("link", "classes", "guarantee", "target_name"):
        if any(getattr(part, field) != getattr(first, field) for part in parts):
            raise ValueError(f"by_class differs in {field}; take explanations of one model.")
    return parts


class ByClass(Record, Display, Generic[Part]):
    """Frozen base class for objects with one explanation or comparison per class."""

    by_class: tuple[Part, ...]

    if not TYPE_CHECKING:  # type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            parts = vars(self).get("by_class")
            known = {*dir(type(parts[0])), *vars(parts[0])} if parts else ()
            if name in known and not name.startswith("_"):
                raise AttributeError(
                    f"{type(self).__name__} has no {name!r}, which takes one class at a time; use "
                    f".for_class(label).{name}, where label is one of {listing(self.classes)}."
                )
            return super().__getattr__(name)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.by_class[0].classes or ()  # type: ignore[attr-defined]

    def for_class(self, label: object) -> Part:
        """Return the part for one class.

        Parameters
        ----------
        label : object
            Name of the class.

        Returns
        -------
        GlobalExplanation, LocalExplanation or Comparison

        Raises
        ------
        KeyError
            If the class does not exist.
        """
        return self.by_class[class_position(self.classes, label)]

    def plot(self, *arguments: Any, **options: Any) -> NoReturn:
        """Raise an error that asks the caller to choose one class.

        Parameters
        ----------
        *arguments, **options
            Ignored; accepted because the method for a single class accepts them.

        Raises
        ------
        ValueError
            Always, because a figure shows only one class.
        """
        one_class_at_a_time("a figure", self.classes)

    def _frames(self, *arguments: Any) -> pd.DataFrame:
        """Stack the frames of all classes, with the class as the first column."""
        frames = []
        for name, part in zip(self.classes, self.by_class, strict=True):
            frame = part.frame(*arguments)  # type: ignore[attr-defined]
            frame.insert(0, "class", name)
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)
