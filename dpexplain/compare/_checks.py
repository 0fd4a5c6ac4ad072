"""Checks made before a sweep is charged; none of them reads a data value."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from dpexplain._utils.validation import check_count, check_epsilon
from dpexplain.accounting._ledger.process import ledgers_of
from dpexplain.accounting._ledger.provenance import provenance_of
from dpexplain.accounting.events import Event
from dpexplain.accounting.ledger import PrivacyLedger
from dpexplain.accounting.unit import Unit, unit_of
from dpexplain.tables.columns import kind_in_parts, reads_once
from dpexplain.tables.frames import in_memory_call, is_stream
from dpexplain.tables.groups import Grouping, grouping_of
from dpexplain.tables.targets import split_target

if TYPE_CHECKING:
    from dpexplain.schema import Schema


def check_estimator(estimator: Any) -> None:
    """Check that the estimator can plan privacy events and has a reference model."""
    needed = ("planned_events", "reference_estimator", "get_params", "set_params")
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in needed):
        raise ValueError(
            f"estimator={type(estimator).__name__} is not a private estimator; pass one instance, "
            "such as DPExplainableBoostingClassifier(schema=schema). To compare kinds of models, "
            "sweep each of them with the same ledger."
        )


def checked_epsilons(epsilons: Any, estimator: Any) -> tuple[float, ...]:
    """Check that epsilons are valid and distinct, and return them in ascending order."""
    if isinstance(epsilons, (str, bytes)) or not hasattr(epsilons, "__iter__"):
        raise ValueError("epsilons must be a sequence of numbers, such as (0.5, 1, 2).")
    allow_weak = bool(estimator.get_params(deep=False).get("allow_weak", False))
    values = [check_epsilon(epsilon, allow_weak=allow_weak) for epsilon in epsilons]
    if not values:
        raise ValueError("epsilons is empty; give at least one, such as (0.5, 1, 2).")
    if len(set(values)) < len(values):
        raise ValueError(
            "epsilons has a duplicate value; use n_repeats for several fits at one epsilon."
        )
    return tuple(sorted(values))


def check_n_jobs(n_jobs: object) -> None:
    """Check that the number of threads is None or a nonzero integer."""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(f"n_jobs={n_jobs!r} must be None, a positive number of threads, or -1.")


def checked_evaluate(evaluate: Any, schema: Any) -> tuple[Any, Any] | None:
    """Check that held-out features and targets have equal lengths, and return them.

    If there are no held-out records, return None.
    """
    if evaluate is None:
        return None
    if not isinstance(evaluate, (tuple, list)) or len(evaluate) != 2:
        raise ValueError("evaluate must be a pair (X_test, y_test), or None.")
    if kind_in_parts(evaluate[0]):
        raise ValueError(
            f"evaluate is {kind_in_parts(evaluate[0])}, but metrics need a table in memory."
        )
    features, target = evaluate
    X, y = split_target(features, target, schema)
    check_rows("y of evaluate", X, y)
    return X, y


def check_rows(name: str, X: Any, values: Any) -> None:
    """Check that `values` contains one value for each row of `X`.

    Only shapes are compared, and the error message omits the number of rows.
    """
    shape = tuple(getattr(values, "shape", ()))
    flat = len(shape) < 2 or shape[1:] == (1,)
    if not flat or _n_rows(name, values) != _n_rows("X", X):
        raise ValueError(f"{name} must contain one value for each row of X.")


def _n_rows(name: str, values: Any) -> int:
    shape = getattr(values, "shape", None)
    if not shape and not hasattr(values, "__len__"):
        raise ValueError(f"{name} must contain one row per record, got {type(values).__name__}.")
    return int(shape[0]) if shape else len(values)


def check_reference(X: Any, reference: bool, rows: int | None) -> int | None:
    """Check that the reference can be fitted to this many rows, and return the number."""
    kind = kind_in_parts(X)
    if rows is None:
        if kind and reference:
            raise ValueError(
                f"X is {kind}, and reference=True would fit a model without privacy, which needs a "
                "table in memory; pass reference=False, or reference_rows=50_000 to fit it to a "
                "sample of that many rows."
            )
        return None
    if not reference:
        raise ValueError(f"reference_rows={rows!r} needs reference=True.")
    if not kind:
        raise ValueError(
            f"reference_rows={rows!r} is for tables that are read in chunks; X is in memory, so "
            "omit it: the reference is then fitted to all rows."
        )
    return check_count("reference_rows", rows)


def check_parts(X: Any, groups: Any, n_jobs: int | None) -> bool:
    """Return whether `X` is a table in chunks; if it is, check the other arguments."""
    kind = kind_in_parts(X)
    if kind and groups is not None:
        raise ValueError(
            f"X is {kind}, and groups= needs a table in memory{in_memory_call(X)}, because the "
            "rows of a person may be in several chunks."
        )
    if is_stream(X) and reads_once(X):
        raise ValueError(
            f"X is a {type(X).__name__}, which can be read only once, but every fit of a sweep "
            f"reads it; pass a table in memory{in_memory_call(X)} or Parquet files."
        )
    if is_stream(X) and n_jobs not in (None, 1):
        raise ValueError(
            f"X is a query, which is executed for one fit at a time; use n_jobs=1 instead of "
            f"{n_jobs}."
        )
    return bool(kind)


def checked_groups(groups: Any, X: Any, estimator: Any) -> Grouping | None:
    """Check the groups of a sweep, and return them; None if the rows have no groups.

    Groups must be given if the estimator bounds the number of rows per person, and must be omitted
    otherwise.
    """
    given = estimator.get_params(deep=False)
    bound = given.get("max_rows_per_person")
    if (groups is None) != (bound is None):
        raise ValueError(
            f"max_rows_per_person={bound!r} of the estimator and groups= of the sweep must be "
            "given together: who each row belongs to, and how many rows per person to use."
        )
    if groups is None:
        return None
    grouping = grouping_of(groups, X, given.get("schema"))
    check_rows("groups", X, grouping.cells)
    return grouping


# Label of a fit, and the events that it will be charged for.
Charge: TypeAlias = tuple[str, tuple[Event, ...]]


class Payer(NamedTuple):
    """Ledgers charged for a sweep, with the sweep's adjacency and privacy unit."""

    ledgers: tuple[PrivacyLedger, ...]
    adjacency: str
    unit: Unit

    @property
    def ledger(self) -> PrivacyLedger:
        """Ledger of the sweep itself, which is the last of `ledgers`."""
        return self.ledgers[-1]

    def charge(self, charges: list[Charge], schema: Schema | None) -> None:
        """Charge one entry for each fit; if the charge is refused, no fit is charged."""
        for ledger in self.ledgers:
            ledger.charge_all(
                charges,
                adjacency=self.adjacency,
                what="sweep",
                unit=self.unit,
                provenance=provenance_of(schema),
            )


def find_payer(
    ledger: PrivacyLedger | str | None, estimator: Any, kind: str | None = None
) -> Payer:
    """Choose the ledger to charge: the argument, the estimator's, or a new one."""
    parameters = estimator.get_params(deep=False)
    own = parameters.get("ledger")
    adjacency = parameters.get("adjacency", "add_remove")
    unit = unit_of(parameters.get("max_rows_per_person"), kind)
    if ledger is not None and own is not None and ledger != own:
        raise ValueError(
            "ledger differs from the estimator's ledger; pass only one, because all fits on a "
            "data set belong in one ledger."
        )
    given = own if ledger is None else ledger
    if given is not None and parameters.get("reproducible_seed") is not None:
        raise ValueError(
            "reproducible_seed makes models NOT PRIVATE, so a shared ledger rejects them; omit "
            "the seed or the ledger."
        )
    delta = parameters.get("delta", 1e-6)
    ledgers = ledgers_of(given, delta=delta, adjacency=adjacency, alone="this sweep alone")
    return Payer(ledgers, adjacency, unit)
