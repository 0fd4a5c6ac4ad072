"""Figures printed in the DP-EBM paper, and the settings behind them.

Every published number about boosting is entered here and nowhere else.

Sources: Harsha Nori, Rich Caruana, Zhiqi Bu, Judy Hanwen Shen, Janardhan Kulkarni, "Accuracy,
Interpretability, and Differential Privacy via Explainable Boosting", ICML 2021,
arXiv:2106.09680, tables 2 (AUROC) and 3 (RMSE); and the table of models without privacy in the
README of InterpretML, with the settings of the notebook that it links to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SOURCE = "Nori et al., ICML 2021, arXiv:2106.09680"

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DELTA = 1e-6
N_SPLITS = 25
TEST_SHARE = 0.2
N_EPOCHS = 300
LEARNING_RATE = 0.01
BIN_SHARE = 0.1  # of epsilon; delta is halved between bins and boosting
Figures = Sequence[tuple[float, float]]
"""Mean and standard deviation, one pair per value of `EPSILONS`, the last one without privacy."""


@dataclass(frozen=True)
class Published:
    """Published scores on one data set of the paper.

    Attributes
    ----------
    n_rows : int
        Rows, as the paper counts them.
    figures : mapping of str to sequence of (float, float)
        Mean score and its standard deviation by model: one pair per value of `EPSILONS`, then
        without privacy.
    """

    n_rows: int
    figures: Mapping[str, Figures]

    @property
    def private(self) -> tuple[float, ...]:
        """Mean scores of DP-EBM with Gaussian-DP accounting, one per value of `EPSILONS`."""
        return tuple(mean for mean, _ in self.figures[GDP][:-1])

    @property
    def reference(self) -> float:
        """Mean score of the non-private EBM."""
        return self.figures[GDP][-1][0]


GDP, CLASSIC = "DP-EBM, GDP", "DP-EBM, classic"

# AUROC of classifications, RMSE of regressions.
BY_DATASET = {
    "adult": Published(
        32_561,
        {
            "DPBoost": (
                (0.558, 0.045),
                (0.566, 0.034),
                (0.629, 0.045),
                (0.734, 0.019),
                (0.805, 0.011),
                (0.928, 0.003),
            ),
            "linear": (
                (0.488, 0.125),
                (0.471, 0.111),
                (0.521, 0.109),
                (0.549, 0.068),
                (0.534, 0.070),
                (0.603, 0.066),
            ),
            "DP-EBM, classic": (
                (0.873, 0.007),
                (0.880, 0.006),
                (0.886, 0.005),
                (0.889, 0.004),
                (0.890, 0.004),
                (0.923, 0.003),
            ),
            "DP-EBM, GDP": (
                (0.875, 0.005),
                (0.883, 0.005),
                (0.887, 0.004),
                (0.889, 0.004),
                (0.890, 0.004),
                (0.923, 0.003),
            ),
        },
    ),
    "credit_fraud": Published(
        284_807,
        {
            "DPBoost": (
                (0.442, 0.138),
                (0.438, 0.114),
                (0.467, 0.101),
                (0.465, 0.142),
                (0.556, 0.145),
                (0.726, 0.099),
            ),
            "linear": (
                (0.558, 0.076),
                (0.544, 0.135),
                (0.526, 0.118),
                (0.539, 0.172),
                (0.546, 0.156),
                (0.922, 0.019),
            ),
            "DP-EBM, classic": (
                (0.959, 0.015),
                (0.965, 0.014),
                (0.969, 0.011),
                (0.969, 0.011),
                (0.969, 0.011),
                (0.965, 0.011),
            ),
            "DP-EBM, GDP": (
                (0.966, 0.012),
                (0.966, 0.013),
                (0.969, 0.011),
                (0.969, 0.011),
                (0.969, 0.011),
                (0.965, 0.011),
            ),
        },
    ),
    "telco": Published(
        7_043,
        {
            "DPBoost": (
                (0.484, 0.100),
                (0.458, 0.088),
                (0.534, 0.109),
                (0.716, 0.067),
                (0.787, 0.014),
                (0.836, 0.008),
            ),
            "linear": (
                (0.541, 0.227),
                (0.479, 0.239),
                (0.527, 0.236),
                (0.615, 0.138),
                (0.673, 0.105),
                (0.844, 0.010),
            ),
            "DP-EBM, classic": (
                (0.812, 0.020),
                (0.832, 0.013),
                (0.837, 0.010),
                (0.838, 0.011),
                (0.839, 0.011),
                (0.848, 0.009),
            ),
            "DP-EBM, GDP": (
                (0.829, 0.014),
                (0.835, 0.011),
                (0.838, 0.012),
                (0.839, 0.011),
                (0.839, 0.011),
                (0.848, 0.009),
            ),
        },
    ),
    "california": Published(
        20_499,
        {
            "DPBoost": (
                (383_072, 41_952),
                (204_277, 19_350),
                (122_494, 7_066),
                (96_336, 3_043),
                (90_029, 2_508),
                (47_007, 885),
            ),
            "linear": (
                (111_967, 1_080),
                (110_241, 1_101),
                (109_518, 1_244),
                (108_882, 1_370),
                (107_815, 1_460),
                (69_850, 1_164),
            ),
            "DP-EBM, classic": (
                (85_652, 2_724),
                (78_527, 1_230),
                (75_491, 1_404),
                (73_967, 1_028),
                (73_327, 1_118),
                (51_644, 925),
            ),
            "DP-EBM, GDP": (
                (79_967, 1_929),
                (76_827, 1_470),
                (74_573, 1_152),
                (73_754, 1_022),
                (73_165, 955),
                (51_644, 925),
            ),
        },
    ),
    "elevators": Published(
        16_598,
        {
            "DPBoost": (
                (0.051, 0.005),
                (0.025, 0.002),
                (0.013, 0.001),
                (0.008, 0.000),
                (0.006, 0.000),
                (0.002, 0.000),
            ),
            "linear": (
                (4.671, 1.975),
                (2.669, 1.214),
                (1.384, 0.570),
                (0.754, 0.202),
                (0.410, 0.201),
                (0.003, 0.000),
            ),
            "DP-EBM, classic": (
                (0.010, 0.001),
                (0.007, 0.000),
                (0.006, 0.000),
                (0.005, 0.000),
                (0.004, 0.000),
                (0.004, 0.000),
            ),
            "DP-EBM, GDP": (
                (0.006, 0.000),
                (0.005, 0.000),
                (0.005, 0.000),
                (0.004, 0.000),
                (0.004, 0.000),
                (0.004, 0.000),
            ),
        },
    ),
    "pol": Published(
        15_000,
        {
            "DPBoost": (
                (78.190, 9.583),
                (50.527, 5.482),
                (47.511, 4.636),
                (45.592, 2.942),
                (45.435, 1.109),
                (4.703, 0.228),
            ),
            "linear": (
                (31.326, 0.418),
                (30.640, 0.288),
                (30.500, 0.248),
                (30.463, 0.256),
                (30.459, 0.258),
                (30.464, 0.264),
            ),
            "DP-EBM, classic": (
                (35.156, 1.728),
                (30.911, 1.014),
                (27.616, 0.644),
                (25.454, 0.389),
                (24.625, 0.230),
                (13.780, 0.667),
            ),
            "DP-EBM, GDP": (
                (30.988, 0.962),
                (28.391, 0.585),
                (26.303, 0.561),
                (24.934, 0.332),
                (24.313, 0.237),
                (13.780, 0.667),
            ),
        },
    ),
    "wine": Published(
        5_297,
        {
            "DPBoost": (
                (4.647, 0.390),
                (2.151, 0.302),
                (1.299, 0.092),
                (0.946, 0.043),
                (0.847, 0.021),
                (0.622, 0.013),
            ),
            "linear": (
                (3.621, 1.740),
                (2.133, 0.713),
                (1.263, 0.322),
                (0.940, 0.100),
                (0.839, 0.035),
                (0.759, 0.015),
            ),
            "DP-EBM, classic": (
                (1.589, 0.132),
                (1.181, 0.074),
                (0.935, 0.042),
                (0.807, 0.019),
                (0.751, 0.013),
                (0.681, 0.012),
            ),
            "DP-EBM, GDP": (
                (0.938, 0.036),
                (0.841, 0.025),
                (0.779, 0.018),
                (0.746, 0.011),
                (0.733, 0.014),
                (0.681, 0.012),
            ),
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
