"""A small convolutional network with and without privacy, and gradient-based explanations of it.

The notebook next to this file compares it with locally linear models: training with Opacus
(DP-SGD), Integrated Gradients and SmoothGrad with Captum. It needs the extra ``deep``.

Opacus adds floating-point noise from PyTorch's generator to floating-point sums, so its guarantee
is one of idealized real arithmetic. It is here to be compared with, not to release a model.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from captum.attr import IntegratedGradients, NoiseTunnel, Saliency
from numpy.typing import ArrayLike, NDArray
from opacus import PrivacyEngine
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from dpexplain.accounting import subsampled_noise_multiplier

Floats = NDArray[np.float64]

AT_ONCE = 500  # images whose single gradients are in memory at a time
PATH_STEPS = 50  # of Integrated Gradients
SMOOTH_SAMPLES = 25
SMOOTH_SHARE = 0.2  # noise of SmoothGrad over the range of the image


@dataclass(frozen=True)
class Training:
    """How a network is trained, with and without privacy.

    Attributes
    ----------
    n_epochs : int
        Passes over the images, on average where they are sampled.
    batch_size : int
        Images per step; with privacy on average.
    learning_rate : float
        Of Adam.
    clip : float
        Bound on the norm of one image's gradient, with privacy.
    """

    n_epochs: int
    batch_size: int
    learning_rate: float
    clip: float = 0.5


def prepared(images: ArrayLike) -> Floats:
    """Center each image and bring it to mean square 1: needs no other image, so no privacy.

    The zero image, from which explanations start, is a uniform picture: the same baseline that
    locally linear models have.

    Parameters
    ----------
    images : array-like of shape (n_images, side * side)

    Returns
    -------
    ndarray of shape (n_images, side * side)
    """
    values = np.asarray(images, dtype=np.float64)
    values = values - values.mean(axis=1, keepdims=True)
    size = np.sqrt((values**2).mean(axis=1, keepdims=True))
    return values / np.maximum(size, 1e-12)


class Network(nn.Module):
    """Two convolutions and two dense layers, with tanh, which suits clipped gradients [1]_.

    The mean over the classes is subtracted from scores, as in locally linear models: a number
    common to all classes changes no probability.

    .. [1] Papernot et al., "Tempered Sigmoid Activations for Deep Learning with Differential
       Privacy", AAAI 2021.
    """

    def __init__(self, side: int, n_classes: int) -> None:
        super().__init__()
        large = side > 16
        reach, stride = (2, 2) if large else (1, 1)
        left = side // (8 if large else 4)
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 2 * reach + 1, stride=stride, padding=reach),
            nn.Tanh(),
            nn.AvgPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.Tanh(),
            nn.AvgPool2d(2),
            nn.Flatten(),
            nn.Linear(32 * left * left, 32),
            nn.Tanh(),
            nn.Linear(32, n_classes),
        )

    def forward(self, images: Tensor) -> Tensor:
        """Return scores of shape (n_images, n_classes) of images (n_images, 1, side, side)."""
        scores = self.layers(images)
        return scores - scores.mean(dim=1, keepdim=True)


def train(
    images: Floats,
    labels: NDArray[np.int64],
    training: Training,
    *,
    epsilon: float | None = None,
    delta: float = 1e-5,
    seed: int = 0,
) -> Network:
    """Train a network; with `epsilon` by DP-SGD.

    Parameters
    ----------
    images : ndarray of shape (n_images, side * side)
        As `prepared` gives them.
    labels : ndarray of shape (n_images,)
        From 0.
    training : Training
    epsilon : float or None, default=None
        Privacy of one image under add/remove adjacency; None trains without privacy.
    delta : float, default=1e-5
    seed : int, default=0
        Of the start, and of batches and noise: so this network is for comparisons only.

    Returns
    -------
    Network
    """
    torch.manual_seed(seed)
    side = math.isqrt(images.shape[1])
    network = Network(side, int(labels.max()) + 1)
    loader = DataLoader(
        TensorDataset(_tensor(images), torch.as_tensor(labels)), training.batch_size, shuffle=True
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=training.learning_rate)
    if epsilon is None:
        _descend(network, optimizer, loader, training)
        return network
    n_steps = training.n_epochs * len(loader)
    noise = subsampled_noise_multiplier(epsilon, delta, n_steps, 1 / len(loader))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the generator, which the docstring above states
        private, optimizer, loader = PrivacyEngine().make_private(
            module=network,
            optimizer=optimizer,
            data_loader=loader,
            noise_multiplier=noise,
            max_grad_norm=training.clip,
        )
        with BatchMemoryManager(
            data_loader=loader, max_physical_batch_size=AT_ONCE, optimizer=optimizer
        ) as parts:
            _descend(private, optimizer, parts, training)
    plain = Network(side, int(labels.max()) + 1)
    plain.load_state_dict(private._module.state_dict())
    return plain


def _descend(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    loader: Iterable[tuple[Tensor, Tensor]],
    training: Training,
) -> None:
    """Pass over the images, at a rate that falls linearly from one pass to the next."""
    loss = nn.CrossEntropyLoss()
    network.train()
    for epoch in range(training.n_epochs):
        for group in optimizer.param_groups:
            group["lr"] = training.learning_rate * (1.0 - epoch / training.n_epochs)
        for images, labels in loader:
            optimizer.zero_grad()
            loss(network(images), labels).backward()
            optimizer.step()


def accuracy(network: Network, images: Floats, labels: NDArray[np.int64]) -> float:
    """Share of images whose greatest score is that of their label."""
    network.eval()
    with torch.no_grad():
        chosen = [network(part).argmax(dim=1) for part in _tensor(images).split(1000)]
    return float((torch.cat(chosen).numpy() == labels).mean())


def integrated_gradients(
    network: Network, images: Floats, labels: NDArray[np.int64], times_image: bool = True
) -> Floats:
    """Contribution of each pixel to the score of a class, from the zero image [1]_.

    Parameters
    ----------
    network : Network
    images : ndarray of shape (n_images, side * side)
    labels : ndarray of shape (n_images,)
        Which score is explained.
    times_image : bool, default=True
        Whether to multiply the mean gradient along the path by the image.

    Returns
    -------
    ndarray of shape (n_images, side * side)
        If multiplied, sums are scores less the score of the zero image, up to the steps of the
        path.

    References
    ----------
    .. [1] Sundararajan, Taly and Yan, "Axiomatic Attribution for Deep Networks", ICML 2017.
    """
    method = IntegratedGradients(network.eval(), multiply_by_inputs=times_image)
    found = method.attribute(_tensor(images), target=torch.as_tensor(labels), n_steps=PATH_STEPS)
    return _pixels(found)


def smooth_grad(
    network: Network, images: Floats, labels: NDArray[np.int64], seed: int = 0
) -> Floats:
    """Gradient of the score of a class, averaged over noisy copies of the image [1]_.

    Parameters and shape as for `integrated_gradients`; `seed` is that of the copies.

    References
    ----------
    .. [1] Smilkov et al., "SmoothGrad: removing noise by adding noise", 2017.
    """
    torch.manual_seed(seed)
    pictures = _tensor(images)
    found = NoiseTunnel(Saliency(network.eval())).attribute(
        pictures.requires_grad_(),
        nt_type="smoothgrad",
        nt_samples=SMOOTH_SAMPLES,
        stdevs=SMOOTH_SHARE * float((pictures.amax() - pictures.amin()).detach()),
        target=torch.as_tensor(labels),
        abs=False,
    )
    return _pixels(found)


def cosines(a: Floats, b: Floats) -> Floats:
    """Cosine between the explanations of each image, shape (n_images,)."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return (a * b).sum(axis=1) / np.maximum(lengths, 1e-12)


def _tensor(images: Floats) -> Tensor:
    side = math.isqrt(images.shape[1])
    return torch.as_tensor(images, dtype=torch.float32).reshape(-1, 1, side, side)


def _pixels(found: Tensor) -> Floats:
    return found.detach().numpy().astype(np.float64).reshape(len(found), -1)
