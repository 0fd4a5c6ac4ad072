"""What each study reduces compared with its source, stated next to its numbers."""

from __future__ import annotations

import pandas as pd

from objective_calibration_claims import N_DOMAINS
from results import ALL

_SIMULATED = (
    "simulations: 50,000 rows and 100 features instead of 1,000,000 and 400; learning rate 0.1 "
    "instead of 0.01"
)
_COLUMNS = "adult with its 14 columns instead of 123 of zeros and ones"
_BOOSTED = f"{{n}} of ten data sets; {_COLUMNS}; {_SIMULATED}"
"""With the number of data sets in the table."""
_FIXED = (
    "bound M at 1, share beta at one half, calibration by depth and not by the weight of the "
    "records in a node"
)
_HOSPITAL = "2,126 cardiotocograms instead of 100,140 hospital records; the maps have our recipe"
_PATIENTS = "10,000 simulated patients instead of 14,199 hospital records"
_GRID = (
    "accuracies that are printed for an epsilon have 10 fits, as in the paper, others 5; without "
    "privacy, the rate falls linearly to zero; our recipe has 40 epochs, 10 without privacy; the "
    "clip of 0.001 applies, as in the authors' code, to a loss averaged over a batch"
)
_SMALL_NETWORK = (
    "a network of our own, of 14,634 weights (locally_linear_networks has those of 431,080 and "
    "26,010), trained for 10 epochs, 5 without privacy; the printed accuracies are of networks "
    "that the paper cites"
)

_COUNTED = ("ebm_data", "dpboost_data", "objective_calibration_data", "ebm_noise")
"""Studies whose numbers do not vary from run to run."""

REDUCED = {
    "ebm_data": "six of eight data sets",
    "dpboost_data": "four of ten data sets, two of them simulated smaller",
    "objective_calibration_data": f"{N_DOMAINS} of 19 domains",
    "ebm_tables": "six of eight data sets; 25 splits, as in the paper",
    "ebm_noise": "two of four regressions; one fit each, as noise does not vary",
    "ebm_diffprivlib": "six of eight data sets, a newer diffprivlib; 25 splits, as in the paper",
    "ebm_curves_adult": "25 bags, as in the paper, which does not say how many fits it has",
    "ebm_curves_clinical": _PATIENTS,
    "ebm_smoothness": "the paper has no such numbers",
    "ebm_splits": "five of eight data sets; the paper prints no such numbers; 10 of its 25 splits",
    "ebm_isotonic": _PATIENTS,
    "ebm_auroc_spread": "telco instead of the hospital records; 100 splits (50 of DP-EBM, 1,000 of "
    "random predictions) instead of 5,000",
    "ebm_teaching": "two of three data sets; the slides name no splits",
    "ebm_without_privacy": "three of four data sets; five splits, the slides name none; EBMs "
    "without pairs of features, where the README has those with its default pairs",
    "slides_new_data": "the slides print no splits, delta, learning rate or rounds",
    "dpboost_error": _BOOSTED,
    "dpboost_sizes": _BOOSTED,
    "dpboost_convergence": "only adult of the five data sets of the figures, and three others; "
    f"{_COLUMNS}; {_SIMULATED}; 1,000 trees, as the captions say (the text has 5,000 for figure "
    "3), on simulations 100 (80 with 40 in an ensemble)",
    "dpboost_effects": "two of three data sets, and two others; epsilon 1, 4 and 10; "
    f"{_COLUMNS}; {_SIMULATED}",
    "dpboost_time": f"{_BOOSTED}; one ensemble instead of 100",
    "objective_calibration": f"{N_DOMAINS} of 19 domains; {_FIXED}; 10 folds, as in the paper",
    "objective_calibration_runs": f"4 of 19 domains; {_FIXED}; 20 trees of depth 4; 50 runs",
    "objective_calibration_settings": "{n} of 19 domains; M 1 and 10, beta 0.1, 0.5 and "
    "0.9; 20 trees of depth 4; 5 folds instead of 10",
    "objective_calibration_alphas": "{n} of 19 domains; M at 1, beta at one half; 2 trees of depth "
    "2 and 4, 20 of depth 4; 5 folds instead of 10; the paper does not vary the alpha of leaves "
    "apart from that of splits, as far as our text of it says",
    "locally_linear_mnist": f"{_GRID}; filters of the first 200 test images",
    "locally_linear_fashion_mnist": "the paper prints two accuracies with privacy, and figure 5 "
    f"for MNIST only; {_GRID}; clothing is centered, which that code does not do; filters of the "
    "first 200 test images",
    "locally_linear_temperatures": "epsilon 2 and no privacy",
    "locally_linear_variety": "the paper shows two classes as pictures",
    "locally_linear_table": f"{_HOSPITAL}; three filters per class instead of two; delta "
    "1e-5 instead of 2e-5; 50 splits, or five fits on the first of them",
    "locally_linear_attributions": _HOSPITAL,
    "locally_linear_maps": _HOSPITAL,
    "locally_linear_networks": "networks of the printed sizes, with settings that others printed; "
    "the maps have our recipe, without privacy 20 epochs; the paper does not say of how many fits "
    "its accuracies of networks are; 50 steps of integrated gradients and 25 copies of "
    "SmoothGrad with noise 0.2 of the range, where its authors' code has 600 of each with noise "
    "0.1",
    "locally_linear_beside_cnn": _SMALL_NETWORK,
    "locally_linear_beside_cnn_digits": "small images that the paper lacks",
}


def reduced(name: str, table: pd.DataFrame) -> str:
    """State what a study reduces, and how many repeats its rows have.

    Parameters
    ----------
    name : str
        Of the study.
    table : DataFrame
        Its rows; those of quantiles and of all domains do not count repeats.
    """
    text = REDUCED[name].format(n=table["data"].nunique())
    counted = "" if name in _COUNTED else repeats(table)
    return f"{text}; {counted}" if counted else text


def repeats(table: pd.DataFrame) -> str:
    """Say how many repeats each number of a table has; nothing where it does not count them."""
    if "n" not in table or "quantile" in table:
        return ""
    counts = table.loc[table["data"] != ALL, "n"]
    few, many = int(counts.min()), int(counts.max())
    words = f"{few}" if few == many else f"{few} to {many}"
    text = f"{words} repeat{'s' if many > 1 else ''} per number"
    return f"{text}, no standard error with one" if few == 1 else text
