"""Scores and explanations of a fitted additive model."""

from __future__ import annotations

import copy
import html
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from dpexplain._utils.blas import one_blas_thread
from dpexplain._utils.caching import kept_property
from dpexplain._utils.compiling import finish_bar
from dpexplain._utils.validation import check_choice
from dpexplain.binning.bins import Encoded
from dpexplain.explain import (
    EditRecord,
    GlobalExplanation,
    Guarantee,
    LocalExplanation,
    MulticlassExplanation,
    MulticlassLocalExplanation,
    ShapeFunction,
    total_score,
)
from dpexplain.explain.additive.edits import edited_terms
from dpexplain.explain.additive.local_explanation import rest_scores
from dpexplain.models.additive.edited import (
    Edited,
    Released,
    edits_of,
    replayed_scores,
    with_scores,
)
from dpexplain.models.additive.term_effect import TermEffect, term_effect
from dpexplain.models.additive.term_noise import (
    TermNoise,
    stds_against_rest,
    term_noise,
    with_pairs,
)
from dpexplain.models.inputs import rows_in_chunks
from dpexplain.models.interpret_names import missing_attribute, unknown_parameter
from dpexplain.models.pickles import VersionedEstimator
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema
from dpexplain.tables.encoding import encode_features

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpexplain.models.additive.term_noise import NoiseDraws
    from dpexplain.models.additive.terms import AdditiveTerms
    from dpexplain.models.boosting.uncertainty.effects.estimate import EffectDraws


Floats: TypeAlias = NDArray[np.float64]


