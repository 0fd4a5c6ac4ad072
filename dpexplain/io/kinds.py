"""Registry of JSON conversions for all supported types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from dpexplain._utils.json import MAX_BYTES, read_document, write_document
from dpexplain.accounting.summary import LedgerSummary
from dpexplain.compare import Comparison, FilterComparison, MulticlassComparison
from dpexplain.edit import EditLog
from dpexplain.explain import (
    FilterBank,
    FilterExplanation,
    GlobalExplanation,
    Guarantee,
    LocalExplanation,
    MulticlassExplanation,
    MulticlassLocalExplanation,
    PairCurve,
    ShapeFunction,
    WeightMap,
)
from dpexplain.io import _codecs, _edits, _filters, _fits
from dpexplain.statement.statement import PrivacyStatement

Saveable: TypeAlias = (
    GlobalExplanation
    | MulticlassExplanation
    | ShapeFunction
    | PairCurve
    | LocalExplanation
    | MulticlassLocalExplanation
    | FilterBank
    | FilterExplanation
    | WeightMap
    | Comparison
    | MulticlassComparison
    | FilterComparison
    | LedgerSummary
    | PrivacyStatement
    | EditLog
    | Guarantee
)


class _Kind(NamedTuple):
    type: type
    write: Callable[[Any], dict[str, Any]]
    read: Callable[[Any, str], Any]


# One entry for each type of object; the key is written to the file.
_KINDS: Final = {
    "guarantee": _Kind(Guarantee, _codecs.guarantee_to_plain, _codecs.guarantee_from_plain),
    "shape-function": _Kind(ShapeFunction, _codecs.shape_to_plain, _codecs.shape_from_plain),
    "global": _Kind(GlobalExplanation, _codecs.global_to_plain, _codecs.global_from_plain),
    "pair": _Kind(PairCurve, _codecs.pair_to_plain, _codecs.pair_from_plain),
    "local": _Kind(LocalExplanation, _codecs.local_to_plain, _codecs.local_from_plain),
    "multiclass": _Kind(
        MulticlassExplanation, _codecs.multiclass_to_plain, _codecs.multiclass_from_plain
    ),
    "multiclass-local": _Kind(
        MulticlassLocalExplanation,
        _codecs.multiclass_to_plain,
        _codecs.multiclass_local_from_plain,
    ),
    "filters": _Kind(FilterBank, _filters.bank_to_plain, _filters.bank_from_plain),
    "filters-local": _Kind(
        FilterExplanation, _filters.filter_local_to_plain, _filters.filter_local_from_plain
    ),
    "weights": _Kind(WeightMap, _filters.weights_to_plain, _filters.weights_from_plain),
    "ledger": _Kind(LedgerSummary, _fits.ledger_to_plain, _fits.ledger_from_plain),
    "statement": _Kind(PrivacyStatement, _codecs.statement_to_plain, _codecs.statement_from_plain),
    "edit-log": _Kind(EditLog, _edits.log_to_plain, _edits.log_from_plain),
    "comparison": _Kind(Comparison, _codecs.comparison_to_plain, _codecs.comparison_from_plain),
    "multiclass-comparison": _Kind(
        MulticlassComparison,
        _codecs.multiclass_comparison_to_plain,
        _codecs.multiclass_comparison_from_plain,
    ),
    "filters-comparison": _Kind(
        FilterComparison,
        _filters.filter_comparison_to_plain,
        _filters.filter_comparison_from_plain,
    ),
}


def to_json(obj: Saveable) -> str:
    """Convert a supported object to a JSON string.

    Parameters
    ----------
    obj : GlobalExplanation, ShapeFunction, PairCurve, LocalExplanation, FilterBank, \
FilterExplanation, WeightMap, Comparison, FilterComparison, LedgerSummary, PrivacyStatement, \
EditLog or Guarantee
        The object to convert; multiclass versions are also supported. Non-private parts are
        included, and are marked as non-private in the guarantee, metrics or samples.
        :mod:`dpexplain.io` describes which results may be shared.

    Returns
    -------
    str
        One JSON object with ``format``, ``version`` and ``content``. Numbers are written with
        enough digits to round-trip exactly.

    Raises
    ------
    TypeError
        If the object is of an unsupported type.

    Examples
    --------
    >>> import json
    >>> from dpexplain import PrivacyLedger
    >>> from dpexplain.io import to_json
    >>> document = json.loads(to_json(PrivacyLedger("rents", cap_epsilon=1).summary()))
    >>> sorted(document)
    ['content', 'format', 'version']
    """
    for name, kind in _KINDS.items():
        if type(obj) is kind.type:
            return write_document(name, kind.write(obj))
    known = ", ".join(kind.type.__name__ for kind in _KINDS.values())
    raise TypeError(
        f"cannot write a {type(obj).__name__}; expected one of {known}. Of a model, pass "
        "model.explain_global(), which can predict."
    )


def from_json(text: str, *, max_bytes: int = MAX_BYTES) -> Any:
    """Convert the output of :func:`to_json` back to an object.

    Parameters
    ----------
    text : str
        The whole document.
    max_bytes : int, default=64 MiB
        Longer input is rejected before being parsed.

    Returns
    -------
    GlobalExplanation, Comparison or another type
        Object that is bit-for-bit identical to the original. :func:`to_json` lists the possible
        types.

    Raises
    ------
    ValueError
        If the document is too long or has an unknown format or version, unknown or missing fields,
        wrong types or shapes, or numbers that are out of range.

    Examples
    --------
    >>> from dpexplain import PrivacyLedger
    >>> from dpexplain.io import from_json, to_json
    >>> summary = PrivacyLedger("sales", cap_epsilon=1).summary()
    >>> from_json(to_json(summary)) == summary
    True
    """

    def read(name: str, content: Any) -> Any:
        return _KINDS[name].read(content, "content")

    return read_document(text, tuple(_KINDS), read, max_bytes)
