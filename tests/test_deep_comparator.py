"""The network that notebooks and studies set beside locally linear models."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

pytestmark = pytest.mark.full

for package in ("torch", "captum"):
    pytest.importorskip(package, reason="needs the extra deep")


@pytest.fixture
def deep(repository, monkeypatch):
    monkeypatch.syspath_prepend(str(repository / "notebooks"))
    return importlib.import_module("deep_comparator")


@pytest.fixture
def images(deep):
    """Bright left or right halves of 8 x 8 pictures, and which."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 60)
    pictures = rng.uniform(0, 1, (60, 8, 8))
    pictures[labels == 0, :, :4] += 1.0
    pictures[labels == 1, :, 4:] += 1.0
    return deep.prepared(pictures.reshape(60, -1)), labels


def test_images_are_centered_and_of_one_size_and_a_uniform_one_is_zero(deep):
    pictures = deep.prepared([[1.0, 2.0, 3.0, 6.0], [5.0, 5.0, 5.0, 5.0]])

    np.testing.assert_allclose(pictures.mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose((pictures**2).mean(axis=1), [1.0, 0.0])


@pytest.mark.parametrize("epsilon", [None, 50.0])
def test_networks_learn_with_and_without_privacy(deep, images, epsilon):
    pictures, labels = images
    training = deep.Training(n_epochs=20, batch_size=20, learning_rate=1e-2)

    network = deep.train(pictures, labels, training, epsilon=epsilon, delta=1e-3)

    assert deep.accuracy(network, pictures, labels) > 0.9


def _paper(load, model):
    return load("paper_deep").layers_of(getattr(load("paper_deep"), model))


def _apart(network, pictures, labels):
    """Each image's gradient, one backward pass after the other: (n_images, n_weights)."""
    import torch

    rows = []
    for picture, label in zip(pictures, labels, strict=True):
        loss = torch.nn.functional.cross_entropy(network(picture[None]), label[None])
        parts = torch.autograd.grad(loss, list(network.parameters()))
        rows.append(torch.cat([part.flatten() for part in parts]))
    return torch.stack(rows)


@pytest.mark.parametrize("model", [None, "LARGE", "SMALL"])
def test_clipped_gradients_are_those_of_single_images(deep, load, model):
    import torch

    torch.manual_seed(0)
    network = deep.Network(28, 10, _paper(load, model) if model else None)
    pictures, labels = torch.randn(12, 1, 28, 28), torch.randint(0, 10, (12,))
    each = _apart(network, pictures, labels)
    norms = each.norm(dim=1)
    clip = float(norms.median())  # half of them are scaled, the other half is not

    found = deep.clipped_gradient(network, pictures, labels, clip)

    wanted = (each * (clip / norms).clamp(max=1.0)[:, None]).sum(dim=0)
    assert float((found - wanted).norm() / wanted.norm()) < 1e-5
    alone = deep.clipped_gradient(network, pictures[:1], labels[:1], 0.01)
    assert float(alone.norm()) == pytest.approx(0.01, rel=1e-4)
    nobody = deep.clipped_gradient(network, pictures[:0], labels[:0], clip)
    assert nobody.shape == wanted.shape
    assert not nobody.any()


def test_clipped_gradients_are_those_of_opacus(deep):
    import torch

    opacus = pytest.importorskip("opacus")
    torch.manual_seed(0)
    network = deep.Network(28, 10)
    pictures, labels = torch.randn(12, 1, 28, 28), torch.randint(0, 10, (12,))
    found = deep.clipped_gradient(network, pictures, labels, 0.5)

    private = opacus.GradSampleModule(network, loss_reduction="sum")
    optimizer = opacus.optimizers.DPOptimizer(
        torch.optim.SGD(private.parameters(), lr=1.0),
        noise_multiplier=0.0,
        max_grad_norm=0.5,
        expected_batch_size=1,
        loss_reduction="sum",
    )
    torch.nn.functional.cross_entropy(private(pictures), labels, reduction="sum").backward()
    optimizer.pre_step()

    wanted = torch.cat([weight.grad.flatten() for weight in private.parameters()])
    assert float((found - wanted).norm() / wanted.norm()) < 1e-4


def test_steps_with_privacy_see_poisson_samples_and_others_every_image_once(deep):
    import torch

    torch.manual_seed(0)
    drawn = list(deep._batches(2000, 0.1, 50, sampled=True))
    sizes = torch.tensor([len(chosen) for chosen in drawn], dtype=torch.float64)
    # 50 binomials of mean 200 and variance 180: five standard errors of each
    assert abs(float(sizes.mean()) - 200) < 5 * (180 / 50) ** 0.5
    assert 180 * (1 - 5 * (2 / 49) ** 0.5) < float(sizes.var()) < 180 * (1 + 5 * (2 / 49) ** 0.5)
    assert all(len(chosen.unique()) == len(chosen) for chosen in drawn)

    parts = list(deep._batches(2000, 0.1, 10, sampled=False))
    assert torch.equal(torch.cat(parts).sort().values, torch.arange(2000))


@pytest.mark.parametrize(("model", "count"), [("LARGE", 431_080), ("SMALL", 26_010)])
def test_networks_of_the_paper_have_the_printed_numbers_of_weights(load, model, count):
    assert sum(w.numel() for w in _paper(load, model).parameters()) == count


def test_a_fit_of_a_study_is_read_where_it_is_kept(load, monkeypatch, tmp_path):
    study = load("paper_deep")
    monkeypatch.setattr(study, "FITS", tmp_path)
    made = study.Explained(0.5, 2.0, {"SmoothGrad": np.eye(3)}, [("SmoothGrad", "look", 0.25)])
    calls = []
    monkeypatch.setattr(study, "_deep", lambda *given: calls.append(given) or made)
    monkeypatch.setattr(study, "fit", study.fit.__wrapped__)

    first = study.fit("digits", "CNN", 2.0, 1)
    second = study.fit("digits", "CNN", 2.0, 1)

    assert calls == [("digits", "CNN", 2.0, 1)]
    assert first is made
    assert (second.accuracy, second.seconds) == (0.5, 2.0)
    assert [tuple(look) for look in second.looks] == made.looks
    np.testing.assert_array_equal(second.explanations["SmoothGrad"], np.eye(3))


def test_integrated_gradients_add_up_to_the_score_over_that_of_a_uniform_picture(deep, images):
    import torch

    pictures, labels = images
    network = deep.train(pictures, labels, deep.Training(5, 20, 1e-2))

    found = deep.integrated_gradients(network, pictures, labels)

    with torch.no_grad():
        shown = network(torch.as_tensor(pictures, dtype=torch.float32).reshape(-1, 1, 8, 8))
        uniform = network(torch.zeros(1, 1, 8, 8))
    gained = (shown - uniform).numpy()[np.arange(60), labels]
    # 50 Gauss-Legendre points on a smooth path, in single precision
    np.testing.assert_allclose(found.sum(axis=1), gained, rtol=1e-3, atol=1e-3)
    gradients = deep.integrated_gradients(network, pictures, labels, times_image=False)
    np.testing.assert_allclose(found, gradients * pictures, rtol=1e-4, atol=1e-6)


def test_smoothed_gradients_point_to_the_half_that_decides(deep, images):
    pictures, labels = images
    network = deep.train(pictures, labels, deep.Training(20, 20, 1e-2))

    found = deep.smooth_grad(network, pictures, labels).reshape(60, 8, 8)

    left = found[:, :, :4].mean(axis=(1, 2)) - found[:, :, 4:].mean(axis=(1, 2))
    assert np.all((left > 0) == (labels == 0))


def test_cosines_are_one_for_the_same_picture_at_any_scale(deep):
    a = np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 0.0]])

    np.testing.assert_allclose(deep.cosines(a, 5.0 * a), [1.0, 1.0, 0.0])
    np.testing.assert_allclose(deep.cosines(a[:2], -a[:2]), [-1.0, -1.0])
