"""Tier 2: the added noise is what was charged for, Gaussian and fresh."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from audit_subjects import every_subject
from dpexplain.audit import record
from dpexplain.audit.noise_scale import NoiseAudit, audit_noise
from dpexplain.audit.records import made_up_records
from dpexplain.audit.subjects import audited, known_settings
from dpexplain.mechanisms import LaplacePhase, NoiseSource

pytestmark = pytest.mark.full


def with_noise(estimator, factor):
    """Return an estimator whose noise is `factor` times what it should be."""

    class Scaled(NoiseSource):
        def draw_int(self, sigma_int, size):
            return np.rint(factor * super().draw_int(sigma_int, size)).astype(np.int64)

        def draw_laplace(self, scale_int, size):
            return np.rint(factor * super().draw_laplace(scale_int, size)).astype(np.int64)

    class Mistaken(type(estimator)):
        def _noise_source(self):
            return Scaled(self.noise_backend)

    return Mistaken(**estimator.get_params(deep=False))


@every_subject
def test_every_release_has_the_noise_that_was_charged_for(subject):
    """Each of three tests per label errs with probability 1e-9."""
    estimator = audited(subject)
    audits = audit_noise(estimator, made_up_records(estimator.schema, 30, 1))
    assert [problem for audit in audits for problem in audit.problems] == []
    assert all(audit.n_draws >= 200 for audit in audits)
    assert max(audit.n_draws for audit in audits) >= 1000


# More trees and rounds release more noise per fit, so that fewer fits are needed.
MANY_RELEASES = {"n_trees": 30, "trees_per_ensemble": 10, "max_rounds": 30}


# Ranks of Laplace noise show a wrong scale less clearly than Gaussian noise does.
DRAWS_OF_GAUSSIAN, DRAWS_OF_LAPLACE = 2_500, 5_000


def most_released(transcript, least=40):
    """For each label with many releases, count the draws per fit, except choices of splits."""
    draws: Counter[str] = Counter()
    for phase, answer in zip(transcript.phases, transcript.answers, strict=True):
        draws[phase.label] += len(answer)
    return {label: n for label, n in draws.items() if n >= least and label != "splits"}


@pytest.mark.parametrize("factor", [0.8, 1.2])
@every_subject
def test_a_fifth_too_little_or_too_much_noise_is_noticed(subject, factor):
    """With correct noise, a scale is outside the limits of the audit once in 1e9 runs.

    The limits for 2,500 draws are 0.914 and 1.088. Gaussian noise that is 0.8 or 1.2 times as wide
    gives scales with standard deviations of 0.0113 and 0.017; both limits are more than six of
    these away. Those for 5,000 draws are 0.939 and 1.062. Laplace noise, transformed by its ranks,
    gives 0.854 ± 0.009 or 1.134 ± 0.0112, more than six away. Choices of splits hardly depend on
    their scale; their sampler is tested separately.
    """
    honest = audited(subject)
    honest.set_params(**known_settings(subject.estimator_class, MANY_RELEASES))
    records = made_up_records(honest.schema, 30, 1)
    _, transcript = record(honest, *records)
    released = most_released(transcript)
    laplace = any(isinstance(phase, LaplacePhase) for phase in transcript.phases)
    n_draws = DRAWS_OF_LAPLACE if laplace else DRAWS_OF_GAUSSIAN
    # Fits differ in their numbers of leaves and split cells; the audit stops when it has enough.
    enough = math.ceil(4 * n_draws / min(released.values()))
    audits = audit_noise(with_noise(honest, factor), records, n_draws=n_draws, max_fits=enough)
    found = {audit.label: audit for audit in audits}
    assert released
    for label in released:
        assert found[label].n_draws >= n_draws
        assert any("times the noise" in problem for problem in found[label].problems), found[label]


def noise_audit(z_of_fits):
    from dpexplain.audit.noise_scale import _audit

    return _audit("sums", z_of_fits, 1e-9)


def test_noise_of_another_shape_is_noticed():
    z = np.random.default_rng(0).laplace(scale=np.sqrt(0.5), size=20_000)
    audit = noise_audit([[z]])
    assert isinstance(audit, NoiseAudit)
    assert audit.problems == ["sums: the noise is not Gaussian"]


def test_noise_that_repeats_is_noticed():
    z = np.random.default_rng(0).standard_normal((2, 4, 200))
    again = [list(z[0]), list(z[0])]
    assert noise_audit(again).problems == ["sums: the noise repeats between fits"]
    within = [[z[0, 0]] * 4, [z[1, 0]] * 4]
    assert "sums: the noise repeats between releases" in noise_audit(within).problems
    assert noise_audit([list(z[0]), list(z[1])]).problems == []
