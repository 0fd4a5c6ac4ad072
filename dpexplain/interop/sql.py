"""Export of additive models to SQL, for predictions inside a database."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from dpexplain._utils.validation import shown
from dpexplain.explain import GlobalExplanation, MulticlassExplanation
from dpexplain.explain._text import listing
from dpexplain.explain.additive._binned import Binned
from dpexplain.interop._classes import explained_classes
from dpexplain.interop._dialects import DIALECTS, Dialect, literal, quoted
from dpexplain.schema import Categorical, Classes, Date, Numeric, Schema
from dpexplain.tables.cells import DATE_UNIT, EMPTY_WORDS, cell_number, cell_text
from dpexplain.tables.spellings import comma_number, day_reader

_WIDTH = 96
_OWN = "_dpexplain_"  # prefix of the names of intermediate columns


def to_sql(
    explanation: GlobalExplanation | MulticlassExplanation,
    *,
    table: str | Sequence[str],
    dialect: Literal["duckdb", "sqlite", "postgresql"],
    keep: Sequence[str] = (),
) -> str:
    """Export the predictions of an explanation as an SQL query.

    Parameters
    ----------
    explanation : GlobalExplanation or MulticlassExplanation
        Explanation of a boosting or linear model, private or not.
    table : str or sequence of str
        Name of the table, or the parts of a qualified name, such as ``("clinic", "visits")``. The
        table must have a column for each feature.
    dialect : {"duckdb", "sqlite", "postgresql"}
        Database for which the query is written. SQLite must be 3.35 or later and include its
        mathematical functions, as most builds do; PostgreSQL must be 12 or later.
    keep : sequence of str, default=()
        Names of table columns to include in the result, such as a key.

    Returns
    -------
    str
        A SELECT statement whose result has one row for each table row, in no particular order. The
        result columns are those in `keep`; ``prediction``; and, for a classifier,
        ``probability_NAME`` for each class, and ``score`` or ``score_NAME`` on the link scale. All
        numbers in the statement have been released, and a comment states the guarantee.

    Raises
    ------
    TypeError
        If `explanation` is of any other type, or a name is not a string.
    ValueError
        If `explanation` covers only one of several classes or only main effects; if the dialect is
        unknown; or if `keep` repeats a column, or contains the name of a column in the result or in
        an intermediate step.

    Warns
    -----
    UserWarning
        If the schema specifies date formats, thousands separators or affixes. The query ignores
        them: it reads dates only from dates, times and ISO strings, and numbers only without
        separators or affixes.

    Notes
    -----
    Apart from date formats, thousands separators and affixes, the query applies the rules of the
    schema: aliases, missing-value markers and decimal commas. It reads the whole table; to predict
    only some rows, give the name of a view. A value of a numeric feature that the database cannot
    read as a number is treated as missing.

    A few values are read differently than by ``predict``. Around a value, the query ignores ASCII
    white space and no-break spaces, but no other Unicode spaces, and it reads only ASCII digits.
    PostgreSQL treats a number with more than 5000 characters as missing; if its setting
    ``extra_float_digits`` is below 1, it also rounds floating-point numbers. SQLite may read a
    string with more than 15 digits as an adjacent double. Lists, intervals, identifiers, and times
    with fractions of a second or a time zone are converted to text by the database, and this text
    is compared with the categories.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.interop import to_sql
    >>> query = to_sql(explanation, table="visits", dialect="duckdb")
    >>> query.split()[0], "visits" in query
    ('--', True)
    """
    parts = explained_classes(explanation)
    if dialect not in DIALECTS:
        raise ValueError(f"dialect={shown(dialect)} must be one of {listing(DIALECTS)}.")
    if own := [name for name in _names(keep) if name.lower().startswith(_OWN)]:
        raise ValueError(f"keep has {own[0]!r}, but names with {_OWN} are the query's; rename it.")
    source = ".".join(quoted(name) for name in _names([table] if isinstance(table, str) else table))
    results = [name.lower() for name in (*_results(parts), *_names(keep))]
    if len(set(results)) < len(results):
        raise ValueError(f"keep repeats a column, or has the name of a result: {listing(keep)}.")
    _warn_of_formats(parts[0].schema)
    query = _Query(DIALECTS[dialect], parts, [quoted(name) for name in keep])
    words = " ".join(explanation.guarantee.statement().split())  # line breaks would end comments
    comment = textwrap.wrap(words, _WIDTH, initial_indent="-- ", subsequent_indent="-- ")
    return "\n".join([*comment, *query.lines(source)]) + "\n"


def _names(given: Any) -> list[str]:
    if isinstance(given, Sequence) and not isinstance(given, str):
        names = list(given)
        if all(isinstance(name, str) for name in names):
            return names
    raise TypeError("table and keep must be names: table='visits', keep=['id'].")


def _results(parts: Sequence[GlobalExplanation]) -> list[str]:
    """Return the names of the result columns, in order."""
    classes = parts[0].classes
    if classes is None:
        return ["prediction"]
    scores = [f"score_{part.of_class}" for part in parts] if len(parts) > 1 else ["score"]
    return ["prediction", *(f"probability_{name}" for name in classes), *scores]


def _warn_of_formats(schema: Schema | None) -> None:
    features = {} if schema is None else schema.features
    numbers = {n: part for n, part in features.items() if isinstance(part, Numeric)}
    if written := [n for n, part in numbers.items() if part.thousands or part.affixes]:
        warnings.warn(
            f"the query reads {listing(written)} as numbers without units or thousands "
            "separators; others count as missing there. Convert these columns to numbers first.",
            UserWarning,
            stacklevel=3,
        )
    if named := [n for n, part in features.items() if isinstance(part, Date) and part.format]:
        warnings.warn(
            f"the query reads {listing(named)} as dates, times and ISO text only; other formats of "
            "the schema count as missing there. Convert these columns to dates first.",
            UserWarning,
            stacklevel=3,
        )


class _Cell(NamedTuple):
    """Table column, read as a number or as a category code."""

    name: str
    categories: tuple[str, ...] | None


class _Query:
    """Builder for the steps of a query: trim and read cells, add up scores, predict."""

    def __init__(
        self, dialect: Dialect, parts: Sequence[GlobalExplanation], keep: list[str]
    ) -> None:
        self._dialect, self._parts, self._keep = dialect, parts, keep
        self._schema = parts[0].schema
        axes = [axis for pair in parts[0].pairs for axis in pair.axes]
        self._bins: dict[_Cell, Binned] = {_cell(b): b for b in (*parts[0].terms, *axes)}
        self._columns = {cell: f"{_OWN}cell_{i}" for i, cell in enumerate(self._bins)}
        names = dict.fromkeys(cell.name for cell in self._bins)
        self._features = {name: i for i, name in enumerate(names)}
        self._scores = [f"{_OWN}score_{k}" for k in range(len(parts))]

    def lines(self, source: str) -> Iterable[str]:
        """Return the lines of the query."""
        reads = {cell: self._read(bins) for cell, bins in self._bins.items()}
        cells = [f"{read} AS {self._columns[cell]}" for cell, read in reads.items()]
        scores = [
            f"{self._score(part)} AS {name}"
            for part, name in zip(self._parts, self._scores, strict=True)
        ]
        yield f"WITH {_OWN}texts AS MATERIALIZED ("
        rows = f"{_OWN}rows"  # without a table, SQLite reads an unknown name as a string
        kept = [f"{rows}.{name} AS {name}" for name in self._keep]
        yield from _select([*kept, *self._texts(rows, reads)], f"{source} AS {rows}")
        yield f"), {_OWN}cells AS MATERIALIZED ("
        yield from _select([*self._keep, *cells], f"{_OWN}texts")
        yield f"), {_OWN}scores AS ("
        yield from _select([*self._keep, *scores], f"{_OWN}cells")
        yield ")"
        values = self._outcome()
        named = zip(values, _results(self._parts), strict=True)
        results = [f"{value} AS {quoted(name)}" for value, name in named]
        yield from _select([*self._keep, *results], f"{_OWN}scores")

    def _texts(self, rows: str, reads: dict[_Cell, str]) -> Iterable[str]:
        """Yield expressions that select each column as text and, if needed, unchanged.

        An unchanged column is selected only if a later step needs it, because databases limit the
        number of columns: PostgreSQL allows 1664.
        """
        raw = {cell.name for cell, read in reads.items() if self._named(cell.name)[0] in read}
        for name in self._features:
            column, (as_is, as_text) = f"{rows}.{quoted(name)}", self._named(name)
            decimal = getattr(self._feature(name), "decimal", ".")
            if name in raw:
                yield f"{column} AS {as_is}"
            yield f"{self._dialect.read_text(column, decimal)} AS {as_text}"

    def _named(self, name: str) -> tuple[str, str]:
        """Return the query's names for a column's values, unchanged and as text."""
        i = self._features[name]
        return f"{_OWN}raw_{i}", f"{_OWN}text_{i}"

    def _feature(self, name: str) -> Numeric | Categorical | None:
        return None if self._schema is None else self._schema.features[name]

    def _read(self, bins: Binned) -> str:
        """Return an expression that reads a cell as a number or as a category code."""
        feature, d = self._feature(bins.name), self._dialect
        as_is, text = self._named(bins.name)
        read, day = d.read_number(as_is, text), d.day(text)
        if bins.bin_edges is None:
            return self._code(read, text, bins.categories or (), feature)
        assert not isinstance(feature, Categorical)
        if isinstance(feature, Date):
            read = day
        elif feature is None and bins.unit == DATE_UNIT:
            read = f"COALESCE({day}, {read})"
        for marker in sorted(_numbers_of(feature)):
            read = f"NULLIF({read}, {d.double(marker)})"
        return read

    def _code(self, number: str, text: str, categories: Sequence[str], feature: Any) -> str:
        """Return an expression for the category code of a cell.

        The expressions `number` and `text` read the cell as a number and as text. The codes of
        "other" and "missing" follow the code of the last category.
        """
        other, missing = len(categories), len(categories) + 1
        codes = {cell_text(name): code for code, name in enumerate(categories)}
        if isinstance(feature, Categorical):
            codes |= {cell_text(alias): codes[cell_text(name)] for alias, name in feature.aliases}
            codes |= {cell_text(marker): missing for marker in feature.missing}
        listed = {name: code for name, code in codes.items() if name}
        midnights = {f"{name} 00:00:00": code for name, code in listed.items()}
        listed |= {text: code for text, code in midnights.items() if cell_text(text) in listed}
        text, quote = f"COALESCE({text}, '')", self._dialect.quoted_text
        empty = ["", "nan", "+nan", "-nan", *(sorted(EMPTY_WORDS) if feature is not None else [])]
        unlisted = (
            f"CASE WHEN LOWER({text}) IN ({', '.join(map(quote, empty))}) "
            f"THEN {missing} ELSE {other} END"
        )
        read = _choice(text, {quote(name): code for name, code in listed.items()}, unlisted)
        numbers = {cell_number(name): code for name, code in listed.items()}
        spelled = {self._dialect.double(x): n for x, n in numbers.items() if not np.isnan(x)}
        return _choice(number, spelled, read)

    def _score(self, part: GlobalExplanation) -> str:
        """Return an expression for the sum of the contributions to one score."""
        added = [literal(part.intercept)]
        added += [
            self._looked_up(term, [literal(x) for x in term.contribution]) for term in part.terms
        ]
        for pair in part.pairs:
            width = pair.axes[1].n_bins
            row, column = (
                self._looked_up(axis, [str(i) for i in range(axis.n_bins)], "NULL")
                for axis in pair.axes
            )
            cells = {str(i): literal(x) for i, x in enumerate(pair.contribution.ravel())}
            added.append(_choice(f"{row} * {width} + {column}", cells, "0e0"))
        return f"CAST({' + '.join(added)} AS DOUBLE PRECISION)"

    def _looked_up(self, bins: Binned, values: Sequence[str], without: str = "0e0") -> str:
        """Return an expression for the value of the bin that contains a cell.

        The value is chosen from `values`; if no bin contains the cell, it is `without`.
        """
        cell = self._columns[_cell(bins)]
        n = bins.n_value_bins
        special = {name: values[n + i] for i, name in enumerate(bins.special)}
        missing = special.get("missing", without)
        if bins.bin_edges is None:
            known = {str(code): values[code] for code in range(n)}
            return _choice(
                cell, {**known, str(n): special.get("other", without), str(n + 1): missing}, without
            )
        steps = zip(bins.bin_edges[1:-1], values, strict=False)
        below = [f"WHEN {cell} < {literal(edge)} THEN {value}" for edge, value in steps]
        whens = " ".join([f"WHEN {cell} IS NULL THEN {missing}", *below])
        return f"(CASE {whens} ELSE {values[n - 1]} END)"

    def _outcome(self) -> list[str]:
        """Return expressions for the result columns, in the order of `_results`."""
        first, d = self._parts[0], self._dialect
        if first.classes is None:
            score = self._scores[0]
            return [f"EXP({d.clamped(score)})" if first.link == "log" else score]
        labels = _labels(first, d)
        if len(self._scores) == 1:
            score = self._scores[0]
            second = f"1e0 / (1e0 + EXP(-{d.clamped(score)}))"
            chosen = f"CASE WHEN {score} > 0e0 THEN {labels[1]} ELSE {labels[0]} END"
            return [chosen, f"1e0 / (1e0 + EXP({d.clamped(score)}))", second, score]
        top = f"{d.largest}({', '.join(self._scores)})"
        shares = [f"EXP({d.clamped(f'{score} - {top}')})" for score in self._scores]
        total = " + ".join(shares)
        chosen = _choice(top, dict(zip(self._scores, labels, strict=True)), "NULL")
        return [chosen, *(f"{share} / ({total})" for share in shares), *self._scores]


def _select(columns: list[str], source: str) -> Iterable[str]:
    yield "SELECT"
    yield ",\n".join(f"  {column}" for column in columns)
    yield f"FROM {source}"


def _cell(bins: Binned) -> _Cell:
    return _Cell(bins.name, bins.categories)


def _choice(value: str, results: dict[str, Any], otherwise: str) -> str:
    whens = " ".join(f"WHEN {case} THEN {result}" for case, result in results.items())
    return f"(CASE {value} {whens} ELSE {otherwise} END)" if results else otherwise


def _numbers_of(feature: Numeric | None) -> set[float]:
    """Return the missing-value markers as numbers, parsed like table cells.

    If the feature is a date, the numbers are days. Markers that cannot be read are omitted.
    """
    readers: list[Callable[[object], float]] = [cell_number, comma_number]
    if isinstance(feature, Date):
        readers = [day_reader(feature.format, feature.days[1].year)]
    markers = () if feature is None else feature.missing
    known = {read(marker) for marker in markers for read in readers}
    return {number for number in known if not np.isnan(number)}


def _labels(first: GlobalExplanation, dialect: Dialect) -> list[str]:
    target = None if first.schema is None else first.schema.target
    labels = target.labels if isinstance(target, Classes) else first.classes or ()
    if all(isinstance(x, bool) for x in labels):
        return [str(x).upper() for x in labels]
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in labels)
    return [repr(x) if numbers else dialect.quoted_text(str(x)) for x in labels]
