"""The network that notebooks and studies set beside locally linear models."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

pytestmark = pytest.mark.full

for package in ("torch", "opacus", "captum"):
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
