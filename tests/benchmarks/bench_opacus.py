"""Time and memory of a training step next to Opacus, on simulated 28 x 28 images."""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from dpexplain.mechanisms import Mechanism, NoiseSource
from dpexplain.models.locally_linear._kernels_clipping import clipped_factors
from dpexplain.models.locally_linear.arithmetic import (
    COARSE_BITS,
    FEATURE_BITS,
    ROW_BITS,
    lattice_bits,
    to_integers,
)
from dpexplain.models.locally_linear.gradients import FilterShape, GradientSums
from dpexplain.models.locally_linear.inputs import Features
from dpexplain.models.locally_linear.optimizer import Adam
from dpexplain.models.locally_linear.projections import Basis
from dpexplain.models.locally_linear.training import NoisePlan

N_CLASSES, N_FILTERS, N_INPUTS, N_BASIS, BATCH = 10, 30, 784, 300, 500
KINDS = {"one projection per filter, 300": True, "no projection, 784": False}
N_STEPS = 30
LATTICE_BITS = lattice_bits(1.3)

_MISSING = (
    "Opacus was not run: it needs torch and opacus (pip install torch; "
    "pip install --no-deps opacus; pip install opt_einsum)."
)


def step_times() -> tuple[list[tuple[str, ...]], str]:
    """Measure one step of our model and, if it is installed, of Opacus.

    Returns
    -------
    rows : list of tuple of str
        Kind of filters, how, CPU per step, how many times ours, extra memory.
    missing : str
        Why Opacus is not among them; empty if it is.
    """
    try:
        import opacus  # noqa: F401
        import torch
    except ImportError:
        torch = None
    rows = []
    for kind, projected in KINDS.items():
        steps = {
            "dpexplain, exact sums and noise": _our_step(projected),
            "the same in float32, no guarantee": _single_step(projected),
        }
        if torch is not None:
            torch.set_num_threads(1)
            for mode in ("hooks", "ghost"):
                steps[f"Opacus, {mode}"] = _opacus_step(torch, projected, mode)
        with threadpool_limits(1):
            seconds = _in_turn(list(steps.values()))
            ours = seconds[0]
            for place, (how, own) in enumerate(zip(steps, seconds, strict=True)):
                memory = f"{_peak(steps[how]):.0f} MB" if place < 2 else ""
                rows.append((kind, how, _ms(own), f"{own / ours:.2f}", memory))
    return rows, "" if torch is not None else _MISSING


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms"


def _in_turn(steps: list[Callable[[], object]]) -> list[float]:
    """Return the minimum CPU seconds of each step; they take turns, so other load affects all."""
    for step in steps:
        step()
    fewest = [math.inf] * len(steps)
    for _ in range(N_STEPS):
        for place, step in enumerate(steps):
            start = time.process_time()
            step()
            fewest[place] = min(fewest[place], time.process_time() - start)
    return fewest


def _peak(step: Callable[[], object]) -> float:
    """Return the megabytes that Python allocates in a step."""
    tracemalloc.start()
    step()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return peak


def _images() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.random((BATCH, N_INPUTS)), rng.integers(0, N_CLASSES, BATCH).astype(np.int32)


def _our_step(projected: bool) -> Callable[[], object]:
    X, y = _images()
    rng = np.random.default_rng(1)
    bits = COARSE_BITS if projected else FEATURE_BITS
    whole, unit = to_integers(X, bits, 1.0)
    features = Features(np.column_stack([whole, np.full(BATCH, 2.0**bits)]).astype("i2"), unit)
    basis = Basis.of(None, N_INPUTS)
    if projected:
        rows, row_unit = to_integers(rng.standard_normal((N_FILTERS, N_BASIS, N_INPUTS)), ROW_BITS)
        basis = Basis(rows, row_unit, N_INPUTS)
    shape = FilterShape(N_CLASSES, N_FILTERS, 1 / 30)
    sums = GradientSums(features, y, shape, basis, clip=0.5, lattice_bits=LATTICE_BITS)
    weights = 0.01 * rng.standard_normal((shape.n_rows, basis.n_basis + 1))
    plan = NoisePlan(0.5, 1.3, 1, BATCH / 60_000, LATTICE_BITS, 1)
    adam, mechanism = Adam(weights.shape, plan.noise_std), Mechanism(NoiseSource())
    people = np.arange(BATCH)

    def step() -> None:
        with mechanism.phase(plan.phase(weights.size)):
            noisy = mechanism.release(sums(weights, people).ravel())
        weights[:] -= adam.update(noisy.reshape(weights.shape) * sums.unit, 1e-3)

    return step


