"""Base class of all models: privacy statement, and version check of pickles."""

from __future__ import annotations

import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from dpexplain._utils.version import __version__

if TYPE_CHECKING:
    from dpexplain.accounting import PrivacyLedger
    from dpexplain.explain import Guarantee
    from dpexplain.statement import PrivacyStatement

_VERSION = "_dpexplain_version"
_STATE_A_SWEEP = (
    "this %(name)s is not fitted; call fit first. A sweep fits copies of its model: "
    "ledger.statement() states what all fits cost, and comparison.explanations has each guarantee."
)


class VersionedEstimator(BaseEstimator):
    """Base class of all models; its pickles contain the version of this library.

    Loading a pickle written by a different version causes a warning, because the attributes of a
    fitted model may change between versions.
    """

    guarantee_: Guarantee
    ledger_: PrivacyLedger

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Return the names once per class; scikit-learn reads the signature each time."""
        return super()._get_param_names()

    def statement(self) -> PrivacyStatement:
        """Return the privacy statement of this fit and its ledger.

        Returns
        -------
        PrivacyStatement
            Statement with the methods ``text()``, ``markdown()`` and ``to_json()``. That of a model
            without privacy says that nothing is promised.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        """
        from dpexplain.statement import statement_of

        check_is_fitted(self, "guarantee_", msg=_STATE_A_SWEEP)
        return statement_of(self.ledger_.summary(), guarantee=self.guarantee_)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), _VERSION: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        written = state.get(_VERSION, "an earlier version")
        if written != __version__:
            warnings.warn(_advice(type(self).__name__, str(written)[:40]), UserWarning, 2)
        super().__setstate__({name: each for name, each in state.items() if name != _VERSION})


def _advice(name: str, written: str) -> str:
    earlier = f"dpexplain=={written}" if written[:1].isdigit() else written
    return (
        f"this {name} was pickled by {earlier} and loaded by dpexplain=={__version__}, so it may "
        f"fail or predict differently. Load it with {earlier} instead, and use that version to "
        "save model.explain_global() with dpexplain.io.save: later versions can read that file. "
        "Refitting would spend privacy budget again."
    )
