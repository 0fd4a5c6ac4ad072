"""What Nock and Henecka vary but the study of all domains fixes: M and beta."""

from __future__ import annotations

from itertools import product

from file_data import is_here
from paper_objective_calibration import ALPHAS, BUDGETS, DOMAINS, EPSILONS, boosted
from sources import NOCK as PAPER
from study import Cell, Row, Study
from trees_measured import error, fitted, folds, score, table

BOUNDS = (1.0, 10.0)
SHARES = (0.1, 0.5, 0.9)
SIZES = ((20, 4),)
"""Trees and depth."""
N_FOLDS = 5


def cells(fast: bool) -> list[Cell]:
    """Return a cell per domain, epsilon and bound M."""
    names = DOMAINS[:1] if fast else [n for n in DOMAINS if is_here(n)]
    epsilons = (0.1,) if fast else EPSILONS
    return [
        {"name": n, "epsilon": e, "largest_leaf": b, "n_folds": 3 if fast else N_FOLDS}
        for n, e, b in product(names, epsilons, BOUNDS)
    ]


def measure(name: str, epsilon: float, largest_leaf: float, n_folds: int) -> list[Row]:
    """Measure the errors per fold of each alpha, budget, share of splits and size."""
    data, rows = table(name), []
    for repeat, (train, test) in enumerate(folds(data, n_folds)):
        for model_name, budget, share, size in product(ALPHAS, BUDGETS, SHARES, SIZES):
            n_trees, depth = size
            settings = {"n_trees": n_trees, "depth": depth, "max_bins": 11}
            model = boosted(data, model_name, budget, epsilon, tree_budget_frac=share, **settings)
            model._largest_leaf = largest_leaf
            seconds = fitted(model, data, train)
            found = error(score(model, data.X.iloc[test]), data, test)
            setting = {"data": name, "model": model_name, "budget": budget, "epsilon": epsilon}
            setting |= {"largest_leaf": largest_leaf, "beta": share}
            setting |= {"n_trees": n_trees, "depth": depth, "metric": "test error"}
            rows.append(setting | {"repeat": repeat, "value": found, "cpu_s": seconds})
    return rows


STUDIES = (
    Study(
        name="objective_calibration_settings",
        paper=PAPER,
        shows="what the first study fixes: errors over the bound M on a leaf value and the share "
        "of the budget for splits (beta), for table 1",
        protocol="The domains of objective_calibration; M 1 and 10, beta 0.1, 0.5 and 0.9; 20 "
        f"trees of depth 4 on grids of 10 cuts; {N_FOLDS} folds; otherwise as there. Which values "
        "the paper took is not in the text that we have. Noise on leaves follows M with the "
        "budget of the paper, where leaf values are within M before the noise and after it (in "
        "the paper, after it); with parallel budgets, which release the weights of a leaf, it "
        "does not.",
        cells=cells,
        measure=measure,
    ),
)