def _single_step(projected: bool) -> Callable[[], object]:
    """Make the step as in `_our_step` in single precision: rounded sums and rounded noise.

    The difference is the cost of exact arithmetic. The kernel of the factors is the same, and its
    input is too: scores in float64.
    """
    X, y = _images()
    rng = np.random.default_rng(1)
    x = np.column_stack([X, np.ones(BATCH)]).astype("f4")
    rows = rng.standard_normal((N_FILTERS, N_BASIS, N_INPUTS)).astype("f4") / np.float32(2**0.5)
    n_basis = N_BASIS if projected else N_INPUTS
    weights = (0.01 * rng.standard_normal((N_CLASSES, N_FILTERS, n_basis + 1))).astype("f4")
    adam = Adam(weights.shape, 0.65)
    if projected:
        flat = rows.reshape(-1, N_INPUTS).T
        squares = ((x[:, :-1] @ flat).reshape(BATCH, N_FILTERS, -1) ** 2).sum(axis=2) + 1.0
    else:
        squares = (x**2).sum(axis=1, keepdims=True)
    squares = np.ascontiguousarray(squares.T, dtype=np.float64)

    def step() -> None:
        filters = weights
        if projected:
            inner = np.matmul(weights[..., :-1].transpose(1, 0, 2), rows).transpose(1, 0, 2)
            filters = np.concatenate([inner, weights[..., -1:]], axis=2)
        scores = (filters.reshape(N_CLASSES * N_FILTERS, -1) @ x.T).astype(np.float64)
        factors = np.empty_like(scores)
        clipped_factors(
            scores, 1.0, y, squares, 0.5, 1.0, np.inf, np.float32(1 / 30), N_CLASSES, factors
        )
        sums = (factors.astype("f4") @ x).reshape(filters.shape)
        if projected:
            back = np.matmul(sums[..., :-1].transpose(1, 0, 2), rows.transpose(0, 2, 1))
            sums = np.concatenate([back.transpose(1, 0, 2), sums[..., -1:]], axis=2)
        sums += np.float32(0.65) * rng.standard_normal(sums.shape, dtype=np.float32)
        weights[:] -= adam.update(sums.astype(np.float64), 1e-3)

    return step


def _opacus_step(torch: Any, projected: bool, mode: str) -> Callable[[], object]:
    """Make a step of the same model with Opacus: one linear layer per filter, clip 0.5."""
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping

    X, y = _images()
    X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.long)
    model = _torch_model(torch, projected)
    loss_of = torch.nn.CrossEntropyLoss(reduction="mean" if mode == "hooks" else "none")
    if mode == "hooks":
        module = GradSampleModule(model)
        optimizer = DPOptimizer(
            torch.optim.Adam(module.parameters(), lr=1e-3),
            noise_multiplier=1.3, max_grad_norm=0.5, expected_batch_size=BATCH,
        )  # fmt: skip

        def step() -> None:
            optimizer.zero_grad()
            loss_of(module(X), y).backward()
            optimizer.step()

        return step
    from opacus.grad_sample import GradSampleModuleFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping

    module = GradSampleModuleFastGradientClipping(
        model, max_grad_norm=0.5, use_ghost_clipping=True, loss_reduction="mean"
    )
    optimizer = DPOptimizerFastGradientClipping(
        torch.optim.Adam(module.parameters(), lr=1e-3),
        noise_multiplier=1.3, max_grad_norm=0.5, expected_batch_size=BATCH,
    )  # fmt: skip
    criterion = DPLossFastGradientClipping(
        module, optimizer, torch.nn.CrossEntropyLoss(reduction="mean"), loss_reduction="mean"
    )

    def step() -> None:
        optimizer.zero_grad()
        criterion(module(X), y).backward()
        optimizer.step()

    return step


def _torch_model(torch: Any, projected: bool) -> Any:
    class Filters(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            if projected:
                rows = torch.randn(N_FILTERS, N_INPUTS, N_BASIS) / 2**0.5
                self.register_buffer("rows", rows)
                self.banks = torch.nn.ModuleList(
                    torch.nn.Linear(N_BASIS, N_CLASSES) for _ in range(N_FILTERS)
                )
            else:
                self.bank = torch.nn.Linear(N_INPUTS, N_CLASSES * N_FILTERS)

        def forward(self, x: Any) -> Any:
            if projected:
                g = torch.stack(
                    [bank(x @ rows) for bank, rows in zip(self.banks, self.rows, strict=True)], 2
                )
            else:
                g = self.bank(x).reshape(len(x), N_CLASSES, N_FILTERS)
            return (torch.softmax(g / 30, dim=2) * g).sum(dim=2)

    return Filters()
