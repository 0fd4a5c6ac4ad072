"""The five sources that are reproduced, and the places in each that a claim may cite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Source:
    """A paper, or slides.

    Attributes
    ----------
    key : str
        As in `Study.paper` and `Claim.paper`.
    page : str
        Name of its page in ``docs/papers``, without the ending.
    title, authors : str
    shown : tuple of str
        Every table and figure; each must have a claim.
    said : tuple of str
        Sections that a claim may name.
    rows : mapping of str to tuple of str
        The rows of each printed table, by its place; each must have a claim.
    """

    key: str
    page: str
    title: str
    authors: str
    shown: tuple[str, ...]
    said: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def places(self) -> tuple[str, ...]:
        """Return all places that a claim may cite, in the order of a page."""
        return (*self.shown, *self.said)


def _numbered(word: str, last: int) -> tuple[str, ...]:
    return tuple(f"{word} {n}" for n in range(1, last + 1))


def _crossed(data: str, levels: tuple[str, ...]) -> tuple[str, ...]:
    """Return a row for each data set and level."""
    return tuple(f"{name}, {level}" for name in data.split() for level in levels)


_LEVELS = (*(f"ε {e:g}" for e in (0.5, 1.0, 2.0, 4.0, 8.0)), "no ε")
_NEW = tuple(f"ε {e:g}" for e in (0.1, 0.5, 2.0, 4.0, 8.0))
_CLASSES, _NUMBERS = "adult telco credit_fraud healthcare", "california elevators pol wine"
_BOOSTED = (
    "adult real-sim covtype susy cod_rna webdata synthetic_cls abalone year_prediction "
    "synthetic_reg"
)
_DOMAINS = (
    "transfusion banknote breast_cancer_wisconsin ionosphere sonar yeast wine-red "
    "cardiotocography creditcard_small abalone-old qsar wine-white page_blocks mice "
    "hill_valley_with_noise hill_valley_without_noise firmteacher magic eeg"
)

NORI, SLIDES, LI, NOCK, HARDER = "Nori 2021", "Slides 2025", "Li 2020", "Nock 2020", "Harder 2020"

SOURCES = (
    Source(
        NORI,
        "dp_ebm",
        "DP-EBM",
        "Nori, Caruana, Bu, Shen and Kulkarni, ICML 2021",
        (*_numbered("table", 3), *_numbered("figure", 6)),
        (
            "section 3",
            "section 4.1",
            "section 4.1.1",
            "section 4.1.3",
            "section 5.2",
            "section 5.3",
            "section 8.3",
        ),
        {
            "table 1": tuple(f"{_CLASSES} {_NUMBERS}".split()),
            "table 2": _crossed(_CLASSES, _LEVELS),
            "table 3": _crossed(_NUMBERS, _LEVELS),
        },
    ),
    Source(
        SLIDES,
        "slides",
        "Slides on DP-EBM",
        "Chatziloizos, Zhang and Behaegel, March 2025",
        (
            "table without privacy",
            "table of adult, recreated",
            "list of custom and official",
            "table of new data",
            "table of Parkinson",
            "table of Phishing",
        ),
        ("custom implementation", "differences from algorithm 2", "critical analysis"),
        {
            "table without privacy": _crossed(
                "breast_cancer telco adult credit_fraud",
                ("logistic regression", "random forest", "gradient boosting", "APLR", "EBM"),
            ),
            "table of adult, recreated": _LEVELS[:-1],
            "list of custom and official": ("adult", "telco", "credit_fraud"),
            "table of new data": ("parkinson", "phishing"),
            "table of Parkinson": _NEW,
            "table of Phishing": _NEW,
        },
    ),
    Source(
        LI,
        "dpboost",
        "DPBoost",
        "Li, Wu, Wen and He, AAAI 2020",
        (*_numbered("table", 3), *_numbered("figure", 8)),
        ("section 4.1", "section 4.2", "appendix B", "appendix C"),
        {
            "table 1": tuple(_BOOSTED.split()),
            "table 2": tuple(_BOOSTED.split()),
            "table 3": ("abalone", "year_prediction", "synthetic_reg"),
        },
    ),
    Source(
        NOCK,
        "objective_calibration",
        "Boosted trees with objective calibration",
        "Nock and Henecka, 2020",
        (*_numbered("table", 4), "figure 1", "figure 2", "figures of the proofs"),
        ("section 6", "section 7", "section 7 and appendix 17"),
        {
            "table 1": _numbered("column", 5),
            "table 2": tuple(_DOMAINS.split()),
            "table 3": ("small, small", "small, big", "big, small", "big, big"),
        },
    ),
    Source(
        HARDER,
        "locally_linear_maps",
        "Locally linear maps",
        "Harder, Bauer and Park, AAAI 2020",
        _numbered("figure", 10),
        ("section 3.1", "section 4.1", "section 4.2", "sections 3 and 5"),
    ),
)
BY_KEY = {source.key: source for source in SOURCES}
