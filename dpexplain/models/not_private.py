"""Base class of models without privacy, which private models are compared with."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from dpexplain._utils.tracebacks import without_records
from dpexplain.accounting import NonPrivateEvent, PrivacyLedger
from dpexplain.explain import Guarantee
from dpexplain.models.inputs import as_column, as_table, reject_unsupported
from dpexplain.models.pickles import VersionedEstimator
from dpexplain.schema import Schema
from dpexplain.tables.targets import split_target


class NotPrivateEstimator(VersionedEstimator):
    """Base class of models without privacy, which say so in guarantee and ledger."""

    REASON: ClassVar[str] = "fitted without noise"

    @without_records
    def fit(self, X: Any, y: Any, **unsupported: Any) -> Self:
        """Fit without noise. NOT PRIVATE: do not share the model or its explanation.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : str or array-like of shape (n_samples,)
            Target, or the name of its column in `X`.
        **unsupported
            Other fit parameters, such as ``sample_weight``. They are rejected unless they are None.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If a fit parameter other than `X` and `y` is given.
        ValueError
            If a parameter or the shape of the data is wrong, or if the data are unusable: for
            example, if there are no records.
        """
        reject_unsupported(unsupported, "reference", "they fit the same records as private ones")
        X, y = split_target(as_table(X), y, self._declared_schema)
        schema = self._fit_without_noise(X, as_column("y", y, X))
        self.schema_ = schema
        self.n_features_in_ = schema.n_features
        self.feature_names_in_ = np.array(schema.feature_names, dtype=object)
        self.guarantee_ = Guarantee.not_private(self.REASON)
        self.ledger_ = PrivacyLedger("this fit alone")
        event = NonPrivateEvent("fit", self.REASON)
        self.ledger_.charge([event], label=type(self).__name__)
        return self

    @property
    def _declared_schema(self) -> Schema | None:
        """Schema that was given as a parameter."""
        schema: Schema | None = self.schema
        return schema

    @abstractmethod
    def _fit_without_noise(self, X: Any, y: Any) -> Schema:
        """Check the parameters, fit, and return the schema in use."""
