"""Comparison of models fitted at several epsilons, and their joint cost."""

from __future__ import annotations

from dpexplain.compare.changes import Change, claim_change
from dpexplain.compare.comparison import Comparison
from dpexplain.compare.faithfulness import (
    Faithfulness,
    faithfulness,
    kendall,
    local_sign_agreement,
    shape_distance,
    truth_in_bins,
)
from dpexplain.compare.filters import FilterComparison
from dpexplain.compare.matching import FilterAgreement, filter_agreement, match_filters
from dpexplain.compare.multiclass import MulticlassComparison
from dpexplain.compare.planning import (
    epsilon_for_metric,
    epsilon_to_stand_out,
    epsilons_to_stand_out,
    stand_out_words,
)
from dpexplain.compare.refitting import Refitter
from dpexplain.compare.releasable import releasable
from dpexplain.compare.sweep import sweep

__all__ = [
    "Change",
    "Comparison",
    "Faithfulness",
    "FilterAgreement",
    "FilterComparison",
    "MulticlassComparison",
    "Refitter",
    "claim_change",
    "epsilon_for_metric",
    "epsilon_to_stand_out",
    "epsilons_to_stand_out",
    "faithfulness",
    "filter_agreement",
    "kendall",
    "local_sign_agreement",
    "match_filters",
    "releasable",
    "shape_distance",
    "stand_out_words",
    "sweep",
    "truth_in_bins",
]
