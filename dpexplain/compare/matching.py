"""Match filters between two models and measure their similarity.

The filters of a class have no natural order: their order depends on the initialization. Matching
puts them in the order that minimizes the difference from the filters of the other model.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dpexplain.compare._filter_effects import filter_effects
from dpexplain.explain import FilterBank, FilterNoise
from dpexplain.explain._record import FloatArray


def match_filters(bank: FilterBank, to: FilterBank) -> FilterBank:
    """Reorder the filters of each class to match the filters of another model.

    The order minimizes the sum of the mean squared differences between the responses of paired
    filters to hypothetical records (Hungarian assignment). These records depend only on the public
    bounds, so the order does not depend on the units of the columns. Reordering does not change
    scores or explanations.

    Parameters
    ----------
    bank : FilterBank
        The filters to reorder.
    to : FilterBank
        A model with the same classes, inputs and number of filters.

    Returns
    -------
    FilterBank
        `bank` with its filters, its biases and their noise in the new order.

    Raises
    ------
    ValueError
        If the models differ in classes, inputs or number of filters.

    References
    ----------
    Crouse, "On implementing 2D rectangular assignment algorithms", IEEE Transactions on
    Aerospace and Electronic Systems 52 (2016).

    Examples
    --------
    >>> from dpexplain import DPLocallyLinearClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPLocallyLinearClassifier(schema=stays.schema, n_public=500)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(1, 4), progress=False)
    >>> from dpexplain.compare import match_filters
    >>> first, second = (comparison.explanations[epsilon][0] for epsilon in (1, 4))
    >>> match_filters(first, to=second).classes == first.classes
    True
    """
    from scipy.optimize import linear_sum_assignment

    check_same_inputs(bank, to)
    if bank.n_filters != to.n_filters:
        raise ValueError(
            f"models have {bank.n_filters} and {to.n_filters} filters per class; only models with "
            "equal numbers can be matched."
        )
    order = np.empty(bank.biases.shape, dtype=np.int64)
    for k, (found, wanted) in enumerate(zip(*map(filter_effects, (bank, to)), strict=True)):
        # The squared norms of the filters are the same in every order; only products matter.
        order[k] = linear_sum_assignment(wanted @ found.T, maximize=True)[1]
    return _reordered(bank, order)


def check_same_inputs(bank: FilterBank, other: FilterBank) -> None:
    """Check that two models have the same classes and inputs.

    Parameters
    ----------
    bank, other : FilterBank
        The models to compare.

    Raises
    ------
    ValueError
        If the classes or inputs differ.
    """
    for field in ("classes", "input_names"):
        if getattr(bank, field) != getattr(other, field):
            raise ValueError(f"models differ in {field}; compare fits of one model only.")


def _reordered(bank: FilterBank, order: np.ndarray) -> FilterBank:
    noise = bank.noise
    if noise is not None and (noise.basis is None or noise.basis.ndim == 2):
        noise = dataclasses.replace(
            noise,
            variance=_taken(noise.variance, order),
            bias_variance=_taken(noise.bias_variance, order),
        )
    elif noise is not None:
        noise = _with_stacked_basis(noise, order)
    return dataclasses.replace(
        bank,
        filters=_taken(bank.filters, order),
        biases=_taken(bank.biases, order),
        noise=noise,
    )


def _with_stacked_basis(noise: FilterNoise, order: np.ndarray) -> FilterNoise:
    """Reorder noise that has one basis per filter; keep correlations between inputs.

    Filters with the same index share a basis in all classes, but not after reordering. The rows of
    all bases are therefore stacked into one basis, in which each filter uses only its own rows.
    """
    assert noise.basis is not None
    n_classes, n_filters, n_rows = noise.variance.shape
    variance = np.zeros((n_classes, n_filters, n_filters, n_rows))
    places = np.arange(n_classes)[:, None], np.arange(n_filters), order
    variance[places] = _taken(noise.variance, order)
    return FilterNoise(
        variance.reshape(n_classes, n_filters, -1),
        _taken(noise.bias_variance, order),
        noise.basis.reshape(-1, noise.n_inputs),
        noise.origin,
    )


def _taken(values: FloatArray, order: np.ndarray) -> FloatArray:
    return np.stack([row[places] for row, places in zip(values, order, strict=True)])


def cosines(left: FloatArray, right: FloatArray) -> FloatArray:
    """Compute cosines between vectors along the last axis; 0 if either vector is zero.

    Parameters
    ----------
    left, right : ndarray of shape (..., n)
        Vectors.

    Returns
    -------
    ndarray of shape (...)
        Cosines, from -1 to 1.
    """
    product = (left * right).sum(axis=-1)
    size = np.sqrt((left**2).sum(axis=-1) * (right**2).sum(axis=-1))
    found = np.divide(product, size, out=np.zeros_like(product), where=size > 0)
    return np.clip(found, -1.0, 1.0)


@dataclasses.dataclass(frozen=True)
class FilterAgreement:
    """Similarity of two locally linear models; each measure is 1 for identical models.

    The cosines are about 0 if the models are unrelated.

    Parameters
    ----------
    filters : float
        Mean cosine between matched filters.
    class_means : float
        Mean over the classes of the cosine between the two models' mean filters.
    contrasts : float
        Mean over all pairs of classes of the cosine between the two models' contrasts. A contrast
        is the difference between the mean filters of the two classes.
    local : float
        Mean over the samples of the cosine between the two models' weighted filters, for the class
        that the first model predicts; NaN if there are no samples.
    predictions : float
        Proportion of samples for which both models predict the same class; NaN if there are no
        samples.

    Examples
    --------
    >>> from dpexplain import DPLocallyLinearClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPLocallyLinearClassifier(schema=stays.schema, n_public=500)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(1, 4), progress=False)
    >>> from dpexplain.compare import filter_agreement
    >>> agreement = filter_agreement(comparison.explanations[4][0], comparison.reference)
    >>> -1 <= agreement.contrasts <= 1
    True
    """

    filters: float
    class_means: float
    contrasts: float
    local: float = float("nan")
    predictions: float = float("nan")


def filter_agreement(
    bank: FilterBank, other: FilterBank, inputs: FloatArray | None = None
) -> FilterAgreement:
    """Compare two locally linear models with the same classes and inputs.

    Parameters
    ----------
    bank : FilterBank
        The model to evaluate.
    other : FilterBank
        The model to compare with: a reference or another repeat. If it is not private, the result
        is not private either.
    inputs : ndarray of shape (n_samples, n_inputs) or None, default=None
        Prepared inputs of samples on which local explanations are compared. If the samples are not
        public, the result must not be published.

    Returns
    -------
    FilterAgreement

    Raises
    ------
    ValueError
        If the models differ in classes, inputs or number of filters.

    Examples
    --------
    >>> from dpexplain import DPLocallyLinearClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPLocallyLinearClassifier(epsilon=4, schema=stays.schema, n_public=500)
    >>> bank = model.fit(stays.X, stays.y).explain_global()
    >>> from dpexplain.compare import filter_agreement
    >>> round(filter_agreement(bank, bank).class_means, 6)
    1.0
    """
    check_same_inputs(bank, other)
    matched = match_filters(bank, other)
    means, others = bank.class_means(), other.class_means()
    a, b = np.triu_indices(len(bank.classes), 1)
    local = predictions = float("nan")
    if inputs is not None and len(inputs):
        local, predictions = _local_agreement(bank, other, inputs)
    return FilterAgreement(
        float(cosines(matched.filters, other.filters).mean()),
        float(cosines(means, others).mean()),
        float(cosines(means[a] - means[b], others[a] - others[b]).mean()),
        local,
        predictions,
    )


def _local_agreement(
    bank: FilterBank, other: FilterBank, inputs: FloatArray
) -> tuple[float, float]:
    first, second = bank.scores(inputs).argmax(axis=1), other.scores(inputs).argmax(axis=1)
    shown = [_weighted_filters(each, inputs, first) for each in (bank, other)]
    return float(cosines(*shown).mean()), float(np.mean(first == second))


def _weighted_filters(bank: FilterBank, inputs: FloatArray, classes: np.ndarray) -> FloatArray:
    """Return, for each sample, the weighted sum of the filters of one class.

    `classes` contains the class of each sample; the result has shape (n_samples, n_inputs).
    """
    shares = bank.weightings(inputs)[np.arange(len(inputs)), classes]
    found = np.empty((len(inputs), len(bank.input_names)))
    for k in np.unique(classes):
        rows = classes == k
        found[rows] = shares[rows] @ bank.filters[k]
    return found
