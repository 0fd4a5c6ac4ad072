"""Local explanations from a filter bank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpexplain.explain._record import FloatArray
from dpexplain.explain.filters._filter_math import Linearised, filter_shares
from dpexplain.explain.filters.filter_local import FilterExplanation

if TYPE_CHECKING:
    from dpexplain.explain.filters.filter_bank import FilterBank


def explain_inputs(bank: FilterBank, inputs: FloatArray, public: bool) -> FilterExplanation:
    """Explain prepared inputs; see :meth:`FilterBank.explain`.

    Parameters
    ----------
    bank : FilterBank
    inputs : ndarray of shape (n_samples, n_inputs)
    public : bool
        Whether the samples may be shown to anyone.

    Returns
    -------
    FilterExplanation
    """
    said = bank.filter_scores(inputs)
    shares = filter_shares(said, bank.inverse_temperature)
    effective = np.einsum("nkm,kmd->nkd", shares, bank.filters, optimize=True)
    return FilterExplanation(
        inputs,
        effective,
        (shares * bank.biases).sum(axis=2),
        shares,
        classes=bank.classes,
        input_names=bank.input_names,
        guarantee=bank.guarantee,
        grid_shape=bank.grid_shape,
        samples_public=public,
        target_name=bank.target_name,
        **_spread(bank, inputs, said, shares, effective),
    )


def _spread(
    bank: FilterBank,
    inputs: FloatArray,
    said: FloatArray,
    shares: FloatArray,
    effective: FloatArray,
) -> dict[str, FloatArray]:
    if bank.noise is None:
        return {}
    noise = Linearised(bank.filters, bank.noise, bank.inverse_temperature)
    found = [noise.at(*row) for row in zip(inputs, said, shares, effective, strict=True)]
    by_input, by_class = effective.shape, effective.shape[:2]
    fields = {"effective_std": "effective", "own_std": "own", "score_std": "score"}
    fields["own_score_std"] = "own_score"
    return {
        name: np.reshape(
            [getattr(each, part) for each in found],
            by_class if name.endswith("score_std") else by_input,
        )
        for name, part in fields.items()
    }