class AdditiveModel(VersionedEstimator):
    """Base class for additive models; implements scoring and explanation."""

    schema_: Schema
    guarantee_: Guarantee
    intercept_: float | NDArray[np.float64]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    _terms: AdditiveTerms
    _edited: Edited | None = None
    _has_hidden_interactions = False

    def _columns(self, X: Any) -> list[Encoded]:
        check_is_fitted(self, "schema_")
        chunks = [encode_features(rows, self.schema_) for rows in rows_in_chunks(X, self.schema_)]
        if len(chunks) == 1:
            return chunks[0]
        return [np.concatenate(column) for column in zip(*chunks, strict=True)]

    def _by_chunks(self, X: Any, computed: Callable[[list[Encoded]], Floats]) -> Floats:
        """Compute an array from the rows of a table, which may be read in chunks."""
        check_is_fitted(self, "schema_")
        found = [
            computed(encode_features(rows, self.schema_))
            for rows in rows_in_chunks(X, self.schema_)
        ]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _scores(self, X: Any) -> Floats:
        """Return the score of each row on the link scale."""
        return self._by_chunks(
            X, lambda columns: total_score(self._terms.contributions(columns), self.intercept_)
        )

    def explain_global(self, *, effect: bool = True) -> Any:
        """Return the shape functions of all terms, with the model's guarantee.

        Parameters
        ----------
        effect : bool, default=True
            Whether to estimate the effects in the population, if the model supports it. Estimating
            them takes a second or more; without the estimates, this method is much faster.

        Returns
        -------
        GlobalExplanation or MulticlassExplanation
            Plain data, without the model or any records. With more than two classes,
            ``for_class(label)`` returns the explanation of one class.
        """
        check_is_fitted(self, "schema_")
        explained = self._explained_terms(self._effect if effect else ())
        finish_bar()
        return explained

    def _explained_terms(self, effects: Sequence[TermEffect]) -> Any:
        if self._terms.link != "softmax":
            return self._explained(self._terms, effect=effects[0] if effects else None)
        return MulticlassExplanation(
            tuple(
                self._explained(self._terms.of_class(c), name, effects[c] if effects else None)
                for c, name in enumerate(self._class_names() or ())
            )
        )

    @property
    def edits_(self) -> tuple[EditRecord, ...]:
        """Edits made after the fit; see :mod:`dpexplain.edit`."""
        return () if self._edited is None else self._edited.records

    def with_curves(self, explanation: GlobalExplanation | MulticlassExplanation) -> Self:
        """Return a copy of the model with the curves of an edited explanation.

        The recorded edits are replayed on this model, and must reproduce the curves, pairs and
        intercept of the explanation.

        Parameters
        ----------
        explanation : GlobalExplanation or MulticlassExplanation
            Explanation that has the terms and bins of this model and lists each edit.

        Returns
        -------
        AdditiveModel
            A fitted model of the same class, marked as edited. Its predictions match the
            explanation bit for bit if this computer rounds in the same way as the one on which the
            explanation was made. The copy shares the ledger of this model, but nothing is charged.
            Calling ``fit`` on the copy discards the edits.

        Raises
        ------
        TypeError
            If `explanation` is of another type.
        ValueError
            If the explanation belongs to another model, or if a curve, pair or intercept differs
            from the result of the recorded edits.
        """
        check_is_fitted(self, "schema_")
        if not isinstance(explanation, GlobalExplanation | MulticlassExplanation):
            raise TypeError(
                f"with_curves takes an explanation of the model, got {type(explanation).__name__}."
            )
        parts = replayed_scores(self.explain_global(), explanation, type(self).__name__)
        # Compute both from the fit, before its curves are replaced.
        self._noise, self._effect  # noqa: B018
        edited = copy.copy(self)
        edited._terms = with_scores(self._terms, parts)
        edited._edited = edits_of(parts)
        edited.intercept_ = edited._terms.intercept
        edited.guarantee_ = parts[0].guarantee
        return edited

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # noqa: N803 - the name in scikit-learn
        """Return the parameters, with a note if the model was edited."""
        shown: str = super().__repr__(N_CHAR_MAX)
        return f"{shown}  # {self._edit_words}" if self.edits_ else shown

    @property
    def _edit_words(self) -> str:
        return f"edited by hand after the fit: {edited_terms(self.edits_)}"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if self.edits_ and "text/html" in bundle:
            note = f"<p>{html.escape(self._edit_words)}</p>"
            return {**bundle, "text/html": note + bundle["text/html"]}
        return bundle

    def _explained(
        self, terms: AdditiveTerms, of_class: str = "", effect: TermEffect | None = None
    ) -> GlobalExplanation:
        """Return the explanation of one score."""
        target, noise = self.schema_.target, self._noise_of(of_class)
        released = None if self._edited is None else self._edited.of_class(of_class)
        before = () if released is None else released.pairs
        pairs = terms.pairs if noise is None else noise.pairs(terms.pairs)
        return GlobalExplanation(
            terms=tuple(
                self._shape_function(terms, i, noise, released, effect)
                for i in range(len(terms.bins))
            ),
            edits=self.edits_,
            released_intercept=None if released is None else released.intercept,
            intercept=float(terms.intercept),
            link=terms.link,
            guarantee=self.guarantee_,
            target_name=target.name if target is not None and target.name else "target",
            target_unit=target.unit if isinstance(target, Range) else "",
            classes=self._class_names(),
            model_name=type(self).__name__,
            of_class=of_class,
            noise=None if noise is None else noise.joint,
            main_effects_only=self._has_hidden_interactions,
            schema=self.schema_,
            alarms=self._alarms(),
            effect_intercept=None if effect is None else effect.intercept,
            effect_scatter=None if effect is None else effect.joint,
            pairs=tuple(
                replace(pair.curve(terms.bins, self.guarantee_), released=scores)
                for pair, scores in zip_longest(pairs, before)
            ),
        )

    @property
    def term_names_(self) -> list[str]:
        """Term names of the fitted model: first the features, then the pairs."""
        check_is_fitted(self, "schema_")
        return self._terms.names

    @property
    def term_scores_(self) -> list[NDArray[np.float64]]:
        """Contributions to the score: one array per feature, then one per pair.

        The array of a feature has one row per bin, and the array of a pair has one value per cell
        of its grid. Special bins come last.
        """
        check_is_fitted(self, "schema_")
        parts = (*self._terms.scores, *(pair.scores for pair in self._terms.pairs))
        return [np.array(scores) for scores in parts]

    def term_importances(self, importance_type: str = "avg_weight") -> NDArray[np.float64]:
        """Return the importance of each term, in the order of `term_names_`.

        ``explain_global().ranking()`` also says which terms rise above the noise.

        Parameters
        ----------
        importance_type : {"avg_weight", "min_max"}, default="avg_weight"
            Mean absolute contribution, weighted by the (noisy) counts, or the difference between
            the largest and the smallest contribution. With several classes, both are means over
            the classes.

        Returns
        -------
        ndarray of shape (n_terms,)
            Importances on the link scale.

        Raises
        ------
        ValueError
            If `importance_type` is unknown.
        """
        check_choice("importance_type", importance_type, ("avg_weight", "min_max"))
        if importance_type == "min_max":
            per_class = [np.atleast_2d(scores.T) for scores in self.term_scores_]
            return np.array([float(np.mean(np.ptp(each, axis=1))) for each in per_class])
        found = self.explain_global(effect=False).importances()
        return np.asarray(found[self.term_names_].to_numpy(dtype=np.float64))

    def set_params(self, **params: Any) -> Self:
        """Set parameters; an unknown one is answered with its replacement.

        Parameters
        ----------
        **params : dict
            Parameters by name, as in scikit-learn.

        Returns
        -------
        estimator
            The estimator itself.

        Raises
        ------
        ValueError
            If a parameter does not exist.
        """
        names = list(self.get_params(deep=False))
        for name in params:
            if name.partition("__")[0] not in names:
                raise ValueError(unknown_parameter(type(self).__name__, name, names))
        super().set_params(**params)
        return self

    if not TYPE_CHECKING:  # type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            error = missing_attribute(self, name)
            if error is not None:
                raise error
            return object.__getattribute__(self, name)  # raises a property's own error again

    def eval_terms(self, X: Any) -> NDArray[np.float64]:
        """Return the contribution of each term to the score of each row.

        Parameters
        ----------
        X : array-like, DataFrame or chunked table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_terms) or (n_samples, n_terms, n_classes)
            On the link scale, in the order of `term_names_`.
        """
        return self._by_chunks(X, lambda columns: self._terms.contributions(columns))

    def explain_local(self, X: Any, y: Any = None, *, samples_public: bool = False) -> Any:
        """Explain the score of each row by the contributions of the terms.

        If the noise in the contributions is known, the explanation contains its standard deviation.

        Parameters
        ----------
        X : array-like, DataFrame or chunked table of shape (n_samples, n_features)
            Rows to explain. They are not protected by the model's guarantee.
        y : object, default=None
            Ignored; present for compatibility with scikit-learn.
        samples_public : bool, default=False
            Whether the rows may be shown to anyone (public records, what-if inputs).

        Returns
        -------
        LocalExplanation or MulticlassLocalExplanation
            Its ``scores`` are bit-for-bit identical to the model's scores. With more than two
            classes, ``for_class(label)`` returns the explanation of one class.
        """
        columns = self._columns(X)
        if self._terms.link != "softmax":
            return self._explained_rows(columns, self._terms, samples_public=samples_public)
        scores = total_score(self._terms.contributions(columns), self.intercept_)
        rest, parts = rest_scores(scores), []
        for c, name in enumerate(self._class_names() or ()):
            parts.append(
                self._explained_rows(
                    columns,
                    self._terms.of_class(c),
                    samples_public=samples_public,
                    of_class=name,
                    rest_score=rest[:, c],
                )
            )
        stds = [part.score_std for part in parts]
        if any(std is None for std in stds):
            return MulticlassLocalExplanation(tuple(parts))
        against = stds_against_rest(scores, np.stack([s for s in stds if s is not None], axis=1))
        return MulticlassLocalExplanation(
            tuple(replace(p, score_std=against[:, c]) for c, p in enumerate(parts))
        )

    def _explained_rows(
        self,
        columns: list[Encoded],
        terms: AdditiveTerms,
        *,
        samples_public: bool,
        of_class: str = "",
        rest_score: NDArray[np.float64] | None = None,
    ) -> LocalExplanation:
        """Return the local explanation of one score."""
        explanation, noise = self._explained(terms, of_class), self._noise_of(of_class)
        bins = [b.index(c) for b, c in zip(terms.bins, columns, strict=True)]
        labels = [
            [shape.bin_labels[i] for i in index]
            for shape, index in zip(explanation.terms, bins, strict=True)
        ]
        cells = terms.cells_of_pairs(bins)
        labels += [
            [pair.cell_labels[i] for i in at]
            for pair, at in zip(explanation.pairs, cells, strict=True)
        ]
        noise_fields = {}
        if noise is not None:
            noise_fields = with_pairs(noise.of_samples(bins), noise.pairs(terms.pairs), cells)
        return LocalExplanation(
            term_names=tuple(terms.names),
            contributions=terms.contributions(columns),
            **noise_fields,
            intercept=float(terms.intercept),
            link=terms.link,
            bin_labels=tuple(zip(*labels, strict=True)),
            guarantee=self.guarantee_,
            classes=self._class_names(),
            samples_public=samples_public,
            target_name=explanation.target_name,
            target_unit=explanation.target_unit,
            of_class=of_class,
            rest_score=rest_score,
        )

    def _alarms(self) -> tuple[str, ...]:
        """Return the alarms of the health check; empty for a model without a health check."""
        return ()

    def _noise_draws(self) -> tuple[NoiseDraws, ...]:
        """Return the simulated errors of each score; empty if none were simulated."""
        return ()

    @kept_property
    def _noise(self) -> tuple[TermNoise, ...]:
        sizes = [b.n_bins for b in self._terms.bins]
        with one_blas_thread():
            return tuple(term_noise(draws, sizes) for draws in self._noise_draws())

    def _effect_draws(self) -> tuple[EffectDraws, ...]:
        """Return the estimated true curves of each score; empty if unavailable."""
        return ()

    @kept_property
    def _effect(self) -> tuple[TermEffect, ...]:
        sizes = [b.n_bins for b in self._terms.bins]
        with one_blas_thread():
            return tuple(term_effect(draws, sizes) for draws in self._effect_draws())

    def _noise_of(self, of_class: str) -> TermNoise | None:
        """Return the noise of one score; `of_class` is "" if the model has only one score."""
        place = (self._class_names() or ()).index(of_class) if of_class else 0
        return self._noise[place] if self._noise else None

    def _shape_function(
        self,
        terms: AdditiveTerms,
        i: int,
        noise: TermNoise | None,
        released: Released | None,
        effect: TermEffect | None,
    ) -> ShapeFunction:
        bins = terms.bins[i]
        feature = bins.feature
        numeric = feature if isinstance(feature, Numeric) else None
        return ShapeFunction(
            name=bins.name,
            kind="categorical" if numeric is None else "numeric",
            contribution=terms.scores[i],
            count=terms.counts[i],
            guarantee=self.guarantee_,
            bin_edges=bins.edges,
            categories=(
                tuple(map(str, feature.categories)) if isinstance(feature, Categorical) else None
            ),
            ordered=bins.ordered,
            unit="" if numeric is None else numeric.unit,
            description=feature.description,
            **({} if noise is None else noise.of_term(i)),
            **({} if effect is None else effect.of_term(i, [b.name for b in terms.bins])),
            special=bins.special,
            step=None if numeric is None else numeric.step,
            monotone=terms.monotone[i],
            bag_std=None if terms.bag_std is None else terms.bag_std[i],
            released=None if released is None else released.curves[i],
        )

    def _class_names(self) -> tuple[str, ...] | None:
        target = self.schema_.target
        if not isinstance(target, Classes):
            return None
        return target.names
