"""Figures printed in the paper of DP-EBM, and the settings they were made with.

Every published number about boosting is typed here and nowhere else.

Sources: Harsha Nori, Rich Caruana, Zhiqi Bu, Judy Hanwen Shen, Janardhan Kulkarni, "Accuracy,
Interpretability, and Differential Privacy via Explainable Boosting", ICML 2021,
arXiv:2106.09680, tables 2 (AUROC) and 3 (RMSE); and the table of models without privacy in the
README of InterpretML, with the settings of the notebook that it links to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SOURCE = "Nori et al., ICML 2021, arXiv:2106.09680"

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DELTA = 1e-6
N_SPLITS = 25
TEST_SHARE = 0.2
N_EPOCHS = 300
LEARNING_RATE = 0.01
BIN_SHARE = 0.1  # of epsilon; delta is halved between bins and boosting
UNAVAILABLE = ("credit-fraud", "healthcare", "elevators", "pol")
"""Data sets of the tables that cannot be had here."""

Figures = tuple[float, ...]


@dataclass(frozen=True)
class Published:
    """One data set of the paper.

    Attributes
    ----------
    n_rows : int
        Rows, as the paper counts them.
    private : tuple of float
        Mean score of DP-EBM with Gaussian-DP accounting, one per value of `EPSILONS`.
    reference : float
        Mean score of the non-private EBM.
    others : mapping of str to tuple of float
        Mean scores of other models: one per value of `EPSILONS`, then without privacy.
    """

    n_rows: int
    private: Figures
    reference: float
    others: Mapping[str, Figures] = field(default_factory=dict)


# AUROC of classifications, RMSE of regressions. Their standard deviations are not typed here:
# agreement is judged by the spread of our own splits.
BY_DATASET = {
    "adult": Published(
        32_561,
        (0.875, 0.883, 0.887, 0.889, 0.890),
        0.923,
        {
            "DPBoost": (0.558, 0.566, 0.629, 0.734, 0.805, 0.928),
            "linear": (0.488, 0.471, 0.521, 0.549, 0.534, 0.603),
        },
    ),
    "telco": Published(
        7_043,
        (0.829, 0.835, 0.838, 0.839, 0.839),
        0.848,
        {
            "DPBoost": (0.484, 0.458, 0.534, 0.716, 0.787, 0.836),
            "linear": (0.541, 0.479, 0.527, 0.615, 0.673, 0.844),
        },
    ),
    "california": Published(
        20_499,
        (79_967, 76_827, 74_573, 73_754, 73_165),
        51_644,
        {
            "DPBoost": (383_072, 204_277, 122_494, 96_336, 90_029, 47_007),
            "linear": (111_967, 110_241, 109_518, 108_882, 107_815, 69_850),
        },
    ),
    "wine": Published(
        5_297,
        (0.938, 0.841, 0.779, 0.746, 0.733),
        0.681,
        {
            "DPBoost": (4.647, 2.151, 1.299, 0.946, 0.847, 0.622),
            "linear": (3.621, 2.133, 1.263, 0.940, 0.839, 0.759),
        },
    ),
}

# AUROC, mean and standard deviation of three splits with a quarter for testing.
WITHOUT_PRIVACY = {
    "adult": {
        "logistic regression": (0.907, 0.003),
        "random forest": (0.903, 0.002),
        "gradient boosting": (0.927, 0.001),
        "EBM": (0.928, 0.002),
    },
    "breast cancer": {
        "logistic regression": (0.995, 0.005),
        "random forest": (0.992, 0.009),
        "gradient boosting": (0.992, 0.010),
        "EBM": (0.995, 0.006),
    },
    "telco": {
        "logistic regression": (0.849, 0.005),
        "random forest": (0.824, 0.004),
        "gradient boosting": (0.828, 0.010),
        "EBM": (0.852, 0.006),
    },
}
