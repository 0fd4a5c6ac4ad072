"""A small convolutional network with and without privacy, and gradient-based explanations of it.

The notebook next to this file compares it with locally linear models: training by DP-SGD,
Integrated Gradients and SmoothGrad with Captum. It needs the extra ``deep``. All of it runs on a
GPU if PyTorch sees one.

Floating-point noise from PyTorch's generator is added to floating-point sums, so the guarantee is
one of idealized real arithmetic. It is here to be compared with, not to release a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from captum.attr import IntegratedGradients, NoiseTunnel, Saliency
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn import functional

from dpexplain.accounting import subsampled_noise_multiplier

Floats = NDArray[np.float64]

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
    clip : float
        Bound on the norm of one image's gradient, with privacy.
    momentum : float or None
        Of plain descent at a constant rate; None for Adam, at a rate that falls linearly from one
        pass to the next.
    """

    n_epochs: int
    batch_size: int
    learning_rate: float
    clip: float = 0.5
    momentum: float | None = None


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

    Parameters
    ----------
    side, n_classes : int
    layers : Sequential or None
        Other layers in place of these.

    References
    ----------
    .. [1] Papernot et al., "Tempered Sigmoid Activations for Deep Learning with Differential
       Privacy", AAAI 2021.
    """

    def __init__(self, side: int, n_classes: int, layers: nn.Sequential | None = None) -> None:
        super().__init__()
        if layers is not None:
            self.layers = layers
            return
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
    layers: Callable[[], nn.Sequential] | None = None,
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
    layers : callable or None, default=None
        Makes the layers of another network.

    Returns
    -------
    Network
    """
    torch.manual_seed(seed)
    side = math.isqrt(images.shape[1])
    network = Network(side, int(labels.max()) + 1, layers() if layers else None).to(_device())
    weights = list(network.parameters())
    rate = min(1.0, training.batch_size / len(images))
    per_epoch = max(1, round(1.0 / rate))
    noise = 0.0
    if epsilon is not None:
        noise = _noise_multiplier(epsilon, delta, training.n_epochs * per_epoch, rate)
    pictures, targets = _tensor(images), torch.as_tensor(labels, device=_device())
    optimizer = _optimizer(network, training)
    network.train()
    for epoch in range(training.n_epochs):
        if training.momentum is None:
            for group in optimizer.param_groups:
                group["lr"] = training.learning_rate * (1.0 - epoch / training.n_epochs)
        for chosen in _batches(len(images), rate, per_epoch, sampled=epsilon is not None):
            batch, wanted = pictures[chosen], targets[chosen]
            if epsilon is None:
                loss = functional.cross_entropy(network(batch), wanted)
                found = list(torch.autograd.grad(loss, weights))
            else:
                total = clipped_gradient(network, batch, wanted, training.clip)
                total.add_(torch.randn_like(total), alpha=noise * training.clip)
                parts = (total / (rate * len(images))).split([w.numel() for w in weights])
                found = [part.view_as(w) for part, w in zip(parts, weights, strict=True)]
            for weight, gradient in zip(weights, found, strict=True):
                weight.grad = gradient
            optimizer.step()
    return network


@cache
def _noise_multiplier(epsilon: float, delta: float, n_steps: int, rate: float) -> float:
    """Deviation of the noise over the clip, for steps on Poisson samples."""
    return subsampled_noise_multiplier(epsilon, delta, n_steps, rate)


def _optimizer(network: Network, training: Training) -> torch.optim.Optimizer:
    weights, rate = network.parameters(), training.learning_rate
    if training.momentum is None:
        return torch.optim.Adam(weights, lr=rate)
    return torch.optim.SGD(weights, lr=rate, momentum=training.momentum)


def _batches(n_images: int, rate: float, per_epoch: int, *, sampled: bool) -> Iterator[Tensor]:
    """Yield the images of each step of a pass: a Poisson sample, or a part of a permutation."""
    if sampled:  # all steps at once: a GPU would have to wait for each size
        drawn = torch.rand(per_epoch, n_images, device=_device()) < rate
        yield from drawn.nonzero()[:, 1].split(drawn.sum(dim=1).tolist())
    else:
        yield from torch.randperm(n_images, device=_device()).split(round(rate * n_images))


