"""Conversion of edits and edit logs to and from JSON values."""

from __future__ import annotations

from typing import Any

from dpexplain.edit import EditLog, Entry, operation_from_plain, operation_to_plain
from dpexplain.edit.layout import Layout, PairLayout, TermLayout
from dpexplain.explain import EditEffect, EditRecord
from dpexplain.io._fields import Fields, flag, integer, items, number, optional, text


def effect_to_plain(effect: EditEffect) -> dict[str, Any]:
    """Convert an `EditEffect` to JSON values."""
    return {
        "term": effect.term,
        "n_bins": effect.n_bins,
        "rms": effect.rms,
        "people_share": effect.people_share,
        "n_outside": effect.n_outside,
        "mean_change": effect.mean_change,
        "intercept_change": effect.intercept_change,
        "of_class": effect.of_class,
        **({} if effect.side_change is None else {"side_change": effect.side_change}),
    }


def effect_from_plain(value: Any, path: str) -> EditEffect:
    """Rebuild an `EditEffect` from JSON values."""
    fields = Fields(value, path)
    effect = EditEffect(
        term=fields.take("term", text),
        n_bins=fields.take("n_bins", integer),
        rms=fields.take("rms", number),
        people_share=fields.take("people_share", number),
        n_outside=fields.take("n_outside", optional(integer)),
        mean_change=fields.take("mean_change", number),
        intercept_change=fields.take("intercept_change", number),
        of_class=fields.take("of_class", text),
        side_change=fields.maybe("side_change", number),
    )
    fields.finish()
    return effect


def record_to_plain(record: EditRecord) -> dict[str, Any]:
    """Convert an `EditRecord`, including its privacy cost, to JSON values."""
    return {
        "operation": record.operation,
        "words": record.words,
        "effects": [effect_to_plain(effect) for effect in record.effects],
        "note": record.note,
        "who": record.who,
        "when": record.when,
        "caution": record.caution,
        "epsilon": record.epsilon,
    }


def record_from_plain(value: Any, path: str = "edit") -> EditRecord:
    """Rebuild an `EditRecord` from JSON values."""
    fields = Fields(value, path)
    record = EditRecord(
        operation=fields.take("operation", text),
        words=fields.take("words", text),
        effects=tuple(fields.take("effects", items(effect_from_plain))),
        note=fields.take("note", text),
        who=fields.take("who", text),
        when=fields.take("when", text),
        caution=fields.take("caution", text),
    )
    if fields.take("epsilon", number) != 0:
        raise ValueError(f"{path}.epsilon must be 0: an edit looks at released numbers only.")
    fields.finish()
    return record


def log_to_plain(log: EditLog) -> dict[str, Any]:
    """Convert an edit log to JSON values."""
    return {
        "entries": [
            {
                "operation": operation_to_plain(entry.operation),
                "after": entry.parent,
                "note": entry.note,
                "who": entry.who,
                "when": entry.when,
            }
            for entry in log.entries
        ],
        "head": log.head,
        "undone": list(log.undone),
        "checkpoints": [{"name": name, "place": place} for name, place in log.checkpoints],
        "layout": None if log.layout is None else [_term_plain(t) for t in log.layout.terms],
        **({} if log.layout is None or not log.layout.pairs else {"grids": _grids(log.layout)}),
        **_classes(log.layout),
    }


def log_from_plain(value: Any, path: str = "log") -> EditLog:
    """Convert JSON values to an edit log."""
    fields = Fields(value, path)
    layout = fields.take("layout", optional(_layout_from_plain))
    grids = fields.maybe("grids", items(_pair_from_plain))
    classes = fields.maybe("classes", lambda value, where: tuple(items(text)(value, where)))
    for name, given in (("grids", grids), ("classes", classes)):
        if given and layout is None:
            raise ValueError(f"{path}.{name} needs a layout.")
    log = EditLog(
        entries=tuple(fields.take("entries", items(_entry_from_plain))),
        head=fields.take("head", integer),
        undone=tuple(fields.take("undone", items(integer))),
        checkpoints=tuple(fields.take("checkpoints", items(_checkpoint_from_plain))),
        layout=layout and Layout(layout.terms, tuple(grids or ()), classes),
    )
    fields.finish()
    return log


def _entry_from_plain(value: Any, path: str) -> Entry:
    fields = Fields(value, path)
    entry = Entry(
        operation=fields.take("operation", lambda plain, _: operation_from_plain(plain)),
        parent=fields.take("after", integer),
        note=fields.take("note", text),
        who=fields.take("who", text),
        when=fields.take("when", text),
    )
    fields.finish()
    return entry


def _checkpoint_from_plain(value: Any, path: str) -> tuple[str, int]:
    fields = Fields(value, path)
    pair = fields.take("name", text), fields.take("place", integer)
    fields.finish()
    return pair


def _term_plain(term: TermLayout) -> dict[str, Any]:
    return {
        "name": term.name,
        "kind": term.kind,
        "edges": None if term.edges is None else list(term.edges),
        "categories": None if term.categories is None else list(term.categories),
        "special": list(term.special),
        **({} if term.ordered is None else {"ordered": term.ordered}),
    }


def _classes(layout: Layout | None) -> dict[str, Any]:
    return {} if layout is None or layout.classes is None else {"classes": list(layout.classes)}


def _grids(layout: Layout) -> list[dict[str, Any]]:
    return [
        {"name": pair.name, "axes": [_term_plain(axis) for axis in pair.axes]}
        for pair in layout.pairs
    ]


def _pair_from_plain(value: Any, path: str) -> PairLayout:
    fields = Fields(value, path)
    pair = PairLayout(
        fields.take("name", text), tuple(fields.take("axes", items(_term_from_plain)))
    )
    fields.finish()
    if len(pair.axes) != 2:
        raise ValueError(f"{path}.axes must be two features.")
    return pair


def _layout_from_plain(value: Any, path: str) -> Layout:
    return Layout(tuple(items(_term_from_plain)(value, path)))


def _term_from_plain(value: Any, path: str) -> TermLayout:
    fields = Fields(value, path)
    edges = fields.take("edges", optional(items(number)))
    categories = fields.take("categories", optional(items(text)))
    term = TermLayout(
        name=fields.take("name", text),
        kind=fields.take("kind", text),
        edges=None if edges is None else tuple(edges),
        categories=None if categories is None else tuple(categories),
        special=tuple(fields.take("special", items(text))),
        ordered=fields.maybe("ordered", flag),
    )
    fields.finish()
    return term
