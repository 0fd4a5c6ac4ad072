"""``dpexplain warm``: compile model kernels before the first fit."""

from __future__ import annotations

import argparse
from typing import Any

from dpexplain.cli.errors import CommandError
from dpexplain.cli.options import add_command
from dpexplain.models.registry import MODELS, commands


def add_commands(commands_of: Any) -> None:
    """Add the ``warm`` command."""
    warm = add_command(
        commands_of,
        "warm",
        summary="Compile the numeric kernels of all or some models, once after an installation.",
        examples="dpexplain warm\ndpexplain warm boosting random-forest\ndpexplain warm --quick",
    )
    warm.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help=f"default: all of {', '.join(commands())}",
    )
    warm.add_argument(
        "--quick",
        action="store_true",
        help="only what a sweep of private boosting with default settings needs, for two classes "
        "and for regression",
    )
    warm.set_defaults(run=run_warm)


def run_warm(asked: argparse.Namespace) -> None:
    """Fit the models to a few simulated rows, so that compiled kernels are cached."""
    known = commands()
    for model in asked.models:
        if model not in known:
            raise CommandError(f"unknown model {model!r}; models are {', '.join(known)}")
    from dpexplain._warm import warm  # a slow import, which other commands do not need

    modules = {MODELS[name].module for model in asked.models for name in known[model].values()}
    warm(modules, quick=asked.quick)
