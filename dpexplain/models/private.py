"""Fitting of private estimators: checks, charge, mechanism and guarantee."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.tracebacks import without_records
from dpexplain._utils.validation import plain_number
from dpexplain._utils.version import __version__
from dpexplain.accounting import Event, NonPrivateEvent, PrivacyLedger
from dpexplain.accounting._ledger.process import is_unlisted, ledgers_of, warn_of_total
from dpexplain.accounting._ledger.provenance import provenance_of
from dpexplain.accounting.unit import Unit, unit_of
from dpexplain.exceptions import PrivacyWarning
from dpexplain.explain import Guarantee
from dpexplain.explain.health import Health, warn_of_alarms
from dpexplain.mechanisms import NoiseSource, SeededCoins
from dpexplain.models.inputs import (
    as_column,
    as_table,
    n_features_of,
    observed_schema,
    reject_unsupported,
    rows_of,
    rows_with_target,
)
from dpexplain.models.persons import bounded_rows as _bounded_rows
from dpexplain.models.persons import (
    checked_groups,
    features_without_groups,
)
from dpexplain.models.private_checks import check_private_parameters
from dpexplain.models.private_hooks import PrivateHooks
from dpexplain.schema import Schema
from dpexplain.tables.chunked import ChunkedTable, ChunkError
from dpexplain.tables.columns import kind_in_parts
from dpexplain.tables.encoding import check_columns
from dpexplain.tables.frames import in_memory_call
from dpexplain.tables.groups import groups_or_declared, warn_of_persons
from dpexplain.tables.opening import chunked_table
from dpexplain.tables.targets import split_target

_SEEDED = "noise was drawn from reproducible_seed, so anybody who knows the seed can subtract it"
_DRAFTED = "bounds and categories were read from the data"


class PrivateEstimator(PrivateHooks):
    """Base class for private estimators.

    It checks the parameters of each fit, charges the fit to the ledger, and runs it.
    """

    _person_kind: str | None
    _charged: tuple[Event, ...]

    @without_records
    def fit(self, X: Any, y: Any, *, groups: Any = None, **unsupported: Any) -> Any:
        """Fit on private records; charge the whole budget before reading them.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Table with the columns of the schema. In a DataFrame, they are found by name, and other
            columns are ignored; in an array, they are found by position. Private models
            also accept tables that do not fit in memory: a path to a Parquet file or
            to a folder of Parquet files, a pyarrow dataset, a Dask DataFrame or Array, an object
            with ``__arrow_c_stream__`` (such as a DuckDB relation or a pyarrow
            ``RecordBatchReader``), or a polars LazyFrame. See Notes.
        y : str or array-like of shape (n_samples,)
            Target, or the name of its column in `X`. Each value is a number, which is clipped to
            the public range, or one of the public classes. A row is dropped if its target is empty,
            not a number or not one of the classes. For files, datasets and streams, pass the name;
            for Dask, pass the name, or a Series or Array that is partitioned like `X`.
        groups : str, (str, array-like), array-like of shape (n_samples,) or None, default=None
            The person each row belongs to, given as the name of a column of `X` (which is then not
            a feature), as a pair of a name and the person IDs, or as the person IDs alone. The
            default is the person column of the schema if `max_rows_per_person` is set. At most
            `max_rows_per_person` rows of each person are used; they are chosen by secret random
            draws. Rows without a readable person ID are dropped. The name is public; it tells a
            ledger which fits protect the same people. If the IDs are given without a name, the
            ledger cannot tell whether two fits protect the same people, so it cannot bound their
            total cost for a person. (The name of a Series is not used, because pandas keeps it even
            after the IDs have been replaced by those of other people.)
        **unsupported
            Other scikit-learn fit parameters, such as ``sample_weight``. They are rejected unless
            they are None.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter or the shape of the data is wrong; nothing has been spent.
        BudgetError
            If the ledger cannot cover the fit; nothing has been spent.
        RuntimeError
            If the fit failed after its budget was charged.

        Warns
        -----
        HealthWarning
            If the released numbers point to a mistake in the table; see ``health()``. The model is
            still fitted.
        PrivacyWarning
            At the 5th, 10th, 20th, ... fit without a ledger in this process. The warning gives the
            total cost of these fits.

        Notes
        -----
        The same noise gives a bit-for-bit identical model, no matter how the records are
        partitioned or where they are stored. Columns beyond the schema and the target are not
        used. Partitioned tables need a schema, and `groups` needs a table in memory, because the
        rows of a person may be in several partitions.

        Files and streams are read once, in batches; untyped formats (CSV) are rejected. Lazy
        queries are executed only after the charge, because a record may make them fail. One small
        integer per cell and one number per row are kept. Explainable boosting and linear models
        keep these numbers in memory up to 1 GiB, and beyond that in a temporary file (in
        ``TMPDIR``); forests, boosted trees and DPBoost keep two bytes per cell in memory, and
        locally linear models four. Only the owner of the temporary file can open it, and it is
        deleted after the fit; where the system allows, the file has no name. Its content is as
        confidential as the rows.

        With a Dask client, the workers keep the records as these small integers. They need the same
        version of this library and are trusted as much as the process that runs the fit: records
        and exact sums are sent between them, so encrypt the connections (TLS). If computing the
        collection itself raises an error, Dask logs the error, including any values in its message.
        If a worker is lost, its partitions are re-read at no extra cost to the budget. If there is
        no client, partitions are computed sequentially.
        """
        reject_unsupported(
            unsupported,
            "private",
            "weights, offsets, warm starts and callbacks would change a record's influence",
        )
        X = self._as_table(X)
        if not isinstance(X, ChunkedTable):
            X, y = split_target(X, y, self.schema)
        groups = groups_or_declared(groups, self.max_rows_per_person, self.schema)
        if not is_unlisted():  # a sweep warns once
            warn_of_persons(self.schema, self.max_rows_per_person, stacklevel=3)
        table = X
        # Parameters that another thread sets from here on affect only the next fit: the charge,
        # the fit and the guarantee must all use the same parameters.
        work = self._with_plain_numbers()
        given, X = groups, features_without_groups(X, groups, work.schema)
        events = work.planned_events(X)
        y = work._as_target(y, X)
        kind, groups = checked_groups(given, table, work.max_rows_per_person, work.schema)
        work._forget_fit()
        work._person_kind = kind
        work.ledger_, work._charged = work._charged_ledger(events), events
        failure = work._failure_of_fit(X, y, groups)
        del work._person_kind
        self._take_fit(work)
        if failure:
            # Raised here, so that no chained traceback keeps records in its frames.
            raise RuntimeError(
                f"the fit stopped with {failure} after its budget was charged; the charge "
                "stays. Try the same call on simulated data to find the cause."
            )
        if not is_unlisted():  # a sweep warns once, and audits repeat fits
            warn_of_alarms(self._alarms(), self.guarantee_, stacklevel=4)
            if self.ledger is None:
                warn_of_total(self.adjacency, stacklevel=4)
        return self

    def health(self) -> Health:
        """Check the fit for mistakes in the table and for excessive noise.

        The check uses only released numbers, so it costs no privacy and its result may be shown
        with the model.

        Returns
        -------
        Health
            Alarms, followed by notes. An alarm reports that a limit is violated: more than 20% of
            the values of a feature are missing or unreadable, more than 5% are outside its
            categories, more than 90% of the values that are not missing are in its first or last
            bin (98% if that bin contains zero; features with fewer than 10 values are not tested),
            a class has less than 2% of the records, more than 20% of the `n_public` rows have no
            usable target, or the number of records cannot be distinguished from 0. The notes say
            how many terms rise above the noise, how many bins were resolved, whether the range of
            the target may be far too wide, and what is not checked because the model releases no
            counts for it.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.

        Notes
        -----
        Boosting and linear models release counts for everything that is checked. Random forests
        and boosted trees with their default settings release the number of records in each class.
        Locally linear models release the total number of records if they subtract a mean. The
        other models release no counts.

        If the data respect all limits, the probability of any alarm is at most 1% per fit: each
        limit is tested against the known noise of the released counts and sums, and the tests share
        the 1% (Bonferroni). For the last limit, "respected" means that the number of records is at
        least twice the critical value of its test. (If there were no records, the noisy number
        would rarely exceed this critical value.) Proportions in the messages are estimates. The
        absence of alarms does not mean that there are no mistakes: if the table or epsilon is
        small, the noise can hide them.

        Examples
        --------
        >>> from dpexplain import DPExplainableBoostingClassifier
        >>> from dpexplain.datasets import make_additive
        >>> stays = make_additive("clinical", n_samples=2_000, random_state=0)
        >>> unread = stays.X.assign(age="unknown")    # a column that was read wrongly
        >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
        >>> alarms = model.fit(unread, stays.y).health().alarms
        >>> ("age", "missing") in [(alarm.feature, alarm.kind) for alarm in alarms]
        True
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "guarantee_")
        findings = (*self._found_alarms(), *self._health_notes())
        return Health(findings, private=self.guarantee_.private)

    _reads_chunks: ClassVar[bool] = False
    """Whether a fit accepts tables that are read in chunks."""

    _why_in_memory: ClassVar[str] = "the fit goes through all records many times"
    """Reason why a fit does not read chunks, for the error message."""

    def _as_table(self, X: Any) -> Any:
        kind = "a table in chunks" if isinstance(X, ChunkedTable) else kind_in_parts(X)
        if kind and self._reads_chunks and self.max_rows_per_person is not None:
            raise ValueError(
                f"X is {kind}, and max_rows_per_person needs a table in memory{in_memory_call(X)}, "
                "because the rows of a person may be in several chunks."
            )
        if isinstance(X, ChunkedTable):
            return X
        if kind:
            if self._reads_chunks:
                return chunked_table(X)
            raise TypeError(
                f"X is {kind}, which a {type(self).__name__} cannot read in chunks, because "
                f"{self._why_in_memory}; pass a table in memory{in_memory_call(X)}."
            )
        return as_table(X, getattr(self.schema, "n_features", None))

    def _as_target(self, y: Any, X: Any) -> Any:
        if not isinstance(X, ChunkedTable):
            return as_column("y", y, X)
        assert self.schema is not None
        X.check_target(y, self.schema)
        return y

    def _privacy_unit(self) -> Unit:
        """Return the privacy unit of the current fit."""
        return unit_of(self.max_rows_per_person, vars(self).get("_person_kind"))

    def _forget_fit(self) -> None:
        """Clear an earlier fit, so that its guarantee is never shown with a new ledger."""
        for name in [n for n in vars(self) if n.endswith("_") or n in self._hidden_fit]:
            delattr(self, name)

    def _take_fit(self, work: Any) -> None:
        """Replace any earlier fit with that of `work`, but not the parameters."""
        self._forget_fit()
        parameters = work.get_params(deep=False)
        vars(self).update({n: v for n, v in vars(work).items() if n not in parameters})

    _hidden_fit: ClassVar[tuple[str, ...]] = ()
    """Attributes of a fit whose names do not end in an underscore."""

    @np.errstate(all="ignore")  # arithmetic warnings could reveal a record
    def _failure_of_fit(self, X: Any, y: Any, groups: Any) -> str:
        """Fit on the records; return the type of the error that stopped it, or "".

        The message of an error is not returned, because it could contain a value.
        """
        charged = vars(self).pop("_charged", ())
        try:
            schema = self._schema_of_fit(X, y)
            if not isinstance(X, ChunkedTable):  # chunks are read later
                X, y, groups = rows_with_target(X, y, schema, groups)
            if groups is not None:
                kept = self._kept_rows(groups)
                X, y, groups = (rows_of(values, kept) for values in (X, y, groups))
            mechanism = self._mechanism()
            if self.schema is not None:  # otherwise, classes were unknown before the charge
                mechanism.limit_to(charged)
            self._fit_people(X, y, groups, schema, mechanism)
        except ChunkError as error:
            return error.kind
        except Exception as error:
            return type(error).__name__
        self.schema_ = schema
        self.n_features_in_ = schema.n_features
        self.feature_names_in_ = np.array(schema.feature_names, dtype=object)
        self.guarantee_ = self._guarantee(mechanism.source)
        return ""

    def _kept_rows(self, groups: Any) -> NDArray[np.intp]:
        """Choose the rows used for each person, by random draws.

        The draws are secret unless `reproducible_seed` is set. Audits override this method.
        """
        limit = self.max_rows_per_person or 1
        if self.reproducible_seed is None:
            return _bounded_rows(groups, limit)
        return _bounded_rows(groups, limit, SeededCoins(self.reproducible_seed))

    def __sklearn_tags__(self) -> Any:
        """Return tags that make scikit-learn skip accuracy checks on small data sets."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.non_deterministic = True
        for part in (tags.classifier_tags, tags.regressor_tags):
            if part is not None:
                part.poor_score = True
        return tags

    @without_records
    def planned_events(self, X: Any, y: Any = None) -> tuple[Event, ...]:
        """Return the events that ``fit(X, y)`` would charge to the ledger.

        Only public quantities are used.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Table, as in ``fit``. Its columns are checked, but no values are read.
        y : object, default=None
            Target, or the name of its column. For a table in memory, it is checked only if it is a
            name.

        Returns
        -------
        tuple of Event

        Raises
        ------
        ValueError
            If a parameter of the estimator or a column of `X` is wrong.
        """
        self = self._with_plain_numbers()
        X = self._as_table(X)
        if not isinstance(X, ChunkedTable):
            X, _ = split_target(X, y, self.schema)
        check_private_parameters(self)
        self._check_settings()
        if isinstance(X, ChunkedTable):
            self._check_parts(X, y)
        elif self.schema is not None:
            check_columns(X, self.schema)
        n_features = n_features_of(X, self.schema)
        self._check_plan(n_features)
        events = self._events(n_features)
        if _is_drafted(self.schema):
            events += (NonPrivateEvent("schema", _DRAFTED),)
        if self.reproducible_seed is not None:
            events += (NonPrivateEvent("seeded noise", _SEEDED),)
        return events

    def _with_plain_numbers(self) -> Any:
        """Return a copy whose parameters are numbers of Python, for exact budgets."""
        copied: Any = type(self).__new__(type(self))
        vars(copied).update(vars(self))
        for name, value in copied.get_params(deep=False).items():
            setattr(copied, name, plain_number(value))
        return copied

    def _check_parts(self, X: ChunkedTable, y: Any) -> None:
        if self.schema is None:
            raise ValueError(
                "schema=None reads bounds and categories from a table in memory; X is read in "
                "chunks, so pass schema=Schema(...)."
            )
        X.check_columns(self.schema)
        if y is not None:
            X.check_target(y, self.schema)

    def _charged_ledger(self, events: Sequence[Event]) -> PrivacyLedger:
        label = f"{type(self).__name__} (epsilon={self.epsilon:g})"
        ledgers = ledgers_of(
            self.ledger, delta=self.delta, adjacency=self.adjacency, alone="this fit alone"
        )
        unit = self._privacy_unit()
        facts = provenance_of(self.schema)
        for each in ledgers:
            each.charge(events, label=label, adjacency=self.adjacency, unit=unit, provenance=facts)
        return ledgers[-1]

    def _schema_of_fit(self, X: Any, y: Any) -> Schema:
        if _is_drafted(self.schema):
            warnings.warn(
                f"{_DRAFTED}, outside epsilon={self.epsilon:g}; pass schema=Schema(...) with "
                "public bounds.",
                PrivacyWarning,
                stacklevel=6,
            )
        return self.schema or observed_schema(X, y, self._target_kind)

    def _guarantee(self, source: NoiseSource) -> Guarantee:
        unit = self._privacy_unit().words
        reasons = [_DRAFTED] * _is_drafted(self.schema) + [_SEEDED] * (not source.private)
        if reasons:
            return Guarantee.not_private(
                "; ".join(reasons),
                delta=self.delta,
                adjacency=self.adjacency,
                version=__version__,
                unit=unit,
            )
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            adjacency=self.adjacency,
            private=True,
            mu=self._mu(),
            sampler=source.description,
            version=__version__,
            unit=unit,
            notes=self._notes(),
            # Both are upper bounds, of which the second is tighter for some samples of records.
            epsilon_replace=max(float(self.epsilon), self._epsilon_replaced())
            if self.adjacency == "add_remove"
            else self._epsilon_replaced(),
        )


def _is_drafted(schema: Schema | None) -> bool:
    return schema is None or schema.read_from_records