def clipped_gradient(network: nn.Module, images: Tensor, labels: Tensor, clip: float) -> Tensor:
    """Sum the loss's gradients at single images, each scaled to a norm of at most `clip`.

    The gradient of a dense layer at one image is an outer product of the layer's input and of the
    loss's gradient at its output, so its norm and the scaled sum need no array of all gradients.
    A convolution is a dense layer over patches, and its single gradients are small.

    Parameters
    ----------
    network : Module
        All weights are those of two-dimensional convolutions and dense layers with a bias.
    images : Tensor of shape (n_images, 1, side, side)
    labels : Tensor of shape (n_images,)
    clip : float

    Returns
    -------
    Tensor of shape (n_weights,)
        In the order of the network's parameters.
    """
    layers = [m for m in network.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    fed: dict[nn.Module, Tensor] = {}
    made: dict[nn.Module, Tensor] = {}

    def keep(layer: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> None:
        fed[layer], made[layer] = given[0].detach(), output

    hooks = [layer.register_forward_hook(keep) for layer in layers]
    loss = functional.cross_entropy(network(images), labels, reduction="sum")
    for hook in hooks:
        hook.remove()
    backs = torch.autograd.grad(loss, [made[layer] for layer in layers])
    pairs = [
        (_patches(layer, fed[layer]), back[:, :, None] if back.ndim == 2 else back.flatten(2))
        for layer, back in zip(layers, backs, strict=True)
    ]
    single = [torch.bmm(b, i.transpose(1, 2)) if i.shape[2] > 1 else None for i, b in pairs]
    squares = sum(
        _squares(inputs, back, weights) + back.sum(dim=2).square().sum(dim=1)
        for (inputs, back), weights in zip(pairs, single, strict=True)
    )
    scale = (clip / torch.as_tensor(squares).sqrt()).clamp(max=1.0)
    found = []
    for (inputs, back), weights in zip(pairs, single, strict=True):
        if weights is None:
            found.append(((back[:, :, 0] * scale[:, None]).T @ inputs[:, :, 0]).flatten())
        else:
            found.append(scale @ weights.flatten(1))
        found.append(scale @ back.sum(dim=2))
    return torch.cat(found)


def _patches(layer: nn.Conv2d | nn.Linear, inputs: Tensor) -> Tensor:
    """Return what a layer multiplies its weights with, of shape (n_images, n_inputs, n_places)."""
    if isinstance(layer, nn.Linear):
        return inputs[:, :, None]
    (down, right), (step_down, step_right) = layer.padding, layer.stride
    height, width = layer.kernel_size
    padded = functional.pad(inputs, (right, right, down, down))
    patches = padded.unfold(2, height, step_down).unfold(3, width, step_right)
    return patches.permute(0, 1, 4, 5, 2, 3).flatten(4).flatten(1, 3)


def _squares(inputs: Tensor, back: Tensor, weights: Tensor | None) -> Tensor:
    """Squared norm of each image's gradient at the weights of a layer."""
    if weights is None:
        return inputs.square().sum(dim=(1, 2)) * back.square().sum(dim=(1, 2))
    return weights.square().sum(dim=(1, 2))


def accuracy(network: Network, images: Floats, labels: NDArray[np.int64]) -> float:
    """Share of images whose greatest score is that of their label."""
    network.eval()
    with torch.no_grad():
        chosen = [network(part).argmax(dim=1) for part in _tensor(images).split(1000)]
    return float((torch.cat(chosen).cpu().numpy() == labels).mean())


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
    classes = torch.as_tensor(labels, device=_device())
    return _pixels(method.attribute(_tensor(images), target=classes, n_steps=PATH_STEPS))


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
        target=torch.as_tensor(labels, device=_device()),
        abs=False,
    )
    return _pixels(found)


def cosines(a: Floats, b: Floats) -> Floats:
    """Cosine between the explanations of each image, shape (n_images,)."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return (a * b).sum(axis=1) / np.maximum(lengths, 1e-12)


def _tensor(images: Floats) -> Tensor:
    side = math.isqrt(images.shape[1])
    return torch.as_tensor(images, dtype=torch.float32, device=_device()).reshape(-1, 1, side, side)


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _pixels(found: Tensor) -> Floats:
    return found.detach().cpu().numpy().astype(np.float64).reshape(len(found), -1)
