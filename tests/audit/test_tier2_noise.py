"""Tier 2: the noise that is added is the one that was charged for, Gaussian, and fresh."""

from __future__ import annotations

import numpy as np
import pytest

from audit_subjects import every_subject
from dpexplain.audit.noise_scale import NoiseAudit, audit_noise
from dpexplain.audit.records import made_up_records
from dpexplain.audit.subjects import audited
from dpexplain.mechanisms import NoiseSource


def with_noise(estimator, factor):
    """An estimator whose noise is `factor` times what it should be."""

    class Scaled(NoiseSource):
        def draw_int(self, sigma_int, size):
            return np.rint(factor * super().draw_int(sigma_int, size)).astype(np.int64)

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


@pytest.mark.parametrize("factor", [0.8, 1.2])
@every_subject
def test_a_fifth_too_little_or_too_much_noise_is_noticed(subject, factor):
    """The measured scale of 3000 draws has a standard deviation of 0.8 / sqrt(6000) = 0.0103.

    With probability 1e-9 it is below 0.922: eleven deviations above 0.8. With 1.2, it is
    0.0155 wide, and 1.2 lies eight of these above the upper limit of 1.080.
    """
    estimator = with_noise(audited(subject), factor)
    audits = audit_noise(estimator, made_up_records(estimator.schema, 30, 1), n_draws=3000)
    many = [audit for audit in audits if audit.n_draws >= 3000]
    assert many
    for audit in many:
        assert any("times the noise" in problem for problem in audit.problems), audit


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
