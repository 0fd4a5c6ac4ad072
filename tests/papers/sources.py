"""The five sources that are reproduced, and the places in each that a claim may cite."""

from __future__ import annotations

from dataclasses import dataclass


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
    """

    key: str
    page: str
    title: str
    authors: str
    shown: tuple[str, ...]
    said: tuple[str, ...]

    @property
    def places(self) -> tuple[str, ...]:
        """Return all places that a claim may cite, in the order of a page."""
        return (*self.shown, *self.said)


def _numbered(word: str, last: int) -> tuple[str, ...]:
    return tuple(f"{word} {n}" for n in range(1, last + 1))


NORI, SLIDES, LI, NOCK, HARDER = "Nori 2021", "Slides 2025", "Li 2020", "Nock 2020", "Harder 2020"

SOURCES = (
    Source(
        NORI,
        "dp_ebm",
        "DP-EBM",
        "Nori, Caruana, Bu, Shen and Kulkarni, ICML 2021",
        (*_numbered("table", 3), *_numbered("figure", 6)),
        ("section 1", "section 4.1", "section 4.1.3", "section 5.2", "section 5.3"),
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
        ("differences from algorithm 2",),
    ),
    Source(
        LI,
        "dpboost",
        "DPBoost",
        "Li, Wu, Wen and He, AAAI 2020",
        (*_numbered("table", 3), *_numbered("figure", 8)),
        ("section 4.1", "section 4.2", "appendix B"),
    ),
    Source(
        NOCK,
        "objective_calibration",
        "Boosted trees with objective calibration",
        "Nock and Henecka, 2020",
        (*_numbered("table", 4), "figure 1", "figure 2", "figures of the proofs"),
        ("section 6", "section 7", "appendix 17"),
    ),
    Source(
        HARDER,
        "locally_linear_maps",
        "Locally linear maps",
        "Harder, Bauer and Park, AAAI 2020",
        _numbered("figure", 10),
        ("section 3.1", "section 4.1", "section 4.2", "section 5"),
    ),
)
BY_KEY = {source.key: source for source in SOURCES}
