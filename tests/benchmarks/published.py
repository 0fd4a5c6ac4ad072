"""Figures printed in the paper of DP-EBM, and the settings they were made with.

Every published number of the benchmarks is typed here and nowhere else.

Source: Harsha Nori, Rich Caruana, Zhiqi Bu, Judy Hanwen Shen, Janardhan Kulkarni, "Accuracy,
Interpretability, and Differential Privacy via Explainable Boosting", ICML 2021,
arXiv:2106.09680: the columns DP-EBM-GDP and EBM of its tables of AUROC and RMSE.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "Nori et al., ICML 2021, arXiv:2106.09680"

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DELTA = 1e-6
N_SPLITS = 25
TEST_SHARE = 0.2
N_EPOCHS = 300
LEARNING_RATE = 0.01
BIN_SHARE = 0.1  # of epsilon; delta is halved between bins and boosting


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
    """

    n_rows: int
    private: tuple[float, ...]
    reference: float


# AUROC of classifications, RMSE of regressions. Their standard deviations are not typed here:
# agreement is judged by the spread of our own splits.
BY_DATASET = {
    "adult": Published(32_561, (0.875, 0.883, 0.887, 0.889, 0.890), 0.923),
    "telco": Published(7_043, (0.829, 0.835, 0.838, 0.839, 0.839), 0.848),
    "california": Published(20_499, (79_967, 76_827, 74_573, 73_754, 73_165), 51_644),
    "wine": Published(5_297, (0.938, 0.841, 0.779, 0.746, 0.733), 0.681),
}
